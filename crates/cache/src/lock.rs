// SPDX-License-Identifier: Apache-2.0
//! Leave to compile: of all threads and processes that want the same, one has it.
//!
//! Among processes it is a record lock of POSIX on a file, which the system gives back when its
//! process ends, however it does, and which forked children do not have. Such a lock knows no
//! threads, and closing the file anywhere in the process gives it up: so at most one thread has the
//! file open, which the table here sees to. That one is of atomic numbers, as a lock would stay
//! locked in a child that is forked while another thread holds it.
//!
//! There is a fixed number of such files, which stay. Two requests that share one wait for each
//! other for nothing, which is rare and does no harm.

use crate::disk;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::request::Key;
use rustix::process::{Flock, FlockType, fcntl_getlk};
use sha2::{Digest, Sha256};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How many files there are.
const N_SHARDS: usize = 4096;
/// How long to wait before looking again, first and at most.
const STEPS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// The process whose thread has a file open, at a place for each cache and file: this one, or one
/// that this was forked from.
static HOLDERS: [AtomicU32; N_SHARDS] = [const { AtomicU32::new(0) }; N_SHARDS];

/// Leave to compile, until it is dropped.
#[derive(Debug)]
pub(crate) struct Leave {
    /// The lock, which goes first.
    file: Option<OwnedFd>,
    /// Its place in the table.
    holder: &'static AtomicU32,
}

impl Leave {
    /// Waits for it. Where the file cannot be locked, other processes are not waited for.
    pub fn wait(folder: &Path, key: Key, observer: &dyn Observer) -> Result<Leave, Failure> {
        let shard = key.shard(N_SHARDS);
        // Other caches have other files.
        let folder_digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let place = usize::from(u16::from_le_bytes([folder_digest[0], folder_digest[1]])) + shard;
        let holder = &HOLDERS[place % N_SHARDS];
        let own = std::process::id();
        wait_until(observer, || take(holder, own).map_err(|()| own))?;
        // From here on the table is cleared however this ends.
        let mut leave = Leave { file: None, holder };
        let Ok(()) = disk::make_folder(folder) else { return Ok(leave) };
        let Ok(file) = disk::open_lock(&folder.join(format!("{shard:03x}"))) else {
            return Ok(leave);
        };
        let mut is_locked = false;
        wait_until(observer, || match disk::try_lock_for_process(&file) {
            Ok(()) => {
                is_locked = true;
                Ok(())
            }
            Err(error) if is_held(&error) => Err(holder_of(&file)),
            Err(_) => Ok(()),
        })?;
        leave.file = Some(file).filter(|_| is_locked);
        Ok(leave)
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        drop(self.file.take());
        self.holder.store(0, Ordering::Release);
    }
}

/// Enters this process into the table, unless it stands there.
fn take(holder: &AtomicU32, own: u32) -> Result<(), ()> {
    let known = holder.load(Ordering::Relaxed);
    if known == own {
        return Err(());
    }
    // Another number was left by the process that this one was forked from.
    let taken = holder.compare_exchange(known, own, Ordering::Acquire, Ordering::Relaxed);
    taken.map(|_| ()).map_err(|_| ())
}

/// Whether another process has the lock.
fn is_held(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::WouldBlock
}

/// The process that has the lock; 0 where that cannot be seen.
fn holder_of(file: &OwnedFd) -> u32 {
    let lock = fcntl_getlk(file, &Flock::from(FlockType::WriteLock));
    let pid = lock.ok().flatten().and_then(|lock| lock.pid);
    pid.map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// Waits until `attempt` does not say by whom it is kept from it.
fn wait_until(
    observer: &dyn Observer,
    mut attempt: impl FnMut() -> Result<(), u32>,
) -> Result<(), Failure> {
    let [mut step, longest] = STEPS;
    let mut told = None;
    while let Err(pid) = attempt() {
        if told != Some(pid) {
            observer.waiting(pid);
            told = Some(pid);
        }
        if observer.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        sleep(step);
        step = (step * 2).min(longest);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, Silent};
    use std::cell::Cell;

    struct Impatient(Cell<u32>);

    impl Observer for Impatient {
        fn waiting(&self, pid: u32) {
            self.0.set(pid);
        }
        fn is_cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn one_thread_has_it_and_others_may_give_up() {
        let folder = tempfile::tempdir().unwrap();
        let key = Request::new("a", "text of this test", Path::new("")).key();
        let leave = Leave::wait(folder.path(), key, &Silent).unwrap();
        assert!(leave.file.is_some());
        let observer = Impatient(Cell::new(0));
        let refused = Leave::wait(folder.path(), key, &observer);
        assert!(matches!(refused, Err(Failure::Cancelled)));
        assert_eq!(observer.0.get(), std::process::id());
        drop(leave);
        drop(Leave::wait(folder.path(), key, &observer).unwrap());
    }

    #[test]
    fn what_a_parent_left_in_the_table_does_not_count() {
        let holder = AtomicU32::new(1);
        assert_eq!(take(&holder, 2), Ok(()));
        assert_eq!(take(&holder, 2), Err(()));
        holder.store(0, Ordering::Relaxed);
        assert_eq!(take(&holder, 2), Ok(()));
    }

    #[test]
    fn without_a_place_for_the_file_threads_still_wait() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        std::fs::write(&place, "").unwrap();
        let key = Request::new("a", "text of that test", Path::new("")).key();
        let leave = Leave::wait(&place, key, &Silent).unwrap();
        assert!(leave.file.is_none());
        let observer = Impatient(Cell::new(0));
        assert!(Leave::wait(&place, key, &observer).is_err());
    }
}
