// SPDX-License-Identifier: Apache-2.0
//! How memory serves the accesses of a warp. Global memory moves sectors of 32 bytes. Shared memory
//! has 32 banks of 4 bytes, to which the words of 4 bytes belong in turn: in one go each bank
//! serves one word, to any number of threads.
//!
//! Source: CUDA C++ Programming Guide, "Global Memory" and "Shared Memory" of its chapters about
//! compute capabilities.

/// The bytes of global memory that are moved at once.
pub const SECTOR_BYTES: u64 = 32;

/// How many banks shared memory has.
pub const BANKS: u64 = 32;

/// The bytes of a word of a bank.
pub const WORD_BYTES: u64 = 4;

/// How many threads of a warp are served at a time that access so many bytes each: no more words
/// are than there are banks.
pub const fn threads_at_once(bytes: u64) -> u64 {
    match bytes {
        ..=WORD_BYTES => BANKS,
        _ => BANKS * WORD_BYTES / bytes,
    }
}
