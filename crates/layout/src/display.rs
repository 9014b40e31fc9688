// SPDX-License-Identifier: Apache-2.0
//! Layouts as text, as CuTe prints them: `((1,32),(?,?)):((0,1),(?,32))`. The alternate form,
//! `{:#}`, says of each name what is known of it, so that nothing is lost where the text is read
//! again: `(4,n{div=8}):(1,4)`.

use crate::Int;
use crate::layout::{Mode, Stride};
use crate::slice::Slot;
use crate::tuple::Tuple;
use std::fmt::{self, Display, Formatter};

/// Writes a tuple, with something for each leaf.
fn write_tuple<T>(
    tuple: &Tuple<T>,
    f: &mut Formatter<'_>,
    leaf: &impl Fn(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    match tuple {
        Tuple::Leaf(value) => leaf(value, f),
        Tuple::Node(modes) => {
            f.write_str("(")?;
            for (number, mode) in modes.iter().enumerate() {
                if number > 0 {
                    f.write_str(",")?;
                }
                write_tuple(mode, f, leaf)?;
            }
            f.write_str(")")
        }
    }
}

impl<V: Display> Display for Stride<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.scale.fmt(f)?;
        self.basis.iter().rev().try_for_each(|mode| write!(f, "@{mode}"))
    }
}

impl<V: Display> Display for Tuple<Mode<V>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_tuple(self, f, &|mode, f| mode.extent.fmt(f))?;
        f.write_str(":")?;
        write_tuple(self, f, &|mode, f| mode.stride.fmt(f))
    }
}

impl<V: Display> Display for Slot<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Free => f.write_str("_"),
            Slot::At(at) => at.fmt(f),
        }
    }
}

impl<V: Display> Display for Tuple<Int<V>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_tuple(self, f, &|leaf, f| leaf.fmt(f))
    }
}

impl<V: Display> Display for Tuple<Stride<V>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_tuple(self, f, &|leaf, f| leaf.fmt(f))
    }
}

impl<V: Display> Display for Tuple<Slot<V>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_tuple(self, f, &|leaf, f| leaf.fmt(f))
    }
}

impl Display for Tuple<i64> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_tuple(self, f, &|leaf, f| leaf.fmt(f))
    }
}
