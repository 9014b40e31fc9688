// SPDX-License-Identifier: Apache-2.0
//! Where launches go, and whether a graph may be launched there.

use core::sync::atomic::Ordering;

use super::context::{Current, means_current};
use super::driver::{Context, GraphCalls, Stream};
use super::state::Area;

/// A stream of a device.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) area: Area,
    pub(super) device: usize,
    pub(super) stream: Stream,
}

impl Place {
    /// The stream's identity among others under the same handle: its number, or that of the
    /// device's primary context where it means the current one's. `None` where that context is not
    /// current, or what the stream is given does not run.
    ///
    /// A stream of the program's own may be of another context, which is [asked](Place::context_id)
    /// when it is first seen.
    #[inline(always)]
    pub(super) fn id(self, calls: &GraphCalls) -> Option<u64> {
        let primary = self.primary();
        let driver = self.area.found_driver();
        if primary.is_null() || !Current::ask(driver).is(primary) || !calls.runs(self.stream) {
            return None;
        }
        match means_current(self.stream) {
            true => calls.id_of(primary),
            false => calls.id_of_stream(self.stream),
        }
    }

    /// The number of the device's primary context, which is current, where the stream is of that,
    /// and its kernels have no window of memory.
    #[cold]
    #[inline(never)]
    pub(super) fn context_id(self, calls: &GraphCalls) -> Option<u64> {
        let (stream, primary) = (self.stream, self.primary());
        let driver = self.area.found_driver();
        let is_of_it = means_current(stream) || driver.is_of_context(stream, primary);
        if is_of_it && !calls.has_window(stream) { calls.id_of(primary) } else { None }
    }

    #[inline(always)]
    fn primary(self) -> Context {
        self.area.device(self.device).primary.load(Ordering::Relaxed)
    }
}
