// SPDX-License-Identifier: Apache-2.0
//! Runs a kernel's whole grid, and says what is wrong with it. What it computes is what the kernel
//! means: a GPU gives the same bits, but for approximate functions and atomic sums of floats.
//!
//! ```text
//! Kernel -- Program (program.rs): one list of steps, values in registers
//!        -- Schedule (schedule.rs): which warp of which block runs when
//!        -- Execution (execute.rs): one warp's steps, for 32 lanes at once
//! ```
//!
//! A warp is a task: its place in the program, its registers and its stack are data (`warp.rs`), so
//! that warps of a block, and blocks of a grid, may wait for one another. Its lanes run in
//! lock-step; where they part, some wait on the stack until the others are done. Lanes of one warp
//! therefore cannot wait for one another in a loop, as those of a GPU may.
//!
//! Every access is checked (`access.rs`): bounds, alignment, whether it reads what was written, and
//! whether something orders it with other threads' accesses to the same bytes. `clock.rs` says what
//! is ordered: by barriers, of blocks and warps, and by atomic operations and fences. Being in one
//! warp orders nothing, and neither does a shuffle. `shadow.rs` remembers who touched each cell.
//! Copies in flight are agents beside the warps (`flight.rs`), which nothing orders but a wait.
//! Mbarriers (`mbarrier.rs`) count their phases in full, of which a machine has the parity alone,
//! and the bytes of larger copies (`bulk.rs`), which see what threads have written behind fences
//! (`proxy.rs`), as the products of warpgroups do (`products.rs`).
//!
//! A finding does not end a run: an access outside gives 0 or is left out, and a barrier that some
//! do not come to lets the others go on. Only what cannot be interpreted, endless loops, deadlocks
//! and too many findings do.
//!
//! Where it is asked for, accesses are counted, and what they take of memory (`traffic.rs`).
//!
//! Launches run one after another. A [`Sequence`] knows which of them a GPU may run side by side,
//! and finds what an early one touches before it has waited (`dependent.rs`, `touched.rs`).
//! [`Ranks`] launch at the same time, each on a device of its own, and share memory (`ranks.rs`).
//!
//! Blocks run one after another, or on several cores (`parallel.rs`) where that comes to the same.
//!
//! Not here: files, signatures, packages. Whoever runs a packed function makes its allocations once
//! and runs its launches one after another.

mod access;
mod atomic;
mod bulk;
mod clock;
mod cluster;
mod control;
mod dependent;
mod exchange;
mod execute;
mod finding;
mod flight;
mod grid;
mod launch;
mod lifetime;
mod marks;
mod matrix;
mod mbarrier;
mod memory;
mod named;
mod narrowest;
mod parallel;
mod products;
mod program;
mod proxy;
mod ranks;
mod schedule;
mod sequence;
mod shadow;
mod step;
mod sums;
mod tensor_map;
mod touched;
mod traffic;
mod trial;
mod warp;

#[cfg(test)]
mod tests;

pub use access::Deed;
pub use finding::{Earlier, Finding, Kind, Other, Thread};
pub use launch::{
    Argument, Cancel, Launch, MappedTensor, Options, Outcome, bookkeeping_bytes, run,
};
pub use memory::{Memories, Memory, MemoryId, Mode};
pub use narrowest::cell_bytes;
pub use ranks::Ranks;
pub use sequence::{Early, Sequence, Turn};
pub use touched::touched_bytes;
pub use traffic::{Amount, Traffic, Widths};
pub use trial::Trial;
