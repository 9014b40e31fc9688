// SPDX-License-Identifier: Apache-2.0
//! The package file that a command is given: where it is read from, and what the command line overrules in it.

use crate::Failure;
use crate::input;
use anyhow::bail;
use clap::Args;
use kernpack_compiler::image::Arch;
use kernpack_compiler::{CompileError, InputFile, Target, Warning, WrittenPackage, package_file};
use kernpack_syntax::Texts;
use std::path::{Path, PathBuf};

/// The arguments of every command that takes a package file.
#[derive(Args, Debug)]
pub struct PackageFile {
    /// The package file; `-` is the standard input.
    file: PathBuf,
    /// The folder that paths in the package file start at: its own where left out, for `-` the current one.
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// What to build for; this machine where left out.
    #[arg(long, value_parser = Target::find)]
    target: Option<&'static Target>,
    /// What to compile CUDA C++ for, such as sm_90a,compute_80, whatever the package file says.
    #[arg(long, value_name = "ARCHS", value_parser = parse_archs)]
    arch: Option<Archs>,
}

/// Architectures, each once.
#[derive(Clone, Debug)]
struct Archs(Vec<Arch>);

fn parse_archs(text: &str) -> Result<Archs, String> {
    let mut archs = Vec::new();
    for name in text.split(',') {
        let arch = name.trim().parse::<Arch>().map_err(|error| error.to_string())?;
        if archs.contains(&arch) {
            return Err(format!("`{arch}` stands there twice"));
        }
        archs.push(arch);
    }
    Ok(Archs(archs))
}

impl PackageFile {
    /// The package, and what there is to say of its sources.
    ///
    /// # Errors
    /// Where the file cannot be read, or does not describe a package.
    pub fn read(&self) -> Result<(WrittenPackage, Vec<Warning>), Failure> {
        let _span = tracing::info_span!("read").entered();
        let text = if self.is_stdin() { input::read_stdin() } else { input::read_text(&self.file) };
        let mut texts = Texts::default();
        let id = texts.add(self.name(), text?);
        let mut package = package_file::parse(texts.snippet(id), self.base())
            .map_err(|problems| Failure::Diagnostics(self.name(), texts, problems))?;
        let warnings = match &self.arch {
            Some(archs) => self.overrule_archs(&mut package, archs)?,
            None => vec![],
        };
        Ok((package, warnings))
    }

    /// What to build for.
    pub fn target(&self) -> &'static Target {
        self.target.unwrap_or(Target::host())
    }

    /// The files that were read, this one first if it is a file.
    pub fn inputs<'i>(&'i self, others: &'i [InputFile]) -> impl Iterator<Item = &'i Path> {
        self.path().into_iter().chain(others.iter().map(|file| &*file.path))
    }

    fn path(&self) -> Option<&Path> {
        (!self.is_stdin()).then_some(&self.file)
    }

    /// Problems say which function of this package file has them.
    pub fn failure(&self, error: CompileError) -> Failure {
        match error {
            CompileError::Problems(problems) => Failure::Problems(self.name(), problems),
            error => error.into(),
        }
    }

    fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// What messages call it.
    fn name(&self) -> String {
        if self.is_stdin() { "<stdin>".to_string() } else { self.file.display().to_string() }
    }

    fn base(&self) -> &Path {
        let own = || self.path().and_then(Path::parent).unwrap_or(Path::new(""));
        self.base.as_deref().unwrap_or_else(own)
    }

    /// Has CUDA C++ compiled for other architectures. What is compiled already stays, which is said.
    fn overrule_archs(
        &self,
        package: &mut WrittenPackage,
        Archs(archs): &Archs,
    ) -> anyhow::Result<Vec<Warning>> {
        let overruled = package.overrule_archs(archs);
        if overruled.compiled.is_empty() {
            bail!(
                "no source of `{}` is CUDA C++, which alone takes `--arch`; leave it out",
                self.name()
            );
        }
        let kept = overruled.kept.into_iter().map(|source| {
            let text = format!("warning: `{source}` stays as it is: only CUDA C++ takes `--arch`");
            Warning { source, text }
        });
        Ok(kept.collect())
    }
}
