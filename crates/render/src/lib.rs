// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as they are shown: drawn for people, JSON for programs.
//!
//! # Where things live
//!
//! `draw.rs` alone draws; `told.rs` has both forms of all that is told of a text. Not here:
//! diagnostics as data, which are `kernpack-syntax`'s, and where they are printed.

pub mod draw;
pub mod told;
