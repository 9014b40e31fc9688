// SPDX-License-Identifier: Apache-2.0
//! The types of numbers as Rust's, so that an operation is written once for all integers and once
//! for all floats. Bits beyond a type's are ignored where it is read, and 0 where it is given.

use crate::types::Scalar;
use half::{bf16, f16};
use std::ops::{Add, Div, Mul, Sub};

/// Runs an expression with `T` as Rust's type of an integer or float.
macro_rules! with_type {
    (
        $scalar:expr,
        int $T:ident => $int:expr,
        float $F:ident => $float:expr,
        bool => $bool:expr
    ) => {
        $crate::eval::number::with_type!(
            $scalar, $T => $int, $F => $float, $bool;
            I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8, U16 = u16, U32 = u32, U64 = u64;
            F16 = half::f16, BF16 = half::bf16, F32 = f32, F64 = f64
        )
    };
    (
        $scalar:expr, $T:ident => $int:expr, $F:ident => $float:expr, $bool:expr;
        $( $int_name:ident = $int_type:ty ),*; $( $float_name:ident = $float_type:ty ),*
    ) => {
        match $scalar {
            Scalar::Bool => $bool,
            $( Scalar::$int_name => {
                type $T = $int_type;
                $int
            } )*
            $( Scalar::$float_name => {
                type $F = $float_type;
                $float
            } )*
        }
    };
}

pub(super) use with_type;

/// A type that a value of 64 bits holds.
pub(super) trait Bits: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

/// An integer. Everything wraps, and nothing traps.
pub(super) trait Int: Bits + Ord {
    fn wide(self) -> i128;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn floor_div(self, other: Self) -> Self;
    fn floor_mod(self, other: Self) -> Self;
    fn mul_high(self, other: Self) -> Self;
    fn shl(self, other: Self) -> Self;
    fn shr(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
}

macro_rules! ints {
    ($( $int:ident, $unsigned:ident, $wide:ident, $abs:ident; )*) => { $(
        impl Bits for $int {
            fn of(bits: u64) -> $int {
                bits as $int
            }

            fn bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }

        impl Int for $int {
            fn wide(self) -> i128 {
                i128::from(self)
            }

            fn add(self, other: $int) -> $int {
                self.wrapping_add(other)
            }

            fn sub(self, other: $int) -> $int {
                self.wrapping_sub(other)
            }

            fn mul(self, other: $int) -> $int {
                self.wrapping_mul(other)
            }

            fn floor_div(self, other: $int) -> $int {
                if other == 0 {
                    return 0;
                }
                let is_between = self.wrapping_rem(other) != 0 && (self ^ other) < $int::MIN.max(0);
                self.wrapping_div(other).wrapping_sub($int::from(is_between))
            }

            fn floor_mod(self, other: $int) -> $int {
                if other == 0 {
                    return self;
                }
                let rest = self.wrapping_rem(other);
                let is_other_side = rest != 0 && (rest ^ other) < $int::MIN.max(0);
                if is_other_side { rest.wrapping_add(other) } else { rest }
            }

            fn mul_high(self, other: $int) -> $int {
                ((self as $wide * other as $wide) >> $int::BITS) as $int
            }

            fn shl(self, other: $int) -> $int {
                match u32::try_from(other as $unsigned) {
                    Ok(count) => self.checked_shl(count).unwrap_or(0),
                    Err(_) => 0,
                }
            }

            fn shr(self, other: $int) -> $int {
                let most = $int::BITS as $unsigned - 1;
                let count = other as $unsigned;
                let shifted = self >> count.min(most);
                if count > most { shifted >> 1 } else { shifted }
            }

            fn neg(self) -> $int {
                self.wrapping_neg()
            }

            fn abs(self) -> $int {
                self.$abs()
            }
        }
    )* };
}

ints! {
    i8, u8, i16, wrapping_abs;
    i16, u16, i32, wrapping_abs;
    i32, u32, i64, wrapping_abs;
    i64, u64, i128, wrapping_abs;
    u8, u8, u16, into;
    u16, u16, u32, into;
    u32, u32, u64, into;
    u64, u64, u128, into;
}

/// A float. Its operations are those of a type that is wide enough for rounding twice to be
/// rounding once: halves compute in float32, which has more than twice their bits, and whose own
/// subnormals have more than a product or quotient of two bfloat16 needs.
pub(super) trait Float: Bits {
    type Wide: Copy
        + PartialOrd
        + Add<Output = Self::Wide>
        + Sub<Output = Self::Wide>
        + Mul<Output = Self::Wide>
        + Div<Output = Self::Wide>
        + Into<f64>;

    const SCALAR: Scalar;

    fn widen(self) -> Self::Wide;

    /// The nearest one, ties to even; the usual NaN for any.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! floats {
    ($(
        $float:ident, $store:ident, $scalar:ident, $wide:ident, $widen:path, $narrow:path;
    )*) => { $(
        impl Bits for $float {
            fn of(bits: u64) -> $float {
                $float::from_bits(bits as $store)
            }

            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
        }

        impl Float for $float {
            type Wide = $wide;

            const SCALAR: Scalar = Scalar::$scalar;

            fn widen(self) -> $wide {
                $widen(self)
            }

            fn narrow(wide: $wide) -> $float {
                if wide.is_nan() { $float::NAN } else { $narrow(wide) }
            }
        }
    )* };
}

floats! {
    f16, u16, F16, f32, f16::to_f32, f16::from_f32;
    bf16, u16, BF16, f32, bf16::to_f32, bf16::from_f32;
    f32, u32, F32, f32, std::convert::identity, std::convert::identity;
    f64, u64, F64, f64, std::convert::identity, std::convert::identity;
}
