// SPDX-License-Identifier: Apache-2.0
//! The types of elements in Rust, and which dtype each is.

use crate::dtype;
use kernpack_ffi_abi::DType;

mod sealed {
    pub trait Sealed {}
}

/// A type of elements of tensors. It has the size of an element, and lies as signatures ask for.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($( $name:ident = $konst:ident; )*) => {
        $(
            impl sealed::Sealed for dtype::$name {}
            impl Element for dtype::$name {
                const DTYPE: DType = DType::$konst;
            }
            const _: () =
                assert!(size_of::<dtype::$name>() == DType::$konst.element_bytes() as usize);
        )*

        /// Every dtype that is the type of elements in Rust.
        #[cfg(test)]
        const DTYPES: &[DType] = &[ $( <dtype::$name as Element>::DTYPE, )* ];
    };
}

elements! {
    bool = BOOL;
    int8 = INT8;
    int16 = INT16;
    int32 = INT32;
    int64 = INT64;
    uint8 = UINT8;
    uint16 = UINT16;
    uint32 = UINT32;
    uint64 = UINT64;
    float16 = FLOAT16;
    bfloat16 = BFLOAT16;
    float32 = FLOAT32;
    float64 = FLOAT64;
    complex64 = COMPLEX64;
    complex128 = COMPLEX128;
    float8_e3m4 = FLOAT8_E3M4;
    float8_e4m3 = FLOAT8_E4M3;
    float8_e4m3b11fnuz = FLOAT8_E4M3B11FNUZ;
    float8_e4m3fn = FLOAT8_E4M3FN;
    float8_e4m3fnuz = FLOAT8_E4M3FNUZ;
    float8_e5m2 = FLOAT8_E5M2;
    float8_e5m2fnuz = FLOAT8_E5M2FNUZ;
    float8_e8m0fnu = FLOAT8_E8M0FNU;
    int4 = INT4;
    float6_e2m3fn = FLOAT6_E2M3FN;
    float6_e3m2fn = FLOAT6_E3M2FN;
    float4_e2m1fn = FLOAT4_E2M1FN;
    float4_e2m1fnx2 = FLOAT4_E2M1FNX2;
}

#[cfg(test)]
mod tests {
    use super::DTYPES;
    use kernpack_ffi_abi::DType;

    #[test]
    fn every_dtype_is_a_type_of_elements() {
        let names: Vec<_> = DTYPES.iter().map(ToString::to_string).collect();
        let missing: Vec<_> = DType::names().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(names.len(), DType::names().count());
    }
}
