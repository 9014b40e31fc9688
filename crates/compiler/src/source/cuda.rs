// SPDX-License-Identifier: Apache-2.0
//! Source `cuda`: kernels in CUDA C++, compiled by [`Nvrtc`] to machine code or PTX for each
//! architecture.
//!
//! A kernel is named as C++ names it, `scale` or `rms<float, 128>`, which also instantiates a
//! template; the artifact has the symbol.
//!
//! The same text gives the same bytes wherever the files lie: they go to NVRTC under names of their
//! own (`include.rs`), with a seed for the names of anonymous namespaces, which would otherwise
//! hold the number of the process (before CUDA 13 there is no such option). What still shows is
//! where CUDA's own headers are, if `line_info` is asked for and code of theirs is used; and of a
//! header whose name a macro spells, `__FILE__` and `line_info`.

mod option;

use self::option::{Unfit, UserOptions};
use super::gpu::{Build, GpuArtifact, GpuCompiler};
use super::include::{self, Ambiguous, File, Walk};
use super::nvrtc::{Failure, Header, Job, Nvrtc, NvrtcError, Output};
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::file::{Files, Held, Looked};
use kernpack_package::image::{self, Image, ImageError};
use kernpack_package::source::{CudaSource, SourceError, SourceErrorKind};
use kernpack_process::parallel::{self, Permit};
use kernpack_syntax::{Placed, Span};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The code of a CUDA C++ file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaArtifact {
    /// The file it came from, for messages.
    pub path: PathBuf,
    /// An image for each architecture, in the order in which they were asked for. PTX ends in the
    /// NUL that the driver wants.
    pub images: Vec<Image>,
    /// The symbol of each kernel, in the order in which they were asked for.
    pub symbols: Vec<String>,
    /// Warnings of NVRTC, with the names of files as the user knows them.
    pub log: String,
    /// The file, and every file it may include save CUDA's own headers, which go with the version
    /// of NVRTC; and the places where one of these was not.
    pub looked: Looked,
}

/// Why a CUDA C++ file gave no image.
#[derive(Debug, Error)]
pub enum CudaError {
    /// There is no compiler.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    /// Something that goes to NVRTC has a NUL inside.
    #[error("{what} of `{}` has a NUL byte in it; remove it", path.display())]
    Nul {
        /// The file.
        path: PathBuf,
        /// The text that has it.
        what: &'static str,
    },
    /// An option says what is said elsewhere, or has NVRTC read what nobody sees.
    #[error("option `{option}` for `{}` {unfit}", path.display())]
    Option {
        /// The file.
        path: PathBuf,
        /// The option.
        option: Placed<String>,
        /// The problem.
        unfit: Unfit,
    },
    /// This NVRTC makes no code for the architecture.
    #[error(
        "cannot compile `{}` for {arch}: NVRTC {}.{} (`{}`) makes code for {}; choose one of these, or another version of CUDA",
        path.display(), version.0, version.1, nvrtc.display(), numbers(has)
    )]
    Arch {
        /// The file.
        path: PathBuf,
        /// The architecture.
        arch: Placed<Arch>,
        /// NVRTC's own file.
        nvrtc: PathBuf,
        /// Its version.
        version: (u32, u32),
        /// The architectures it knows.
        has: Vec<u32>,
    },
    /// NVRTC refused the text.
    #[error("NVRTC refused `{}` for {arch} ({reason}):\n{text}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The architecture.
        arch: Arch,
        /// NVRTC's word for it.
        reason: String,
        /// Its messages, with the names of files as the user knows them.
        text: String,
    },
    /// A name that should be a kernel's is none.
    #[error("no kernel of `{}` is called so: {}\n{text}", path.display(), quoted(kernels))]
    Kernels {
        /// The file.
        path: PathBuf,
        /// The names.
        kernels: Vec<String>,
        /// NVRTC's messages.
        text: String,
    },
    /// A kernel's symbol depends on the architecture.
    #[error("kernel `{kernel}` of `{}` has different parameters for {} and {}; declare it alike for all", path.display(), archs.0, archs.1)]
    Symbol {
        /// The file.
        path: PathBuf,
        /// The kernel.
        kernel: String,
        /// Two architectures that differ.
        archs: (Arch, Arch),
    },
    /// Macros spell a name that leads to one file here and to another there, and NVRTC is not told
    /// from where it is included.
    #[error(
        "in `{}`, macros spell \"{spelled}\", which is `{}` for one file that includes it and `{}` for another; name the one that is meant from a folder of `include`, or call them differently",
        path.display(), files[0].display(), files[1].display()
    )]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// The name.
        spelled: String,
        /// Two files that it may be.
        files: [PathBuf; 2],
    },
    /// The image that came out is not what it should be.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// From this version on NVRTC keeps what it compiles in the driver's cache, unless it is told not
