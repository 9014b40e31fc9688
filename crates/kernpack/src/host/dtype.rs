// SPDX-License-Identifier: Apache-2.0
//! The types of elements under the names of their dtypes: `dtype::float32` is `f32`.
//!
//! What Rust has no type for is a struct of its bits. Elements of less than a byte are packed in
//! memory, so that theirs stand for types alone: nobody makes one.
#![allow(non_camel_case_types, reason = "these are the names that signatures have")]

/// `bool`: a byte that is 0 or 1.
pub type bool = core::primitive::bool;
/// `int8`.
pub type int8 = i8;
/// `int16`.
pub type int16 = i16;
/// `int32`.
pub type int32 = i32;
/// `int64`.
pub type int64 = i64;
/// `uint8`.
pub type uint8 = u8;
/// `uint16`.
pub type uint16 = u16;
/// `uint32`.
pub type uint32 = u32;
/// `uint64`.
pub type uint64 = u64;
/// `float16`.
pub type float16 = half::f16;
/// `bfloat16`.
pub type bfloat16 = half::bf16;
/// `float32`.
pub type float32 = f32;
/// `float64`.
pub type float64 = f64;

macro_rules! bits {
    ($( $(#[$doc:meta])* $name:ident($field:ty); )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub $field);
    )* };
}

bits! {
    /// `complex64`: the real part, the imaginary part.
    #[repr(C, align(8))]
    complex64([f32; 2]);
    /// `complex128`: the real part, the imaginary part.
    #[repr(C, align(16))]
    complex128([f64; 2]);
    /// `float8_e3m4`, as its bits.
    #[repr(transparent)]
    float8_e3m4(u8);
    /// `float8_e4m3`, as its bits.
    #[repr(transparent)]
    float8_e4m3(u8);
    /// `float8_e4m3b11fnuz`, as its bits.
    #[repr(transparent)]
    float8_e4m3b11fnuz(u8);
    /// `float8_e4m3fn`, as its bits.
    #[repr(transparent)]
    float8_e4m3fn(u8);
    /// `float8_e4m3fnuz`, as its bits.
    #[repr(transparent)]
    float8_e4m3fnuz(u8);
    /// `float8_e5m2`, as its bits.
    #[repr(transparent)]
    float8_e5m2(u8);
    /// `float8_e5m2fnuz`, as its bits.
    #[repr(transparent)]
    float8_e5m2fnuz(u8);
    /// `float8_e8m0fnu`, as its bits.
    #[repr(transparent)]
    float8_e8m0fnu(u8);
    /// `float4_e2m1fnx2`: two floats of four bits.
    #[repr(transparent)]
    float4_e2m1fnx2(u8);
}

macro_rules! packed {
    ($( $(#[$doc:meta])* $name:ident; )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(#[expect(dead_code, reason = "it has the size alone")] u8);
    )* };
}

packed! {
    /// `int4`, packed.
    int4;
    /// `float6_e2m3fn`, packed.
    float6_e2m3fn;
    /// `float6_e3m2fn`, packed.
    float6_e3m2fn;
    /// `float4_e2m1fn`, packed.
    float4_e2m1fn;
}
