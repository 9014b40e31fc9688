// SPDX-License-Identifier: Apache-2.0
//! Opening what the command line names: never without end.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::path::Path;

/// Opens a file on a disk.
///
/// # Errors
/// Where there is none, or where it is a folder, or a device or a FIFO, which may be without end.
pub fn open(path: &Path) -> Result<File> {
    let open = || {
        let metadata = path.metadata()?;
        if metadata.is_dir() {
            bail!("it is a folder");
        }
        if !metadata.is_file() {
            bail!("it is no file, but a device, a FIFO or a socket");
        }
        Ok(File::open(path)?)
    };
    open().with_context(|| format!("cannot read `{}`", path.display()))
}
