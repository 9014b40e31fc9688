// SPDX-License-Identifier: Apache-2.0
//! What the compiler writes into a package about its GPU code.

use core::ffi::{c_char, c_void};

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
    /// As in `sm_90` and `compute_90`: 90.
    pub(super) arch: u32,
    pub(super) class: u32,
}

/// What an image runs on, worst first.
pub(super) mod class {
    /// PTX: devices of that capability and later ones.
    pub(in super::super) const PTX: u32 = 0;
    /// Devices of the same major capability and the same or a later minor one.
    pub(in super::super) const PLAIN: u32 = 1;
    /// Like that, with what the family has beyond.
    pub(in super::super) const FAMILY: u32 = 2;
    /// Devices of exactly that capability.
    pub(in super::super) const EXACT: u32 = 3;
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
    pub(super) fn best_image(&self, major: u32, minor: u32) -> Option<&Image> {
        // SAFETY: the compiler writes as many as it counts.
        let images = unsafe { core::slice::from_raw_parts(self.images, self.n_images as usize) };
        let running = images.iter().filter(|image| image.runs_on(major, minor));
        running.max_by_key(|image| image.rank())
    }
}

impl Image {
    fn runs_on(&self, major: u32, minor: u32) -> bool {
        let (own_major, own_minor) = (self.arch / 10, self.arch % 10);
        match self.class {
            class::PTX => self.arch <= 10 * major + minor,
            class::PLAIN | class::FAMILY => own_major == major && own_minor <= minor,
            _ => self.arch == 10 * major + minor,
        }
    }

    /// Native code comes before PTX; then the higher architecture, and the more special.
    fn rank(&self) -> (bool, u32, u32) {
        (self.class != class::PTX, self.arch, self.class)
    }
}
