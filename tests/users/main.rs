// SPDX-License-Identifier: Apache-2.0
//! Typed functions of packages in users' crates: what does not compile there, and that no lint says
//! anything of them.
//!
//! The functions are the snapshots of `../typed`, which tests calls of them.

mod lints;
mod ui;
