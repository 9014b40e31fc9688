// SPDX-License-Identifier: Apache-2.0
//! The command line as its users meet it: the program runs in a folder of its own, and what it
//! prints, writes and exits with is compared. `UPDATE_EXPECT=1` rewrites the expectations.

mod accesses;
mod answers;
mod arrays;
mod assemblers;
mod bench;
mod build;
mod cache;
mod check;
mod compare;
mod compilers;
mod diagnostics;
mod documents;
mod kernels;
mod layout;
mod limits;
mod measure;
mod on_stub;
mod package_files;
mod places;
mod products;
mod publishing;
mod signals;
mod specs;
mod terminal;
mod tune;
