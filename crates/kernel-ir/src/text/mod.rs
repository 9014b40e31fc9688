// SPDX-License-Identifier: Apache-2.0
//! Kernels as text, both ways: [`Kernel`] and [`Function`] print as they are read.
//!
//! ```text
//! kernel scale(v0 x: pointer.global float32 align 16 alone written, v1 n: int64 0..65536 multiple 8) block [256, 1, 1] {
//!   shared0 partial: float32 bytes 128 align 16
//!   local0 row: float32 count 8
//!   s0 acc: float32
//!   v2: int64 = call thread_idx.x()  @12:5
//!   v3: int64 = const 4
//!   v4: int64 = mul v2, v3
//!   inbounds v2, v1
//!   v5: pointer.global = offset v0, v4
//!   v6: float32 = load v5 align 4
//!   set s0, v6
//!   v7: bool = lt v2, v1
//!   if v7 {
//!     store v5, v6 align 4
//!   } else {
//!     return
//!   }
//! }
//! function twice(v0 x: float32) float32 { v1: float32 = add v0, v0 } gives v1
//! ```
//!
//! * The type of every result is written. A value has the number that its id says; numbers may be
//!   left out. Slots and arrays are declared first, in the order of their numbers.
//! * Names that are no words stand in quotes: `v3 "x.shape[1]": int64`. In quotes, `\"`, `\\`,
//!   `\n`, `\t` and `\u{…}` stand for what cannot be written.
//! * What is known of a number: `0..65536`, `0..`, `..10`, `multiple 8`.
//! * A map is `v0 x: pointer.map bfloat16 box [64, 128] swizzle 128 written`, of which `swizzle`
//!   and `written` may be left out. The box is written innermost first.
//! * `block [256, _, 1]` where the extent in y is not known; nothing where none is. An array whose
//!   size a parameter says has `bytes v2`.
//! * `min_blocks 4` or `max_registers 64` behind that: the [`Demands`](crate::kernel::Demands).
//! * `archs sm_80, sm_90a` behind these, where it is for some architectures alone.
//! * `@12:5` is a line and a column of the first of the `files` that the head lists, and
//!   `@"b.py":12:5` one of another. ` < @3:4` follows where that function was called. It stands
//!   behind the operation, and before the `{` of one with regions.
//! * `;` begins a comment, which ends with its line.
//! * Operations with parts that may be left out: `load v1 align 4 when v2 else v3`,
//!   `store v1, v2 align 4 volatile when v3`, `convert v1 zero`,
//!   `ptx "…" v1, v2 effects sets s0, s1`, `if v1 { … } else { … }`. The others: `extract v1, 0`,
//!   `insert v1, 0, v2`, `vector v1, v2`,
//!   `select v1, v2, v3`, `v1: pointer.shared = shared0`, `v1: pointer.local = local0`,
//!   `for v1: int64 = v2 to v3 step v4 { … }`, `while { … } v1 { … }`, `print "{}", v1`,
//!   `call atomic.add(v1, v2, relaxed, gpu)`.
//!
//! The reader says all that is wrong with a text at once, and panics on none. What it makes is not
//! verified: a value may be used that nothing defines.

mod parse;
mod print;
#[cfg(test)]
mod tests;
mod token;

use crate::function::Function;
use crate::kernel::Kernel;
use std::fmt;

pub use parse::parse;
pub(crate) use print::first_line;

/// The items that a text has several of.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A kernel.
    Kernel(Kernel),
    /// A function.
    Function(Function),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Kernel(kernel) => kernel.fmt(f),
            Item::Function(function) => function.fmt(f),
        }
    }
}

/// How deep regions may stand in regions: no reader of kernels recurses deeper.
pub const MAX_DEPTH: usize = 256;
