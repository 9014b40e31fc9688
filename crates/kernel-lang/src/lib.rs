// SPDX-License-Identifier: Apache-2.0
//! Kernels as people write them, in a typed subset of Python's syntax, read from their text.
#![forbid(unsafe_code)]

pub mod argument;
mod bind;
pub mod builtin;
pub mod elaborate;
mod emit;
mod expr;
pub mod file;
mod finish;
mod inline;
mod number;
pub mod packed;
mod parameter;
pub mod python;
mod scope;
mod stmt;
mod tensor;
#[cfg(test)]
mod tests;
mod value;
