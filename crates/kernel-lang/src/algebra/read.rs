// SPDX-License-Identifier: Apache-2.0
//! The interface of those that run the algebra, and how it reads their values: as layouts, shapes,
//! tilers, coordinates and numbers of modes.

use kernpack_layout::{
    self as layout, Arith, Coord, Int, Layout, Part, Result, Shape, Slot, Swizzle, Tiler, Tuple,
};
use kernpack_syntax::{Diagnostic, Span};

/// The most modes of a layout that something is made of.
const MOST_MODES: usize = 512;

/// The form that a value has for the algebra.
pub(crate) enum Form<E: Algebra> {
    /// `None`: all of a mode.
    None,
    /// An integer.
    Number(Int<E::Leaf>),
    /// Several values.
    Tuple(Vec<E::Value>),
    /// A layout, with a swizzle of its indices or without.
    Layout(Layout<E::Leaf>, Option<Swizzle>),
    /// A tensor, and its layout.
    Tensor(E::Tensor, Layout<E::Leaf>),
    /// A swizzle.
    Swizzle(Swizzle),
    /// Nothing that layouts are made of.
    Other,
}

/// A layout, and the swizzle of its indices where there is one.
type Swizzled<V> = (Layout<V>, Option<Swizzle>);

/// Pairs of numbers.
type Pairs<V> = [(Int<V>, Int<V>)];

/// How something was made of a layout, to be made of another one.
pub(crate) type Remake<'m, E, T> =
    dyn Fn(&mut <E as Algebra>::Numbers, &Layout<<E as Algebra>::Leaf>) -> Result<T> + 'm;

/// An evaluator of calls of the algebra. Where a method gives nothing, a mistake was reported.
pub(crate) trait Algebra: Sized {
    /// The value of an expression.
    type Value: Clone;
    /// A number that is not known while compiling.
    type Leaf: layout::Value;
    /// A tensor.
    type Tensor;
    /// The context that computes with such numbers.
    type Numbers: Arith<Value = Self::Leaf>;

    /// The form of a value.
    fn form(&mut self, value: &Self::Value, span: Span) -> Option<Form<Self>>;
    /// The words for a value in messages: `a text`.
    fn called(&self, value: &Self::Value) -> String;
    /// Reports a mistake.
    fn refuse(&mut self, problem: Diagnostic);
    /// Does an operation on layouts; its errors are mistakes.
    fn compute<T>(
        &mut self,
        span: Span,
        operation: impl FnOnce(&mut Self::Numbers) -> Result<T>,
    ) -> Option<T>;

    /// An integer.
    fn of_number(&self, number: &Int<Self::Leaf>) -> Self::Value;
    /// A tuple.
    fn of_tuple(&self, items: Vec<Self::Value>) -> Self::Value;
    /// A layout.
    fn of_layout(&self, layout: Layout<Self::Leaf>, swizzle: Option<Swizzle>) -> Self::Value;
    /// A swizzle.
    fn of_swizzle(&self, swizzle: Swizzle) -> Self::Value;
    /// The same elements, with another layout, which was made so of the one before.
    fn of_view(
        &mut self,
        tensor: Self::Tensor,
        layout: Layout<Self::Leaf>,
        relay: &Remake<'_, Self, Layout<Self::Leaf>>,
    ) -> Self::Value;
    /// Some of the elements, which were taken so of the layout before.
    fn of_part(
        &mut self,
        tensor: Self::Tensor,
        part: Part<Self::Leaf>,
        take: &Remake<'_, Self, Part<Self::Leaf>>,
        span: Span,
    ) -> Option<Self::Value>;
    /// A tensor that is taken apart into tiles and rests, which may reach beyond it.
    fn cut(&mut self, tensor: Self::Tensor, tiler: &Tiler<Self::Leaf>) -> Self::Tensor;
    /// The part of a thread, which is one of those that a layout of threads has, if it is touched.
    fn within(
        &mut self,
        part: Self::Value,
        thread: &Int<Self::Leaf>,
        threads: &Layout<Self::Leaf>,
        span: Span,
    ) -> Self::Value;
    /// The elements of a tile, of a tensor that is seen as tiles and rests.
    fn of_tile(
        &mut self,
        tensor: Self::Tensor,
        tiles: Layout<Self::Leaf>,
        at: &Coord<Self::Leaf>,
        relay: &Remake<'_, Self, Layout<Self::Leaf>>,
        span: Span,
    ) -> Option<Self::Value>;
    /// Whether each first number is less than its second one.
    fn all_less(&mut self, pairs: &Pairs<Self::Leaf>, span: Span) -> Option<Self::Value>;

    /// Reports that a value is not what it should be.
    fn refuse_value<T>(&mut self, expected: &str, value: &Self::Value, span: Span) -> Option<T> {
        let message = format!("expected {expected}, found {}", self.called(value));
        let problem = Diagnostic::new("type", message).label(span, "");
        self.refuse(problem.help(format!("pass {expected}")));
        None
    }

    /// An integer.
    fn read_int(&mut self, value: &Self::Value, span: Span) -> Option<Int<Self::Leaf>> {
        match self.form(value, span)? {
            Form::Number(number) => Some(number),
            _ => self.refuse_value("an integer", value, span),
        }
    }

    /// An integer that is known, within bounds, both included.
    fn read_constant(
        &mut self,
        value: &Self::Value,
        span: Span,
        (least, most): (i64, i64),
    ) -> Option<i64> {
        match self.form(value, span)? {
            Form::Number(Int::Known(number)) if (least..=most).contains(&number) => Some(number),
            _ => self.refuse_value(&format!("a constant from {least} to {most}"), value, span),
        }
    }

