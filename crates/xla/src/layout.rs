// SPDX-License-Identifier: Apache-2.0
//! The structs of XLA's FFI that a call meets, as `xla/ffi/api/c_api.h` has them, each listed once:
//! the Rust type, its size and the offset of every field.
//!
//! They hold for API versions 0.1 to 0.5, which are those of jax 0.6 to 0.12: 0.1 (0.6, 0.7), 0.2
//! (0.8, 0.9.0), 0.3 (0.9.1 to 0.10), 0.4 (0.11), 0.5 (0.12). What changed in these versions is not
//! here: states of handlers, registered types, and the stage that records, which has a number of
//! its own. Every version appends to structs, so that a struct of ours may be the beginning of
//! XLA's. `tests/headers.rs` has a C compiler compare the table with the header of an installed
//! jax.

use core::ffi::{c_char, c_int, c_void};

/// A struct of the table, for tests.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The C name, without `XLA_FFI_`.
    pub c_name: &'static str,
    /// The bytes of ours.
    pub size: usize,
    /// The C names of the fields, with offset and size; empty where versions have several.
    pub fields: &'static [(&'static str, usize, usize)],
}

/// Expands rows into `repr(C)` structs, assertions about them, and [`STRUCTS`].
///
/// ```text
/// /// doc
/// struct RustName = "CName", SIZE {
///     /// doc
///     field: RustType = OFFSET "c name",
/// }
/// ```
macro_rules! xla_structs {
    ($( $(#[$doc:meta])* struct $name:ident = $c_name:literal, $size:literal {
        $( $(#[$fdoc:meta])* $field:ident: $ty:ty = $offset:literal $c_field:literal, )*
    } )*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name { $( $(#[$fdoc])* pub $field: $ty, )* }

            const _: () = assert!(size_of::<$name>() == $size);
            $( const _: () = assert!(core::mem::offset_of!($name, $field) == $offset); )*
        )*

        /// Every struct of the table.
        pub const STRUCTS: &[Struct] = &[ $( Struct {
            c_name: $c_name,
            size: $size,
            fields: &[ $( ($c_field, $offset, size_of::<$ty>()), )* ],
        }, )* ];
    };
}

/// A function of the API that fills in its argument. NULL, or an error that the caller owns.
pub type ApiFunction<T> = unsafe extern "C" fn(*mut T) -> *mut c_void;

xla_structs! {
    /// A text or bytes that somebody else owns.
    struct ByteSpan = "ByteSpan", 16 {
        /// The first byte.
        data: *const u8 = 0 "ptr",
        /// How many.
        size: usize = 8 "len",
    }
    /// An attribute that is an array of numbers.
    struct Array = "Array", 24 {
        /// The dtype of the elements.
        dtype: i32 = 0 "dtype",
        /// How many.
        size: usize = 8 "size",
        /// The first.
        data: *const c_void = 16 "data",
    }
    /// An array of the program: an operand or a result.
    struct Buffer = "Buffer", 48 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// Not read.
        extension: *const c_void = 8 "extension_start",
        /// The dtype of the elements.
        dtype: i32 = 16 "dtype",
        /// The first byte.
        data: *mut c_void = 24 "data",
        /// How many dims.
        rank: i64 = 32 "rank",
        /// Their extents.
        dims: *const i64 = 40 "dims",
    }
    /// The operands of a call, or its results.
    struct Buffers = "Args", 40 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// Not read.
        extension: *const c_void = 8 "extension_start",
        /// How many.
        size: i64 = 16 "size",
        /// The type of each: [`BUFFER`].
        types: *const i32 = 24 "types",
        /// The buffers.
        values: *const *const c_void = 32 "args",
    }
    /// The attributes of a call.
    struct Attributes = "Attrs", 48 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// Not read.
        extension: *const c_void = 8 "extension_start",
        /// How many.
        size: i64 = 16 "size",
        /// The type of each: [`ARRAY`] and others.
        types: *const i32 = 24 "types",
        /// Their names.
        names: *const *const ByteSpan = 32 "names",
        /// Their values.
        values: *const *const c_void = 40 "attrs",
    }
    /// The frame that a handler is called with.
    struct CallFrame = "CallFrame", 168 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// A question instead of a call, or NULL.
        extension: *const Extension = 8 "extension_start",
        /// The functions that a handler may call. NULL in questions before 0.2.
        api: *const Api = 16 "api",
        /// The context that those functions ask to be passed.
        context: *mut c_void = 24 "ctx",
        /// Which of the steps of a program's life this is.
        stage: i32 = 32 "stage",
        /// The operands.
        operands: Buffers = 40 "args",
        /// The results.
        results: Buffers = 80 "rets",
        /// The attributes.
        attributes: Attributes = 120 "attrs",
    }
    /// A version of the API.
    struct Version = "Api_Version", 24 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// Not read.
        extension: *const c_void = 8 "extension_start",
        /// 0.
        major: c_int = 16 "major_version",
        /// 1 to 5.
        minor: c_int = 20 "minor_version",
    }
    /// A handler's description of itself.
    struct Metadata = "Metadata", 40 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// The version it was made for.
        version: Version = 8 "api_version",
        /// Its traits: [`IS_CAPTURABLE`].
        traits: u32 = 32 "traits",
    }
    /// The functions that a handler may call. Those between are not called.
    struct Api = "Api", 192 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// Not read.
        extension: *const c_void = 8 "extension_start",
        /// The version.
        version: Version = 16 "api_version",
        /// Not read.
        internal: *const c_void = 40 "internal_api",
        /// Makes an error.
        error_create: ApiFunction<ErrorCreate> = 48 "XLA_FFI_Error_Create",
        /// Not called.
        others: [*const c_void; 3] = 56 "",
        /// The stream of the call.
        stream_get: ApiFunction<StreamGet> = 80 "XLA_FFI_Stream_Get",
        /// Not called.
        more: [*const c_void; 12] = 88 "",
        /// The device of the call.
        ordinal_get: ApiFunction<OrdinalGet> = 184 "XLA_FFI_DeviceOrdinal_Get",
    }
    /// The arguments of [`Api::error_create`].
    struct ErrorCreate = "Error_Create_Args", 32 {
        /// The bytes that we know of.
        struct_size: usize = 0 "struct_size",
        /// NULL.
        extension: *const c_void = 8 "extension_start",
        /// The message, which is copied.
        message: *const c_char = 16 "message",
        /// The kind of error.
        code: i32 = 24 "errc",
    }
    /// The arguments and the result of [`Api::stream_get`].
    struct StreamGet = "Stream_Get_Args", 32 {
        /// The bytes that we know of.
        struct_size: usize = 0 "struct_size",
        /// NULL.
        extension: *const c_void = 8 "extension_start",
        /// The call's.
        context: *mut c_void = 16 "ctx",
        /// The stream.
        stream: *mut c_void = 24 "stream",
    }
    /// The arguments and the result of [`Api::ordinal_get`].
    struct OrdinalGet = "DeviceOrdinal_Get_Args", 32 {
        /// The bytes that we know of.
        struct_size: usize = 0 "struct_size",
        /// NULL.
        extension: *const c_void = 8 "extension_start",
        /// The call's.
        context: *mut c_void = 16 "ctx",
        /// The index of the device.
        ordinal: i32 = 24 "device_ordinal",
    }
    /// A question. From 0.5 on the type's C name is another.
    struct Extension = "Extension_Base", 24 {
        /// The bytes that the caller knows of.
        struct_size: usize = 0 "struct_size",
        /// The question: [`ASKS_METADATA`].
        kind: i32 = 8 "type",
        /// The next question.
        next: *const Extension = 16 "next",
    }
    /// The question what a handler says of itself.
    struct MetadataExtension = "Metadata_Extension", 32 {
        /// The head.
        base: Extension = 0 "extension_base",
        /// Where the answer goes.
        metadata: *mut Metadata = 24 "metadata",
    }
}

