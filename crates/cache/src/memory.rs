// SPDX-License-Identifier: Apache-2.0
//! Files that have a path and lie in no folder: memory that the system shows as a file, for
//! packages that cannot be on a disk or must not.
//!
//! A loader goes by the path first: what it has loaded from a path it takes for what the same path
//! leads to now. The number of an open file is given out again, so that each path has a way of
//! spelling its slashes that no other had before.

use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

static N_MADE: AtomicU32 = AtomicU32::new(0);

/// A file in memory that nobody can change.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
    number: u32,
}

impl MemoryFile {
    /// A file of these bytes.
    pub fn new(bytes: &[u8]) -> io::Result<MemoryFile> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(rustix::fs::memfd_create("kernpack", flags)?);
        file.write_all(bytes)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        Ok(MemoryFile { file: file.into(), number: N_MADE.fetch_add(1, Ordering::Relaxed) })
    }

    /// A path that leads to it in this process and in forked children, as long as it is open.
    pub fn path(&self) -> PathBuf {
        let slash = |bit| if self.number >> bit & 1 == 1 { "/." } else { "/" };
        let slashes: String = (0..u32::BITS).map(slash).collect();
        PathBuf::from(format!("/proc/self/fd{slashes}/{}", self.file.as_raw_fd()))
    }
}
