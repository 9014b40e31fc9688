// SPDX-License-Identifier: Apache-2.0
//! A library of NVIDIA's toolkit: where it is found.
//!
//! It is looked for at run time, in this order:
//!
//! 1. the file that its own variable names, and then nowhere else;
//! 2. `lib64` and `lib` of the folders in `CUDA_HOME` and `CUDA_PATH`;
//! 3. its wheel in the Python environment of `KERNPACK_PYTHON`, then of `VIRTUAL_ENV`;
//! 4. wherever the loader looks;
//! 5. `/usr/local/cuda*/lib64`.
//!
//! Not here: which libraries there are, what is called in them, and what becomes of it.

#[macro_use]
mod function;
mod loaded;
mod loader;

pub(super) use loaded::keep_loaded;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// A place where a library is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place: a variable, a folder or a file.
    pub place: String,
    /// Why it is not there.
    pub reason: String,
}

/// The library that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct CudaLibrary {
    /// The variable that names its file.
    pub variable: &'static str,
    /// Its names, the newest first, and last the one without a version.
    pub files: &'static [&'static str],
    /// The folders of its wheels below `site-packages`, the newest first.
    pub wheels: &'static [&'static str],
}

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

/// Has a file loaded, or says why it cannot be.
type Load<'a, T> = &'a dyn Fn(&OsStr) -> Result<T, String>;

impl CudaLibrary {
    /// Looks for the library and loads it.
    ///
    /// # Errors
    /// Where there is none that `load` takes: every place.
    pub(super) fn find<T>(&self, load: Load<'_, T>) -> Result<T, Vec<Tried>> {
        self.find_at(&self.places_here(), load)
    }

    fn find_at<T>(&self, places: &[Place], load: Load<'_, T>) -> Result<T, Vec<Tried>> {
        let mut tried = Vec::new();
        for place in places {
            match self.open_at(place, load) {
                Ok(library) => return Ok(library),
                Err(misses) => tried.extend(misses),
            }
            if let Place::Named(_) = place {
                break;
            }
        }
        Err(tried)
    }

    /// Loads this file.
    ///
    /// # Errors
    /// Where `load` does not take it.
    pub(super) fn open<T>(&self, path: &Path, load: Load<'_, T>) -> Result<T, Vec<Tried>> {
        self.open_at(&Place::Named(path.to_path_buf()), load)
    }

    /// The file that would be loaded, whether or not it can be; nothing where there is none.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let mut places = self.places_here().into_iter();
        match places.next() {
            Some(Place::Named(path)) => existing(&path),
            _ => places.find_map(|place| self.file_at(&place)),
        }
    }

    fn open_at<T>(&self, place: &Place, load: Load<'_, T>) -> Result<T, Vec<Tried>> {
        let load =
            |file: &OsStr| load(file).map_err(|reason| tried(&file.to_string_lossy(), &reason));
        match place {
            Place::Unset(name) => Err(vec![tried(name, "is not set")]),
            Place::Named(path) => load(path.as_os_str()).map_err(|miss| vec![miss]),
            Place::Loader(name) => load(OsStr::new(name)).map_err(|miss| vec![miss]),
            Place::Folder(folder) => {
                let mut misses = Vec::new();
                for file in self.files_in(folder) {
                    match load(file.as_os_str()) {
                        Ok(library) => return Ok(library),
                        Err(miss) => misses.push(miss),
                    }
                }
                if misses.is_empty() {
                    let name = self.files.last().copied().unwrap_or_default();
                    misses.push(tried(&folder.display().to_string(), &format!("has no {name}")));
                }
                Err(misses)
            }
        }
    }

    /// The file that is there, whether or not it can be loaded.
    fn file_at(&self, place: &Place) -> Option<PathBuf> {
        match place {
            Place::Unset(_) => None,
            Place::Named(path) => existing(path),
            Place::Loader(name) => loader::find(name),
            Place::Folder(folder) => self.files_in(folder).next(),
        }
    }

    /// The files of the library that are in a folder.
    fn files_in(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|name| folder.join(name)).filter(|file| file.exists())
    }

    /// The places on this machine.
    fn places_here(&self) -> Vec<Place> {
        self.places(&|name| std::env::var_os(name), Path::new("/usr/local"))
    }

    /// The places, in order. `variable` is the environment, and `local` is `/usr/local`.
    fn places(&self, variable: &dyn Fn(&str) -> Option<OsString>, local: &Path) -> Vec<Place> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut places = vec![set(self.variable).map_or(Place::Unset(self.variable), Place::Named)];
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            match set(name) {
                Some(home) => {
                    places.extend(["lib64", "lib"].map(|lib| Place::Folder(home.join(lib))));
                }
                None => places.push(Place::Unset(name)),
            }
        }
        let python = set("KERNPACK_PYTHON").map(|python| environment_of(&python));
        for (name, root) in [("KERNPACK_PYTHON", python), ("VIRTUAL_ENV", set("VIRTUAL_ENV"))] {
            match root {
                Some(root) => {
                    places.extend(self.wheels_in(&root).into_iter().map(Place::Folder));
                }
                None => places.push(Place::Unset(name)),
            }
        }
        places.extend(self.files.iter().copied().map(Place::Loader));
        let toolkits = matching(local, "cuda").into_iter().rev();
        places.extend(toolkits.map(|toolkit| Place::Folder(toolkit.join("lib64"))));
        places
    }

    /// The folders in which an environment's wheels have the library.
    fn wheels_in(&self, root: &Path) -> Vec<PathBuf> {
        let packages = matching(&root.join("lib"), "python3").into_iter();
        let packages: Vec<_> = packages.map(|folder| folder.join("site-packages")).collect();
        // An environment without packages is named too, as a place where nothing is.
        let packages = if packages.is_empty() { vec![root.to_path_buf()] } else { packages };
        let wheels =
            |folder: &PathBuf| self.wheels.iter().map(|wheel| folder.join(wheel)).collect();
        packages.iter().flat_map::<Vec<_>, _>(wheels).collect()
    }
}

/// A file that is there. A bare name is the loader's to find.
fn existing(path: &Path) -> Option<PathBuf> {
    match path.to_str() {
        Some(name) if !name.contains('/') => loader::find(name),
        _ => path.is_file().then(|| path.to_path_buf()),
    }
}

/// The environment in whose `bin` an interpreter lies.
fn environment_of(python: &Path) -> PathBuf {
    python.parent().and_then(Path::parent).unwrap_or(Path::new("")).to_path_buf()
}

/// The files of a folder whose names begin so, in the order of the names.
fn matching(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let matches = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut paths: Vec<_> = matches.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn tried(place: &str, reason: &str) -> Tried {
    Tried { place: place.to_string(), reason: reason.to_string() }
}

/// One place a line.
pub(super) struct Lines<'a>(pub &'a [Tried]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Tried { place, reason }| write!(f, "\n  {place}: {reason}"))
    }
}

#[cfg(test)]
mod tests;
