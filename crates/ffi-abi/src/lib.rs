// SPDX-License-Identifier: Apache-2.0
//! The TVM-FFI C ABI as data.
//!
//! A TVM-FFI module exports functions of one C type:
//!
//! ```text
//! int __tvm_ffi_<name>(void* handle, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result)
//!
//!                      args ─▶ ┌─ TVMFFIAny, 16 bytes ─────────────────┐
//!                              │ type_index i32 │ padding │ payload 8 B │  × num_args
//!                              └────────────────────────────────┬──────┘
//!      type_index 7: payload ──────────────▶ DLTensor (48 bytes)│
//!      type_index 70: payload ─▶ object header (24 bytes) then DLTensor
//! ```
//!
//! It returns 0, or -1 with an error set for the thread. Arguments are borrowed for the call; the
//! result is owned by the caller.
//!
//! Everything that generated code, the plan interpreter and the tests must agree on with
//! `tvm/ffi/c_api.h` and `dlpack/dlpack.h` stands in this crate, once, as tables: [`layout`]
//! (structs and fields), [`TypeIndex`], [`DType`], [`DeviceType`], [`ErrorKind`] and [`imports`]. A
//! test compiles the tables into C static assertions against the real headers. What libraries of
//! Rust share that speak the ABI themselves stands here too: libtvm_ffi's functions
//! ([`libtvm_ffi`]), and tensors that own their memory ([`managed`]).
//!
//! # Where things live
//!
//! Struct layouts (`layout.rs`), type indices, dtypes, devices, error kinds, and the imports that
//! generated code may call (`imports.rs`), each one table. Rust types, field offsets for code
//! generation, the names in messages and the C static assertions of `tests/headers.rs` come from
//! those tables. `memory.rs` reads a caller's structs, through a trait so that tests can use a fake
//! memory. Libraries that speak the ABI themselves have libtvm_ffi's functions in `libtvm_ffi.rs`,
//! tensors that own their memory in `managed.rs`, and what values lead to in `value.rs`.
//!
//! Not here: LLVM, libtvm_ffi itself (nothing links it), signatures.
//!
//! The C prelude of headers spells the structs once more, and refuses to compile where a layout
//! differs. So does the runtime, which knows no other crate: `TVMFFIAny` and sequences, in its
//! `interface/layout.rs`. The compiler knows both, and compares them as it is compiled.

mod device;
mod dtype;
mod error_kind;
pub mod imports;
pub mod layout;
pub mod libtvm_ffi;
pub mod managed;
mod memory;
mod type_index;
pub mod value;

pub use device::DeviceType;
pub use dtype::DType;
pub use error_kind::ErrorKind;
pub use layout::{Field, Width};
pub use managed::ManagedTensor;
pub use memory::{Memory, RawMemory, slice};
pub use type_index::TypeIndex;

/// The prefix of an entry point's symbol: `__tvm_ffi_<name>`.
pub const FUNCTION_PREFIX: &str = "__tvm_ffi_";
/// The prefix of the symbol that returns a function's metadata as a JSON string.
pub const METADATA_PREFIX: &str = "__tvm_ffi__metadata_";
/// The prefix of the symbol that returns a function's documentation.
pub const DOC_PREFIX: &str = "__tvm_ffi__doc_";
