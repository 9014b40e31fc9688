// SPDX-License-Identifier: Apache-2.0
//! The laws of layouts, as CuTe's documentation states them, on random layouts.
//!
//! Each law is tried twice over: with numbers that are known, and with some of them hidden
//! ([`hidden`]), of which the operations know no more than facts. What comes out must hold for the
//! numbers behind. An operation may refuse; that it often does not is counted.

mod algebra;
mod beyond;
mod generate;
mod hidden;
mod index;
mod memory;
mod text;
mod tiling;
