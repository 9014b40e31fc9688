// SPDX-License-Identifier: Apache-2.0
//! What the compiler writes into a package about its GPU code.

use core::ffi::{c_char, c_void};

use crate::arch::{ArchCode, best};

/// A package's GPU code.
#[repr(C)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: *const c_char,
    pub(super) modules: *const Module,
    pub(super) n_modules: u64,
    pub(super) kernels: *const Kernel,
    pub(super) n_kernels: u64,
}

/// The same kernels for several devices.
#[repr(C)]
pub(super) struct Module {
    pub(super) images: *const Image,
    pub(super) n_images: u64,
    /// What they are for, for messages: `sm_90a, compute_80`.
    pub(super) archs: *const c_char,
}

/// Code for one kind of device.
#[repr(C)]
pub(super) struct Image {
    pub(super) data: *const c_void,
    pub(super) arch: ArchCode,
}

/// A kernel.
#[repr(C)]
pub(super) struct Kernel {
    pub(super) name: *const c_char,
    /// The number of its module.
    pub(super) module: u64,
}

unsafe extern "C" {
    /// The one of the package that this object is part of.
    static kernpack_cuda_package: Package;
}

impl Package {
    /// The package that this code is part of.
    pub(super) fn own() -> &'static Package {
        // SAFETY: the compiler defines it, and nothing writes to it.
        unsafe { &kernpack_cuda_package }
    }

    /// The module of that number, which the package has.
    pub(super) fn module(&self, number: usize) -> &Module {
        // SAFETY: the compiler writes as many as it counts.
        unsafe { &*self.modules.add(number) }
    }

    /// The kernel of that number, which the package has.
    pub(super) fn kernel(&self, number: usize) -> &Kernel {
        // SAFETY: the compiler writes as many as it counts.
        unsafe { &*self.kernels.add(number) }
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
