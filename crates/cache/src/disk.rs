// SPDX-License-Identifier: Apache-2.0
//! Every operation of the cache on files, and nothing else: each may fail, and tests make each of
//! them fail in turn (`fault`).

use rustix::fs::{
    FlockOperation, Mode, OFlags, StatVfsMountFlags, Timespec, Timestamps, UTIME_OMIT,
};
use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(test)]
pub(crate) mod fault;

/// Where tests have an operation fail.
fn seam() -> io::Result<()> {
    #[cfg(test)]
    fault::strike()?;
    Ok(())
}

/// Opening a FIFO, or whatever else is no file, does not wait.
const AT_ONCE: i32 = OFlags::NONBLOCK.bits() as i32;

/// Reads a whole file. What else is there is an error.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    seam()?;
    let mut file = OpenOptions::new().read(true).custom_flags(AT_ONCE).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file that is not there yet, for its user alone.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    seam()?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = file?;
    seam()?;
    file.write_all(bytes)
}

/// Makes a folder, and those above it, for its user alone. That it is there already is no error.
pub fn make_folder(path: &Path) -> io::Result<()> {
    seam()?;
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a folder that is not there yet.
pub fn make_new_folder(path: &Path) -> io::Result<()> {
    seam()?;
    DirBuilder::new().mode(0o700).create(path)
}

/// The metadata of a file or folder, links being followed.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    seam()?;
    path.metadata()
}

/// The paths in a folder.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    seam()?;
    std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// Gives a file or folder another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    seam()?;
    std::fs::rename(from, to)
}

/// Removes a file.
pub fn remove_file(path: &Path) -> io::Result<()> {
    seam()?;
    std::fs::remove_file(path)
}

/// Removes a folder and all that is in it.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    seam()?;
    std::fs::remove_dir_all(path)
}

/// Whether a loader can load the file from there: programs may hand paths on as text alone, and
/// file systems may forbid that what they hold is run.
pub fn can_load(path: &Path) -> bool {
    let is_forbidden = rustix::fs::statvfs(path)
        .is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC));
    path.to_str().is_some() && !is_forbidden
}

/// Opens a folder, to lock it.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    seam()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Locks what was opened, together with others or alone, without waiting. The lock belongs to what
/// was opened, and so to forked children too.
pub fn try_lock(file: &OwnedFd, is_alone: bool) -> io::Result<()> {
    seam()?;
    let operation = match is_alone {
        true => FlockOperation::NonBlockingLockExclusive,
        false => FlockOperation::NonBlockingLockShared,
    };
    Ok(rustix::fs::flock(file, operation)?)
}

/// Opens a file to lock it, and makes it if it is not there.
pub fn open_lock(path: &Path) -> io::Result<OwnedFd> {
    seam()?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(AT_ONCE);
    let file = options.open(path);
    Ok(file?.into())
}

/// Locks a file for this process, without waiting.
pub fn try_lock_for_process(file: &OwnedFd) -> io::Result<()> {
    seam()?;
    Ok(rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Sets the time at which a file was changed.
pub fn set_time(path: &Path, time: SystemTime) -> io::Result<()> {
    seam()?;
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let modified = Timespec { tv_sec: seconds, tv_nsec: since.subsec_nanos().into() };
    let accessed = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let times = Timestamps { last_access: accessed, last_modification: modified };
    let here = rustix::fs::CWD;
    Ok(rustix::fs::utimensat(here, path, &times, rustix::fs::AtFlags::empty())?)
}
