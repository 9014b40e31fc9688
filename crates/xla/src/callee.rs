// SPDX-License-Identifier: Apache-2.0
//! The functions that programs call, by `sha256/name`: a table of the process, which only grows.
//!
//! A program that XLA has compiled may run at any time, so that nothing is ever forgotten, and a
//! reader needs no lock. The digest is that of the package's bytes: two of the same name are the
//! same code, and which of them is found does not matter.
#![expect(unsafe_code, reason = "calls functions by address, and shares a list between threads")]

use crate::failure::Failure;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use kernpack_ffi_abi::TypeIndex;
use kernpack_ffi_abi::layout::{Any, OBJECT_HEADER_BYTES};
use kernpack_ffi_abi::libtvm_ffi::{SafeCall, TVMFFIObjectDecRef, TVMFFIObjectIncRef};

/// A function of TVM-FFI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callee {
    handle: *mut c_void,
    call: SafeCall,
}

impl Callee {
    /// The entry point of a package, which needs no object.
    pub(crate) fn of_symbol(call: SafeCall) -> Callee {
        Callee { handle: ptr::null_mut(), call }
    }

    /// A function object, which is held from now on.
    ///
    /// # Safety
    /// `function` must be a function object of TVM-FFI.
    pub(crate) unsafe fn of_object(function: *mut c_void) -> Callee {
        // SAFETY: it is an object.
        unsafe { TVMFFIObjectIncRef(function) };
        let cell = function.wrapping_byte_add(OBJECT_HEADER_BYTES as usize).cast::<SafeCall>();
        // SAFETY: the cell of a function object begins with how it is called.
        let call = unsafe { cell.read() };
        Callee { handle: function, call }
    }

    /// Calls it. What it returns is dropped: its results are among its arguments.
    ///
    /// # Safety
    /// The arguments must be initialised, and what they refer to must be there.
    #[inline]
    pub(crate) unsafe fn call(self, args: &[Any]) -> Result<(), Failure> {
        let mut result = Any::default();
        // SAFETY: the function is never unloaded, and the caller vouches for the arguments.
        let status =
            unsafe { (self.call)(self.handle, args.as_ptr(), args.len() as i32, &raw mut result) };
        if result.type_index >= TypeIndex::OBJECT.0 {
            // SAFETY: a result is the caller's, and one of such an index an object.
            unsafe { TVMFFIObjectDecRef(result.payload as *mut c_void) };
        }
        if status == 0 { Ok(()) } else { Err(Failure::raised()) }
    }
}

/// An entry of the table. It is never freed.
struct Node {
    key: Box<[u8]>,
    callee: Callee,
    next: *const Node,
}

const N_LISTS: usize = 1024;

/// Lists of entries whose keys have the same [`place`]. New ones are put in front.
static LISTS: [AtomicPtr<Node>; N_LISTS] = [const { AtomicPtr::new(ptr::null_mut()) }; N_LISTS];

/// The function of that key.
#[inline]
pub(crate) fn find(key: &[u8]) -> Option<Callee> {
    find_from(LISTS[place(key)].load(Ordering::Acquire), key)
}

#[inline]
fn find_from(mut node: *const Node, key: &[u8]) -> Option<Callee> {
    // SAFETY: NULL, or an entry that was whole before its address was told, and is never freed.
    while let Some(entry) = unsafe { node.as_ref() } {
        if *entry.key == *key {
            return Some(entry.callee);
        }
        node = entry.next;
    }
    None
}

/// Has a function found under a key; the first one stays.
pub(crate) fn add(key: &[u8], callee: Callee) {
    let list = &LISTS[place(key)];
    let mut first = list.load(Ordering::Acquire);
    let node = Box::into_raw(Box::new(Node { key: key.into(), callee, next: first }));
    while find_from(first, key).is_none() {
        match list.compare_exchange_weak(first, node, Ordering::Release, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => first = now,
        }
        // SAFETY: nobody else knows of it yet.
        unsafe { (*node).next = first };
    }
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(node) });
}

/// In which list a key is. The beginning is a digest, and so as good as random; the end tells the
/// functions of one package apart.
#[inline]
fn place(key: &[u8]) -> usize {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let mixed = word(key.first_chunk()) ^ word(key.last_chunk()).rotate_left(29);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
}

const _: () = assert!(N_LISTS == 1 << (64 - 54));