/// to. For that it calls `cuInit`, and a process that has done so cannot fork and use CUDA.
const WITH_CACHE: (u32, u32) = (12, 9);
/// From this version on NVRTC can leave out what it declares of CUDA's runtime and of textures.
const WITH_MINIMAL: (u32, u32) = (12, 4);
/// NVRTC's name of the list of names of kernels, as if it were a file.
const NAMES: &str = "__nv_name_map(";
/// How it shows a line of that list, in front of the name.
const NAME: &str = "#pragma nv_mangled_name ";

impl Build for CudaSource {
    fn compiler(&self) -> Option<GpuCompiler> {
        Some(GpuCompiler::Nvrtc)
    }

    fn build(
        &self,
        archs: &[Placed<Arch>],
        kernels: &[String],
        held: &Held,
    ) -> Result<GpuArtifact, Vec<SourceError>> {
        let built = build_found(self, archs, kernels, held).map_err(|error| vec![error])?;
        let symbols = kernels.iter().cloned().zip(built.symbols.into_iter().map(Ok)).collect();
        let CudaArtifact { images, log, looked, .. } = built;
        Ok(GpuArtifact { images, symbols, log, looked, ..GpuArtifact::default() })
    }
}

/// Compiles a file with the NVRTC that is found.
///
/// # Errors
/// Where there is none, and as [`build`].
fn build_found(
    source: &CudaSource,
    archs: &[Placed<Arch>],
    kernels: &[String],
    held: &Held,
) -> Result<CudaArtifact, SourceError> {
    let nvrtc = Nvrtc::find().map_err(|error| refused(source, &error.into()))?;
    build(source, &nvrtc, archs, kernels, held)
}

/// Compiles a file for each architecture. `kernels` are names as C++ writes them.
///
/// # Errors
/// Where the file cannot be read, NVRTC refuses it or knows no such architecture, or a kernel is
/// not in it.
pub fn build(
    source: &CudaSource,
    nvrtc: &Nvrtc,
    archs: &[Placed<Arch>],
    kernels: &[String],
    held: &Held,
) -> Result<CudaArtifact, SourceError> {
    let _span = tracing::debug_span!("source", path = %source.path.display()).entered();
    let mut read = Files::new(held);
    let mut options = UserOptions::read(&source.options).map_err(|(option, unfit)| {
        let (path, option) = (source.path.value.clone(), option.clone());
        refused(source, &CudaError::Option { path, option, unfit })
    })?;
    let folders = [&source.include[..], &options.folders].concat();
    if options.folders.iter().any(|folder| folder.is_relative()) {
        read.mark_local();
    }
    let mut walk = Walk::new(&source.path, &folders, &mut read)
        .map_err(|error| SourceError::file(source.path.span, &error))?;
    options.find_included(&mut walk);
    let values = source.define.iter().map(|(_, value)| value);
    values.chain(&options.rest).for_each(|value| walk.mention(value));
    loop {
        match (Compilation { source, nvrtc }).compile(archs, kernels, (&walk, &options)) {
            // Names that macros put together are known once they are missed.
            Err(CudaError::Refused { text, .. } | CudaError::Kernels { text, .. })
                if walk.supply(&text) => {}
            Err(error) => return Err(refused(source, &error)),
            Ok(artifact) => return Ok(CudaArtifact { looked: read.into_looked(), ..artifact }),
        }
    }
}

