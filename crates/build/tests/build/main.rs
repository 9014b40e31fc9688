// SPDX-License-Identifier: Apache-2.0
//! Build scripts and what they see: what is made, what cargo is told, and what is said where
//! something is wrong. A stand-in answers for the program; each file is about one side of it.

mod crate_folder;
mod object_file;
mod packages;
mod prebuilt;
mod problems;
