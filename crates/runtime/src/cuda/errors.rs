// SPDX-License-Identifier: Apache-2.0
//! The CUDA runtime's names of the driver's errors, which its users know, from
//! `driver_types.h` of CUDA 13.0.
//!
//! Most are the driver's own in other letters: `CUDA_ERROR_INVALID_VALUE` is
//! `cudaErrorInvalidValue`.

use core::ffi::c_char;

use super::driver::Status;
use crate::text::Text;

macro_rules! names {
    ($($number:literal $name:ident;)*) => {
        /// The numbers, in the order of [`NAMES`].
        const NUMBERS: &[u16] = &[$($number),*];
        /// The names, without what all begin with, and each with the NUL that ends it.
        const NAMES: &[u8] = concat!($(stringify!($name), "\0"),*).as_bytes();
    };
}

// Those that are not.
names! {
    2 MemoryAllocation;
    3 InitializationError;
    4 CudartUnloading;
    46 DevicesUnavailable;
    200 InvalidKernelImage;
    201 DeviceUninitialized;
    202 Unknown;
    205 MapBufferObjectFailed;
    206 UnmapBufferObjectFailed;
    209 NoKernelImageForDevice;
    214 ECCUncorrectable;
    216 DeviceAlreadyInUse;
    225 UnsupportedDevSideSync;
    400 InvalidResourceHandle;
    500 SymbolNotFound;
    708 SetOnActiveProcess;
    719 LaunchFailure;
    916 Unknown;
}

/// How the driver's names begin.
const PREFIX: usize = "CUDA_ERROR_".len();

/// The name without `cudaError`, such as `InvalidValue`. The driver's own is NULL where it does not
/// know the error.
pub(super) fn name_of(status: Status, drivers: *const c_char) -> Text {
    let mut name = Text::EMPTY;
    if drivers.is_null() {
        name.push_str("Unknown");
    } else if let Some(place) = NUMBERS.iter().position(|number| Status::from(*number) == status) {
        NAMES.split(|byte| *byte == 0).skip(place).take(1).flatten().for_each(|b| name.push(*b));
    } else {
        push_camel_case(&mut name, drivers);
    }
    name
}

fn push_camel_case(name: &mut Text, drivers: *const c_char) {
    let mut starts_word = true;
    for i in 0.. {
        let letter = drivers.wrapping_add(i);
        // SAFETY: the driver's names end with NUL.
        let letter = unsafe { *letter } as u8;
        match letter {
            0 => return,
            _ if i < PREFIX => {}
            b'_' => starts_word = true,
            _ if starts_word => {
                starts_word = false;
                name.push(letter);
            }
            _ => name.push(letter.to_ascii_lowercase()),
        }
    }
}