fn refused(source: &CudaSource, error: &CudaError) -> SourceError {
    let own = source.path.span;
    let at = |place: Span| SourceError::new(SourceErrorKind::CudaCompiler, place.or(own), error);
    match error {
        CudaError::Image(error) => SourceError::image(own, error),
        CudaError::Kernels { kernels, .. } => {
            SourceError::new(SourceErrorKind::MissingKernel, own, error)
                .of_kernels(kernels.iter().cloned())
        }
        CudaError::Symbol { kernel, .. } => at(own).of_kernels([kernel.clone()]),
        CudaError::Arch { arch, .. } => at(arch.span),
        CudaError::Option { option, .. } => at(option.span),
        CudaError::Nvrtc(_)
        | CudaError::Nul { .. }
        | CudaError::Refused { .. }
        | CudaError::Ambiguous { .. } => at(own),
    }
}

/// A file, and what compiles it.
struct Compilation<'s> {
    source: &'s CudaSource,
    nvrtc: &'s Nvrtc,
}

impl Compilation<'_> {
    fn compile(
        &self,
        archs: &[Placed<Arch>],
        kernels: &[String],
        (walk, options): (&Walk<'_, '_>, &UserOptions),
    ) -> Result<CudaArtifact, CudaError> {
        if let Some(Ambiguous { spelled, files }) = walk.ambiguous().cloned() {
            return Err(CudaError::Ambiguous {
                path: self.source.path.value.clone(),
                spelled,
                files,
            });
        }
        let program = Program::new(walk, options)?;
        let expressions =
            kernels.iter().map(|name| self.c_string("the name of a kernel", name.as_str()));
        let expressions = expressions.collect::<Result<Vec<_>, _>>()?;
        let mut artifact = CudaArtifact {
            path: self.source.path.value.clone(),
            looked: Looked::default(),
            images: vec![],
            symbols: vec![],
            log: String::new(),
        };
        let build = |arch: &Placed<Arch>| self.build_one(*arch, &program, (kernels, &expressions));
        for (arch, built) in archs.iter().zip(parallel::map(archs, build)) {
            self.add(&mut artifact, (archs[0].value, arch.value), kernels, built?)?;
        }
        Ok(artifact)
    }

    /// Compiles for one architecture: the image, the symbols, the log.
    fn build_one(
        &self,
        arch: Placed<Arch>,
        program: &Program<'_>,
        (kernels, expressions): (&[String], &[CString]),
    ) -> Result<(Image, Vec<String>, String), CudaError> {
        self.require_arch(arch)?;
        let arch = arch.value;
        let options = self.options(arch, program.options)?;
        let is_ptx = arch.kind == ArchKind::Compute;
        let job = Job { files: &program.texts, options: &options, expressions, is_ptx };
        let permit = Permit::wait();
        let output = run(self.nvrtc, &job, program);
        drop(permit);
        let output = output.map_err(|failure| {
            let (path, text) = (
                self.source.path.value.clone(),
                include::with_real_names(program.files, &failure.log),
            );
            match text.contains(NAMES) {
                true => CudaError::Kernels { path, kernels: refused_names(kernels, &text), text },
                false => CudaError::Refused { path, arch, reason: failure.reason, text },
            }
        })?;
        let image =
            Image::read(&format!("{} for {arch}", self.source.path.display()), output.bytes)?;
        for symbol in image::symbols(std::slice::from_ref(&image), &output.symbols) {
            symbol.map_err(|(_, error)| error)?;
        }
        Ok((image, output.symbols, include::with_real_names(program.files, &output.log)))
    }

    fn add(
        &self,
        artifact: &mut CudaArtifact,
        archs: (Arch, Arch),
        kernels: &[String],
        (image, symbols, log): (Image, Vec<String>, String),
    ) -> Result<(), CudaError> {
        if artifact.images.is_empty() {
            artifact.symbols = symbols;
        } else if let Some(at) = (0..symbols.len()).find(|at| artifact.symbols[*at] != symbols[*at])
        {
            let (path, kernel) = (self.source.path.value.clone(), kernels[at].clone());
            return Err(CudaError::Symbol { path, kernel, archs });
        }
        artifact.images.push(image);
        // Most warnings are the same for every architecture.
        if !artifact.log.contains(&log) {
            artifact.log = [&artifact.log, &log[..]].join("\n").trim_start().to_string();
        }
        Ok(())
    }

    fn require_arch(&self, arch: Placed<Arch>) -> Result<(), CudaError> {
        let has = self.nvrtc.archs();
        if has.contains(&arch.number) {
            return Ok(());
        }
        let (path, nvrtc_path) = (self.source.path.value.clone(), self.nvrtc.path.clone());
        Err(CudaError::Arch { path, arch, nvrtc: nvrtc_path, version: self.nvrtc.version, has })
    }

    fn options(&self, arch: Arch, users: &UserOptions) -> Result<Vec<CString>, CudaError> {
        let mut options = vec![format!("--gpu-architecture={arch}").into_bytes()];
        if self.nvrtc.version.0 >= 13 {
            options.push(b"--frandom-seed=kernpack".to_vec());
        }
        if self.nvrtc.version >= WITH_CACHE {
            options.push(b"--no-cache".to_vec());
        }
        if self.source.line_info {
            options.push(b"-lineinfo".to_vec());
        }
        options.extend(
            self.source.define.iter().map(|(name, value)| format!("-D{name}={value}").into_bytes()),
        );
        // No other folders: what is in them was found already.
        for folder in &self.nvrtc.include {
            options.push([b"-I", folder.as_os_str().as_encoded_bytes()].concat());
        }
        options.extend(users.arguments().map(String::into_bytes));
        options.into_iter().map(|option| self.c_string("an option", option)).collect()
    }

    fn c_string(
        &self,
        what: &'static str,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<CString, CudaError> {
        c_string(&self.source.path, what, bytes)
    }
}

