// SPDX-License-Identifier: Apache-2.0
//! NVRTC, NVIDIA's compiler for CUDA C++ as a library.
//!
//! It is looked for as every [library of the toolkit](super::cuda_tool) is: the variable is
//! `KERNPACK_NVRTC`, and the wheel nvidia-cuda-nvrtc.
//!
//! The headers of CUDA are those beside the library, where there are some: `include` of a toolkit
//! or of the wheels nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl, which share a folder
//! with it. No GPU and no driver is needed. Not here: what is compiled, and how.

mod library;

pub use super::cuda_tool::Tried;
pub(crate) use library::{Failure, Header, Job, Output};

use super::cuda_tool::{CudaTool, Form, Lines, keep_loaded};
use super::identity::Identity;
use library::Functions;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// NVRTC, loaded.
#[derive(Clone, Debug)]
pub struct Nvrtc {
    /// The file, or the bare name under which the loader found it.
    pub path: PathBuf,
    /// The version of CUDA, major and minor.
    pub version: (u32, u32),
    /// The folders with CUDA's own headers.
    pub include: Vec<PathBuf>,
    functions: Functions,
}

/// There is no NVRTC.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found no NVRTC, the compiler for CUDA C++; install the Python package nvidia-cuda-nvrtc, or set KERNPACK_NVRTC to the path of libnvrtc.so; these places were looked at:{}",
    Lines(.tried)
)]
pub struct NvrtcError {
    /// Every place that was looked at.
    pub tried: Vec<Tried>,
}

/// Where it is looked for.
const LIBRARY: CudaTool = CudaTool {
    form: Form::Library,
    variable: "KERNPACK_NVRTC",
    files: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
    wheels: &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
};
/// Folders of headers, seen from the library's: of a toolkit and the wheels of CUDA 13, and of the
/// wheels of CUDA 12.
const HEADERS: &[&str] =
    &["../include", "../include/cccl", "../../cuda_runtime/include", "../../cuda_cccl/include"];

impl Nvrtc {
    /// Looks for NVRTC and loads it.
    ///
    /// # Errors
    /// Where there is none that works. The error lists every place.
    pub fn find() -> Result<Nvrtc, NvrtcError> {
        LIBRARY.find(&load).map_err(|tried| NvrtcError { tried })
    }

    /// Loads this file.
    ///
    /// # Errors
    /// Where it cannot be loaded or is no NVRTC.
    pub fn open(path: &Path) -> Result<Nvrtc, NvrtcError> {
        LIBRARY.open(path, &load).map_err(|tried| NvrtcError { tried })
    }

    /// The numbers of the architectures that it makes code for, such as 90.
    pub fn archs(&self) -> Vec<u32> {
        self.functions.archs()
    }

    /// Compiles a program.
    pub(crate) fn compile(&self, job: &Job<'_>) -> Result<Output, Failure> {
        self.functions.compile(job)
    }
}

/// The identity of the NVRTC that CUDA C++ would be compiled with, which is not loaded for it;
/// nothing where there is none. CUDA's headers belong to it.
pub fn identity() -> Option<Identity> {
    let file = LIBRARY.file()?;
    let mut identity = Identity::of(&file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let builtins = (0..10)
        .flat_map(|minor| [12, 13].map(|major| format!("libnvrtc-builtins.so.{major}.{minor}")));
    builtins.for_each(|name| identity.and_file(&folder.join(name)));
    for folder in headers(folder) {
        MARKED.iter().for_each(|header| identity.and_file(&folder.join(header)));
    }
    Some(identity)
}

/// Headers that differ between any two versions of CUDA and of its C++ library.
const MARKED: &[&str] =
    &["cuda.h", "cuda_runtime_api.h", "cuda_fp16.h", "cuda/std/__cccl/version.h"];

/// Loads a file, or says why it is no NVRTC.
fn load(file: &OsStr) -> Result<Nvrtc, String> {
    let functions = Functions::open(file)?;
    let path = PathBuf::from(file);
    let version = functions.version();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        load_builtins(folder, version);
    }
    let include = folder.map_or_else(Vec::new, headers);
    Ok(Nvrtc { path, version, include, functions })
}

/// NVRTC opens a second library by its bare name, which the loader finds in a wheel only if it is
/// loaded already. Where there is none, NVRTC says so itself.
fn load_builtins(folder: &Path, (major, minor): (u32, u32)) {
    let file = folder.join(format!("libnvrtc-builtins.so.{major}.{minor}"));
    if let Ok(library) = keep_loaded(file.as_os_str()) {
        std::mem::forget(library);
    }
}

/// Folders of CUDA's headers that belong to a library in this folder.
fn headers(library: &Path) -> Vec<PathBuf> {
    let folders = HEADERS.iter().map(|folder| library.join(folder));
    let folders = folders.filter(|folder| {
        ["cuda_runtime.h", "cuda/std", "nv/target"]
            .iter()
            .any(|header| folder.join(header).exists())
    });
    folders.map(|folder| folder.canonicalize().unwrap_or(folder)).collect()
}

#[cfg(test)]
mod tests;
