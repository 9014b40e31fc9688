// SPDX-License-Identifier: Apache-2.0
//! Typed calls from Rust, and packages in build scripts: `typed/` is the crate of a user's.

use crate::figure::{Figure, Target};
use crate::programs;
use crate::series::interleave;
use crate::toolchain;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most milliseconds of a build script's time that a package may take which has not changed.
const UNCHANGED_LIMIT: f64 = 50.0;
/// Cargo compiles the crate each time.
const N_BUILDS: usize = 11;

/// The crate, and what builds it.
struct Crate {
    folder: PathBuf,
    program: PathBuf,
    target: PathBuf,
}

/// Calls on the CPU, and a package whose files were touched.
///
/// # Errors
/// Where the crate cannot be built.
pub fn measure() -> Result<Vec<Figure>> {
    let typed = Crate::new()?;
    let mut figures = programs::printed(&mut typed.cargo("run"))?;
    let times = tempfile::NamedTempFile::new()?;
    let name = "package in a build script, touched but unchanged";
    figures.push(Figure::measure(name, "ms", Target::Most(UNCHANGED_LIMIT), || {
        let touched = || typed.touched(times.path()).expect("it was built before");
        anyhow::Ok(interleave(N_BUILDS, touched, touched))
    })?);
    Ok(figures)
}

impl Crate {
    /// Builds the program `kernpack` for it, as users have it.
    fn new() -> Result<Crate> {
        let release = std::env::current_exe()?;
        let release = release.parent().context("a program is in a folder")?;
        let mut cargo = Command::new("cargo");
        cargo.current_dir(toolchain::folder());
        toolchain::output(cargo.args(["build", "--release", "--quiet", "-p", "kernpack-cli"]))?;
        Ok(Crate {
            folder: toolchain::folder().join("typed"),
            program: release.join("kernpack"),
            target: release.with_file_name("typed"),
        })
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args([command, "--release", "--locked", "--quiet"]);
        cargo.current_dir(&self.folder).arg("--target-dir").arg(&self.target);
        cargo.env("KERNPACK", &self.program);
        cargo
    }

    /// The milliseconds that the build script takes for a package whose file was touched.
    fn touched(&self, times: &Path) -> Result<f64> {
        let package =
            std::fs::File::options().append(true).open(self.folder.join("add_one.toml"))?;
        package.set_modified(std::time::SystemTime::now())?;
        std::fs::write(times, "")?;
        toolchain::output(self.cargo("build").env("KERNPACK_BUILD_MILLISECONDS", times))?;
        let text = std::fs::read_to_string(times)?;
        text.trim().parse().with_context(|| format!("the build script wrote {text:?}"))
    }
}
