// SPDX-License-Identifier: Apache-2.0
//! A process that compiles, whatever it compiles: others fork it, it runs much at once,
//! and it may end before it is done.
//!
//! * [`fork`]: a fork waits for what a child could not go on with, such as LLVM and lld.
//! * [`parallel`]: items, pieces of work and compilers at once, no more than the machine runs.
//! * [`leftover`]: the temporary files and running compilers, for whoever learns that the process
//!   is to end.
//! * [`memory`]: how much memory there is.
//!
//! Not here: what is compiled, and how the process learns of its end.

pub mod fork;
pub mod leftover;
pub mod memory;
pub mod parallel;
