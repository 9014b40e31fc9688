// SPDX-License-Identifier: Apache-2.0
//! The functions that a package may leave undefined: those of libtvm_ffi, with their C types, and
//! the few of the C library.
//!
//! Every one of the former is exported by apache-tvm-ffi 0.1.0, so a package loads under that
//! version and every later one.

/// A C type in the signature of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// No result.
    Void,
    /// `int32_t` or `int`.
    I32,
    /// Any pointer.
    Ptr,
}

/// A function that generated code or the runtime calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// The symbol.
    pub symbol: &'static str,
    /// The types of its parameters.
    pub params: &'static [CType],
    /// The type of its result.
    pub result: CType,
}

macro_rules! imports {
    ($( $(#[$doc:meta])* $konst:ident = $symbol:ident($($param:ident),*) -> $result:ident; )*) => {
        $( $(#[$doc])* pub const $konst: Import = Import {
            symbol: stringify!($symbol),
            params: &[$(CType::$param),*],
            result: CType::$result,
        }; )*

        /// Every import from libtvm_ffi.
        pub const LIBTVM_FFI: &[Import] = &[$($konst),*];
    };
}

imports! {
    /// Makes an error of a kind, a message and a backtrace, all of them byte arrays.
    ERROR_CREATE = TVMFFIErrorCreate(Ptr, Ptr, Ptr, Ptr) -> I32;
    /// Raises an error, which it takes a reference to.
    ERROR_SET_RAISED = TVMFFIErrorSetRaised(Ptr) -> Void;
    /// Raises an error from a kind and the parts of its message; NULL parts are skipped. The
    /// backtrace is found by walking the stack.
    ERROR_SET_RAISED_PARTS = TVMFFIErrorSetRaisedFromCStrParts(Ptr, Ptr, I32) -> Void;
    /// Takes the error that is raised, as an object.
    ERROR_MOVE_FROM_RAISED = TVMFFIErrorMoveFromRaised(Ptr) -> Void;
    /// The stream that the environment set for a device type and index.
    ENV_GET_STREAM = TVMFFIEnvGetStream(I32, I32) -> Ptr;
    /// Allocates a tensor like a prototype through the environment's allocator.
    ENV_TENSOR_ALLOC = TVMFFIEnvTensorAlloc(Ptr, Ptr) -> I32;
    /// Takes a strong reference.
    OBJECT_INC_REF = TVMFFIObjectIncRef(Ptr) -> I32;
    /// Drops a strong reference.
    OBJECT_DEC_REF = TVMFFIObjectDecRef(Ptr) -> I32;
    /// Makes a string value from a byte array.
    STRING_FROM_BYTE_ARRAY = TVMFFIStringFromByteArray(Ptr, Ptr) -> I32;
    /// Looks a global function up by name.
    FUNCTION_GET_GLOBAL = TVMFFIFunctionGetGlobal(Ptr, Ptr) -> I32;
    /// Calls a function object.
    FUNCTION_CALL = TVMFFIFunctionCall(Ptr, Ptr, I32, Ptr) -> I32;
    /// Makes a function object of a state, an entry point and what deletes the state.
    FUNCTION_CREATE = TVMFFIFunctionCreate(Ptr, Ptr, Ptr, Ptr) -> I32;
}

/// Every function of libtvm_ffi's C ABI, in 0.1.0 and later: what a user's object may call.
/// Generated code calls those of [`LIBTVM_FFI`].
pub const LIBTVM_FFI_C: &[&str] = &[
    "TVMFFIAnyViewToOwnedAny",
    "TVMFFIBacktrace",
    "TVMFFIBytesFromByteArray",
    "TVMFFIDataTypeFromString",
    "TVMFFIDataTypeToString",
    "TVMFFIEnvCheckSignals",
    "TVMFFIEnvGetDLPackManagedTensorAllocator",
    "TVMFFIEnvGetStream",
    "TVMFFIEnvModLookupFromImports",
    "TVMFFIEnvModRegisterContextSymbol",
    "TVMFFIEnvModRegisterSystemLibSymbol",
    "TVMFFIEnvRegisterCAPI",
    "TVMFFIEnvSetDLPackManagedTensorAllocator",
    "TVMFFIEnvSetStream",
    "TVMFFIEnvTensorAlloc",
    "TVMFFIErrorCreate",
    "TVMFFIErrorMoveFromRaised",
    "TVMFFIErrorSetRaised",
    "TVMFFIErrorSetRaisedFromCStr",
    "TVMFFIErrorSetRaisedFromCStrParts",
    "TVMFFIFunctionCall",
    "TVMFFIFunctionCreate",
    "TVMFFIFunctionGetGlobal",
    "TVMFFIFunctionSetGlobal",
    "TVMFFIFunctionSetGlobalFromMethodInfo",
    "TVMFFIGetTypeAttrColumn",
    "TVMFFIGetTypeInfo",
    "TVMFFIGetVersion",
    "TVMFFIObjectCreateOpaque",
    "TVMFFIObjectDecRef",
    "TVMFFIObjectIncRef",
    "TVMFFIStringFromByteArray",
    "TVMFFITensorFromDLPack",
    "TVMFFITensorFromDLPackVersioned",
    "TVMFFITensorToDLPack",
    "TVMFFITensorToDLPackVersioned",
    "TVMFFITypeGetOrAllocIndex",
    "TVMFFITypeKeyToIndex",
    "TVMFFITypeRegisterAttr",
    "TVMFFITypeRegisterField",
    "TVMFFITypeRegisterMetadata",
    "TVMFFITypeRegisterMethod",
];

/// Functions of that C ABI that 0.1.0 does not have.
pub const LIBTVM_FFI_C_LATER: &[&str] = &[
    "TVMFFIBigIntFromByteArray",
    "TVMFFIBigIntGetContentByteArray",
    "TVMFFIErrorCreateWithCauseAndExtraContext",
    "TVMFFIGetCustomAllocator",
    "TVMFFIHandleDeinitOnce",
    "TVMFFIHandleInitOnce",
    "TVMFFISetCustomAllocator",
    "TVMFFITensorCreateUnsafeView",
];

/// The functions of the C library that a package may need; all are in glibc 2.17.
pub const LIBC: &[&str] = &[
    "dlopen", "dlsym", "dlerror", "getenv", "malloc", "free", "memcpy", "memmove", "memset",
    "memcmp", "strlen", "strcmp", "snprintf", "syscall",
];

/// Whether a package may leave `symbol` undefined without a user's object asking for it.
pub fn is_allowed(symbol: &str) -> bool {
    LIBTVM_FFI.iter().any(|import| import.symbol == symbol) || LIBC.contains(&symbol)
}
