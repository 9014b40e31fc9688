// SPDX-License-Identifier: Apache-2.0
//! Typed functions of packages, from their text to calls of them.
//!
//! `packages/` has packages, and beside each the file of typed functions that the exporter writes
//! for it, as a snapshot: `packages.rs` compares it with what is written now, and this program
//! includes it, so that it compiles. What is called is a shared object of the package, which is
//! loaded: no package is linked into this program.
//!
//! `everything` has every kind of parameter in every position, and names that are words of Rust's
//! or of the file itself; `calls.rs` calls its functions, and `names.rs` those that are about
//! names. `streams` is for a GPU, which nobody needs here: its functions compile. `rows` is a file
//! of kernels, which `interpreter.rs` has run without one, and which `building.rs` compiles;
//! `builder.rs` puts packages together.
//! `table` is the package of `examples/hosts`; `refusals.rs` has what it refuses.
//!
//! `arrays.rs` is about layouts of arrays, `memory.rs` about what calls allocate and who frees it,
//! `pool.rs` about the same on a GPU, `prepared.rs` about calls that are checked once, `linked.rs`
//! about build scripts that have the compiler in them, and `loading.rs` about shared objects.
//! `gpu.rs` has the GPU that is not there. `dlpack.rs` and `tvm_ffi.rs` are about tensors of the
//! crates of these names; those of candle are `../candle`, which is no part of this workspace. What
//! does not compile, and lints in users' crates, are `../users`.

mod arrays;
mod builder;
mod building;
mod calls;
// The library that has these two stands in for libtvm_ffi, which is itself here.
#[allow(dead_code, reason = "not all of it is needed here")]
#[path = "../src/cuda_host.rs"]
mod cuda_host;
#[allow(dead_code, reason = "not all of it is needed here")]
#[path = "../src/cuda_stub.rs"]
mod cuda_stub;
mod dlpack;
mod gpu;
mod interpreter;
mod linked;
mod loading;
mod memory;
mod names;
mod packages;
mod pool;
mod prepared;
mod refusals;
mod tvm_ffi;

mod everything {
    include!("packages/everything.rs.txt");
}
mod rows {
    include!("packages/rows.rs.txt");
}
mod streams {
    include!("packages/streams.rs.txt");
}
mod table {
    include!("packages/table.rs.txt");
}
