// SPDX-License-Identifier: Apache-2.0
//! NVRTC, NVIDIA's compiler for CUDA C++ as a library: where it is found.
//!
//! It is looked for at run time, in this order:
//!
//! 1. the file that `KERNPACK_NVRTC` names, and then nowhere else;
//! 2. `lib64` and `lib` of the folders in `CUDA_HOME` and `CUDA_PATH`;
//! 3. the wheel `nvidia-cuda-nvrtc` in the Python environment of `KERNPACK_PYTHON`, then of
//!    `VIRTUAL_ENV`;
//! 4. wherever the loader looks;
//! 5. `/usr/local/cuda*/lib64`.
//!
//! The headers of CUDA are those beside the library, where there are some: `include` of a toolkit
//! or of the wheels nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl, which share a folder
//! with it. No GPU and no driver is needed. Not here: what is compiled, and how.

mod library;
mod loader;

pub(crate) use library::{Failure, Header, Job, Output};

use super::identity::Identity;
use library::Functions;
use std::ffi::{OsStr, OsString};
use std::fmt;
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

/// A place where NVRTC is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place: a variable, a folder or a file.
    pub place: String,
    /// Why it is not there.
    pub reason: String,
}

/// The names of the library, the newest first.
const FILES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
/// Folders of the wheels below `site-packages`, of CUDA 13 and of CUDA 12.
const WHEELS: &[&str] = &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];
/// Folders of headers, seen from the library's: of a toolkit and the wheels of CUDA 13, and of the
/// wheels of CUDA 12.
const HEADERS: &[&str] =
    &["../include", "../include/cccl", "../../cuda_runtime/include", "../../cuda_cccl/include"];

/// A step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A variable that would have named a place.
    Unset(&'static str),
    /// The file that the user named.
    Named(PathBuf),
    /// A folder that may have the library.
    Folder(PathBuf),
    /// A bare name, for the loader.
    Loader(&'static str),
}

impl Nvrtc {
    /// Looks for NVRTC and loads it.
    ///
    /// # Errors
    /// Where there is none that works. The error lists every place.
    pub fn find() -> Result<Nvrtc, NvrtcError> {
        let mut tried = Vec::new();
        for place in places(&|name| std::env::var_os(name), Path::new("/usr/local")) {
            match place.open() {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(misses) => tried.extend(misses),
            }
            if let Place::Named(_) = place {
                break;
            }
        }
        Err(NvrtcError { tried })
    }

    /// Loads this file.
    ///
    /// # Errors
    /// Where it cannot be loaded or is no NVRTC.
    pub fn open(path: &Path) -> Result<Nvrtc, NvrtcError> {
        Place::Named(path.to_path_buf()).open().map_err(|tried| NvrtcError { tried })
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

impl Place {
    /// Loads NVRTC from there, or says where it is not.
    fn open(&self) -> Result<Nvrtc, Vec<Tried>> {
        match self {
            Place::Unset(name) => Err(vec![tried(name, "is not set")]),
            Place::Named(path) => load(path.as_os_str()).map_err(|miss| vec![miss]),
            Place::Loader(name) => load(OsStr::new(name)).map_err(|miss| vec![miss]),
            Place::Folder(folder) => {
                let files = FILES.iter().map(|name| folder.join(name));
                let mut misses = Vec::new();
                for file in files.filter(|file| file.exists()) {
                    match load(file.as_os_str()) {
                        Ok(nvrtc) => return Ok(nvrtc),
                        Err(miss) => misses.push(miss),
                    }
                }
                if misses.is_empty() {
                    misses.push(tried(&folder.display().to_string(), "has no libnvrtc.so"));
                }
                Err(misses)
            }
        }
    }
}

/// The identity of the NVRTC that CUDA C++ would be compiled with, which is not loaded for it;
/// nothing where there is none. CUDA's headers belong to it.
pub fn identity() -> Option<Identity> {
    let mut places = places(&|name| std::env::var_os(name), Path::new("/usr/local")).into_iter();
    let file = match places.next() {
        Some(Place::Named(path)) => existing(&path)?,
        _ => places.find_map(|place| place.file())?,
    };
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

/// A file that is there. A bare name is the loader's to find.
fn existing(path: &Path) -> Option<PathBuf> {
    match path.to_str() {
        Some(name) if !name.contains('/') => loader::find(name),
        _ => path.is_file().then(|| path.to_path_buf()),
    }
}

impl Place {
    /// The file of NVRTC that is there, whether or not it can be loaded.
    fn file(&self) -> Option<PathBuf> {
        match self {
            Place::Unset(_) => None,
            Place::Named(path) => existing(path),
            Place::Loader(name) => loader::find(name),
            Place::Folder(folder) => {
                let mut files = FILES.iter().map(|name| folder.join(name));
                files.find(|file| file.exists())
            }
        }
    }
}

/// The places, in order. `variable` is the environment, and `local` is `/usr/local`.
fn places(variable: &dyn Fn(&str) -> Option<OsString>, local: &Path) -> Vec<Place> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut places =
        vec![set("KERNPACK_NVRTC").map_or(Place::Unset("KERNPACK_NVRTC"), Place::Named)];
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        match set(name) {
            Some(home) => places.extend(["lib64", "lib"].map(|lib| Place::Folder(home.join(lib)))),
            None => places.push(Place::Unset(name)),
        }
    }
    let python = set("KERNPACK_PYTHON").map(|python| environment_of(&python));
    for (name, root) in [("KERNPACK_PYTHON", python), ("VIRTUAL_ENV", set("VIRTUAL_ENV"))] {
        match root {
            Some(root) => places.extend(wheels(&root).into_iter().map(Place::Folder)),
            None => places.push(Place::Unset(name)),
        }
    }
    places.extend(FILES.iter().copied().map(Place::Loader));
    let toolkits = matching(local, "cuda").into_iter().rev();
    places.extend(toolkits.map(|toolkit| Place::Folder(toolkit.join("lib64"))));
    places
}

/// The environment in whose `bin` an interpreter lies.
fn environment_of(python: &Path) -> PathBuf {
    python.parent().and_then(Path::parent).unwrap_or(Path::new("")).to_path_buf()
}

/// The folders in which an environment's wheels have the library.
fn wheels(root: &Path) -> Vec<PathBuf> {
    let packages = matching(&root.join("lib"), "python3").into_iter();
    let packages: Vec<_> = packages.map(|folder| folder.join("site-packages")).collect();
    // An environment without packages is named too, as a place where nothing is.
    let packages = if packages.is_empty() { vec![root.to_path_buf()] } else { packages };
    packages.iter().flat_map(|folder| WHEELS.iter().map(|wheel| folder.join(wheel))).collect()
}

/// What a folder has whose names begin so, in the order of the names.
fn matching(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let matches = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut paths: Vec<_> = matches.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn load(file: &OsStr) -> Result<Nvrtc, Tried> {
    let miss = |reason: String| tried(&file.to_string_lossy(), &reason);
    let functions = Functions::open(file).map_err(miss)?;
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
    if let Ok(library) = library::keep_loaded(file.as_os_str()) {
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

fn tried(place: &str, reason: &str) -> Tried {
    Tried { place: place.to_string(), reason: reason.to_string() }
}

/// One place a line.
struct Lines<'a>(&'a [Tried]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Tried { place, reason }| write!(f, "\n  {place}: {reason}"))
    }
}

#[cfg(test)]
mod tests;
