// SPDX-License-Identifier: Apache-2.0
//! The structs of the ABI, each listed once: the Rust type, the field offsets that code generation
//! and the interpreter load by, and the C names that the header test asserts all come from the one
//! table below.
//!
//! Sources: `tvm/ffi/c_api.h` and `dlpack/dlpack.h` as installed by apache-tvm-ffi. Pointers are 64
//! bits: kernpack has no 32-bit target.

use bytemuck::{Pod, Zeroable};

/// How many bytes a field has, and how they extend to the 64-bit values that plans compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// A byte, zero-extended.
    U8,
    /// Two bytes, zero-extended.
    U16,
    /// Four bytes, sign-extended.
    I32,
    /// Four bytes, zero-extended.
    U32,
    /// Eight bytes.
    I64,
    /// A pointer: eight bytes.
    Ptr,
}

impl Width {
    /// The size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Width::U8 => 1,
            Width::U16 => 2,
            Width::I32 | Width::U32 => 4,
            Width::I64 | Width::Ptr => 8,
        }
    }
}

/// One field of an ABI struct: all that a load needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The struct's C name.
    pub owner: &'static str,
    /// The field's name, as plans print it.
    pub name: &'static str,
    /// The field's path in C, for the header test.
    pub c_path: &'static str,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// Size and extension.
    pub width: Width,
}

/// A struct of the table, for tests and documentation.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The C name.
    pub c_name: &'static str,
    /// The bytes before the struct in memory: [`OBJECT_HEADER_BYTES`] for an object's cell, else 0.
    /// Field offsets include it.
    pub base: u32,
    /// The size in bytes, without the base.
    pub size: usize,
    /// Every field.
    pub fields: &'static [Field],
}

/// The bytes of the header that every TVM-FFI object starts with.
pub const OBJECT_HEADER_BYTES: u32 = 24;

/// Where a `Tensor` object holds its [`DLTensor`].
pub const TENSOR_VIEW_OFFSET: u32 = OBJECT_HEADER_BYTES;

/// Where an `Error` object holds its kind, a [`ByteArray`]. Later versions have more behind the
/// message.
pub const ERROR_KIND_OFFSET: u32 = OBJECT_HEADER_BYTES;

/// Where an `Error` object holds its message, a [`ByteArray`].
pub const ERROR_MESSAGE_OFFSET: u32 = OBJECT_HEADER_BYTES + 16;

/// Where a `BigInt` object holds its words, after their count ([`big_int::SIZE`]).
pub const BIG_INT_WORDS_OFFSET: u32 = OBJECT_HEADER_BYTES + 8;

