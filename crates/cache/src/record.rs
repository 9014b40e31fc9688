// SPDX-License-Identifier: Apache-2.0
//! The dependencies of one compilation, and the entry that came of it.
//!
//! A [`Record`] is a small file under the key of its request. Whether its entry may be used where
//! something is wanted are two questions: whether all is as it was (`Record::changes`), and whether
//! the entry has the code that is wanted (`Record::lacks`).

mod path;

pub(crate) use self::path::StoredPath;
use crate::memo;
use crate::request::{Kind, Wanted, digest, hex};
use crate::warning::Stored;
use kernpack_compiler::source::assembler::AssemblerKind;
use kernpack_compiler::source::c_compiler::{self, Found};
use kernpack_compiler::source::identity::Identity;
use kernpack_compiler::source::{nvjitlink, nvrtc, ptxas};
use kernpack_compiler::{CudaCode, GpuCompiler};
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::{InputFile, Target};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The dependencies of one compilation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the entry.
    pub(crate) entry: String,
    /// The name of the package.
    package: String,
    kind: Kind,
    cuda: Vec<Cuda>,
    inputs: Vec<Input>,
    missed: Vec<StoredPath>,
    /// The folder that the process worked in, where that decides what is found.
    #[serde(default)]
    directory: Option<StoredPath>,
    c_compiler: Option<String>,
    nvrtc: Option<String>,
    #[serde(default)]
    nvjitlink: Option<String>,
    #[serde(default)]
    ptxas: Option<String>,
    pub(crate) warnings: Vec<Stored>,
    /// The warnings of what stays as it is where architectures are asked for.
    pub(crate) kept: Vec<Stored>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Input {
    path: StoredPath,
    sha256: String,
    /// Whether it came with the C compiler.
    is_compilers: bool,
}

/// The code that a CUDA C++ file became, or a file of kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cuda {
    #[serde(default)]
    is_kernel: bool,
    is_arch_written: bool,
    archs: Vec<String>,
    /// Whether PTX takes the place of machine code, as there was no ptxas.
    #[serde(default)]
    is_unassembled: bool,
}

/// The compilers that would be used now, each looked for when it is asked for first.
#[derive(Debug)]
pub(crate) struct Compilers {
    target: &'static Target,
    c: OnceCell<Found>,
    nvrtc: OnceCell<Option<Identity>>,
    nvjitlink: OnceCell<Option<Identity>>,
    ptxas: OnceCell<Option<Identity>>,
}

impl Compilers {
    /// Those for that target.
    pub fn of(target: &'static Target) -> Compilers {
        #[cfg(test)]
        if let Some((c, nvrtc)) = crate::tests::pretended() {
            let c = c.map_or(Found::Nothing, Found::Compiler);
            let (c, nvrtc) = (OnceCell::from(c), OnceCell::from(nvrtc));
            let (nvjitlink, ptxas) = (OnceCell::new(), OnceCell::new());
            return Compilers { target, c, nvrtc, nvjitlink, ptxas };
        }
        let (c, nvrtc) = (OnceCell::new(), OnceCell::new());
        let (nvjitlink, ptxas) = (OnceCell::new(), OnceCell::new());
        Compilers { target, c, nvrtc, nvjitlink, ptxas }
    }

    /// The C compiler, on one line.
    pub fn c(&self) -> Option<String> {
        match self.c_found() {
            Found::Compiler(identity) => Some(identity.to_string()),
            Found::NotThere(_) | Found::Nothing => None,
        }
    }

    fn c_found(&self) -> &Found {
        self.c.get_or_init(|| c_compiler::found(self.target))
    }

    /// The C compiler that is named and is not there, unless it is the one of a record.
    fn other_c_named(&self, known: &str) -> Option<String> {
        let Found::NotThere(named) = self.c_found() else { return None };
        // The line begins with the path.
        let known = Path::new(known.split("; ").next().unwrap_or_default());
        let is_it = match named.components().nth(1) {
            None => known.file_name() == Some(named.as_os_str()),
            Some(_) => known == named,
        };
        (!is_it).then(|| format!("{} (not found)", named.display()))
    }

    /// NVRTC, on one line.
    pub fn nvrtc(&self) -> Option<String> {
        self.nvrtc.get_or_init(nvrtc::identity).as_ref().map(Identity::to_string)
    }

    /// nvJitLink, on one line.
    pub fn nvjitlink(&self) -> Option<String> {
        self.nvjitlink.get_or_init(nvjitlink::identity).as_ref().map(Identity::to_string)
    }

    /// ptxas, on one line.
    pub fn ptxas(&self) -> Option<String> {
        self.ptxas.get_or_init(ptxas::identity).as_ref().map(Identity::to_string)
    }
}

