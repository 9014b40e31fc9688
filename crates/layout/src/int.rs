// SPDX-License-Identifier: Apache-2.0
//! Integers in layouts: a number that is known, or a value that will be known later.

use std::convert::Infallible;
use std::fmt::{self, Debug, Display};

/// A number that is not known yet: an SSA value, an expression over dims, a `?`.
///
/// Equal values are the same number. Different values may be, too, as far as this crate knows. It
/// is shown as it should stand in a printed layout: CuTe writes `?`, or `?{div=8}` where 8 is known
/// to divide it.
pub trait Value: Clone + PartialEq + Debug + Display {}

impl<T: Clone + PartialEq + Debug + Display> Value for T {}

/// An extent, a stride or a coordinate. Without a type of values, it is always known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Int<V = Infallible> {
    /// A number.
    Known(i64),
    /// A number that is known later.
    Dynamic(V),
}

impl<V> Int<V> {
    /// The number, where it is known.
    pub fn known(&self) -> Option<i64> {
        match self {
            Int::Known(number) => Some(*number),
            Int::Dynamic(_) => None,
        }
    }

    /// Whether it is known to be this number.
    pub fn is(&self, number: i64) -> bool {
        self.known() == Some(number)
    }
}

impl<V> From<i64> for Int<V> {
    fn from(number: i64) -> Int<V> {
        Int::Known(number)
    }
}

impl<V: Display> Display for Int<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Int::Known(number) => write!(f, "{number}"),
            Int::Dynamic(value) => value.fmt(f),
        }
    }
}
