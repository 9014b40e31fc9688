// SPDX-License-Identifier: Apache-2.0
//! Reading what the command line names: never without end.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a text.
const MAX_TEXT: u64 = 16 << 20;

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

/// The bytes of a file, a device or a FIFO.
///
/// # Errors
/// Where it cannot be read, or has no end in sight.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let whole = || read_whole(File::open(path)?);
    whole().with_context(|| format!("cannot read `{}`", path.display()))
}

/// The bytes of the standard input.
///
/// # Errors
/// As [`read`].
pub fn read_stdin() -> Result<Vec<u8>> {
    read_whole(io::stdin().lock()).context("cannot read the standard input")
}

fn read_whole(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TEXT {
        bail!("it has more than {} MiB", MAX_TEXT >> 20);
    }
    Ok(bytes)
}
