// SPDX-License-Identifier: Apache-2.0
//! The functions of the runtime that generated code calls, and those of generated code that the
//! runtime calls, each with its C types.
//!
//! Where a function of the runtime is compiled into an object, its type is compared with its row.

use core::ffi::{c_char, c_void};

use super::layout::{
    Any, Batch, DeviceFacts, ErrorObject, ErrorParts, Preparable, TensorMapValues,
};

/// A C type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CType {
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// A pointer.
    Ptr,
}

/// The type of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The types of its parameters.
    pub params: &'static [CType],
    /// The type of its result.
    pub result: CType,
}

/// Which object a function is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// The one of every package.
    Checks,
    /// The one for launches on GPUs.
    Cuda,
}

/// A function of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// The symbol.
    pub symbol: &'static str,
    /// Its type.
    pub signature: Signature,
    /// The object that has it.
    pub object: Object,
}

/// A Rust type that stands for a [`CType`].
trait HasCType {
    const C_TYPE: CType;
}

macro_rules! c_types {
    ($($name:ident: $($ty:ty),*;)*) => {
        $( $( impl HasCType for $ty { const C_TYPE: CType = CType::$name; } )* )*
    };
}

c_types! {
    I16: u16;
    I32: i32, u32;
    I64: i64, u64;
}

impl<T> HasCType for *const T {
    const C_TYPE: CType = CType::Ptr;
}

impl<T> HasCType for *mut T {
    const C_TYPE: CType = CType::Ptr;
}

impl HasCType for Option<PushFloat> {
    const C_TYPE: CType = CType::Ptr;
}

macro_rules! signature {
    ($($ty:ty),* => $result:ty) => {
        Signature {
            params: &[$(<$ty as HasCType>::C_TYPE),*],
            result: <$result as HasCType>::C_TYPE,
        }
    };
}

