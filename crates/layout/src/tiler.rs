// SPDX-License-Identifier: Apache-2.0
//! Tilers: by which layouts are composed, divided and multiplied, mode by mode.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::int::Value;
use crate::layout::{Layout, Shape, ShapeOf, make_layout};
use crate::tuple::Tuple;
use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};

/// A layout, or a tiler for each mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tiler<V = Infallible> {
    /// Leaves the mode as it is; written `_`.
    Keep,
    /// A layout of numbers of coordinates, whatever the modes.
    Layout(Layout<V>),
    /// One for each mode, from the first.
    Modes(Vec<Tiler<V>>),
}

impl<V> From<Layout<V>> for Tiler<V> {
    fn from(layout: Layout<V>) -> Tiler<V> {
        Tiler::Layout(layout)
    }
}

impl<V: Value> Tiler<V> {
    /// The tiler that a shape is: `(4,8)` takes 4 elements of the first mode and 8 of the second.
    pub fn of_shape<C: Arith<Value = V>>(cx: &mut C, shape: &ShapeOf<C>) -> Result<Tiler<V>> {
        match shape {
            Tuple::Leaf(_) => Ok(Tiler::Layout(make_layout(cx, shape)?)),
            Tuple::Node(modes) => {
                let modes = modes.iter().map(|mode| Tiler::of_shape(cx, mode));
                Ok(Tiler::Modes(modes.collect::<Result<_>>()?))
            }
        }
    }

    /// How many modes a tile has: those of a layout, as a tile, are one.
    pub fn rank(&self) -> usize {
        match self {
            Tiler::Keep | Tiler::Layout(_) => 1,
            Tiler::Modes(modes) => modes.len(),
        }
    }

    /// The shape of a tile; `None` where modes are kept as they are.
    pub fn shape(&self) -> Option<Shape<V>> {
        match self {
            Tiler::Keep => None,
            Tiler::Layout(layout) => Some(layout.shape()),
            Tiler::Modes(modes) => {
                Some(Tuple::Node(modes.iter().map(Tiler::shape).collect::<Option<_>>()?))
            }
        }
    }

    /// That it has no more modes than a layout.
    pub(crate) fn require_modes_of(&self, layout: &Layout<V>) -> Result<()> {
        match self {
            Tiler::Modes(modes) if modes.len() > layout.rank() => Err(Error::TooManyModes {
                what: "the tiler",
                tiler: text(self),
                layout: text(layout),
            }),
            Tiler::Keep | Tiler::Layout(_) | Tiler::Modes(_) => Ok(()),
        }
    }
}

impl<V: Display> Display for Tiler<V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Tiler::Keep => f.write_str("_"),
            Tiler::Layout(layout) => write!(f, "{layout}"),
            Tiler::Modes(modes) => {
                f.write_str("<")?;
                for (number, mode) in modes.iter().enumerate() {
                    write!(f, "{}{mode}", if number > 0 { "," } else { "" })?;
                }
                f.write_str(">")
            }
        }
    }
}
