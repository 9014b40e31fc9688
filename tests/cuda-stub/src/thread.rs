// SPDX-License-Identifier: Apache-2.0
//! What each thread has of its own: the stack of contexts and the capture mode.

use crate::c_types::CUcontext;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many threads have called so far.
static THREADS: AtomicU64 = AtomicU64::new(0);

/// One thread's state.
#[derive(Debug, Default)]
pub struct Thread {
    /// Its number in the log, from 1 in the order of first calls.
    pub number: u64,
    /// The life of the driver that the rest belongs to.
    life: u16,
    /// The contexts that were made current; the last one is.
    pub stack: Vec<CUcontext>,
    /// What potentially unsafe calls respect: 0 global, 1 thread-local, 2 relaxed.
    pub capture_mode: u32,
}

impl Thread {
    /// The current context.
    pub fn current(&self) -> Option<CUcontext> {
        self.stack.last().copied()
    }

    /// Forgets what belongs to an earlier life of the driver.
    fn enter(&mut self, life: u16) {
        if self.number == 0 {
            self.number = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
        }
        if self.life != life {
            *self = Thread { number: self.number, life, ..Thread::default() };
        }
    }
}

thread_local! {
    // Nothing here is dropped, so that the driver can still be called while its thread or process
    // ends.
    static THREAD: ManuallyDrop<RefCell<Thread>> = ManuallyDrop::default();
}

/// Does something with the calling thread's state.
pub fn with<R>(life: u16, work: impl FnOnce(&mut Thread) -> R) -> R {
    THREAD.with(|thread| {
        let mut thread = thread.borrow_mut();
        thread.enter(life);
        work(&mut thread)
    })
}
