// SPDX-License-Identifier: Apache-2.0
//! The interface of generated code and the runtime, each fact once: the [`functions`] that it
//! calls, the [`layout`] of what it hands over, and the limits of both.
//!
//! The runtime's structs come from these tables, and its functions are held to them where they are
//! compiled. The compiler declares functions and takes offsets from here, and spells neither.
//!
//! Not here: the fault table and the programs in it, whose format is that of the bytes of
//! `fault_table` and `replay`; and the driver's own numbers, unless the compiler writes them.

pub mod functions;
pub mod layout;

/// The most parts that a message may have: there is room for as many in an
/// [`ErrorParts`](layout::ErrorParts).
pub const MAX_PARTS: usize = 64;

/// The most values that the parts of one fault may choose from.
pub const MAX_VALUES: usize = 32;

/// The most turns of a loop of checks.
pub const MAX_TURNS: i64 = 64;

/// The symbol under which the runtime finds the [`Package`](layout::Package) that it is part of.
pub const PACKAGE: &str = "kernpack_cuda_package";
