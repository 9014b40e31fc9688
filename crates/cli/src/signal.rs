// SPDX-License-Identifier: Apache-2.0
//! Signals that end the process: Ctrl-C, SIGTERM and SIGHUP. What would be left over is removed
//! first. Then the process ends by the signal itself, so that its parent sees what it expects.

use kernpack_process::leftover;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;

/// Waits for the signals, on a thread of its own.
///
/// # Errors
/// Where the system has no handler or thread to spare.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    // `nohup` and shells that start a job in the background have a signal ignored.
    let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored & bit(*signal) == 0);
    let mut signals = Signals::new(heeded)?;
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // No thread tells of what it misses.
            let _locked = leftover::clear(signal);
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// The signals that the process ignores since it was started, a bit each; none where the system
/// does not say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}
