// SPDX-License-Identifier: Apache-2.0
//! Type indices: what a `TVMFFIAny` holds. An open set, so a newtype and not an enum: classes of a
//! user's own get indices from 128 on, per process.

use core::fmt;

/// The tag of a `TVMFFIAny`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeIndex(pub i32);

macro_rules! type_indices {
    ($( $konst:ident = $value:literal, $c_name:literal, $name:literal; )*) => {
        impl TypeIndex {
            $( #[doc = concat!("`", $c_name, "`, printed as `", $name, "`.")] pub const $konst: TypeIndex = TypeIndex($value); )*

            /// Every index with a name of its own: index, C enumerator, the word that messages use.
            pub const TABLE: &[(TypeIndex, &str, &str)] = &[ $( (TypeIndex($value), $c_name, $name), )* ];
        }
    };
}

type_indices! {
    NONE = 0, "kTVMFFINone", "None";
    INT = 1, "kTVMFFIInt", "int";
    BOOL = 2, "kTVMFFIBool", "bool";
    FLOAT = 3, "kTVMFFIFloat", "float";
    OPAQUE_PTR = 4, "kTVMFFIOpaquePtr", "void*";
    DATA_TYPE = 5, "kTVMFFIDataType", "dtype";
    DEVICE = 6, "kTVMFFIDevice", "Device";
    DL_TENSOR_PTR = 7, "kTVMFFIDLTensorPtr", "Tensor";
    RAW_STR = 8, "kTVMFFIRawStr", "str";
    BYTE_ARRAY_PTR = 9, "kTVMFFIByteArrayPtr", "ByteArray";
    OBJECT_RVALUE_REF = 10, "kTVMFFIObjectRValueRef", "RValueRef";
    SMALL_STR = 11, "kTVMFFISmallStr", "str";
    SMALL_BYTES = 12, "kTVMFFISmallBytes", "bytes";
    OBJECT = 64, "kTVMFFIObject", "Object";
    STR = 65, "kTVMFFIStr", "str";
    BYTES = 66, "kTVMFFIBytes", "bytes";
    ERROR = 67, "kTVMFFIError", "Error";
    FUNCTION = 68, "kTVMFFIFunction", "Function";
    SHAPE = 69, "kTVMFFIShape", "Shape";
    TENSOR = 70, "kTVMFFITensor", "Tensor";
    ARRAY = 71, "kTVMFFIArray", "Array";
    MAP = 72, "kTVMFFIMap", "Map";
    MODULE = 73, "kTVMFFIModule", "Module";
    OPAQUE_PY_OBJECT = 74, "kTVMFFIOpaquePyObject", "a Python object";
    LIST = 75, "kTVMFFIList", "List";
    DICT = 76, "kTVMFFIDict", "Dict";
    VISIT_INTERRUPT = 77, "kTVMFFIVisitInterrupt", "VisitInterrupt";
    BIG_INT = 78, "kTVMFFIBigInt", "BigInt";
}

impl TypeIndex {
    /// The words before the number of an index that has no word of its own.
    pub const FALLBACK: &str = "type index ";
}

impl fmt::Display for TypeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::TABLE.iter().find(|row| row.0 == *self) {
            Some((_, _, name)) => f.write_str(name),
            None => write!(f, "{}{}", Self::FALLBACK, self.0),
        }
    }
}