    /// Whether a shape or a layout has no more modes than operations on it are quick.
    fn bounded<T>(&mut self, of: &Tuple<T>, span: Span) -> bool {
        let is_small = of.leaves().len() <= MOST_MODES;
        if !is_small {
            let message = format!("a shape of more than {MOST_MODES} modes");
            let problem = Diagnostic::new("layout", message).label(span, "");
            self.refuse(problem.help("make fewer modes of more elements"));
        }
        is_small
    }

    /// Integers, nested in tuples. A layout stands for its extents.
    fn read_shape(&mut self, value: &Self::Value, span: Span) -> Option<Shape<Self::Leaf>> {
        match self.form(value, span)? {
            Form::Tuple(items) => {
                let shape = all(&items, |item| self.read_shape(item, span)).map(Tuple::Node)?;
                self.bounded(&shape, span).then_some(shape)
            }
            Form::Layout(layout, _) => Some(layout.shape()),
            Form::Number(number) => Some(Tuple::Leaf(number)),
            Form::None | Form::Tensor(..) | Form::Swizzle(_) | Form::Other => {
                self.refuse_value("an integer", value, span)
            }
        }
    }

    /// Constant integers, nested in tuples.
    fn read_order(&mut self, value: &Self::Value, span: Span) -> Option<Tuple<i64>> {
        let order = self.read_shape(value, span)?;
        match order.try_map(&mut |number| number.known().ok_or(())) {
            Ok(order) => Some(order),
            Err(()) => {
                let problem = Diagnostic::new("layout", "an order is made of constants");
                let problem = problem.label(span, "not known while compiling");
                self.refuse(problem.help("number the modes, the fastest first"));
                None
            }
        }
    }

    /// A layout, that of a tensor, or the compact one of a shape; and the swizzle of its indices.
    fn read_layout(&mut self, value: &Self::Value, span: Span) -> Option<Swizzled<Self::Leaf>> {
        match self.form(value, span)? {
            Form::Layout(layout, swizzle) => {
                self.bounded(&layout, span).then_some((layout, swizzle))
            }
            Form::Tensor(_, layout) => Some((layout, None)),
            Form::Number(_) | Form::Tuple(_) => {
                let shape = self.read_shape(value, span)?;
                Some((self.compute(span, |numbers| layout::make_layout(numbers, &shape))?, None))
            }
            Form::None | Form::Swizzle(_) | Form::Other => {
                self.refuse_value("a layout", value, span)
            }
        }
    }

    /// A layout without a swizzle, where one has no meaning.
    fn read_plain(&mut self, value: &Self::Value, span: Span) -> Option<Layout<Self::Leaf>> {
        let (of, swizzle) = self.read_layout(value, span)?;
        self.plain(of, swizzle, span)
    }

    /// A layout, unless it has a swizzle, which is reported.
    fn plain(
        &mut self,
        of: Layout<Self::Leaf>,
        swizzle: Option<Swizzle>,
        span: Span,
    ) -> Option<Layout<Self::Leaf>> {
        let Some(swizzle) = swizzle else { return Some(of) };
        let message = format!("a layout with a swizzle, {swizzle}, is no plain layout");
        let problem = Diagnostic::new("layout", message).label(span, "");
        self.refuse(problem.help("pass the layout, and compose the swizzle with what is made"));
        None
    }

    /// Reads the tiler that layouts are divided by.
    fn read_tiler(&mut self, value: &Self::Value, span: Span) -> Option<Tiler<Self::Leaf>> {
        match self.form(value, span)? {
            Form::None => Some(Tiler::Keep),
            Form::Layout(of, swizzle) => self.plain(of, swizzle, span).map(Tiler::Layout),
            Form::Tuple(items) => all(&items, |item| self.read_tiler(item, span)).map(Tiler::Modes),
            Form::Number(number) => {
                let shape = Tuple::Leaf(number);
                self.compute(span, |numbers| Tiler::of_shape(numbers, &shape))
            }
            Form::Tensor(..) | Form::Swizzle(_) | Form::Other => {
                self.refuse_value("a shape or a layout", value, span)
            }
        }
    }

    /// A coordinate, in which `None` leaves a mode free.
    fn read_coord(&mut self, value: &Self::Value, span: Span) -> Option<Coord<Self::Leaf>> {
        match self.form(value, span)? {
            Form::None => Some(Tuple::Leaf(Slot::Free)),
            Form::Tuple(items) => all(&items, |item| self.read_coord(item, span)).map(Tuple::Node),
            Form::Number(number) => Some(Tuple::Leaf(Slot::At(number))),
            Form::Layout(..) | Form::Tensor(..) | Form::Swizzle(_) | Form::Other => {
                self.refuse_value("an integer", value, span)
            }
        }
    }

    /// Numbers of modes, one or a tuple of them.
    fn read_modes(&mut self, value: &Self::Value, span: Span) -> Option<Vec<usize>> {
        let numbers = match self.form(value, span)? {
            Form::Tuple(items) => all(&items, |item| self.form(item, span))?,
            one => vec![one],
        };
        let number = |form| match form {
            Form::Number(Int::Known(number)) => usize::try_from(number).ok(),
            _ => None,
        };
        match numbers.into_iter().map(number).collect() {
            Some(modes) => Some(modes),
            None => self.refuse_value("constant numbers of modes", value, span),
        }
    }
}

/// Reads each item, where each can be: all of them are looked at for mistakes.
fn all<V, T>(items: &[V], read: impl FnMut(&V) -> Option<T>) -> Option<Vec<T>> {
    let read: Vec<_> = items.iter().map(read).collect();
    read.into_iter().collect()
}
