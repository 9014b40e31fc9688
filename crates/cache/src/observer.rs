// SPDX-License-Identifier: Apache-2.0
//! Whoever waits for a package, and wants to know what for.

/// Is told what takes time, and may end it.
pub trait Observer {
    /// The process of this number compiles the same; 0 where it cannot be seen from here.
    fn waiting(&self, _pid: u32) {}

    /// This process compiles.
    fn compiling(&self) {}

    /// Whether to give up. It is asked again and again while another process is waited for, and
    /// once before anything is compiled.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Waits as long as it takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
