// SPDX-License-Identifier: Apache-2.0
//! What a package has found out and loaded: one area of memory, empty at first, and empty again in a forked child.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::driver::{self, Driver, NoDriver, Status};
use super::load::without_capture;
use super::package::Package;
use super::system;

/// Devices are numbered below this.
pub(super) const MAX_DEVICES: usize = 64;

/// The area, once there is one. Each package has a runtime of its own, and so one of these.
static AREA: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());

/// Something that one thread makes while the others sleep.
#[repr(C)]
pub(super) struct Once {
    state: AtomicU32,
    /// How many attempts have failed, and what the last failed with.
    n_failed: AtomicU32,
    failure: AtomicU32,
}

/// What a thread that wants something made finds.
pub(super) enum Turn<'o> {
    /// It is there.
    Done,
    /// This thread is to make it, and to say how that ended.
    Mine(Attempt<'o>),
    /// Another thread tried, and failed with that.
    Failed(Status),
}

/// The right and the duty to make something.
pub(super) struct Attempt<'o>(&'o Once);

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const READY: u32 = 2;

impl Once {
    /// Whether it has been made.
    pub(super) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) == READY
    }

    /// Takes the right to make it, or waits for the thread that has it.
    pub(super) fn turn(&self) -> Turn<'_> {
        let failed_before = self.n_failed.load(Ordering::Acquire);
        loop {
            match self.state.compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire) {
                Err(READY) => return Turn::Done,
                Err(_) => system::sleep_while(&self.state, BUSY),
                Ok(_) if self.n_failed.load(Ordering::Acquire) == failed_before => {
                    return Turn::Mine(Attempt(self));
                }
                Ok(_) => {
                    // Somebody tried meanwhile: that is the answer for all who waited. The next call tries again.
                    let failure = self.failure.load(Ordering::Acquire);
                    system::set_and_wake(&self.state, EMPTY);
                    return Turn::Failed(failure as Status);
                }
            }
        }
    }
}

impl Attempt<'_> {
    /// It is made: everybody may use it.
    pub(super) fn done(self) {
        system::set_and_wake(&self.0.state, READY);
    }

    /// It cannot be made now, for that reason.
    pub(super) fn failed(self, status: Status) {
        self.0.failure.store(status as u32, Ordering::Release);
        self.0.n_failed.fetch_add(1, Ordering::Release);
        system::set_and_wake(&self.0.state, EMPTY);
    }
}

/// The start of the area. Behind it, for each device, a [`Device`], its modules and its kernels.
#[repr(C)]
struct Header {
    found: Once,
    driver: UnsafeCell<MaybeUninit<Driver>>,
}

/// What is known of a device.
#[repr(C)]
pub(super) struct Device {
    /// The primary context, where it was needed.
    pub(super) primary: AtomicPtr<c_void>,
}

/// A module on a device.
#[repr(C)]
pub(super) struct LoadedModule {
    pub(super) once: Once,
    pub(super) library: AtomicPtr<c_void>,
}

/// The area of the package.
#[derive(Clone, Copy)]
pub(super) struct Area(*mut Header);

impl Area {
    /// The area, made by the first who asks. `None` where there is no memory.
    pub(super) fn get() -> Option<Area> {
        let header = AREA.load(Ordering::Acquire);
        Some(Area(if header.is_null() { Area::make()? } else { header }))
    }

    fn make() -> Option<*mut Header> {
        let bytes = Area::bytes();
        let made: *mut Header = system::map_wiped_on_fork(bytes).cast();
        if made.is_null() {
            return None;
        }
        match AREA.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(made),
            Err(theirs) => {
                // SAFETY: nobody has seen this one.
                unsafe { system::unmap(made.cast(), bytes) };
                Some(theirs)
            }
        }
    }

    fn bytes() -> usize {
        size_of::<Header>() + MAX_DEVICES * Area::device_bytes()
    }

    fn device_bytes() -> usize {
        let package = Package::own();
        let modules = package.n_modules as usize * size_of::<LoadedModule>();
        size_of::<Device>() + modules + package.n_kernels as usize * size_of::<AtomicPtr<c_void>>()
    }

    /// The driver, found by the first who asks.
    pub(super) fn driver(&self) -> Result<&'static Driver, NoDriver> {
        // SAFETY: the area has a header, which is valid as zeros, and only shared references to it are made.
        let header = unsafe { &*self.0 };
        if !header.found.is_done() {
            match header.found.turn() {
                Turn::Done => {}
                Turn::Failed(status) => {
                    return Err(Driver::find()
                        .map_or_else(|reason| reason, |driver| NoDriver::Init(driver, status)));
                }
                Turn::Mine(attempt) => match Driver::load() {
                    Ok(driver) => {
                        // SAFETY: this thread alone has the right to write here.
                        unsafe { (*header.driver.get()).write(driver) };
                        attempt.done();
                    }
                    Err(reason) => {
                        attempt.failed(match reason {
                            NoDriver::Init(_, status) => status,
                            // Whoever waited finds out what is missing by looking for it again.
                            NoDriver::Library(_) | NoDriver::Function(_) => {
                                driver::SHARED_OBJECT_INIT_FAILED
                            }
                        });
                        return Err(reason);
                    }
                },
            }
        }
        // SAFETY: it was written before it was done.
        Ok(unsafe { (*header.driver.get()).assume_init_ref() })
    }

    /// What is known of a device, whose number is below [`MAX_DEVICES`].
    pub(super) fn device(&self, device: usize) -> &'static Device {
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, 0).cast() }
    }

    /// A module of the package on a device.
    pub(super) fn module(&self, device: usize, module: usize) -> &'static LoadedModule {
        let offset = size_of::<Device>() + module * size_of::<LoadedModule>();
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, offset).cast() }
    }

    /// A kernel of the package on a device: NULL where its module is not loaded.
    pub(super) fn kernel(&self, device: usize, kernel: usize) -> &'static AtomicPtr<c_void> {
        let modules = Package::own().n_modules as usize * size_of::<LoadedModule>();
        let offset = size_of::<Device>() + modules + kernel * size_of::<AtomicPtr<c_void>>();
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, offset).cast() }
    }

    fn at(&self, device: usize, offset: usize) -> *mut u8 {
        let offset = size_of::<Header>() + device * Area::device_bytes() + offset;
        // SAFETY: the callers stay inside the area.
        unsafe { self.0.cast::<u8>().add(offset) }
    }

    /// Unloads what was loaded, when the package goes. A driver that is shutting down refuses, which does not matter.
    pub(super) fn unload() {
        let header = AREA.swap(ptr::null_mut(), Ordering::AcqRel);
        if header.is_null() {
            return;
        }
        let area = Area(header);
        // SAFETY: as in `driver`.
        if unsafe { &*header }.found.is_done()
            && let Ok(driver) = area.driver()
        {
            without_capture(driver, || {
                for device in 0..MAX_DEVICES {
                    area.unload_device(driver, device);
                }
            });
        }
        // SAFETY: the package goes, and nobody else knows the area.
        unsafe { system::unmap(header.cast(), Area::bytes()) };
    }

    fn unload_device(&self, driver: &Driver, device: usize) {
        for module in 0..Package::own().n_modules as usize {
            let loaded = self.module(device, module);
            if loaded.once.is_done() {
                // SAFETY: the driver gave this handle.
                unsafe { (driver.unload)(loaded.library.load(Ordering::Acquire)) };
            }
        }
        if !self.device(device).primary.load(Ordering::Acquire).is_null() {
            // SAFETY: it was retained once.
            unsafe { (driver.primary_release)(device as i32) };
        }
    }
}
