// SPDX-License-Identifier: Apache-2.0
//! The only folder that names inkwell: a small vocabulary for writing functions, in which nothing can fail.
//!
//! inkwell makes every builder call fallible and address arithmetic `unsafe`; both are settled here once. Values are 64-bit integers, truths (`i1`)
//! and pointers, as in plans. What is not here: plans, signatures, symbols of any meaning.

mod emitter;
mod object;

pub use emitter::{Block, Emitter, FloatKind, Function, Operation, Ty, V, Word};
pub use inkwell::IntPredicate as Predicate;
pub use inkwell::context::Context;
pub use object::{CodegenError, Effort, write_object};
