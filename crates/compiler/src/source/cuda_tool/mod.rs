// SPDX-License-Identifier: Apache-2.0
//! A library or a program of NVIDIA's toolkit: where it is found.
//!
//! It is looked for at run time. A library in this order:
//!
//! 1. the file that its own variable names, and then nowhere else;
//! 2. `lib64` and `lib` of the folders in `CUDA_HOME` and `CUDA_PATH`;
//! 3. its wheel in the Python environment of `KERNPACK_PYTHON`, then of `VIRTUAL_ENV`;
//! 4. wherever the loader looks;
//! 5. `/usr/local/cuda*/lib64`.
//!
//! And a program, which others bring copies of:
//!
//! 1. the file that its own variable names, and then nowhere else;
//! 2. its wheel in those Python environments;
//! 3. `bin` of the folders in `CUDA_HOME` and `CUDA_PATH`, `/usr/local/cuda*/bin`, and `PATH`;
//! 4. the copies in those Python environments.
//!
//! Not here: which of them there are, how they are called, and what becomes of it.

#[macro_use]
mod function;
mod loaded;
mod loader;

pub(super) use loaded::keep_loaded;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// A place where it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place: a variable, a folder or a file.
    pub place: String,
    /// Why it is not there.
    pub reason: String,
}

/// The library or program that is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct CudaTool {
    /// Which of the two it is.
    pub form: Form,
    /// The variable that names its file.
    pub variable: &'static str,
    /// Its names, the newest first, and last the one without a version.
    pub files: &'static [&'static str],
    /// The folders of its wheels below `site-packages`, the newest first.
    pub wheels: &'static [&'static str],
}

/// A library or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A library, which is loaded.
    Library,
    /// A program, which is run.
    Program {
        /// The folders below `site-packages` in which other packages have a copy.
        copies: &'static [&'static str],
    },
}

/// A step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A variable that would have named a place.
    Unset(&'static str),
    /// The file that the user named.
    Named(PathBuf),
    /// A folder that may have it.
    Folder(PathBuf),
    /// The folders of `PATH`.
    Path(&'static str),
    /// A bare name, for the loader.
    Loader(&'static str),
}

/// Has a file loaded or run, or says why it cannot be.
type Load<'a, T> = &'a dyn Fn(&OsStr) -> Result<T, String>;

impl CudaTool {
    /// Looks for it and loads it.
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

    /// The file that would be tried first, whether or not it is right; nothing where there is none.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let mut places = self.places_here().into_iter();
        match places.next() {
            Some(Place::Named(path)) => self.existing(&path),
            _ => places.find_map(|place| self.file_at(&place)),
        }
    }

    fn open_at<T>(&self, place: &Place, load: Load<'_, T>) -> Result<T, Vec<Tried>> {
        let load =
            |file: &OsStr| load(file).map_err(|reason| tried(&file.to_string_lossy(), &reason));
        match place {
            Place::Unset(name) => Err(vec![tried(name, "is not set")]),
            Place::Named(path) if self.form == Form::Library => {
                load(path.as_os_str()).map_err(|miss| vec![miss])
            }
            Place::Named(path) => match self.existing(path) {
                Some(file) => load(file.as_os_str()).map_err(|miss| vec![miss]),
                None => Err(vec![tried(&path.display().to_string(), "is not there")]),
            },
            Place::Loader(name) => load(OsStr::new(name)).map_err(|miss| vec![miss]),
            Place::Path(name) => match on_path(name) {
                Some(file) => load(file.as_os_str()).map_err(|miss| vec![miss]),
                None => Err(vec![tried("PATH", &format!("has no {name}"))]),
            },
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
            Place::Named(path) => self.existing(path),
            Place::Loader(name) => loader::find(name),
            Place::Path(name) => on_path(name),
            Place::Folder(folder) => self.files_in(folder).next(),
        }
    }

    /// A file that is there. A bare name is found as its form is.
    fn existing(&self, path: &Path) -> Option<PathBuf> {
        match (path.to_str().filter(|name| !name.contains('/')), self.form) {
            (Some(name), Form::Library) => loader::find(name),
            (Some(name), Form::Program { .. }) => on_path(name),
            (None, _) => path.is_file().then(|| path.to_path_buf()),
        }
    }

    /// The files of its names that are in a folder.
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
        let named = set(self.variable).map_or(Place::Unset(self.variable), Place::Named);
        let homes = |folders: &[&str]| {
            let of_home = |name| match set(name) {
                Some(home) => folders.iter().map(|it| Place::Folder(home.join(it))).collect(),
                None => vec![Place::Unset(name)],
            };
            ["CUDA_HOME", "CUDA_PATH"].map(of_home).concat()
        };
        let python = set("KERNPACK_PYTHON").map(|python| environment_of(&python));
        let roots = [("KERNPACK_PYTHON", python), ("VIRTUAL_ENV", set("VIRTUAL_ENV"))];
        let wheels = |folders: &[&str]| {
            let of_root = |(name, root): &(&'static str, Option<PathBuf>)| match root {
                Some(root) => in_packages(root, folders).into_iter().map(Place::Folder).collect(),
                None => vec![Place::Unset(name)],
            };
            roots.iter().flat_map(of_root).collect::<Vec<_>>()
        };
        let toolkits = |folder| {
            let toolkits = matching(local, "cuda").into_iter().rev();
            toolkits.map(move |toolkit| Place::Folder(toolkit.join(folder))).collect()
        };
        let steps = match self.form {
            Form::Library => {
                let loader = self.files.iter().copied().map(Place::Loader).collect();
                vec![homes(&["lib64", "lib"]), wheels(self.wheels), loader, toolkits("lib64")]
            }
            Form::Program { copies } => {
                let path = self.files.iter().copied().map(Place::Path).collect();
                let copies = wheels(copies);
                vec![wheels(self.wheels), homes(&["bin"]), toolkits("bin"), path, copies]
            }
        };
        let mut places = vec![named];
        for place in steps.into_iter().flatten() {
            // What is not set is told once.
            if !(matches!(place, Place::Unset(_)) && places.contains(&place)) {
                places.push(place);
            }
        }
        places
    }
}

/// These folders below `site-packages` of an environment.
fn in_packages(root: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let packages = matching(&root.join("lib"), "python3").into_iter();
    let packages: Vec<_> = packages.map(|folder| folder.join("site-packages")).collect();
    // An environment without packages is named too, as a place where nothing is.
    let packages = if packages.is_empty() { vec![root.to_path_buf()] } else { packages };
    let below = |package: &PathBuf| folders.iter().map(|it| package.join(it)).collect();
    packages.iter().flat_map::<Vec<_>, _>(below).collect()
}

/// The first file of that name in a folder of `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
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