/// Expands rows into a [`Function`] each, the list of all, and, where the row's object is compiled,
/// a comparison with the type of the function itself.
///
/// ```text
/// in Object if cfg {
///     /// doc
///     NAME = symbol(param: Type, …) -> Type where module;
/// }
/// ```
macro_rules! functions {
    ($( in $object:ident if $cfg:ident { $( $(#[$doc:meta])*
        $konst:ident = $symbol:ident($($param:ident: $ty:ty),*) -> $result:ty
        where $($module:ident)::+;
    )* } )*) => {
        $( $(
            $(#[$doc])*
            pub const $konst: Function = Function {
                symbol: stringify!($symbol),
                signature: signature!($($ty),* => $result),
                object: Object::$object,
            };

            #[cfg($cfg)]
            const _: unsafe extern "C" fn($($param: $ty),*) -> $result =
                crate::$($module)::+::$symbol;
        )* )*

        /// Every function of the runtime.
        pub const ALL: &[Function] = &[$( $($konst,)* )*];
    };
}

functions! {
    in Checks if kernpack_checks {
        /// Finds the check that a call fails, from the step of number `first_step` on, and words
        /// its fault. Returns how many strings the error has.
        REFUSE = kernpack_rt_refuse(
            table: *const u8, program: u32, first_step: u32, args: *const u8, num_args: i32,
            device: *const DeviceFacts, push_float: Option<PushFloat>, error: *mut ErrorParts
        ) -> i32 where replay::run;
        /// Words the fault at an offset of the table, with these values. Returns how many strings
        /// the error has.
        FAULT = kernpack_rt_fault(
            table: *const u8, fault_offset: u32, values: *const i64,
            push_float: Option<PushFloat>, error: *mut ErrorParts
        ) -> i32 where fault;
        /// Appends to a text what Python's `repr` says of the float64 with these bits. Returns 0.
        PUSH_FLOAT = kernpack_rt_push_float(text: *mut c_void, bits: u64) -> i32 where fault;
        /// Raises an error that has been worded in that many strings. Returns -1.
        RAISE = kernpack_rt_raise(error: *const ErrorParts, n_strings: i32) -> i32 where raise;
        /// Raises an error once more, behind a C string, and drops it. Returns -1.
        RAISE_BEHIND = kernpack_rt_raise_behind(
            error: *const ErrorParts, what: *const c_char, raised: *mut ErrorObject
        ) -> i32 where raise;
        /// Whether a text of the call has the bytes of a C string, and no others: 1 or 0.
        TEXT_IS = kernpack_rt_text_is(text: i64, expected: *const u8) -> i32 where string;
        /// The IEEE binary16 nearest to the float64 with these bits.
        F64_TO_F16 = kernpack_rt_f64_to_f16(bits: u64) -> u16 where narrow;
        /// The bfloat16 nearest to the float64 with these bits.
        F64_TO_BF16 = kernpack_rt_f64_to_bf16(bits: u64) -> u16 where narrow;
        /// The bits of the float64 that has the value of that binary16.
        ROUND_TO_F16 = kernpack_rt_round_to_f16(bits: u64) -> u64 where narrow;
        /// The bits of the float64 that has the value of that bfloat16.
        ROUND_TO_BF16 = kernpack_rt_round_to_bf16(bits: u64) -> u64 where narrow;
    }
    in Cuda if kernpack_cuda {
        /// Writes the number of the device whose context is current.
        CUDA_CURRENT = kernpack_rt_cuda_current(
            device: *mut i32, error: *mut ErrorParts
        ) -> i32 where cuda::context;
        /// Writes down what launches ask of a device.
        CUDA_DEVICE = kernpack_rt_cuda_device(
            device: i64, facts: *mut DeviceFacts, error: *mut ErrorParts
        ) -> i32 where cuda::facts;
        /// Writes down how many blocks of a kernel, with so many threads and bytes of dynamic
        /// shared memory each, a device holds at once: at least one for each multiprocessor.
        CUDA_BLOCKS = kernpack_rt_cuda_blocks(
            device: i64, kernel: u32, threads: i64, shared_bytes: i64, blocks: *mut i64,
            error: *mut ErrorParts
        ) -> i32 where cuda::resident;
        /// Sees to it that kernels on a device reach the memory of another one.
        CUDA_PEER = kernpack_rt_cuda_peer(
            device: i64, peer: i64, error: *mut ErrorParts
        ) -> i32 where cuda::peer;
        /// Launches kernels on a device, after loading those that are not there.
        CUDA_SUBMIT = kernpack_rt_cuda_submit(
            batch: *const Batch, error: *mut ErrorParts
        ) -> i32 where cuda::submit;
        /// Has the driver encode a tensor map that a launch passes.
        CUDA_ENCODE = kernpack_rt_cuda_encode(
            device: i32, map: *mut c_void, values: *const TensorMapValues, error: *mut ErrorParts
        ) -> i32 where cuda::tensor_map;
        /// Loads every kernel of the package on a device, ahead of the first call.
        CUDA_PRELOAD = kernpack_rt_cuda_preload(
            device: i64, error: *mut ErrorParts
        ) -> i32 where cuda::preload;
        /// Makes a function of a call: the state of its checks, with references to what it was
        /// given. Returns 0, or -1 where an error is raised.
        CUDA_PREPARE = kernpack_rt_cuda_prepare(
            function: *const Preparable, args: *const Any, num_args: i32, result: *mut Any,
            error: *mut ErrorParts
        ) -> i32 where cuda::prepare;
        /// Writes down where kernels on a device tell of failed assertions. Returns 0, or -1 where
        /// an error is raised: of a failure that nobody was told of, or of the driver.
        CUDA_ASSERTS = kernpack_rt_cuda_asserts(
            device: i64, record: *mut *mut c_void, push_float: Option<PushFloat>,
            error: *mut ErrorParts
        ) -> i32 where cuda::asserts;
        /// Waits for the devices that kernels with assertions were launched on. Returns 0, or -1
        /// where an error is raised: of a failure that nobody was told of, or of the driver.
        CUDA_SYNCHRONIZE = kernpack_rt_cuda_synchronize(
            push_float: Option<PushFloat>, error: *mut ErrorParts
        ) -> i32 where cuda::asserts;
        /// Writes down, as a string, how a function's launches were submitted.
        CUDA_LAUNCHED = kernpack_rt_cuda_launched(
            function: u32, result: *mut Any
        ) -> i32 where cuda::launched;
    }
}

/// Expands rows into a type and the [`Signature`] that describes it.
macro_rules! callbacks {
    ($( $(#[$doc:meta])* $konst:ident = $name:ident($($ty:ty),*) -> $result:ty; )*) => { $(
        $(#[$doc])*
        pub const $konst: Signature = signature!($($ty),* => $result);
        $(#[$doc])*
        pub type $name = unsafe extern "C" fn($($ty),*) -> $result;
    )* };
}

callbacks! {
    /// [`PUSH_FLOAT`], of who has faults that print floats. Nobody else
    /// names it, and so it is in no package that prints none.
    PUSH_FLOAT_TYPE = PushFloat(*mut c_void, u64) -> i32;
    /// Checks arguments, of which there are that many, and leaves a state. The memory for an error
    /// has its backtrace. Returns 0, or -1 where an error is raised.
    CHECK = Check(*const Any, i32, *mut u64, *mut ErrorParts) -> i32;
    /// Launches with a state, for a prepared call if that is not NULL, and writes the result. The
    /// memory for an error has its backtrace. Returns 0, or -1 where an error is raised.
    LAUNCH = Launch(*mut u64, *mut c_void, *mut Any, *mut ErrorParts) -> i32;
}
