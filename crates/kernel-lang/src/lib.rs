// SPDX-License-Identifier: Apache-2.0
//! Kernels as people write them, in a typed subset of Python's syntax, read from their text.
#![forbid(unsafe_code)]

pub mod argument;
pub mod elaborate;
pub mod file;
pub mod python;
