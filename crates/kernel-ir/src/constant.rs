// SPDX-License-Identifier: Apache-2.0
//! Constants: a scalar type and its bits.

use crate::eval::{round, widened};
use crate::op::Rounding;
use crate::types::{Class, Scalar};
use std::fmt;

/// A number or a truth value. Bits beyond the type's are 0, so that equal constants are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Const {
    scalar: Scalar,
    bits: u64,
}

impl Const {
    /// The value that these bits are; bits beyond the type's are dropped.
    pub const fn from_bits(scalar: Scalar, bits: u64) -> Const {
        Const { scalar, bits: bits & scalar.mask() }
    }

    /// An integer, or what is left of it in that many bits; of a float type, the nearest float.
    pub fn int(scalar: Scalar, value: i64) -> Const {
        match scalar.class() {
            Class::Float => Const::float(scalar, value as f64),
            Class::Bool => Const::bool(value != 0),
            Class::Signed | Class::Unsigned => Const::from_bits(scalar, value as u64),
        }
    }

    /// A truth value.
    pub const fn bool(value: bool) -> Const {
        Const { scalar: Scalar::Bool, bits: value as u64 }
    }

    /// The float of that type that is nearest, ties to even.
    ///
    /// # Panics
    /// Where the type is no float.
    pub fn float(scalar: Scalar, value: f64) -> Const {
        let bits = match scalar {
            Scalar::F32 => u64::from((value as f32).to_bits()),
            Scalar::F64 => value.to_bits(),
            _ => round(value, scalar, Rounding::NearestEven),
        };
        Const { scalar, bits }
    }

    /// Its type.
    pub const fn scalar(self) -> Scalar {
        self.scalar
    }

    /// Its bits.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The integer that it is: nothing where it is a float or a truth value, or too large.
    pub fn as_int(self) -> Option<i64> {
        match self.scalar.class() {
            Class::Signed => Some(self.signed()),
            Class::Unsigned => i64::try_from(self.bits).ok(),
            Class::Bool | Class::Float => None,
        }
    }

    /// The truth value that it is.
    pub fn as_bool(self) -> Option<bool> {
        (self.scalar == Scalar::Bool).then_some(self.bits == 1)
    }

    /// The float that it is, exactly.
    pub fn as_float(self) -> Option<f64> {
        widened(self.scalar, self.bits)
    }

    /// Its bits with the sign of its type carried to all 64.
    pub(crate) const fn signed(self) -> i64 {
        let unused = 64 - self.scalar.bits();
        ((self.bits << unused) as i64) >> unused
    }
}

/// As in a kernel's text, without the type: `-3`, `true`, `1.5`, `inf`, and `nan` or, where its
/// bits are not the usual ones, `nan:0x7fc00001`.
impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scalar.class() {
            Class::Bool => write!(f, "{}", self.bits == 1),
            Class::Signed => self.signed().fmt(f),
            Class::Unsigned => self.bits.fmt(f),
            Class::Float => match self.as_float() {
                Some(value) if value.is_nan() => self.write_nan(f),
                Some(_) if self.scalar == Scalar::F32 => {
                    write!(f, "{:?}", f32::from_bits(self.bits as u32))
                }
                Some(value) => write!(f, "{value:?}"),
                None => unreachable!("a float type has a float"),
            },
        }
    }
}

impl Const {
    fn write_nan(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self == Const::float(self.scalar, f64::NAN) {
            return f.write_str("nan");
        }
        write!(f, "nan:{:#x}", self.bits)
    }
}