/// A compilation that is done, for its record.
#[derive(Debug)]
pub(crate) struct Done<'d> {
    pub entry: String,
    pub package: &'d str,
    pub kind: Kind,
    pub cuda: &'d [CudaCode],
    pub inputs: &'d [InputFile],
    pub missed: &'d [PathBuf],
    /// Whether the folder that the process works in decides what is found.
    pub is_local: bool,
    /// The compilers as they were before it.
    pub compilers: &'d Compilers,
    /// Whether a C file is among the sources.
    pub has_c: bool,
    pub warnings: Vec<Stored>,
    pub kept: Vec<Stored>,
}

impl Record {
    /// The record of a compilation with that base.
    pub(crate) fn of(done: Done<'_>, base: &Path) -> Record {
        let compilers = done.compilers;
        let is_by = |compiler| done.cuda.iter().any(|code| code.compiler == compiler);
        let is_assembled = |by| done.cuda.iter().any(|code| code.assemblers.contains(&by));
        let cuda = done.cuda.iter().map(|code| Cuda {
            is_kernel: code.compiler == GpuCompiler::Assembler,
            is_arch_written: code.is_arch_written,
            archs: code.archs.iter().map(Arch::to_string).collect(),
            is_unassembled: code.is_unassembled,
        });
        let inputs = done.inputs.iter().map(|file| Input {
            path: StoredPath::of(&file.path, base),
            sha256: hex(&file.digest),
            is_compilers: file.is_compilers,
        });
        Record {
            entry: done.entry,
            package: done.package.to_string(),
            kind: done.kind,
            cuda: cuda.collect(),
            inputs: inputs.collect(),
            missed: done.missed.iter().map(|path| StoredPath::of(path, base)).collect(),
            directory: done.is_local.then(|| StoredPath::of(Path::new(""), base)),
            c_compiler: done.has_c.then(|| compilers.c()).flatten(),
            nvrtc: is_by(GpuCompiler::Nvrtc).then(|| compilers.nvrtc()).flatten(),
            nvjitlink: is_assembled(AssemblerKind::NvJitLink)
                .then(|| compilers.nvjitlink())
                .flatten(),
            ptxas: is_assembled(AssemblerKind::Ptxas).then(|| compilers.ptxas()).flatten(),
            warnings: done.warnings,
            kept: done.kept,
        }
    }

