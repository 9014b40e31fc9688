// SPDX-License-Identifier: Apache-2.0
//! Element types, as DLPack codes them, with their names both ways.

use bytemuck::{Pod, Zeroable};
use core::fmt;

/// A `DLDataType`: code, bits a lane, lanes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
pub struct DType {
    /// The `DLDataTypeCode`.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes: 1 but for vectors, 2 for a pair of 4-bit floats in one byte.
    pub lanes: u16,
}

macro_rules! dtypes {
    ($( $konst:ident = $code:literal, $bits:literal, $c_name:literal, $name:literal; )*) => {
        impl DType {
            $( #[doc = concat!("`", $name, "`.")] pub const $konst: DType = DType { code: $code, bits: $bits, lanes: 1 }; )*

            /// Every dtype of one lane that has a name: dtype, the C enumerator of its code, name.
            pub const TABLE: &[(DType, &str, &str)] =
                &[ $( (DType { code: $code, bits: $bits, lanes: 1 }, $c_name, $name), )* ];
        }
    };
}

dtypes! {
    BOOL = 6, 8, "kDLBool", "bool";
    INT4 = 0, 4, "kDLInt", "int4";
    INT8 = 0, 8, "kDLInt", "int8";
    INT16 = 0, 16, "kDLInt", "int16";
    INT32 = 0, 32, "kDLInt", "int32";
    INT64 = 0, 64, "kDLInt", "int64";
    UINT8 = 1, 8, "kDLUInt", "uint8";
    UINT16 = 1, 16, "kDLUInt", "uint16";
    UINT32 = 1, 32, "kDLUInt", "uint32";
    UINT64 = 1, 64, "kDLUInt", "uint64";
    FLOAT16 = 2, 16, "kDLFloat", "float16";
    FLOAT32 = 2, 32, "kDLFloat", "float32";
    FLOAT64 = 2, 64, "kDLFloat", "float64";
    BFLOAT16 = 4, 16, "kDLBfloat", "bfloat16";
    COMPLEX64 = 5, 64, "kDLComplex", "complex64";
    COMPLEX128 = 5, 128, "kDLComplex", "complex128";
    FLOAT8_E3M4 = 7, 8, "kDLFloat8_e3m4", "float8_e3m4";
    FLOAT8_E4M3 = 8, 8, "kDLFloat8_e4m3", "float8_e4m3";
    FLOAT8_E4M3B11FNUZ = 9, 8, "kDLFloat8_e4m3b11fnuz", "float8_e4m3b11fnuz";
    FLOAT8_E4M3FN = 10, 8, "kDLFloat8_e4m3fn", "float8_e4m3fn";
    FLOAT8_E4M3FNUZ = 11, 8, "kDLFloat8_e4m3fnuz", "float8_e4m3fnuz";
    FLOAT8_E5M2 = 12, 8, "kDLFloat8_e5m2", "float8_e5m2";
    FLOAT8_E5M2FNUZ = 13, 8, "kDLFloat8_e5m2fnuz", "float8_e5m2fnuz";
    FLOAT8_E8M0FNU = 14, 8, "kDLFloat8_e8m0fnu", "float8_e8m0fnu";
    FLOAT6_E2M3FN = 15, 6, "kDLFloat6_e2m3fn", "float6_e2m3fn";
    FLOAT6_E3M2FN = 16, 6, "kDLFloat6_e3m2fn", "float6_e3m2fn";
    FLOAT4_E2M1FN = 17, 4, "kDLFloat4_e2m1fn", "float4_e2m1fn";
}

impl DType {
    /// A pair of 4-bit floats in one byte: an element is the pair.
    pub const FLOAT4_E2M1FNX2: DType = DType { lanes: 2, ..DType::FLOAT4_E2M1FN };

    /// The dtype of that name.
    pub fn parse(name: &str) -> Option<DType> {
        if name == "float4_e2m1fnx2" {
            return Some(DType::FLOAT4_E2M1FNX2);
        }
        Self::TABLE.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// All names, in the order of the table.
    pub fn names() -> impl Iterator<Item = String> {
        Self::TABLE.iter().map(|row| row.2.to_string()).chain([DType::FLOAT4_E2M1FNX2.to_string()])
    }

    /// Bits of one element, all lanes.
    pub const fn element_bits(self) -> u32 {
        self.bits as u32 * self.lanes as u32
    }

    /// Bytes of one element; 1 for those below a byte.
    pub const fn element_bytes(self) -> u32 {
        self.element_bits().div_ceil(8)
    }

    /// Bytes of a compact tensor of these extents; `None` where an extent is negative, or 64 bits
    /// do not suffice to count the bits.
    pub fn compact_bytes(self, shape: &[i64]) -> Option<u64> {
        let times = |count: u64, extent: &i64| count.checked_mul(u64::try_from(*extent).ok()?);
        let bits = shape.iter().try_fold(1, times)?.checked_mul(u64::from(self.element_bits()))?;
        Some(bits.div_ceil(8))
    }

    /// The four bytes as one little-endian word: what one load of a `DLTensor`'s dtype yields.
    pub const fn packed(self) -> u32 {
        self.code as u32 | (self.bits as u32) << 8 | (self.lanes as u32) << 16
    }

    /// The inverse of [`packed`](DType::packed).
    pub const fn from_packed(word: u32) -> DType {
        DType { code: word as u8, bits: (word >> 8) as u8, lanes: (word >> 16) as u16 }
    }

    /// Whether it is a signed or unsigned integer.
    pub const fn is_int(self) -> bool {
        self.code == DType::INT32.code || self.code == DType::UINT32.code
    }

    /// Whether it is an unsigned integer.
    pub const fn is_unsigned(self) -> bool {
        self.code == DType::UINT32.code
    }

    /// Whether it is `float16`, `bfloat16`, `float32` or `float64`.
    pub fn is_float(self) -> bool {
        [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32, DType::FLOAT64].contains(&self)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::TABLE.iter().find(|row| (row.0.code, row.0.bits) == (self.code, self.bits)) {
            Some((_, _, name)) => f.write_str(name)?,
            None => write!(f, "dtype(code={}, bits={})", self.code, self.bits)?,
        }
        if self.lanes != 1 { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_tensor_has_so_many_bytes() {
        assert_eq!(DType::FLOAT32.compact_bytes(&[]), Some(4));
        assert_eq!(DType::FLOAT32.compact_bytes(&[3, 5]), Some(60));
        assert_eq!(DType::FLOAT32.compact_bytes(&[1 << 62, 0]), Some(0));
        assert_eq!(DType::INT4.compact_bytes(&[3]), Some(2));
        assert_eq!(DType::FLOAT4_E2M1FNX2.compact_bytes(&[3]), Some(3));
        assert_eq!(DType::FLOAT32.compact_bytes(&[-1]), None);
        assert_eq!(DType::FLOAT32.compact_bytes(&[1 << 59]), None);
    }
}
