// SPDX-License-Identifier: Apache-2.0
//! Packages of kernels, called with Rust's types.
//!
//! A package has a file of functions for Rust, which `kernpack build norm.toml -o norm.rs` writes,
//! and which `kernpack-build` has written in a build script. [`include!`] makes a module of it:
//!
//! ```ignore
//! kernpack::include!(norm);
//!
//! norm::scale(&x, &mut y).alpha(0.5).call()?;
//! ```
//!
//! Each function takes what its signature requires by position, and has a method for whatever may
//! be left out. Tensors are whatever [lends](Lend) one: arrays of `ndarray` (feature `ndarray`),
//! memory of `cudarc` (feature `cuda`), tensors of `candle-core`, `dlpack-rs` and `tvm-ffi`
//! (features `candle`, `dlpack` and `tvm-ffi`), a [`View`], a [`Tensor`] that a function returned.
//! The package itself checks its arguments, in every call; what it refuses is an [`Error`] that
//! says what was expected and what arrived.
//!
//! A package is trusted as any library is that a program links: what it does with memory is what
//! its signature says.
//!
//! With the feature `check`, an `Interpreter` takes the place of a stream: the same calls run
//! without a GPU, and what is wrong with a kernel is their error. With the feature `build`,
//! `Package`s are compiled when the program runs.
//!
//! # Where things live
//!
//! All that calls need is in `host/`. `package.rs` has packages as they are written, `builder.rs`
//! writes them, `built.rs` compiles them, `inspect.rs` looks into compiled ones, and `error.rs` is
//! what goes wrong with any. Not here: the compiler, the interpreter, and checks of arguments.

#[cfg(feature = "build")]
mod builder;
#[cfg(feature = "build")]
mod built;
mod error;
#[cfg(feature = "host")]
mod host;
#[cfg(any(feature = "build", feature = "check"))]
mod inspect;
#[cfg(any(feature = "build", feature = "check"))]
mod package;

#[cfg(feature = "build")]
pub use builder::{Function, Launch, Number, PackageBuilder, Source};
#[cfg(feature = "build")]
pub use built::{Artifact, BuiltPackage};
pub use error::{Error, Result};
#[cfg(any(feature = "build", feature = "check"))]
pub use inspect::inspect;
#[cfg(any(feature = "build", feature = "check"))]
pub use package::Package;

#[cfg(feature = "host")]
pub use host::*;
