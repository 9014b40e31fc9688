// SPDX-License-Identifier: Apache-2.0
//! Functions: what takes numbers and gives one, made of the operations that kernels are made of.
//! They stand for rows that are computed with other operations, and
//! [`expand`](crate::expand::expand) puts them in place of the calls.
//!
//! A function has values, slots and structured control flow. It has no memory, no `return` and
//! nothing that threads do together.

use crate::kernel::{Kernel, Value};
use crate::types::Type;

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name, parameters, slots, values and body.
    pub kernel: Kernel,
    /// The type of what it gives.
    pub ty: Type,
    /// The result: a value of its body.
    pub gives: Value,
}
