// SPDX-License-Identifier: Apache-2.0
//! Launching again what a prepared call has launched through a graph, where it passes the same each
//! time: the short way. Nothing is written down, and nothing compared with what the graph has.
//!
//! Where anything is not as it was, the short way is not gone, and the call is
//! [submitted](super::submit) as ever.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::choice::Way;
use super::graph::Executable;
use super::kept::Slot;
use super::place::Place;
use super::state::Area;
use super::submit::TIMED;

unsafe extern "C" {
    fn TVMFFIEnvGetStream(device_type: i32, device: i32) -> *mut c_void;
}

/// `kDLCUDA`
const CUDA: i32 = 2;

/// The head of a prepared call.
#[repr(C)]
pub(super) struct Again {
    /// Where its executable was last; NULL before it had one.
    slot: AtomicPtr<Slot>,
    /// Whether it passes the same each time, on the environment's stream.
    is_same: bool,
}

impl Again {
    pub(super) fn new(is_same: bool) -> Again {
        Again { slot: AtomicPtr::new(ptr::null_mut()), is_same }
    }

    /// Remembers where the executable is that has been launched for the prepared call.
    #[inline(always)]
    pub(super) fn remember(&self, slot: &'static Slot) {
        if self.is_same {
            self.slot.store(ptr::from_ref(slot).cast_mut(), Ordering::Relaxed);
        }
    }

    /// Launches again. Whether that was done.
    #[inline(always)]
    pub(super) fn go(&self) -> bool {
        // SAFETY: it is NULL, or the area's.
        let slot: Option<&'static Slot> = unsafe { self.slot.load(Ordering::Relaxed).as_ref() };
        let (Some(slot), Some((area, _))) = (slot, Area::ready()) else { return false };
        // Those that are timed are submitted.
        if (slot.count() + 1).is_multiple_of(TIMED) {
            return false;
        }
        let Some(taken) = slot.take() else { return false };
        // SAFETY: it was taken out.
        let is_launched = unsafe { taken.as_mut() }.is_some_and(|taken| self.launch(area, taken));
        slot.put(taken);
        if is_launched {
            slot.note_use();
        }
        is_launched
    }

    #[inline(always)]
    fn launch(&self, area: Area, taken: &mut Executable) -> bool {
        let device = taken.device;
        // SAFETY: it is asked for a number.
        let stream = unsafe { TVMFFIEnvGetStream(CUDA, device) };
        let device = device as usize;
        let now = area.learned(device).choice(taken.has_several()).now();
        let is_as_before = ptr::eq(taken.owner.cast(), self) && taken.stream == stream;
        let calls = area.graph_calls();
        let has_failed = area.asserts(device).is_some_and(|seen| seen.has_failed());
        is_as_before
            && !has_failed
            && now.way() == Way::Graph
            && !now.is_trial()
            && Place { area, device, stream }.id(calls) == Some(taken.id)
            && taken.launch_again(calls)
    }
}
