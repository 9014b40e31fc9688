// SPDX-License-Identifier: Apache-2.0
//! The plain functions of numbers and tuples, which kernels and packed functions call alike: one
//! row a function. Constants are computed here; what is done to numbers of threads, or of calls, is
//! behind [`Plain`].
//!
//! Not here: operators (`untyped.rs` has those of constants), and functions that only one of both
//! has, such as `range`.

use crate::call::Arg;
use crate::integer::Integer;
use crate::walker::Walker;
use kernpack_syntax::{Diagnostic, Span};

/// A function.
pub(crate) struct Row {
    /// Its name, behind `kp.`; Python's own have it without that, too.
    pub name: &'static str,
    /// Its parameters: `*xs` is any number.
    pub takes: &'static [&'static str],
    /// Its documentation in kernels.
    pub doc: &'static str,
    /// Its documentation in packed functions.
    pub packed_doc: &'static str,
    operation: Operation,
}

/// The operations: their names say what they compute.
#[derive(Clone, Copy, Debug)]
enum Operation {
    CeilDiv,
    Extreme(Extreme),
    Abs,
    Len,
}

/// One end of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

pub(crate) const CEIL_DIV: Row = Row {
    name: "ceil_div",
    takes: &["a", "b"],
    doc: "The quotient of integers, rounded up. By zero it is 0.",
    packed_doc: "The quotient of integers, rounded up; of tuples, of each pair.",
    operation: Operation::CeilDiv,
};

pub(crate) const MIN: Row = Row {
    name: "min",
    takes: &["*xs"],
    doc: "The smallest number. Of floats one that is no NaN, and -0 before +0.",
    packed_doc: "The smallest integer.",
    operation: Operation::Extreme(Extreme::Min),
};

pub(crate) const MAX: Row = Row {
    name: "max",
    takes: &["*xs"],
    doc: "The largest number. Of floats one that is no NaN, and +0 before -0.",
    packed_doc: "The largest integer.",
    operation: Operation::Extreme(Extreme::Max),
};

pub(crate) const ABS: Row = Row {
    name: "abs",
    takes: &["x"],
    doc: "The number without its sign. Of the least integer, that integer.",
    packed_doc: "A constant without its sign.",
    operation: Operation::Abs,
};

pub(crate) const LEN: Row = Row {
    name: "len",
    takes: &["x"],
    doc: "How many items a tuple has.",
    packed_doc: "How many items a tuple has.",
    operation: Operation::Len,
};

/// Every function, in the order of the reference.
pub(crate) const ROWS: [Row; 5] = [CEIL_DIV, MIN, MAX, ABS, LEN];

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    const { &ROWS }.iter().find(|row| row.name == name)
}

/// A constant, to whoever computes with it.
pub(crate) enum Constant<'v, V> {
    /// An integer without a type.
    Int(&'v Integer),
    /// A float without a type.
    Float(f64),
    /// A text.
    Text(&'v str),
    /// The items of a tuple.
    Tuple(Vec<V>),
}

/// A walker that has numbers.
pub(crate) trait Plain: Walker {
    /// The constant that a value is.
    fn constant<'v>(&self, value: &'v Self::Value) -> Option<Constant<'v, Self::Value>>;
    /// An integer without a type.
    fn of_int(&self, int: Integer) -> Self::Value;
    /// A float without a type.
    fn of_float(&self, float: f64) -> Self::Value;

    /// A number alone; reports where it is none.
    fn alone(&mut self, x: &Arg<Self::Value>) -> Option<Self::Value>;
    /// The smaller or larger one of two numbers.
    fn extreme(
        &mut self,
        of: Extreme,
        pair: (Self::Value, &Arg<Self::Value>),
        span: Span,
    ) -> Option<Self::Value>;
    /// The quotient, rounded up, of what are not both integers without a type.
    fn ceil_div(
        &mut self,
        a: &Arg<Self::Value>,
        b: &Arg<Self::Value>,
        span: Span,
    ) -> Option<Self::Value>;
    /// A number that is no constant, without its sign.
    fn abs(&mut self, x: &Arg<Self::Value>) -> Option<Self::Value>;
    /// Reports that the argument `name` is something else than expected.
    fn expects(&mut self, what: &str, name: &str, found: &Arg<Self::Value>);
}

/// Calls a function with arguments that fit its parameters; nothing where a mistake was reported.
pub(crate) fn run<W: Plain>(
    cx: &mut W,
    row: &Row,
    args: &[Arg<W::Value>],
    span: Span,
) -> Option<W::Value> {
    match (row.operation, args) {
        (Operation::Extreme(of), args) => extreme(cx, (row, of), args, span),
        (Operation::CeilDiv, [a, b]) => ceil_div(cx, a, b, span),
        (Operation::Abs, [x]) => match cx.constant(&x.value) {
            Some(Constant::Int(int)) => Some(cx.of_int(int.abs())),
            Some(Constant::Float(float)) => Some(cx.of_float(float.abs())),
            _ => cx.abs(x),
        },
        (Operation::Len, [x]) => {
            let count = match cx.constant(&x.value) {
                Some(Constant::Tuple(items)) => items.len(),
                Some(Constant::Text(text)) => text.chars().count(),
                _ => {
                    cx.expects("a tuple", "x", x);
                    return None;
                }
            };
            Some(cx.of_int((count as i128).into()))
        }
        (Operation::CeilDiv | Operation::Abs | Operation::Len, _) => None,
    }
}

fn extreme<W: Plain>(
    cx: &mut W,
    (row, of): (&Row, Extreme),
    args: &[Arg<W::Value>],
    span: Span,
) -> Option<W::Value> {
    let items = match args {
        [Arg { value, span }] => match cx.constant(value) {
            Some(Constant::Tuple(items)) => {
                let items = items.into_iter().map(|value| Arg { value, span: *span });
                Some(items.collect::<Vec<_>>())
            }
            _ => None,
        },
        _ => None,
    };
    let args = items.as_deref().unwrap_or(args);
    let Some((first, rest)) = args.split_first() else {
        let message = format!("`kp.{}` of nothing", row.name);
        let problem = W::WORDS.problem(W::WORDS.arguments, message, span, "here");
        cx.tell(problem.help("pass numbers"));
        return None;
    };
    let first = cx.alone(first)?;
    rest.iter().try_fold(first, |found, next| cx.extreme(of, (found, next), span))
}

fn ceil_div<W: Plain>(
    cx: &mut W,
    a: &Arg<W::Value>,
    b: &Arg<W::Value>,
    span: Span,
) -> Option<W::Value> {
    let (Some(Constant::Int(left)), Some(Constant::Int(right))) =
        (cx.constant(&a.value), cx.constant(&b.value))
    else {
        return cx.ceil_div(a, b, span);
    };
    match left.ceil_div(right) {
        Some(quotient) => Some(cx.of_int(quotient)),
        None => {
            cx.tell(by_zero::<W>(b.span));
            None
        }
    }
}

/// That a divisor is 0.
pub(crate) fn by_zero<W: Walker>(span: Span) -> Diagnostic {
    let (code, message) = W::WORDS.by_zero;
    W::WORDS.problem(code, message, span, "this is 0").help("divide by another")
}
