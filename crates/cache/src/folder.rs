// SPDX-License-Identifier: Apache-2.0
//! Whether a folder may be used: what lies in a cache is loaded and run, so that nobody else may
//! put anything there.

use crate::disk;
use crate::warning::Remark;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Those of a file's permissions by which others may write.
const WRITABLE: u32 = 0o022;

/// Makes the folder of a cache, if it is not there, for its user alone.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn make(path: &Path) -> Result<(), Remark> {
    let unused = |reason: &str| {
        Remark::unused(
            path,
            reason,
            "set KERNPACK_CACHE_DIR to a folder of your own, or KERNPACK_CACHE=off",
        )
    };
    let cannot = |reason: io::Error| unused(&reason.to_string());
    let metadata = match disk::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk::make_folder(path).map_err(cannot)?;
            disk::metadata(path).map_err(cannot)?
        }
        known => known.map_err(cannot)?,
    };
    if !metadata.is_dir() {
        return Err(unused("it is no folder"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(unused(&format!("it belongs to user {}", metadata.uid())));
    }
    match is_writable_by_others(&metadata) {
        true => Err(Remark::unused(
            path,
            "others may write there",
            &format!("take that away: chmod go-w '{}'", path.display()),
        )),
        false => Ok(()),
    }
}

/// Whether what lies in a folder was put there by root or by this user, and by nobody else: the
/// folder and all above it belong to them, and others cannot write there. That they may not remove
/// what is not theirs, as in `/tmp`, is not enough.
///
/// # Errors
/// Why not.
pub(crate) fn trust(path: &Path) -> Result<(), Remark> {
    let unused = |reason: &str| {
        Remark::unused(
            path,
            reason,
            "give it and all folders above it to root or to you, and take from others the right to write there, or unset KERNPACK_CACHE_READONLY",
        )
    };
    let whole = path.canonicalize().map_err(|reason| unused(&reason.to_string()))?;
    for folder in whole.ancestors() {
        let metadata = disk::metadata(folder).map_err(|reason| unused(&reason.to_string()))?;
        if let Some(reason) = distrust(&metadata) {
            return Err(unused(&format!("`{}` {reason}", folder.display())));
        }
    }
    Ok(())
}

/// Why a file or folder itself is not to be trusted, if it is not.
pub(crate) fn distrust(metadata: &Metadata) -> Option<String> {
    let owner = metadata.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(format!("belongs to user {owner}"));
    }
    is_writable_by_others(metadata).then(|| "may be written by others".to_string())
}

fn is_writable_by_others(metadata: &Metadata) -> bool {
    metadata.mode() & WRITABLE != 0
}
