// SPDX-License-Identifier: Apache-2.0
//! Layouts, and how they are made.
//!
//! A layout is one tuple of modes, each with its extent and its stride, so that shape and stride
//! cannot be nested differently. Its own modes are layouts, too.

use crate::arith::Arith;
use crate::error::{Error, Result, text};
use crate::int::{Int, Value};
use crate::tuple::Tuple;
use std::convert::Infallible;

/// Integers of a context.
pub type IntOf<C> = Int<<C as Arith>::Value>;
/// Layouts of a context.
pub type LayoutOf<C> = Layout<<C as Arith>::Value>;
/// Shapes, and tuples of integers of any other meaning, of a context.
pub type ShapeOf<C> = Shape<<C as Arith>::Value>;

/// Extents, nested.
pub type Shape<V = Infallible> = Tuple<Int<V>>;
/// Strides, nested.
pub type Strides<V = Infallible> = Tuple<Stride<V>>;
/// A function from coordinates to indices: extents and strides, nested alike.
pub type Layout<V = Infallible> = Tuple<Mode<V>>;

/// A leaf of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mode<V = Infallible> {
    /// How many coordinates it has.
    pub extent: Int<V>,
    /// How far apart their indices are.
    pub stride: Stride<V>,
}

/// How far apart indices are, and in which direction.
///
/// A plain stride is a number. One along a mode is a multiple of a basis vector: the index is a
/// coordinate then, and the stride moves in one mode of it. CuTe prints `4@1` for four steps in
/// mode 1, and `1@0@1` for a step in mode 0 of mode 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stride<V = Infallible> {
    /// The number, or the multiple.
    pub scale: Int<V>,
    /// The mode in which it moves, from the outside in; empty for a plain stride.
    pub basis: Vec<usize>,
}

impl<V> From<Int<V>> for Stride<V> {
    fn from(scale: Int<V>) -> Stride<V> {
        Stride { scale, basis: Vec::new() }
    }
}

impl<V> From<i64> for Stride<V> {
    fn from(scale: i64) -> Stride<V> {
        Int::Known(scale).into()
    }
}

impl<V> Stride<V> {
    /// Whether it is a number, and no step along a mode.
    pub fn is_plain(&self) -> bool {
        self.basis.is_empty()
    }
}

impl<V> Mode<V> {
    /// A mode, or the layout of it alone.
    pub fn new(extent: impl Into<Int<V>>, stride: impl Into<Stride<V>>) -> Mode<V> {
        Mode { extent: extent.into(), stride: stride.into() }
    }

    /// `1:0`, which does nothing.
    pub fn unit() -> Mode<V> {
        Mode::new(1, 0)
    }
}

impl<V: Value> Layout<V> {
    /// The layout of a shape and strides that are nested alike.
    pub fn of(shape: &Shape<V>, strides: &Strides<V>) -> Result<Layout<V>> {
        let pair = &mut |extent: &Int<V>, stride: &Stride<V>| Mode {
            extent: extent.clone(),
            stride: stride.clone(),
        };
        let layout = shape.zip(strides, pair);
        let layout = layout
            .ok_or_else(|| Error::NotCongruent { shape: text(shape), stride: text(strides) })?;
        match layout.leaves().iter().filter_map(|mode| mode.extent.known()).find(|&e| e < 0) {
            Some(extent) => Err(Error::NegativeExtent { extent }),
            None => Ok(layout),
        }
    }

    /// The layout of one mode, without parentheses.
    pub fn mode(extent: impl Into<Int<V>>, stride: impl Into<Stride<V>>) -> Layout<V> {
        Tuple::Leaf(Mode::new(extent, stride))
    }

    /// `1:0`
    pub fn unit() -> Layout<V> {
        Tuple::Leaf(Mode::unit())
    }

    /// The extents.
    pub fn shape(&self) -> Shape<V> {
        self.map(&mut |mode| mode.extent.clone())
    }

    /// The strides.
    pub fn strides(&self) -> Strides<V> {
        self.map(&mut |mode| mode.stride.clone())
    }

    /// Whether every extent and stride is known.
    pub fn is_static(&self) -> bool {
        let is_known =
            |mode: &&Mode<V>| mode.extent.known().is_some() && mode.stride.scale.known().is_some();
        self.leaves().iter().all(is_known)
    }

    /// Whether no stride goes along a mode, so that indices are numbers.
    pub fn is_plain(&self) -> bool {
        self.leaves().iter().all(|mode| mode.stride.is_plain())
    }

