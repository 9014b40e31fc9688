// SPDX-License-Identifier: Apache-2.0
//! The files that a build script makes: the functions and the archive of a package, in `OUT_DIR`.
//! Both are made in a folder of their own first and take their names when they are complete, so
//! that a build that fails, or is ended, leaves the old ones.

use crate::archive::archive;
use crate::object_file::ObjectFile;
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The packages that this build script has made: the file with the functions, and what they were
/// made from.
static MADE: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
/// How many folders this process has made, so that no two threads share one.
static N_FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// The files of a package.
#[derive(Debug)]
pub struct Outputs {
    /// The functions.
    pub functions: PathBuf,
    /// The archive.
    pub archive: PathBuf,
}

/// A folder for files that are not complete. It is removed when dropped.
#[derive(Debug)]
pub struct Scratch<'o> {
    /// Where complete files go.
    pub out: &'o Path,
    folder: PathBuf,
}

impl Scratch<'_> {
    /// Makes the folder. One that a process left which was ended makes place for it.
    pub fn new(out: &Path) -> Result<Scratch<'_>, Problem> {
        let number = N_FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = out.join(format!(".kernpack-{number}"));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Problem::file("remove the folder", &folder))?;
        }
        fs::create_dir(&folder).map_err(Problem::file("make the folder", &folder))?;
        Ok(Scratch { out, folder })
    }

    /// Where the object goes.
    pub fn object(&self) -> PathBuf {
        self.folder.join("package.o")
    }

    /// Where the functions go.
    pub fn functions(&self) -> PathBuf {
        self.folder.join("package.rs")
    }

    /// Makes the archive and gives both files their names. `from` is what the package was made
    /// from.
    ///
    /// # Errors
    /// Where another package has the names already.
    pub fn publish(&self, object: &ObjectFile, from: &Path) -> Result<Outputs, Problem> {
        let name = &object.record.package;
        let staged = self.folder.join("package.a");
        let bytes = archive(&format!("{name}.o"), &object.bytes);
        let bytes = bytes.map_err(Problem::file("make the archive", &staged))?;
        fs::write(&staged, bytes).map_err(Problem::file("write", &staged))?;
        let functions = self.out.join(format!("{name}.rs"));
        let archive = self.out.join(format!("lib{}.a", library(name)));

        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = made.get(&functions) {
            let [first, second] = [first, from].map(|path| path.display().to_string());
            return Err(Problem::Twice { name: name.clone(), first, second });
        }
        rename(&staged, &archive)?;
        rename(&self.functions(), &functions)?;
        made.insert(functions.clone(), from.to_path_buf());
        Ok(Outputs { functions, archive })
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // What stays is removed by the next build.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The name of a package's archive, as linkers have it.
pub fn library(package: &str) -> String {
    format!("kernpack_{package}")
}

fn rename(from: &Path, to: &Path) -> Result<(), Problem> {
    fs::rename(from, to).map_err(Problem::file("write", to))
}
