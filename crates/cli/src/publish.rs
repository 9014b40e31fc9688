// SPDX-License-Identifier: Apache-2.0
//! Writing files whole or not at all: each goes under another name into the same folder first, and
//! takes its own name once all are complete. A reader sees the old file or the new one; a failure
//! leaves the old ones and nothing else.
//!
//! A link stays a link: the file that it leads to is the one that is replaced. What is no file but
//! a device or a FIFO cannot be replaced and is written to, and so are `/dev/stdout` and
//! `/dev/stderr` wherever they go.

use anyhow::{Context, Result, anyhow, bail};
use kernpack_process::leftover::{self, Temporary};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The most links that one path goes through, as the system has it.
const MAX_LINKS: usize = 40;

/// Writes files, all or none.
///
/// # Errors
/// The path that cannot be written, and why.
pub fn publish(files: &[(&Path, &[u8])]) -> Result<()> {
    let (special, replaced): (Vec<_>, Vec<_>) =
        files.iter().partition(|(path, _)| is_special(path));
    let mut staged = Vec::new();
    let mut destinations: Vec<(PathBuf, &Path)> = Vec::new();
    for (path, bytes) in replaced {
        let destination = destination(path).with_context(|| cannot_write(path))?;
        let mut others = destinations.iter();
        if let Some((_, other)) = others.find(|(other, _)| is_one_place(other, &destination)) {
            let other: &Path = other;
            bail!("cannot write `{}`: it is the file `{}`, too", path.display(), other.display());
        }
        staged.push(stage(&destination, bytes).with_context(|| cannot_write(path))?);
        destinations.push((destination, path));
    }
    for (path, bytes) in special {
        let written = match stream(path) {
            Some(1) => io::stdout().write_all(bytes),
            Some(_) => io::stderr().write_all(bytes),
            None => std::fs::write(path, bytes),
        };
        written.with_context(|| cannot_write(path))?;
    }
    leftover::settle(staged, |staged: Vec<NamedTempFile>| {
        for (file, (destination, path)) in staged.into_iter().zip(destinations) {
            let published = file.persist(destination).map_err(|error| error.error);
            published.with_context(|| cannot_write(path))?;
        }
        Ok(())
    })
}

/// That there is a folder for the file.
///
/// # Errors
/// Where there is none: the help says what to do.
pub fn require_folder(path: &Path, help: &str) -> Result<()> {
    let Some(folder) = folder(path) else { return Ok(()) };
    match folder.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder.display();
            Err(anyhow!("there is no folder `{folder}`; {help}"))
        }
        _ => Ok(()),
    }
    .with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", path.display())
}

/// The folder that a path names, if it names one.
fn folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// A path, and where each link leads, one after the other.
fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::successors(Some(path.to_path_buf()), |path| {
        let next = std::fs::read_link(path).ok()?;
        Some(folder(path).unwrap_or(Path::new("")).join(next))
    })
}

/// Where links lead from a path, also where nothing is there yet.
fn destination(path: &Path) -> io::Result<PathBuf> {
    match links(path).take(MAX_LINKS + 1).enumerate().last() {
        Some((n_links, path)) if n_links < MAX_LINKS => Ok(path),
        _ => Err(io::Error::other("too many links")),
    }
}

/// Whether two paths are one file, also where nothing is there yet.
fn is_one_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = folder(path).unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some((folder, path.file_name()?.to_os_string()))
    };
    a == b || place(a).is_some_and(|a| Some(a) == place(b))
}

/// Whether a path leads to a device, a FIFO or a socket, or is one of our own streams.
fn is_special(path: &Path) -> bool {
    stream(path).is_some()
        || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The number of our own stream that a path is a name of, wherever that goes.
fn stream(path: &Path) -> Option<u32> {
    let own = PathBuf::from(format!("/proc/{}/fd", std::process::id()));
    links(path).take(MAX_LINKS).find_map(|path| {
        let number = path.file_name()?.to_str()?.parse().ok()?;
        let is_ours = matches!(number, 1 | 2) && path.parent()?.canonicalize().ok()? == own;
        is_ours.then_some(number)
    })
}

/// A complete file beside its destination; it is removed when dropped.
fn stage(path: &Path, bytes: &[u8]) -> Result<Temporary<NamedTempFile>> {
    if path.is_dir() {
        bail!("it is a folder");
    }
    let folder = folder(path).unwrap_or(Path::new("."));
    // Opened here so that the file gets the permissions that the user's umask leaves.
    let open = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let make = || Builder::new().prefix(".kernpack-").make_in(folder, open);
    let mut staged = Temporary::new(make)?;
    staged.made_mut().as_file_mut().write_all(bytes)?;
    Ok(staged)
}