    /// The same layout with values of another type, or without any. `None` where a number is not
    /// known that the other type cannot say.
    pub fn convert<W>(&self, each: &mut impl FnMut(&V) -> Option<Int<W>>) -> Option<Layout<W>> {
        let mut int = |int: &Int<V>| match int {
            Int::Known(number) => Some(Int::Known(*number)),
            Int::Dynamic(value) => each(value),
        };
        let mode = &mut |mode: &Mode<V>| {
            let (extent, scale) = (int(&mode.extent), int(&mode.stride.scale));
            let stride = Stride { scale: scale.ok_or(())?, basis: mode.stride.basis.clone() };
            Ok::<_, ()>(Mode { extent: extent.ok_or(())?, stride })
        };
        self.try_map(mode).ok()
    }
}

impl<V> Shape<V> {
    /// A flat shape of numbers.
    pub fn of_numbers(extents: &[i64]) -> Shape<V> {
        Tuple::Node(extents.iter().map(|&extent| Tuple::Leaf(Int::Known(extent))).collect())
    }
}

/// A compact layout of a shape, of which the first mode is the fastest. A mode of extent 1 has
/// stride 0.
pub fn make_layout<C: Arith>(cx: &mut C, shape: &ShapeOf<C>) -> Result<LayoutOf<C>> {
    let order = shape.map(&mut |_| 0);
    make_ordered_layout(cx, shape, &order)
}

/// A compact layout of a shape whose last mode is the fastest, as arrays in C are laid out.
pub fn make_row_major_layout<C: Arith>(cx: &mut C, shape: &ShapeOf<C>) -> Result<LayoutOf<C>> {
    let n_leaves = shape.leaves().len() as i64;
    let mut next = n_leaves;
    let order = shape.map(&mut |_| {
        next -= 1;
        next
    });
    make_ordered_layout(cx, shape, &order)
}

/// A compact layout of a shape: modes of a smaller order are faster, and of those of one order the
/// first. An order of a mode that has modes holds for all of them.
pub fn make_ordered_layout<C: Arith>(
    cx: &mut C,
    shape: &ShapeOf<C>,
    order: &Tuple<i64>,
) -> Result<LayoutOf<C>> {
    if !order.is_weakly_congruent(shape) {
        return Err(Error::Order { order: text(order), shape: text(shape) });
    }
    let mut orders = Vec::new();
    spread_order(shape, order, &mut orders);
    let extents = shape.leaves();
    let mut turns: Vec<_> = (0..extents.len()).collect();
    turns.sort_by_key(|&leaf| orders[leaf]);
    let mut strides = vec![Int::Known(0); extents.len()];
    turns.retain(|&leaf| !extents[leaf].is(1));
    let mut span = Int::Known(1);
    for (turn, &leaf) in turns.iter().enumerate() {
        strides[leaf] = span.clone();
        // The span of the last mode is no mode's stride.
        if turn + 1 < turns.len() {
            span = cx.mul(&span, extents[leaf])?;
        }
    }
    let mut strides = strides.into_iter();
    let strides = shape.map(&mut |_| Stride::from(strides.next().unwrap_or(Int::Known(0))));
    Layout::of(shape, &strides)
}

/// The order of each leaf of a shape.
fn spread_order<V>(shape: &Shape<V>, order: &Tuple<i64>, orders: &mut Vec<i64>) {
    match order {
        Tuple::Leaf(order) => orders.extend(shape.leaves().iter().map(|_| *order)),
        Tuple::Node(order) => {
            for (shape, order) in shape.modes().iter().zip(order) {
                spread_order(shape, order, orders);
            }
        }
    }
}

/// The layout that maps each coordinate of a shape to itself: its strides are basis vectors.
///
/// The identity layout. Divided and sliced along with a tensor, it says where the elements of a
/// tile are in the tensor, which is what a predicate wants to know.
pub fn make_identity_layout<V: Value>(shape: &Shape<V>) -> Layout<V> {
    identity(shape, &mut Vec::new())
}

fn identity<V: Value>(shape: &Shape<V>, path: &mut Vec<usize>) -> Layout<V> {
    match shape {
        Tuple::Leaf(extent) => {
            let stride = Stride { scale: Int::Known(1), basis: path.clone() };
            Layout::mode(extent.clone(), stride)
        }
        Tuple::Node(modes) => {
            let mode = |(number, mode): (usize, &Shape<V>)| {
                path.push(number);
                let mode = identity(mode, path);
                path.pop();
                mode
            };
            Tuple::Node(modes.iter().enumerate().map(mode).collect())
        }
    }
}
