// SPDX-License-Identifier: Apache-2.0
//! All that a package has found out and loaded: one area of memory, empty at first, and empty again
//! in a forked child.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::asserts::{self, Seen};
use super::choice::Choice;
use super::context::within;
use super::driver::{Driver, EdgeCalls, GraphCalls, NoDriver, Status};
use super::exit;
use super::kept::{self, Kept};
use super::load::without_capture;
use super::package;
use super::setting;
use super::system;
use crate::interface::layout::Submit;

/// Devices are numbered below this.
pub(super) const MAX_DEVICES: usize = 64;

/// The area, once there is one. Each package has a runtime of its own, and so one of these.
static AREA: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());

/// Something that one thread makes while the others sleep, and that may be tried again.
#[repr(C)]
pub(super) struct Once {
    state: AtomicU32,
    /// How many attempts have failed, and what the last failed with.
    n_failed: AtomicU32,
    failure: AtomicU32,
}

/// How those who waited learn that there is no driver: no status of the driver's.
const NO_LIBRARY: Status = -1;

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const READY: u32 = 2;

impl Once {
    /// Whether it has been made.
    pub(super) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) == READY
    }

    /// Makes it, unless it is made: in this thread, or in another that this one waits for.
    pub(super) fn make(&self, make: impl FnOnce() -> Result<(), Status>) -> Result<(), Status> {
        if !self.is_mine()? {
            return Ok(());
        }
        let made = make();
        if let Err(status) = made {
            self.failure.store(status as u32, Ordering::Release);
            self.n_failed.fetch_add(1, Ordering::Release);
        }
        system::set_and_wake(&self.state, if made.is_ok() { READY } else { EMPTY });
        made
    }

    /// Takes the right and the duty to make it, unless it is made. What another thread that tried
    /// failed with.
    fn is_mine(&self) -> Result<bool, Status> {
        let failed_before = self.n_failed.load(Ordering::Acquire);
        loop {
            match self.state.compare_exchange(EMPTY, BUSY, Ordering::Acquire, Ordering::Acquire) {
                Err(READY) => return Ok(false),
                Err(_) => system::sleep_while(&self.state, BUSY),
                Ok(_) if self.n_failed.load(Ordering::Acquire) == failed_before => return Ok(true),
                Ok(_) => {
                    // Somebody tried meanwhile: that is the answer for all who waited. The next
                    // call tries again.
                    let failure = self.failure.load(Ordering::Acquire);
                    system::set_and_wake(&self.state, EMPTY);
                    return Err(failure as Status);
                }
            }
        }
    }
}

/// The start of the area. Behind it, for each device, a [`Device`], its kernels and its modules,
/// what was [`Learned`], and the graphs [`Kept`] for each kernel; then how each function has
/// [`Launched`].
///
/// A launch finds memory cold, as the driver has gone through much of its own since the last one.
/// So what a plain launch reads lies in two cache lines: the first of the area, and the first of
/// the device.
#[repr(C, align(64))]
struct Header {
    /// Of the driver's library and functions.
    found: Once,
    /// Of the driver itself.
    started: Once,
    /// The bytes that each device takes of the area, as soon as the driver is found.
    device_bytes: AtomicUsize,
    /// Where in that what was learned of the device begins, and what is kept for its kernels.
    learned_offset: AtomicUsize,
    /// How launches reach the driver, whatever functions want: one more than a [`Submit`], or 0.
    setting: AtomicU32,
    /// How many executable graphs there are.
    n_graphs: AtomicU32,
    driver: UnsafeCell<MaybeUninit<Driver>>,
    graph_calls: UnsafeCell<MaybeUninit<GraphCalls>>,
    edge_calls: UnsafeCell<MaybeUninit<EdgeCalls>>,
    /// Whether there are these: 1 then.
    has_edges: AtomicU32,
}

impl Header {
    /// Where the driver is, once it is found.
    fn driver(&self) -> *mut Driver {
        self.driver.get().cast()
    }

    /// Finds the driver, and reads how launches are to reach it: plainly where it lacks the
    /// functions for graphs.
    ///
    /// # Safety
    ///
    /// This thread alone is at it.
    unsafe fn find(&self) -> Result<(), NoDriver> {
        let setting = setting::read().map_err(NoDriver::Setting)?;
        // SAFETY: as the caller says.
        let has = unsafe {
            Driver::load(self.driver(), self.graph_calls.get().cast(), self.edge_calls.get().cast())
        }?;
        let setting = if has.graphs { setting } else { Some(Submit::PLAIN) };
        self.has_edges.store(has.edges.into(), Ordering::Relaxed);
        self.setting.store(setting.map_or(0, |submit| submit.0 + 1), Ordering::Relaxed);
        self.device_bytes.store(Area::device_bytes(), Ordering::Relaxed);
        self.learned_offset.store(Area::learned_offset(), Ordering::Relaxed);
        Ok(())
    }
}