    /// Its bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it has strings and numbers only")
    }

    /// Reads the bytes of a record that has their digest as its name.
    pub(crate) fn decode(bytes: &[u8], name: &str) -> Option<Record> {
        (digest(bytes) == name).then(|| serde_json::from_slice(bytes).ok())?
    }

    /// The name of the package.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The architectures that code was compiled for, each once.
    pub fn archs(&self) -> Vec<Arch> {
        let mut archs = Vec::new();
        for arch in self.cuda.iter().flat_map(Cuda::archs) {
            if !archs.contains(&arch) {
                archs.push(arch);
            }
        }
        archs
    }

    /// The files that were read, in order, with paths that start at `base` as those of the package
    /// file do.
    pub fn inputs(&self, base: &Path) -> Vec<PathBuf> {
        self.inputs.iter().map(|input| input.path.at(base)).collect()
    }

    /// The reason why something is not as it was, which ends a sentence; nothing where all is.
    pub(crate) fn changes(&self, base: &Path, compilers: &Compilers) -> Option<String> {
        if let Some(directory) = self.directory.as_ref().map(|directory| directory.at(base))
            && !is_current(&directory)
        {
            let was = std::path::absolute(&directory).unwrap_or(directory);
            return Some(format!(
                "its options name paths from the working directory, which was `{}`",
                was.display()
            ));
        }
        if self.nvrtc.is_some()
            && let Some(now) = compilers.nvrtc().filter(|now| Some(now) != self.nvrtc.as_ref())
        {
            return Some(other_compiler("NVRTC", self.nvrtc.as_deref(), &now));
        }
        if self.nvjitlink.is_some()
            && let Some(now) =
                compilers.nvjitlink().filter(|now| Some(now) != self.nvjitlink.as_ref())
        {
            return Some(other_compiler("nvJitLink", self.nvjitlink.as_deref(), &now));
        }
        if let Some(reason) = self.other_ptxas(compilers) {
            return Some(reason);
        }
        let has_c = match &self.c_compiler {
            None => false,
            Some(known) => {
                let now = compilers.c();
                let other = now.clone().filter(|now| now != known);
                if let Some(other) = other.or_else(|| compilers.other_c_named(known)) {
                    return Some(other_compiler("the C compiler", Some(known), &other));
                }
                now.is_some()
            }
        };
        // Without the compiler, its headers may have gone too.
        let files = self.inputs.iter().filter(|input| has_c || !input.is_compilers);
        let mut changes = files.filter_map(|input| input.change(base));
        changes.next().or_else(|| {
            let found = self.appeared(base)?;
            Some(format!("`{}` has appeared, and is found before what was read", found.display()))
        })
    }

    /// The reason where ptxas is another one, or there is one now.
    fn other_ptxas(&self, compilers: &Compilers) -> Option<String> {
        let is_unassembled = self.cuda.iter().any(|code| code.is_unassembled);
        if self.ptxas.is_none() && !is_unassembled {
            return None;
        }
        let now = compilers.ptxas().filter(|now| Some(now) != self.ptxas.as_ref())?;
        Some(other_compiler("ptxas", self.ptxas.as_deref(), &now))
    }

    /// A file that was missed, and is there now. Each folder is looked for once: many files are
    /// missed in a few folders that are not there themselves.
    fn appeared(&self, base: &Path) -> Option<PathBuf> {
        // The empty path is the current folder.
        let mut folders = HashMap::from([(PathBuf::new(), true)]);
        let mut is_folder = |folder: &Path| match folders.get(folder) {
            Some(is_folder) => *is_folder,
            None => *folders.entry(folder.to_path_buf()).or_insert(folder.is_dir()),
        };
        let mut paths = self.missed.iter().map(|path| path.at(base));
        paths.find(|path| path.parent().is_none_or(&mut is_folder) && path.is_file())
    }

    /// Whether none of the compilers is there that made its GPU code, or would make machine code of
    /// it.
    pub(crate) fn is_of_the_past(&self, compilers: &Compilers) -> bool {
        self.cuda.iter().all(|code| match code.is_kernel {
            true => compilers.nvjitlink().is_none(),
            false => compilers.nvrtc().is_none(),
        })
    }

    /// The code that is wanted and that its entry has not; nothing where it has all. With
    /// `is_ptx_enough`, a device may also have PTX compiled by the driver.
    pub(crate) fn lacks(&self, wanted: &Wanted, is_ptx_enough: bool) -> Option<String> {
        let is_any_enough =
            matches!(wanted, Wanted::Devices(none) if none.is_empty() && is_ptx_enough);
        if wanted.kind() == Kind::Written && !is_any_enough {
            let other = "it was compiled for other architectures than the text says";
            return (self.kind != Kind::Written).then(|| other.to_string());
        }
        match wanted {
            Wanted::Written => None,
            Wanted::Archs(_) if self.cuda.is_empty() => {
                Some("none of its sources is CUDA C++ or a kernel file".to_string())
            }
            Wanted::Archs(archs) => {
                // Among code for a caller's choice, what is written is a launch's, and stays.
                let is_chosen = |code: &&Cuda| self.kind != Kind::Archs || !code.is_arch_written;
                let chosen = self.cuda.iter().filter(is_chosen);
                let mut lacking =
                    archs.iter().filter(|arch| chosen.clone().any(|code| !code.has(**arch)));
                lacking.next().map(|arch| self.without(*arch))
            }
            Wanted::Devices(devices) => {
                let settled = self.cuda.iter().filter(|code| {
                    // The text's choice is for all devices; a caller's is code like other.
                    self.kind == Kind::Archs || !code.is_arch_written
                });
                let mut lacking = devices.iter().filter(|device| {
                    settled.clone().any(|code| !code.runs_on(**device, is_ptx_enough))
                });
                lacking.next().map(|device| self.without(*device))
            }
        }
    }

    fn without(&self, arch: Arch) -> String {
        let archs: Vec<_> = self.archs().iter().map(Arch::to_string).collect();
        format!("it has code for {}, and none for {arch}", archs.join(", "))
    }
}

impl Cuda {
    fn archs(&self) -> impl Iterator<Item = Arch> {
        self.archs.iter().filter_map(|arch| arch.parse().ok())
    }

    /// Whether there is code for an architecture, or what takes its place.
    fn has(&self, arch: Arch) -> bool {
        let is_in_its_place = |own| self.is_unassembled && own == arch.compute();
        self.archs().any(|own| own == arch || is_in_its_place(own))
    }

    fn runs_on(&self, device: Arch, is_ptx_enough: bool) -> bool {
        let (major, minor) = (device.number / 10, device.number % 10);
        let mut archs = self.archs();
        archs.any(|arch| {
            (is_ptx_enough || self.is_unassembled || arch.kind == ArchKind::Sm)
                && arch.code().runs_on(major, minor)
        })
    }
}

impl Input {
    /// The change of the file, if there was one.
    fn change(&self, base: &Path) -> Option<String> {
        let path = self.path.at(base);
        match memo::digest_of(&path) {
            Ok(digest) if hex(&digest) == self.sha256 => None,
            Ok(_) => Some(format!("`{}` has changed", path.display())),
            Err(reason) => Some(format!("`{}` cannot be read: {reason}", path.display())),
        }
    }
}

/// Whether a folder is the one that the process works in.
fn is_current(folder: &Path) -> bool {
    let here = Path::new(".");
    let folder = if folder.as_os_str().is_empty() { here } else { folder };
    matches!((folder.canonicalize(), here.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn other_compiler(what: &str, was: Option<&str>, is: &str) -> String {
    format!("{what} is another one: it was `{}`, and is `{is}`", was.unwrap_or("none"))
}

#[cfg(test)]
mod tests;