/// Expands rows into `repr(C)` structs, a module of [`Field`]s for each, width assertions, and
/// [`STRUCTS`].
///
/// ```text
/// /// doc
/// struct RustName in module = "CName" after BASE {
///     /// doc
///     field: RustType as CONST = Width "c path",
/// }
/// ```
macro_rules! abi_structs {
    ($( $(#[$doc:meta])* struct $name:ident in $module:ident = $c_name:literal after $base:tt {
        $( $(#[$fdoc:meta])* $field:ident: $ty:ty as $konst:ident = $width:ident $c_path:literal, )*
    } )*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
            pub struct $name { $( $(#[$fdoc])* pub $field: $ty, )* }

            $(#[$doc])*
            pub mod $module {
                use super::{Field, Width};
                $(
                    $(#[$fdoc])*
                    pub const $konst: Field = Field {
                        owner: $c_name,
                        name: stringify!($field),
                        c_path: $c_path,
                        offset: $base + core::mem::offset_of!(super::$name, $field) as u32,
                        width: Width::$width,
                    };
                    const _: () = assert!(core::mem::size_of::<$ty>() == Width::$width.bytes());
                )*
            }
        )*

        /// Every struct of the table.
        pub const STRUCTS: &[Struct] = &[ $( Struct {
            c_name: $c_name,
            base: $base,
            size: core::mem::size_of::<$name>(),
            fields: &[ $( $module::$konst, )* ],
        }, )* ];
    };
}

abi_structs! {
    /// A tagged value: what arguments and results are.
    struct Any in any = "TVMFFIAny" after 0 {
        /// The type of the payload: a [`TypeIndex`](crate::TypeIndex).
        type_index: i32 as TYPE_INDEX = I32 "type_index",
        /// Zero, or the length of a small string.
        padding: u32 as PADDING = U32 "zero_padding",
        /// The value or the pointer, 8 bytes.
        payload: i64 as PAYLOAD = I64 "v_int64",
    }
    /// The head of every object.
    struct Object in object = "TVMFFIObject" after 0 {
        /// Strong count in the low, weak count in the high half.
        ref_count: u64 as REF_COUNT = I64 "combined_ref_count",
        /// A [`TypeIndex`](crate::TypeIndex) of 64 or more.
        type_index: i32 as TYPE_INDEX = I32 "type_index",
        /// Unused.
        padding: u32 as PADDING = U32 "__padding",
        /// Called when a count reaches zero.
        deleter: u64 as DELETER = Ptr "deleter",
    }
    /// A view of a tensor.
    struct DLTensor in dl_tensor = "DLTensor" after 0 {
        /// The address of the first byte, before `byte_offset`.
        data: u64 as DATA = Ptr "data",
        /// A [`DeviceType`](crate::DeviceType).
        device_type: i32 as DEVICE_TYPE = I32 "device.device_type",
        /// The index among the devices of that type.
        device_id: i32 as DEVICE_ID = I32 "device.device_id",
        /// The number of dimensions.
        ndim: i32 as NDIM = I32 "ndim",
        /// A packed [`DType`](crate::DType): code, bits and lanes in one word.
        dtype: u32 as DTYPE = U32 "dtype",
        /// `ndim` extents.
        shape: u64 as SHAPE = Ptr "shape",
        /// `ndim` strides in elements, or NULL for row-major ones.
        strides: u64 as STRIDES = Ptr "strides",
        /// Bytes from `data` to the first element.
        byte_offset: u64 as BYTE_OFFSET = I64 "byte_offset",
    }
    /// The cell of an `ffi.Shape` object, behind its header.
    struct ShapeCell in shape_cell = "TVMFFIShapeCell" after 24 {
        /// The elements, 64-bit integers.
        data: u64 as DATA = Ptr "data",
        /// How many.
        size: u64 as SIZE = I64 "size",
    }
    /// The cell of an `ffi.Array` or `ffi.List` object, behind its header.
    struct SeqCell in seq_cell = "TVMFFISeqCell" after 24 {
        /// The elements, each a `TVMFFIAny`.
        data: u64 as DATA = Ptr "data",
        /// How many.
        size: i64 as SIZE = I64 "size",
        /// How many there is room for.
        capacity: i64 as CAPACITY = I64 "capacity",
        /// Frees `data` where it is an allocation of its own.
        data_deleter: u64 as DATA_DELETER = Ptr "data_deleter",
    }
    /// A borrowed run of bytes, as strings are passed to libtvm_ffi.
    struct ByteArray in byte_array = "TVMFFIByteArray" after 0 {
        /// The first byte.
        data: u64 as DATA = Ptr "data",
        /// How many.
        size: u64 as SIZE = I64 "size",
    }
}

/// The head of a `BigInt` object. C declares no struct for it, so it stands outside the table.
pub mod big_int {
    use super::{Field, OBJECT_HEADER_BYTES, Width};

    /// The number of 64-bit words that follow: two's complement, least significant first, minimal.
    pub const SIZE: Field = Field {
        owner: "BigInt",
        name: "size",
        c_path: "size",
        offset: OBJECT_HEADER_BYTES,
        width: Width::I64,
    };
}
