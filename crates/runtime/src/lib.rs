// SPDX-License-Identifier: Apache-2.0
//! The code that travels inside every package.
//!
//! Generated entry points do the frequent work themselves; what is rare, or long, they leave to the
//! few functions of this crate, which are merged into the package's object file. Those functions,
//! and the structs that they are handed, stand in the tables of `interface`.
//!
//! # Two builds of one source
//!
//! **Freestanding** (`--cfg kernpack_freestanding`, run by `make objects`): rustc writes this file
//! as LLVM IR, and LLVM turns that into one object for each `HostArch`. They lie in `objects/`, as
//! part of the crate, and with the feature `prebuilt` `object` hands out their bytes. So nobody who
//! compiles a package needs rustc, and any rustc compiles the crate. A test makes them again, and
//! compares.
//!
//! **Host**: an ordinary library for the compiler and the tests. Feature `writer` adds
//! `TableWriter`, which writes the fault tables that the runtime reads, and `render`, which says
//! what the runtime would raise.
//!
//! # What freestanding code must not do
//!
//! The object may need nothing but `malloc`, `free` and `memcpy`, `memmove`, `memset`, `memcmp`,
//! and what raises errors of libtvm_ffi; the one for GPUs also `dlopen`, `dlsym`, `dlerror`,
//! `getenv` and `syscall`, and of libtvm_ffi four functions for prepared calls and one for strings.
//! So there is no panic in it, not even one that cannot
//! happen: slices are walked by iterators or read with `get`, and divisors are constants.
//! `core::fmt` and anything that asks for a locale are absent; only refusing a call allocates.
//! Functions are exported by the name `kernpack_rt_*`; whatever else Rust would export is made
//! local. `tests/prebuilt` holds the objects to all of this.
//!
//! # Where things live
//!
//! Finds out why a call was refused (`replay/`), words the fault (`fault.rs`, `fault_table/`),
//! raises errors (`raise.rs`), compares texts (`string.rs`), and rounds floats to halves
//! (`narrow.rs`), with digits of its own (`float.rs`, `text.rs`). One source, two builds: an
//! ordinary library for the compiler and tests, and objects for each host architecture
//! (`host_arch.rs`), handed out by `prebuilt.rs`. A second object, from
//! `cuda/`, is merged into packages with GPU kernels: it finds the driver, loads images, switches
//! contexts, has tensor maps encoded, launches, says why the driver refused, and keeps what
//! prepared calls were given. Which image a device takes, and what tensor maps are, are facts of
//! machines, and files of `crates/machine`. `interface/` lists what generated code and the runtime
//! have in common: functions, structs and limits.
//!
//! Launches reach `cuda/submit.rs` in batches, and it decides how each batch is submitted.
//! `setting.rs` reads what the environment wants, `choice.rs` measures which way is cheaper, and
//! `kept.rs` knows which executable graphs there are and for whom. `place.rs` says whether a graph
//! may be launched on a stream now. `graph.rs` makes and launches one, `launch.rs` launches a
//! kernel by itself, and `launched.rs` tells how many went which way. A prepared call that passes
//! the same each time goes past all this, by `again.rs`, once it has an executable.
//! `docs/submitting.md` is what users see of it.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * what a package knows of devices lies in one area of memory that a forked child finds empty
//!   (`cuda/state.rs`). It goes with the package, but stays where the process exits
//!   (`cuda/exit.rs`).
//! * where everything is loaded, a plain launch costs a few loads and stores beyond the driver's
//!   own time, and one through a graph the comparison of what it passes with what the graph has.
//!   What runs once or on failure is `#[cold]`.
//! * a call sleeps only while another makes what is made once for all, such as the driver or a
//!   module (`Once` in `cuda/state.rs`). An executable graph that another thread uses is not waited
//!   for (`cuda/kept.rs`). What measures forgets a sample rather than wait (`cuda/choice.rs`).
#![no_std]

#[cfg(any(test, feature = "writer"))]
extern crate std;

#[cfg(all(kernpack_freestanding, not(feature = "writer")))]
#[allow(dead_code, reason = "the compiler reads the tables, each object uses its part")]
mod interface;
#[cfg(feature = "writer")]
pub mod interface;

#[cfg(any(kernpack_freestanding, all(test, feature = "writer")))]
mod blank;
#[cfg(any(kernpack_checks, all(test, feature = "writer")))]
mod fault;
#[cfg(any(kernpack_freestanding, feature = "writer"))]
mod fault_table;

#[cfg(test)]
mod big_uint;
#[cfg(any(kernpack_freestanding, feature = "writer"))]
mod float;
#[cfg(any(kernpack_freestanding, feature = "writer"))]
mod string;
#[cfg(any(kernpack_freestanding, feature = "writer"))]
mod text;

#[cfg(kernpack_checks)]
mod raise;
#[cfg(any(kernpack_checks, feature = "writer"))]
mod replay;

#[cfg(any(kernpack_freestanding, feature = "writer"))]
#[allow(dead_code, reason = "the compiler has its own, and each object uses its part")]
mod arch;
#[cfg(kernpack_cuda)]
#[allow(dead_code, reason = "kernels write it, and this reads")]
mod assert_record;
#[cfg(test)]
#[path = "cuda/choice.rs"]
mod choice;
#[cfg(kernpack_cuda)]
mod cuda;
#[cfg(any(kernpack_freestanding, feature = "writer"))]
#[allow(dead_code, reason = "the compiler has its own, and each object uses its part")]
mod tensor_map;

#[cfg(not(kernpack_cuda))]
mod narrow;

#[cfg(any(feature = "prebuilt", feature = "writer"))]
mod host_arch;
#[cfg(feature = "prebuilt")]
mod prebuilt;

#[cfg(feature = "writer")]
pub use crate::fault_table::{
    Format, NameTable, Part, Raised, TableError, TableWriter, dtype_key, render,
};
#[cfg(any(feature = "prebuilt", feature = "writer"))]
pub use crate::host_arch::HostArch;
#[cfg(not(kernpack_cuda))]
pub use crate::narrow::{
    kernpack_rt_f64_to_bf16, kernpack_rt_f64_to_f16, kernpack_rt_round_to_bf16,
    kernpack_rt_round_to_f16,
};
#[cfg(feature = "prebuilt")]
pub use crate::prebuilt::{cuda_object, object};
#[cfg(feature = "writer")]
pub use crate::replay::{
    LoadWidth, Narrower, Op, Program, ProgramCarried, ProgramStep, ProgramValue,
};
