// SPDX-License-Identifier: Apache-2.0
//! Launching GPU kernels through the CUDA driver: the second object that packages are merged with,
//! where they have such kernels. Its functions are those of `interface` that are in the object
//! `Cuda`.
//!
//! # What is kept
//!
//! The driver is found at run time, so that a package loads where there is none. Everything that is
//! found out, the driver's functions, the contexts and the loaded images, lies in one
//! [`state::Area`] that a forked child finds empty. It is filled when it is first needed, by one
//! thread while others sleep. When the package is unloaded, its images are unloaded too; when the
//! process [exits](exit), nothing is.
//!
//! Failures are errors for generated code to raise, as those of checks are: every function that can
//! fail returns how many strings it wrote. Only what prepares a call raises them itself. Why the
//! driver refused a launch is worked out behind it, in `explain`, from what the device and the
//! kernel allow.
//!
//! Not here: checks of arguments, the values of a launch (both are generated code), and PTX or
//! images as such.
#![expect(unsafe_code, reason = "the driver is C, and so is generated code")]

mod again;
pub(crate) mod asserts;
mod batch;
mod choice;
pub(crate) mod context;
mod driver;
mod errors;
mod exit;
mod explain;
pub(crate) mod facts;
mod graph;
mod kept;
mod launch;
pub(crate) mod launched;
mod load;
mod message;
mod package;
pub(crate) mod peer;
mod place;
pub(crate) mod preload;
pub(crate) mod prepare;
pub(crate) mod resident;
mod setting;
mod state;
pub(crate) mod submit;
mod system;
pub(crate) mod tensor_map;