/// A device, as far as it is known.
#[repr(C)]
pub(super) struct Device {
    /// The primary context, where it was needed.
    pub(super) primary: AtomicPtr<c_void>,
    /// Whether a stream was seen that is not the primary context's: 1 then.
    pub(super) streams_of_others: AtomicU32,
    /// The record of its failed assertions, where kernels with some were launched.
    pub(super) asserts: AtomicPtr<Seen>,
    /// The devices whose memory its kernels reach, bit by bit.
    pub(super) peers: AtomicU64,
}

/// The part of a device's state that launches add to.
#[repr(C, align(64))]
pub(super) struct Learned {
    pub(super) attributes: Attributes,
    /// Of launches one by one, and of several at once.
    choices: [Choice; 2],
}

impl Learned {
    /// Which way is cheaper, for one launch or for several at once.
    #[inline(always)]
    pub(super) fn choice(&self, is_of_several: bool) -> &Choice {
        let [one, several] = &self.choices;
        if is_of_several { several } else { one }
    }
}

/// How many kernels of a function have been launched one by one, and by graphs that are no more.
#[repr(C)]
pub(super) struct Launched {
    pub(super) plain: AtomicU64,
    pub(super) graph: AtomicU64,
}

/// The attributes of a device that launches have asked for.
#[repr(C)]
pub(super) struct Attributes {
    pub(super) once: Once,
    pub(super) values: [AtomicI64; 3],
}

/// A module on a device.
#[repr(C)]
pub(super) struct LoadedModule {
    pub(super) once: Once,
    pub(super) library: AtomicPtr<c_void>,
}

/// A kernel on a device.
#[repr(C)]
pub(super) struct LoadedKernel {
    /// In the device's primary context; NULL until it was launched there.
    pub(super) function: AtomicPtr<c_void>,
    /// In whatever context; NULL where its module is not loaded.
    pub(super) kernel: AtomicPtr<c_void>,
    /// Whether a launch has looked for the function, though it may not have had it: 1 then.
    /// Launches on streams of their own look once.
    pub(super) is_sought: AtomicU32,
    /// The last question about its blocks, with the answer: see [`super::resident`].
    pub(super) resident: AtomicU64,
}

impl LoadedKernel {
    /// Has the next launch look for its function again.
    pub(super) fn forget_function(&self) {
        self.function.store(ptr::null_mut(), Ordering::Release);
        self.is_sought.store(0, Ordering::Relaxed);
    }
}

/// The area of the package.
#[derive(Clone, Copy)]
pub(super) struct Area(*mut Header);

impl Area {
    /// The area and the driver, where both have been found.
    #[inline(always)]
    pub(super) fn ready() -> Option<(Area, &'static Driver)> {
        let header = AREA.load(Ordering::Acquire);
        // SAFETY: it is NULL, or the area's.
        let known = unsafe { header.as_ref() }?;
        if !known.started.is_done() {
            return None;
        }
        let area = Area(header);
        Some((area, area.found_driver()))
    }

