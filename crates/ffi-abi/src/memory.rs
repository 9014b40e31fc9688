// SPDX-License-Identifier: Apache-2.0
//! Reading a caller's memory by address and width. Interpreters read through [`Memory`], so that
//! tests and fuzzing use a checked fake; [`RawMemory`] is the process itself. C arrays become
//! slices here.
#![expect(unsafe_code, reason = "reads a caller's structs by address, as the C ABI has it")]

use crate::Width;
use crate::layout::DLTensor;

/// Something that holds bytes at addresses.
pub trait Memory {
    /// The value at `address`, extended to 64 bits as `width` says; `None` where nothing may be
    /// read.
    fn load(&self, address: u64, width: Width) -> Option<i64>;

    /// Where what is known of a GPU lies: of the one of that number, or of the current one. `None`
    /// where nothing is.
    fn device(&self, _number: Option<i64>) -> Option<u64> {
        None
    }
}

/// This process's memory.
pub struct RawMemory(());

impl RawMemory {
    /// Access to the memory of this process.
    ///
    /// # Safety
    /// Every address that is loaded from must be readable: use it only on arguments that follow the
    /// ABI.
    pub unsafe fn new() -> RawMemory {
        RawMemory(())
    }
}

impl Memory for RawMemory {
    fn load(&self, address: u64, width: Width) -> Option<i64> {
        /// Reads a `T` that may be unaligned.
        fn read<T: bytemuck::Pod>(address: u64) -> T {
            // SAFETY: whoever made the `RawMemory` vouched for every address, and any bits are a
            // valid `T`.
            unsafe { core::ptr::read_unaligned(address as usize as *const T) }
        }
        Some(match width {
            Width::U8 => i64::from(read::<u8>(address)),
            Width::U16 => i64::from(read::<u16>(address)),
            Width::I32 => i64::from(read::<i32>(address)),
            Width::U32 => i64::from(read::<u32>(address)),
            Width::I64 | Width::Ptr => read::<i64>(address),
        })
    }
}

/// A C array as a slice; of no elements, its address may be anything.
///
/// # Safety
/// There must be that many initialised elements, which stay for `'a`.
#[inline]
pub unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for it.
    unsafe { core::slice::from_raw_parts(data, size) }
}

impl DLTensor {
    /// The extents.
    ///
    /// # Safety
    /// There must be as many as the view says, which stay while it is borrowed.
    pub unsafe fn extents(&self) -> &[i64] {
        let rank = usize::try_from(self.ndim).unwrap_or(0);
        // SAFETY: the caller vouches for it.
        unsafe { slice(self.shape as *const i64, rank) }
    }
}
