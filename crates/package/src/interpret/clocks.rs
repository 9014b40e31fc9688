// SPDX-License-Identifier: Apache-2.0
//! The clocks of a GPU while something runs, and what holds them down, by NVIDIA's management
//! library, which comes with the driver and is found at run time. Numbers and names are those of
//! `nvml.h`. Where there is no such library, or it does not know the GPU, nothing is told.

#![expect(unsafe_code, reason = "the management library is a C library")]

use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fmt;
use std::ptr;

/// The name under which the loader finds the library.
const LIBRARY: &str = "libnvidia-ml.so.1";
/// Clocks, as `nvmlClockType_t` numbers them.
const MULTIPROCESSORS: c_int = 1;
const MEMORY: c_int = 2;
/// Why clocks are not higher, as `nvmlClocksEventReason…` numbers it. That nothing runs is none of
/// these.
const REASONS: [(c_ulonglong, &str); 8] = [
    (0x2, "clocks that were set"),
    (0x4, "power"),
    (0x8, "a slowdown of the hardware"),
    (0x10, "other GPUs"),
    (0x20, "heat"),
    (0x40, "heat, by the hardware"),
    (0x80, "power, by the hardware"),
    (0x100, "clocks that were set for displays"),
];

/// The clocks of a GPU while something was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The least and the most that the multiprocessors' clock was seen to be, in MHz.
    pub sm: [u32; 2],
    /// The same of the memory's clock.
    pub memory: [u32; 2],
    /// The names of what held them down: `power`, `heat` ...
    pub limits: Vec<&'static str>,
}

/// As in `multiprocessors 1700 to 1980 MHz, memory 3201 MHz, held down by power`.
impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |[least, most]: [u32; 2]| match least == most {
            true => least.to_string(),
            false => format!("{least} to {most}"),
        };
        let Clocks { sm, memory, limits } = self;
        write!(f, "multiprocessors {} MHz, memory {} MHz", range(*sm), range(*memory))?;
        if limits.is_empty() {
            return Ok(());
        }
        write!(f, ", held down by {}", limits.join(" and "))
    }
}

type Device = *mut c_void;

/// The functions of the library.
struct Functions {
    clock: unsafe extern "C" fn(Device, c_int, *mut c_uint) -> c_int,
    reasons: unsafe extern "C" fn(Device, *mut c_ulonglong) -> c_int,
}

/// A look at the clocks of a GPU now and then.
pub(super) struct Watch {
    functions: Functions,
    device: Device,
    /// The least and the most of either that was seen.
    seen: [Option<[u32; 2]>; 2],
    reasons: c_ulonglong,
}

impl Watch {
    /// A watch of the GPU at a place of the bus, as in `00000000:01:00.0`.
    pub fn of(bus: &str) -> Option<Watch> {
        // SAFETY: the library is made for being loaded.
        let library = unsafe { Library::new(LIBRARY) }.ok()?;
        let bus = CString::new(bus).ok()?;
        // SAFETY: the type is that of `nvml.h`.
        let init = unsafe { library.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2\0") };
        // SAFETY: the type is that of `nvml.h`.
        let find = unsafe {
            library.get::<unsafe extern "C" fn(*const c_char, *mut Device) -> c_int>(
                b"nvmlDeviceGetHandleByPciBusId_v2\0",
            )
        };
        // SAFETY: the type is that of `nvml.h`.
        let clock = unsafe { library.get(b"nvmlDeviceGetClockInfo\0") };
        // SAFETY: the type is that of `nvml.h`; each version of the library has this name.
        let reasons = unsafe { library.get(b"nvmlDeviceGetCurrentClocksThrottleReasons\0") };
        let (init, find) = (*init.ok()?, *find.ok()?);
        let functions = Functions { clock: *clock.ok()?, reasons: *reasons.ok()? };
        let mut device = ptr::null_mut();
        // SAFETY: it takes nothing.
        let status = unsafe { init() };
        // SAFETY: the text ends in a NUL, and the place is a variable.
        let is_known = status == 0 && unsafe { find(bus.as_ptr(), &mut device) } == 0;
        // From here on the functions may be called at any time.
        std::mem::forget(library);
        is_known.then_some(Watch { functions, device, seen: [None; 2], reasons: 0 })
    }

    /// Looks once.
    pub fn look(&mut self) {
        for (kind, seen) in [MULTIPROCESSORS, MEMORY].into_iter().zip(&mut self.seen) {
            let mut clock = 0;
            // SAFETY: the device is the library's, and the place is a variable.
            if unsafe { (self.functions.clock)(self.device, kind, &mut clock) } == 0 {
                let [least, most] = seen.unwrap_or([clock; 2]);
                *seen = Some([least.min(clock), most.max(clock)]);
            }
        }
        let mut reasons = 0;
        // SAFETY: the device is the library's, and the place is a variable.
        if unsafe { (self.functions.reasons)(self.device, &mut reasons) } == 0 {
            self.reasons |= reasons;
        }
    }

    /// The clocks that were seen; nothing where the GPU tells none.
    pub fn clocks(&self) -> Option<Clocks> {
        let [Some(sm), Some(memory)] = self.seen else { return None };
        let held = REASONS.iter().filter(|(bit, _)| self.reasons & bit != 0);
        Some(Clocks { sm, memory, limits: held.map(|(_, name)| *name).collect() })
    }
}