/// Compiles. A program that includes nothing is first compiled without what NVRTC declares of
/// CUDA's runtime, which takes less time. One that names something of it is refused soon, and is
/// compiled with all of it then.
fn run(nvrtc: &Nvrtc, job: &Job<'_>, program: &Program<'_>) -> Result<Output, Failure> {
    if nvrtc.version >= WITH_MINIMAL && !program.has_includes() {
        let options = [job.options, &[c"--minimal".to_owned()]].concat();
        if let Ok(output) = nvrtc.compile(&Job { options: &options, ..*job }) {
            return Ok(output);
        }
    }
    nvrtc.compile(job)
}

/// The files of a source, and their names and texts as NVRTC wants them. The first is the source
/// itself.
struct Program<'a> {
    files: &'a [File],
    options: &'a UserOptions,
    texts: Vec<Header>,
}

impl<'a> Program<'a> {
    fn new(walk: &'a Walk<'_, '_>, options: &'a UserOptions) -> Result<Program<'a>, CudaError> {
        let files = walk.files();
        let text = |file: &File| {
            Ok(Header {
                name: c_string(&file.path, "the name", file.name.as_str())?,
                text: c_string(&file.path, "the text", file.text.as_slice())?,
            })
        };
        let alias = |alias: &include::Alias| {
            let text = format!("#include \"{}\"\n", alias.name);
            let path = &files[0].path;
            Ok(Header {
                name: c_string(path, "the name of a header", alias.spelled.as_str())?,
                text: c_string(path, "the name of a header", text)?,
            })
        };
        let texts = files.iter().map(text).chain(walk.aliases().iter().map(alias));
        Ok(Program { files, options, texts: texts.collect::<Result<_, CudaError>>()? })
    }

    /// Whether the source includes a file, be it one of CUDA's.
    fn has_includes(&self) -> bool {
        use include::Use;
        let is_include = |named: &include::Named| {
            matches!(named.usage, Use::Include | Use::IncludeNext | Use::IncludeMacro)
        };
        !self.options.included.is_empty()
            || include::names(&self.files[0].text).iter().any(is_include)
    }
}

fn c_string(
    path: &Path,
    what: &'static str,
    bytes: impl Into<Vec<u8>>,
) -> Result<CString, CudaError> {
    CString::new(bytes).map_err(|_| CudaError::Nul { path: path.to_path_buf(), what })
}

/// The names that NVRTC refused: those that its messages show, or all where it shows them
/// otherwise.
fn refused_names(names: &[String], messages: &str) -> Vec<String> {
    let shown = messages.lines().filter_map(|line| line.trim().strip_prefix(NAME));
    let shown: Vec<_> = names.iter().filter(|name| shown.clone().any(|it| it == *name)).collect();
    match shown[..] {
        [] => names.to_vec(),
        _ => shown.into_iter().cloned().collect(),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

fn numbers(archs: &[u32]) -> String {
    let archs: Vec<_> = archs.iter().map(|number| format!("sm_{number}")).collect();
    archs.join(", ")
}
