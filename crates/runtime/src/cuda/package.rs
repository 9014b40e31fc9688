// SPDX-License-Identifier: Apache-2.0
//! The description of its GPU code that the compiler writes into a package.

use crate::arch::best;
use crate::interface::layout::{Image, Kernel, Module, Package};

unsafe extern "C" {
    /// The one of the package that this object is part of.
    static kernpack_cuda_package: Package;
}

/// The package that this code is part of.
pub(super) fn own() -> &'static Package {
    // SAFETY: the compiler defines it, and nothing writes to it.
    unsafe { &kernpack_cuda_package }
}

impl Package {
    /// The module of that number, which the package has.
    pub(super) fn module(&self, number: usize) -> &Module {
        let module = self.modules.wrapping_add(number);
        // SAFETY: the compiler writes as many as it counts.
        unsafe { &*module }
    }

    /// The kernel of that number, which the package has.
    pub(super) fn kernel(&self, number: usize) -> &Kernel {
        let kernel = self.kernels.wrapping_add(number);
        // SAFETY: the compiler writes as many as it counts.
        unsafe { &*kernel }
    }
}

impl Module {
    /// The image that runs best on a device of that compute capability.
    pub(super) fn best_image(&self, capability: (u32, u32)) -> Option<&Image> {
        // SAFETY: the compiler writes as many as it counts.
        let images = unsafe { core::slice::from_raw_parts(self.images, self.n_images as usize) };
        best(images.iter().map(|image| (image.arch, image)), capability)
    }
}
