// SPDX-License-Identifier: Apache-2.0
//! Programs that the benchmarks need: gcc, and a Python that has tvm_ffi.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this crate, which has the C and Python files.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Python that the environment names, else the one of `.venv`.
pub fn python() -> PathBuf {
    let named = std::env::var_os("KERNPACK_PYTHON").map(PathBuf::from);
    named.unwrap_or_else(|| folder().join("../.venv/bin/python"))
}

/// The output of a command.
///
/// # Errors
/// Where it cannot be run, or fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{errors}");
    Ok(String::from_utf8(output.stdout)?.trim().to_string())
}

/// The folder of the installed tvm_ffi: it has `include` and `lib`.
///
/// # Errors
/// Where Python has none.
pub fn tvm_ffi() -> Result<PathBuf> {
    let script = "import pathlib, tvm_ffi; print(pathlib.Path(tvm_ffi.__file__).parent)";
    output(Command::new(python()).args(["-c", script])).map(PathBuf::from)
}

/// Compiles a C file to an object, as a package's C sources are.
///
/// # Errors
/// Where gcc refuses it.
pub fn compile_object(source: &Path, object: &Path) -> Result<()> {
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-c"]);
    output(gcc.arg(source).arg("-o").arg(object)).map(drop)
}

/// Compiles `reference.c` to a shared object with the kernels of an object, with the headers of an
/// [installed tvm_ffi](tvm_ffi).
///
/// # Errors
/// Where gcc refuses it.
pub fn compile_reference(tvm_ffi: &Path, kernels: &Path, shared: &Path) -> Result<()> {
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I"]);
    gcc.arg(tvm_ffi.join("include")).arg(folder().join("reference.c")).arg(kernels);
    output(gcc.arg("-o").arg(shared)).map(drop)
}
