// SPDX-License-Identifier: Apache-2.0
//! Operations that fail because a test says so, on the thread that says it.

use std::cell::Cell;
use std::io;

thread_local! {
    /// How many operations succeed before the next fails, and with which error of the system.
    static PLAN: Cell<Option<(usize, i32, bool)>> = const { Cell::new(None) };
    static N_STRUCK: Cell<usize> = const { Cell::new(0) };
}

/// Has the n-th operation of `work` fail, or with `forever` that and all behind it. Returns what
/// the work does, and how many operations failed.
pub fn during<T>(n: usize, error: i32, forever: bool, work: impl FnOnce() -> T) -> (T, usize) {
    PLAN.set(Some((n, error, forever)));
    N_STRUCK.set(0);
    let result = work();
    PLAN.set(None);
    (result, N_STRUCK.get())
}

/// Counts an operation.
pub(super) fn strike() -> io::Result<()> {
    match PLAN.get() {
        None => Ok(()),
        Some((0, error, forever)) => {
            PLAN.set(forever.then_some((0, error, forever)));
            N_STRUCK.set(N_STRUCK.get() + 1);
            Err(io::Error::from_raw_os_error(error))
        }
        Some((n, error, forever)) => {
            PLAN.set(Some((n - 1, error, forever)));
            Ok(())
        }
    }
}
