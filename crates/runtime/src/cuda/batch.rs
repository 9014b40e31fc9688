// SPDX-License-Identifier: Apache-2.0
//! Generated code's batches as slices: the launches of a batch, and the attributes of one.

use core::ptr;
use core::slice;

use crate::interface::layout::{Batch, KernelLaunch, LaunchAttribute, LaunchConfig};

impl Batch {
    /// The launches.
    pub(super) fn launches(&self) -> &[KernelLaunch] {
        let first: *const KernelLaunch = ptr::from_ref(self).wrapping_add(1).cast();
        // SAFETY: they lie behind it.
        unsafe { slice::from_raw_parts(first, self.n_launches as usize) }
    }
}

impl LaunchConfig {
    /// The attributes.
    pub(super) fn attributes(&self) -> &[LaunchAttribute] {
        match self.n_attributes as usize {
            0 => &[],
            // SAFETY: the configuration has as many attributes as it says.
            n => unsafe { slice::from_raw_parts(self.attributes, n) },
        }
    }
}
