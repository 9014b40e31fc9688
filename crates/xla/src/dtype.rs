// SPDX-License-Identifier: Apache-2.0
//! XLA's element types as DLPack's.
//!
//! Those of 1 and 2 bits, and integers of 4, are not here: TVM-FFI has no agreed layout for them.
//! Neither are tokens.

use kernpack_ffi_abi::DType;

/// XLA's code of an element type, its C name without `XLA_FFI_DataType_`, and its dtype.
pub const TABLE: &[(i32, &str, DType)] = &[
    (1, "PRED", DType::BOOL),
    (2, "S8", DType::INT8),
    (3, "S16", DType::INT16),
    (4, "S32", DType::INT32),
    (5, "S64", DType::INT64),
    (6, "U8", DType::UINT8),
    (7, "U16", DType::UINT16),
    (8, "U32", DType::UINT32),
    (9, "U64", DType::UINT64),
    (10, "F16", DType::FLOAT16),
    (11, "F32", DType::FLOAT32),
    (12, "F64", DType::FLOAT64),
    (15, "C64", DType::COMPLEX64),
    (16, "BF16", DType::BFLOAT16),
    (18, "C128", DType::COMPLEX128),
    (19, "F8E5M2", DType::FLOAT8_E5M2),
    (20, "F8E4M3FN", DType::FLOAT8_E4M3FN),
    (23, "F8E4M3B11FNUZ", DType::FLOAT8_E4M3B11FNUZ),
    (24, "F8E5M2FNUZ", DType::FLOAT8_E5M2FNUZ),
    (25, "F8E4M3FNUZ", DType::FLOAT8_E4M3FNUZ),
    (28, "F8E4M3", DType::FLOAT8_E4M3),
    (29, "F8E3M4", DType::FLOAT8_E3M4),
    (F4E2M1FN, "F4E2M1FN", DType::FLOAT4_E2M1FNX2),
    (33, "F8E8M0FNU", DType::FLOAT8_E8M0FNU),
];

/// Floats of 4 bits, of which XLA counts each and TVM-FFI pairs.
pub const F4E2M1FN: i32 = 32;

const N_CODES: usize = 34;

/// [`TABLE`], by code: what a call looks up.
const BY_CODE: [Option<DType>; N_CODES] = {
    let mut by_code = [None; N_CODES];
    let mut row = 0;
    while row < TABLE.len() {
        by_code[TABLE[row].0 as usize] = Some(TABLE[row].2);
        row += 1;
    }
    by_code
};

/// The dtype of an element type, or `None` where it has none.
pub(crate) fn dtype(code: i32) -> Option<DType> {
    *BY_CODE.get(usize::try_from(code).ok()?)?
}
