// SPDX-License-Identifier: Apache-2.0
//! The package file, or the kernel file, that a command is given: where it is read from, and what
//! the command line overrules in it.

use crate::Failure;
use crate::failure::NoGpuCode;
use crate::input;
use anyhow::anyhow;
use clap::Args;
use kernpack_cache::{Request, Wanted};
use kernpack_compiler::{Options, check_rest};
use kernpack_machine::Arch;
use kernpack_package::package_file::Reading;
use kernpack_package::{Language, PackageText, Target, WrittenPackage};
use kernpack_syntax::{Diagnostic, Texts, Told};
use std::path::{Path, PathBuf};

/// The arguments of every command that takes a package file.
#[derive(Args, Debug)]
pub struct PackageFile {
    /// The package file, or a file of kernels (.py); `-` is the standard input.
    file: PathBuf,
    /// The standard input is a file of kernels.
    #[arg(long)]
    kernels: bool,
    /// The folder that paths in the package file start at: its own where left out, for `-` the
    /// current one.
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// What to build for; this machine where left out.
    #[arg(long, value_parser = Target::find)]
    target: Option<&'static Target>,
    /// What to compile CUDA C++ and kernels for, such as sm_90a,compute_80, whatever the package
    /// file says.
    #[arg(long, value_name = "ARCHS", value_parser = parse_archs)]
    arch: Option<Archs>,
    /// The signature of a function of a file of kernels that has none, such as "f(x: Tensor([n],
    /// float32))"; what it writes and returns is found. May be given several times.
    #[arg(long, value_name = "SIGNATURE")]
    specs: Vec<String>,
    /// Leave the assertions of kernels out that are made as they run.
    #[arg(long)]
    no_asserts: bool,
    /// Have kernels check their indices as they run: an access outside is skipped and told of.
    #[arg(long)]
    checked: bool,
}

/// Architectures, each once.
#[derive(Clone, Debug)]
struct Archs(Vec<Arch>);

fn parse_archs(text: &str) -> Result<Archs, String> {
    Arch::parse_list(text).map(Archs)
}

impl PackageFile {
    /// The package, and what there is to be said of it so far.
    ///
    /// # Errors
    /// Where the file cannot be read, or does not describe a package: all that is wrong then, also
    /// with the sources of what could be read.
    pub fn read(&self, options: &Options<'_>) -> Result<(WrittenPackage, Told), Failure> {
        let _span = tracing::info_span!("read").entered();
        let (text, mut texts) = (self.text()?, Texts::default());
        let (name, base) = (self.name(), self.base());
        let (language, specs) = (self.language(), self.specs()?);
        let own = PackageText { language, name: &name, text: &text, base, places: &[], specs };
        let mut reading = own.read(&mut texts, options.held);
        if self.no_asserts {
            reading.leave_asserts_out();
        }
        if self.checked {
            reading.check_accesses();
        }
        let warnings = match &self.arch {
            Some(archs) => self.overrule_archs(&mut reading, archs)?,
            None => vec![],
        };
        let told = Told::of(name, texts).and(warnings);
        if reading.problems.has_errors() {
            return Err(Failure::of(told, check_rest(reading, options).into()));
        }
        Ok((reading.package, told))
    }

    /// The package, as the cache is asked for it.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn request(&self) -> Result<Request, Failure> {
        let _span = tracing::info_span!("read").entered();
        let text = self.text()?;
        let archs = self.arch.as_ref().map(|Archs(archs)| Wanted::Archs(archs.clone()));
        Ok(Request {
            archs: archs.unwrap_or(Wanted::Written),
            language: self.language(),
            target: self.target(),
            specs: self.specs()?.to_vec(),
            asserts: !self.no_asserts,
            checked: self.checked,
            ..Request::new(self.name(), text, self.base())
        })
    }

    /// The signatures that the command line gives.
    fn specs(&self) -> Result<&[String], Failure> {
        match self.language() {
            Language::Package | Language::Program if !self.specs.is_empty() => {
                let name = self.name();
                Err(anyhow!("`{name}` is no file of kernels, whose functions `--specs` is for")
                    .into())
            }
            _ => Ok(&self.specs),
        }
    }

    /// The language of the text.
    fn language(&self) -> Language {
        if self.kernels { Language::Kernels } else { Language::of(&self.file) }
    }

    /// The text.
    fn text(&self) -> Result<String, Failure> {
        let bytes = if self.is_stdin() { input::read_stdin() } else { input::read(&self.file) };
        let mut texts = Texts::default();
        match texts.add_bytes(self.name(), bytes?) {
            Ok(id) => Ok(texts.get(id).characters.clone()),
            Err(problem) => Err(Failure::Diagnostics(Told::of(self.name(), texts).and([problem]))),
        }
    }

    /// The error where there is nothing that `--arch` could be for.
    pub fn no_gpu_code(&self) -> NoGpuCode {
        NoGpuCode { name: self.name() }
    }

    /// The architectures that the command line names for kernels.
    pub fn archs(&self) -> &[Arch] {
        self.arch.as_ref().map_or(&[], |Archs(archs)| archs)
    }

    /// The host to build for.
    pub fn target(&self) -> &'static Target {
        self.target.unwrap_or(Target::host())
    }

    /// The files that were read, this one first if it is a file.
    pub fn inputs<'i>(&'i self, others: &'i [PathBuf]) -> impl Iterator<Item = &'i Path> {
        self.path().into_iter().chain(others.iter().map(PathBuf::as_path))
    }

    fn path(&self) -> Option<&Path> {
        (!self.is_stdin()).then_some(&self.file)
    }

    fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// Its name in messages.
    fn name(&self) -> String {
        if self.is_stdin() { "<stdin>".to_string() } else { self.file.display().to_string() }
    }

    /// The folder that paths in it start at.
    pub fn base(&self) -> &Path {
        let own = || self.path().and_then(Path::parent).unwrap_or(Path::new(""));
        self.base.as_deref().unwrap_or_else(own)
    }

    /// Has CUDA C++ compiled for other architectures. What is compiled already stays, which is
    /// said.
    fn overrule_archs(
        &self,
        reading: &mut Reading,
        Archs(archs): &Archs,
    ) -> anyhow::Result<Vec<Diagnostic>> {
        let overruled = reading.overrule_archs(archs);
        if overruled.compiled.is_empty() && !reading.problems.has_errors() {
            return Err(self.no_gpu_code().into());
        }
        let kept = overruled.kept.into_iter().map(|source| {
            let message =
                format!("`{source}` stays as it is: only CUDA C++ and kernel files take `--arch`");
            Diagnostic::warning("kept-code", message).at(source.span)
        });
        Ok(kept.collect())
    }
}
