// SPDX-License-Identifier: Apache-2.0
//! The record of a failed assertion, in memory that a running kernel and its host both see.
//!
//! A kernel that asserts has one parameter more, behind its own: the address of a record, or NULL
//! where nobody looks. Failures are counted. The first thread that fails takes the next number,
//! unless one is taken that the host has not told of, and writes down where it is, what its message
//! shows, and the words; then, that this number is written. The host tells of it, and then that it
//! has: so the next failure may be written.
//!
//! Across the bus no operation is atomic for both sides: what a kernel compares and exchanges would
//! undo what the host writes there. So each word is written by one side, and the host's lies apart.
//!
//! Back ends take offsets from here. The runtime, which depends on nothing, has this file compiled
//! into itself, by a link to it: it uses nothing but `core`.

use core::sync::atomic::AtomicU32;

/// The most values that a message shows.
pub const MOST_VALUES: usize = 4;

/// The bytes that there are for words.
pub const TEXT_BYTES: usize = 960;

/// A record. All of it is zeros before the first failure.
#[repr(C)]
pub struct AssertRecord {
    /// The number of the last failure that is written, by the device.
    pub written: AtomicU32,
    /// The number of the last failure that a thread has taken: the device's alone.
    pub taken: AtomicU32,
    /// The block, in x, y and z.
    pub block: [u32; 3],
    /// The thread in its block.
    pub thread: [u32; 3],
    /// The values, each as its class has it: integers and truth values as integers of 64 bits,
    /// floats as the bits of a float64.
    pub values: [u64; MOST_VALUES],
    /// Texts that end with NUL: the kernel's name, the place, a letter for the class of each value
    /// (`s` for integers with a sign, `u` for those without, `b` for truth values, `f` for floats),
    /// and the pieces of the message around the values.
    pub text: [u8; TEXT_BYTES],
    /// The number of the last failure that was told, by the host.
    pub told: Told,
}

/// A number in a cache line of its own.
#[repr(C, align(128))]
pub struct Told(pub AtomicU32);

/// Where the fields are, in bytes.
pub mod offset {
    use super::AssertRecord;
    use core::mem::offset_of;

    /// The last failure that is written.
    pub const WRITTEN: u32 = offset_of!(AssertRecord, written) as u32;
    /// The last failure that is taken.
    pub const TAKEN: u32 = offset_of!(AssertRecord, taken) as u32;
    /// The block.
    pub const BLOCK: u32 = offset_of!(AssertRecord, block) as u32;
    /// The thread.
    pub const THREAD: u32 = offset_of!(AssertRecord, thread) as u32;
    /// The values.
    pub const VALUES: u32 = offset_of!(AssertRecord, values) as u32;
    /// The last failure that was told.
    pub const TOLD: u32 = offset_of!(AssertRecord, told) as u32;
    /// The texts.
    pub const TEXT: u32 = offset_of!(AssertRecord, text) as u32;
}
