// SPDX-License-Identifier: Apache-2.0
//! Writing files whole or not at all: each goes under another name into the same folder first, and takes its own name once all are
//! complete. A reader sees the old file or the new one; a failure leaves the old ones and nothing else.

use anyhow::{Context, Result, bail};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Writes files, all or none.
///
/// # Errors
/// The path that cannot be written, and why.
pub fn publish(files: &[(&Path, &[u8])]) -> Result<()> {
    let cannot_write = |path: &Path| format!("cannot write `{}`", path.display());
    let mut staged = Vec::new();
    for (path, bytes) in files {
        staged.push(stage(path, bytes).with_context(|| cannot_write(path))?);
    }
    for (file, (path, _)) in staged.into_iter().zip(files) {
        let published = file.persist(path).map_err(|error| error.error);
        published.with_context(|| cannot_write(path))?;
    }
    Ok(())
}

/// A complete file beside its destination; it is removed when dropped.
fn stage(path: &Path, bytes: &[u8]) -> Result<NamedTempFile> {
    if path.is_dir() {
        bail!("it is a folder");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Opened here so that the file gets the permissions that the user's umask leaves.
    let open = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let mut staged =
        Builder::new().prefix(".kernpack-").make_in(folder.unwrap_or(Path::new(".")), open)?;
    staged.as_file_mut().write_all(bytes)?;
    Ok(staged)
}
