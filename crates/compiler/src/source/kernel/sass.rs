// SPDX-License-Identifier: Apache-2.0
//! Machine code as assembly, by NVIDIA's disassembler, where that is installed.

use kernpack_process::leftover::{self, Temporary};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// Why machine code cannot be shown.
#[derive(Debug, Error)]
pub enum SassError {
    /// There is no disassembler.
    #[error(
        "found no nvdisasm, NVIDIA's disassembler; install the CUDA toolkit or the Python package nvidia-cuda-nvcc, or add its folder to PATH; these were looked for:{}",
        .tried.iter().map(|path| format!("\n  {}", path.display())).collect::<String>()
    )]
    NoDisassembler {
        /// The files that are not there.
        tried: Vec<PathBuf>,
    },
    /// It cannot be run, or refuses the machine code.
    #[error("`{}` {reason}", program.display())]
    Failed {
        /// The disassembler.
        program: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A cubin as assembly, by NVIDIA's `nvdisasm`, which is looked for on `PATH`, in the toolkit of
/// `CUDA_HOME` or `CUDA_PATH`, in the wheels of NVIDIA and Triton in `KERNPACK_PYTHON`'s and
/// `VIRTUAL_ENV`'s environments, and in `/usr/local/cuda`.
///
/// # Errors
/// Where there is none, or it refuses the bytes.
pub fn sass(cubin: &[u8]) -> Result<String, SassError> {
    sass_by(candidates(&|name| std::env::var_os(name)), cubin)
}

/// The same by the first of these programs that is there.
fn sass_by(candidates: Vec<PathBuf>, cubin: &[u8]) -> Result<String, SassError> {
    let Some(program) = candidates.iter().find(|path| path.is_file()).cloned() else {
        return Err(SassError::NoDisassembler { tried: candidates });
    };
    run(&program, cubin).map_err(|reason| SassError::Failed { program, reason })
}

fn run(program: &Path, cubin: &[u8]) -> Result<String, String> {
    let no_file = |error: std::io::Error| format!("gets no file: {error}");
    let folder = Temporary::new(tempfile::tempdir).map_err(no_file)?;
    let file = folder.path().join("code.cubin");
    std::fs::write(&file, cubin).map_err(no_file)?;
    let output = leftover::run(Command::new(program).arg("--print-code").arg(&file));
    let output = output.map_err(|error| format!("cannot be run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            Err(format!("refuses the code: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
    }
}

/// Where the disassembler may be, in order.
fn candidates(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    const NAME: &str = "nvdisasm";
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let path = set("PATH");
    let mut folders: Vec<PathBuf> = path.iter().flat_map(std::env::split_paths).collect();
    folders.extend(
        ["CUDA_HOME", "CUDA_PATH"]
            .iter()
            .filter_map(|name| set(name))
            .map(|home| Path::new(&home).join("bin")),
    );
    let python = set("KERNPACK_PYTHON").map(PathBuf::from);
    let of_python = python.as_deref().and_then(Path::parent).and_then(Path::parent);
    let environment = set("VIRTUAL_ENV").map(PathBuf::from);
    for root in of_python.into_iter().chain(environment.as_deref()) {
        folders.extend(wheels(root));
    }
    folders.push(PathBuf::from("/usr/local/cuda/bin"));
    let mut candidates: Vec<PathBuf> = Vec::new();
    for candidate in folders.into_iter().map(|folder| folder.join(NAME)) {
        if !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    candidates
}

/// The folders of an environment in whose wheels the disassembler may be: NVIDIA's, and Triton's.
fn wheels(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    let packages = entries.map(|entry| entry.path().join("site-packages"));
    let in_package = |package: PathBuf| {
        ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "triton/backends/nvidia/bin"]
            .map(|folder| package.join(folder))
    };
    let mut folders: Vec<_> = packages.flat_map(in_package).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_disassembler_is_looked_for_where_toolkits_are() {
        let root = tempfile::tempdir().expect("a folder");
        let packages = root.path().join("venv/lib/python3.12/site-packages");
        std::fs::create_dir_all(&packages).expect("the folder can be written");
        let venv = root.path().join("venv");
        let variable = |name: &str| match name {
            "PATH" => Some(OsString::from("/one:/two:/one")),
            "CUDA_HOME" => Some(OsString::from("/toolkit")),
            "KERNPACK_PYTHON" => Some(venv.join("bin/python").into_os_string()),
            "VIRTUAL_ENV" => Some(venv.clone().into_os_string()),
            _ => None,
        };
        let packages = packages.display().to_string();
        let shown = candidates(&variable).into_iter().map(|path| path.display().to_string());
        let shown: Vec<_> = shown.map(|path| path.replace(&packages, "packages")).collect();
        let expected = [
            "/one/nvdisasm",
            "/two/nvdisasm",
            "/toolkit/bin/nvdisasm",
            "packages/nvidia/cu13/bin/nvdisasm",
            "packages/nvidia/cuda_nvcc/bin/nvdisasm",
            "packages/triton/backends/nvidia/bin/nvdisasm",
            "/usr/local/cuda/bin/nvdisasm",
        ];
        assert_eq!(shown, expected);
        assert!(candidates(&|_| None).iter().all(|path| path.is_absolute()));
    }

    /// A program of a shell's lines.
    fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("a file of ours");
        path
    }

    #[test]
    fn the_first_program_that_is_there_disassembles() {
        let folder = tempfile::tempdir().expect("a folder");
        let shows = program(folder.path(), "shows", "echo \"$1\"; cat \"$2\"");
        let others = [folder.path().join("none"), shows, folder.path().join("other")];
        let shown = sass_by(others.to_vec(), b"code").expect("it is shown");
        assert_eq!(shown, "--print-code\ncode");
        let refuses = program(folder.path(), "refuses", "echo what it is >&2; exit 3");
        let error = sass_by(vec![refuses.clone()], b"code").expect_err("it refuses");
        let expected = format!("`{}` refuses the code: what it is", refuses.display());
        assert_eq!(error.to_string(), expected);
        let no_program = folder.path().join("no-program");
        std::fs::write(&no_program, "text").expect("it can be written");
        let error = sass_by(vec![no_program.clone()], b"code").expect_err("it is no program");
        let expected = format!("`{}` cannot be run: ", no_program.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }

    #[test]
    fn without_a_program_every_place_is_told() {
        let error = sass_by(vec!["/one/nvdisasm".into(), "/two/nvdisasm".into()], b"code");
        let expected = "found no nvdisasm, NVIDIA's disassembler; install the CUDA toolkit or the \
                        Python package nvidia-cuda-nvcc, or add its folder to PATH; these were \
                        looked for:\n  /one/nvdisasm\n  /two/nvdisasm";
        assert_eq!(error.expect_err("there is none").to_string(), expected);
    }
}