    fn header(&self) -> &'static Header {
        // SAFETY: the area has a header, which is valid as zeros, and only shared references to it
        // are made.
        unsafe { &*self.0 }
    }

    /// The driver, which has been found, as one that has been started has.
    #[inline(always)]
    pub(super) fn found_driver(&self) -> &'static Driver {
        // SAFETY: it was written before it was found.
        unsafe { &*self.header().driver() }
    }

    /// How launches reach the driver, which has been found, where functions want this.
    #[inline(always)]
    pub(super) fn submit(&self, wanted: Submit) -> Submit {
        match self.header().setting.load(Ordering::Relaxed) {
            0 => wanted,
            setting => Submit(setting - 1),
        }
    }

    /// The functions for graphs, which the driver has unless launches are plain.
    #[inline(always)]
    pub(super) fn graph_calls(&self) -> &'static GraphCalls {
        let calls: *const GraphCalls = self.header().graph_calls.get().cast();
        // SAFETY: they were found before the driver was.
        unsafe { &*calls }
    }

    /// The function for programmatic edges in graphs, where the driver has it.
    pub(super) fn edge_calls(&self) -> Option<&'static EdgeCalls> {
        if self.header().has_edges.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let calls: *const EdgeCalls = self.header().edge_calls.get().cast();
        // SAFETY: it was found before the driver was.
        Some(unsafe { &*calls })
    }

    /// How many executable graphs there are.
    pub(super) fn n_graphs(&self) -> &'static AtomicU32 {
        &self.header().n_graphs
    }

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
        let launched = package::own().n_functions as usize * size_of::<Launched>();
        size_of::<Header>() + MAX_DEVICES * Area::device_bytes() + launched
    }

    fn device_bytes() -> usize {
        Area::learned_offset() + size_of::<Learned>() + n_kernels() * size_of::<Kept>()
    }

    fn learned_offset() -> usize {
        let modules = package::own().n_modules as usize * size_of::<LoadedModule>();
        let bytes = size_of::<Device>() + Area::kernels_bytes() + modules;
        bytes.next_multiple_of(align_of::<Learned>())
    }

    fn kernels_bytes() -> usize {
        n_kernels() * size_of::<LoadedKernel>()
    }

    /// The driver, found and started by the first who asks.
    pub(super) fn driver(&self) -> Result<&'static Driver, NoDriver> {
        let header = self.header();
        if !header.started.is_done() {
            let mut reason = None;
            let found = header.found.make(|| {
                // SAFETY: this thread alone has the right to write here.
                unsafe { header.find() }.map_err(|why| {
                    reason = Some(why);
                    NO_LIBRARY
                })
            });
            found.map_err(|_| reason.unwrap_or_else(what_is_missing))?;
        }
        let driver = self.found_driver();
        if !header.started.is_done() {
            let started = header.started.make(|| driver.start());
            started.map_err(|status| NoDriver::Init(driver, status))?;
        }
        Ok(driver)
    }

    /// The device of a number below [`MAX_DEVICES`], once the driver is found.
    pub(super) fn device(&self, device: usize) -> &'static Device {
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, 0).cast() }
    }

    /// The record of a device's failed assertions, where it has one.
    #[inline(always)]
    pub(super) fn asserts(&self, device: usize) -> Option<&'static Seen> {
        // SAFETY: it is NULL, or a record that stays, of which the host changes the state alone.
        unsafe { self.device(device).asserts.load(Ordering::Acquire).as_ref() }
    }

    /// A module of the package on a device.
    pub(super) fn module(&self, device: usize, module: usize) -> &'static LoadedModule {
        let before = size_of::<Device>() + Area::kernels_bytes();
        let offset = before + module * size_of::<LoadedModule>();
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, offset).cast() }
    }

    /// A kernel of the package on a device.
    pub(super) fn kernel(&self, device: usize, kernel: usize) -> &'static LoadedKernel {
        let offset = size_of::<Device>() + kernel * size_of::<LoadedKernel>();
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, offset).cast() }
    }

    /// The part of a device's state that launches add to.
    pub(super) fn learned(&self, device: usize) -> &'static Learned {
        let offset = self.header().learned_offset.load(Ordering::Relaxed);
        // SAFETY: the area has one for each, valid as zeros.
        unsafe { &*self.at(device, offset).cast() }
    }

    /// The graphs that are kept for a kernel on a device.
    pub(super) fn kept(&self, device: usize, kernel: usize) -> &'static Kept {
        let first: *const Kept = ptr::from_ref(self.learned(device)).wrapping_add(1).cast();
        // SAFETY: the area has one for each behind that, valid as zeros.
        unsafe { &*first.wrapping_add(kernel) }
    }

    /// How the launches of a function of the package have reached the driver.
    pub(super) fn launched(&self, function: u32) -> &'static Launched {
        let offset = function as usize * size_of::<Launched>();
        // SAFETY: the area has one for each, valid as zeros, behind the devices.
        unsafe { &*self.at(MAX_DEVICES, offset).cast() }
    }

    fn at(&self, device: usize, offset: usize) -> *mut u8 {
        // SAFETY: it is the area's.
        let device_bytes = unsafe { (*self.0).device_bytes.load(Ordering::Relaxed) };
        // SAFETY: the callers stay inside the area.
        unsafe { self.0.cast::<u8>().add(size_of::<Header>() + device * device_bytes + offset) }
    }

    /// Unloads what was loaded, when the package goes, unless the process does: then threads may
    /// still be in calls. A driver that is shutting down refuses, which does not matter.
    pub(super) fn unload() {
        if exit::is_near() {
            return;
        }
        exit::forget();
        let header = AREA.swap(ptr::null_mut(), Ordering::AcqRel);
        if header.is_null() {
            return;
        }
        let area = Area(header);
        if area.header().started.is_done()
            && let Ok(driver) = area.driver()
        {
            kept::drop_all(area);
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
        for module in 0..package::own().n_modules as usize {
            let loaded = self.module(device, module);
            if loaded.once.is_done() {
                // SAFETY: the driver gave this handle.
                unsafe { (driver.unload)(loaded.library.load(Ordering::Acquire)) };
            }
        }
        let primary = self.device(device).primary.load(Ordering::Acquire);
        let record = self.device(device).asserts.load(Ordering::Acquire);
        if !record.is_null() {
            within(driver, primary, |_| asserts::free(driver, record));
        }
        if !primary.is_null() {
            // SAFETY: it was retained once.
            unsafe { (driver.primary_release)(device as i32) };
        }
    }
}

/// Whoever waited finds out what is missing by looking for it again.
fn what_is_missing() -> NoDriver {
    let mut driver = MaybeUninit::uninit();
    let (mut graph_calls, mut edge_calls) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: all are there to be written.
    let found = unsafe {
        Driver::load(driver.as_mut_ptr(), graph_calls.as_mut_ptr(), edge_calls.as_mut_ptr())
    };
    let library = NoDriver::Library(ptr::null());
    setting::read().map_err(NoDriver::Setting).and(found).err().unwrap_or(library)
}

/// How many kernels the package has.
pub(super) fn n_kernels() -> usize {
    package::own().n_kernels as usize
}