/// Expands rows into constants, and [`ENUMERATORS`].
macro_rules! enumerators {
    ($( $(#[$doc:meta])* $name:ident = $value:literal $c_name:literal; )*) => {
        $( $(#[$doc])* pub const $name: i32 = $value; )*

        /// Every constant of the table: its C name, without `XLA_FFI_`, and its value.
        pub const ENUMERATORS: &[(&str, i32)] = &[ $( ($c_name, $value), )* ];
    };
}

enumerators! {
    /// The extension of a call frame that asks for metadata.
    ASKS_METADATA = 1 "Extension_Metadata";
    /// An operand is a buffer.
    BUFFER = 1 "ArgType_BUFFER";
    /// A result is a buffer.
    RESULT_BUFFER = 1 "RetType_BUFFER";
    /// An attribute is an array.
    ARRAY = 1 "AttrType_ARRAY";
    /// An attribute is a text.
    STRING = 4 "AttrType_STRING";
    /// The stage in which a program is loaded.
    INSTANTIATE = 0 "ExecutionStage_INSTANTIATE";
    /// The stage in which it runs.
    EXECUTE = 3 "ExecutionStage_EXECUTE";
    /// The calls launch the same each time, so that they may be captured and replayed.
    IS_CAPTURABLE = 1 "HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE";
    /// An argument is wrong.
    INVALID_ARGUMENT = 3 "Error_Code_INVALID_ARGUMENT";
    /// Something that was named is not there.
    NOT_FOUND = 5 "Error_Code_NOT_FOUND";
    /// There is not enough of something.
    RESOURCE_EXHAUSTED = 8 "Error_Code_RESOURCE_EXHAUSTED";
    /// Something that must have come first has not.
    FAILED_PRECONDITION = 9 "Error_Code_FAILED_PRECONDITION";
    /// An index is out of range.
    OUT_OF_RANGE = 11 "Error_Code_OUT_OF_RANGE";
    /// That cannot be done.
    UNIMPLEMENTED = 12 "Error_Code_UNIMPLEMENTED";
    /// Anything else.
    INTERNAL = 13 "Error_Code_INTERNAL";
    /// Bytes are not what they were.
    DATA_LOSS = 15 "Error_Code_DATA_LOSS";
    /// Signed bytes, the elements of an array of them.
    S8 = 2 "DataType_S8";
    /// The elements of a plan.
    S64 = 5 "DataType_S64";
    /// Bytes.
    U8 = 6 "DataType_U8";
}
