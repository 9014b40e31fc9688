// SPDX-License-Identifier: Apache-2.0
//! Calls of packages: the feature `host`.
//!
//! `element.rs` has the types of elements, and `dtype.rs` their names; `lend.rs` whatever lends a
//! tensor, `stream.rs` the places where kernels run, `tensor.rs` tensors that own their memory,
//! `memory.rs` where that comes from, and `library.rs` packages that are loaded. Calls of generated
//! functions are put together in `call.rs`; `prepared.rs` is about those that are checked once, and
//! `interpreter.rs` the feature `check`. Tensors of other crates are a feature and a file each:
//! `arrays.rs` those of `ndarray`, `cuda.rs`, `dlpack.rs`, `tvm_ffi.rs` and `candle.rs`; which of
//! them may become a tensor of ours is in `adopt.rs`.

#[cfg(any(feature = "dlpack", feature = "tvm-ffi"))]
mod adopt;
#[cfg(feature = "check")]
mod array;
#[cfg(feature = "ndarray")]
mod arrays;
#[doc(hidden)]
pub mod call;
#[cfg(feature = "candle")]
mod candle;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "dlpack")]
mod dlpack;
pub mod dtype;
mod element;
#[cfg(feature = "check")]
mod interpreter;
mod lend;
mod library;
mod memory;
mod prepared;
mod stream;
mod tensor;
#[cfg(feature = "tvm-ffi")]
mod tvm_ffi;

#[cfg(feature = "candle")]
pub use candle::{CandleElement, CandleTensor, CandleView};
#[cfg(feature = "cuda")]
pub use cuda::{CudaMemory, CudaOwned, CudaTensor, CudaTensorMut, CudarcStream, IntoTensor};
#[cfg(feature = "dlpack")]
pub use dlpack::DlpackTensor;
pub use element::Element;
#[cfg(feature = "check")]
pub use interpreter::Interpreter;
pub use kernpack_ffi_abi::layout::DLTensor;
pub use kernpack_ffi_abi::{DType, DeviceType};
pub use lend::{Absent, Lend, LendMut, View, ViewMut, absent};
pub use library::Library;
pub use memory::{Allocator, ManagedTensor, SetError, use_allocator};
pub use prepared::{Hold, HoldMut};
pub use stream::{Cpu, OnHost, Place, RawStream, Stream};
pub use tensor::Tensor;

/// Makes a module of the functions of a package, which `kernpack-build` has built in the build
/// script.
///
/// `kernpack::include!(norm)` is the package of the name `norm`. The module is private, and has no
/// documentation; in front of the name may stand both: `kernpack::include!(#[doc = "…"] pub norm)`.
#[macro_export]
macro_rules! include {
    ($(#[$attribute:meta])* $visibility:vis $name:ident) => {
        $(#[$attribute])*
        $visibility mod $name {
            ::core::include!(::core::concat!(
                ::core::env!("OUT_DIR"),
                "/",
                ::core::stringify!($name),
                ".rs"
            ));
        }
    };
}
