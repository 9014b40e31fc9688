// SPDX-License-Identifier: Apache-2.0
//! The record of a failed assertion, in memory that a running kernel and its host both see.
//!
//! A kernel that asserts has one parameter more, behind its own: the address of a record, or NULL
//! where nobody looks. The first thread that fails makes an empty record its own, and writes down
//! where it is, what its message shows, and the words. Then the record is written, and the host
//! may tell. Threads that fail meanwhile write nothing.
//!
//! Back ends take offsets from here. The runtime, which depends on nothing, has this file compiled
//! into itself, by a link to it: it uses nothing but `core`.

use core::sync::atomic::AtomicU32;

/// Nothing has failed.
pub const EMPTY: u32 = 0;
/// A thread is writing.
pub const TAKEN: u32 = 1;
/// All is there.
pub const WRITTEN: u32 = 2;
/// The host is telling of it.
pub const TOLD: u32 = 3;

/// The most values that a message shows.
pub const MOST_VALUES: usize = 4;

/// The bytes that there are for words.
pub const TEXT_BYTES: usize = 960;

/// A record.
#[repr(C)]
pub struct AssertRecord {
    /// How far it is.
    pub state: AtomicU32,
    /// The block, in x, y and z.
    pub block: [u32; 3],
    /// The thread in its block.
    pub thread: [u32; 3],
    /// Nothing.
    pub unused: u32,
    /// The values, each as its class has it: integers and truth values as integers of 64 bits,
    /// floats as the bits of a float64.
    pub values: [u64; MOST_VALUES],
    /// Texts that end with NUL: the kernel's name, the place, a letter for the class of each value
    /// (`s` for integers with a sign, `u` for those without, `b` for truth values, `f` for floats),
    /// and the pieces of the message around the values.
    pub text: [u8; TEXT_BYTES],
}

/// Where the fields are, in bytes.
pub mod offset {
    use super::AssertRecord;
    use core::mem::offset_of;

    /// How far it is.
    pub const STATE: u32 = offset_of!(AssertRecord, state) as u32;
    /// The block.
    pub const BLOCK: u32 = offset_of!(AssertRecord, block) as u32;
    /// The thread.
    pub const THREAD: u32 = offset_of!(AssertRecord, thread) as u32;
    /// The values.
    pub const VALUES: u32 = offset_of!(AssertRecord, values) as u32;
    /// The texts.
    pub const TEXT: u32 = offset_of!(AssertRecord, text) as u32;
}
