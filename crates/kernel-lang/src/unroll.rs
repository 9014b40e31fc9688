// SPDX-License-Identifier: Apache-2.0
//! Loops that are gone through while compiling, which kernels and packed functions have alike: the
//! turns of a range, what `enumerate` and `zip` give, and comprehensions.
//!
//! Not here: the bodies of loops, as each walker goes through statements in its own way, and loops
//! that a kernel runs.

use crate::call::Arg;
use crate::plain::{Constant, Plain};
use crate::python::tree::{Comprehension, ComprehensionLoop, Expr};
use kernpack_syntax::{Diagnostic, Span};

/// The most loops of one comprehension.
const MOST_LOOPS: usize = 8;

/// A function of loops.
pub(crate) struct Row {
    /// Its name, behind `kp.`; Python's own have it without that, too.
    pub name: &'static str,
    /// Its parameters.
    pub takes: &'static [&'static str],
    /// Its documentation in kernels.
    pub doc: &'static str,
    /// Its documentation in packed functions.
    pub packed_doc: &'static str,
}

pub(crate) const RANGE: Row = Row {
    name: "range",
    takes: &["*bounds"],
    doc: "What a `for` of the kernel runs over: `range(end)`, `range(first, end)` or \
          `range(first, end, step)`. Bounds are computed once. It is Python's `range`, too.",
    packed_doc: "What a `for` goes over while the package is built: `range(end)`, \
                 `range(first, end)` or `range(first, end, step)`, of constants.",
};

pub(crate) const RANGE_CONSTEXPR: Row = Row {
    name: "range_constexpr",
    takes: &["*bounds"],
    doc: "A range of constant bounds, whose loop is unrolled while compiling: its index is a \
          constant in each turn.",
    packed_doc: "The same as `range`, by the name that it has in kernels.",
};

pub(crate) const ENUMERATE: Row = Row {
    name: "enumerate",
    takes: &["x"],
    doc: "The items of a tuple, each with its number.",
    packed_doc: "The items of a tuple, each with its number.",
};

pub(crate) const ZIP: Row = Row {
    name: "zip",
    takes: &["*tuples"],
    doc: "The first items of tuples, then the second ones, as long as all have some.",
    packed_doc: "The first items of tuples, then the second ones, as long as all have some.",
};

/// Every function, in the order of the reference.
pub(crate) const ROWS: [Row; 4] = [RANGE, RANGE_CONSTEXPR, ENUMERATE, ZIP];

/// The items that a loop goes over, one in each turn. There may be very many.
pub(crate) type Items<V> = Box<dyn Iterator<Item = V>>;

/// A walker that goes through loops while compiling.
pub(crate) trait Unroll: Plain {
    /// Names that are kept aside.
    type Names;

    /// A tuple.
    fn of_items(&self, items: Vec<Self::Value>) -> Self::Value;
    /// The items of what a comprehension goes over; reports where there are none to be told.
    fn turns_of(&mut self, iter: &Self::Value, span: Span) -> Option<Items<Self::Value>>;
    /// Whether there may be one more turn; reports where there are too many.
    fn begin_turn(&mut self, span: Span) -> bool;
    /// Gives the names of a loop what they are in a turn.
    fn assign_turn(&mut self, target: &Expr, item: Self::Value);
    /// Whether a condition of a comprehension holds; reports where that is not known.
    fn known_condition(&mut self, condition: &Expr) -> Option<bool>;
    /// Begins names of a comprehension's own, around which the others are.
    fn open_names(&mut self) -> Self::Names;
    /// Goes back to those that were.
    fn close_names(&mut self, names: Self::Names);
}

/// The first number, the end and the step of a range: those of one to three arguments.
pub(crate) fn bounds<W: Unroll>(
    cx: &mut W,
    args: &[Arg<W::Value>],
    span: Span,
) -> Option<[W::Value; 3]> {
    let value = |arg: &Arg<W::Value>| arg.value.clone();
    Some(match args {
        [end] => [cx.of_int(0.into()), value(end), cx.of_int(1.into())],
        [first, end] => [value(first), value(end), cx.of_int(1.into())],
        [first, end, step] => [value(first), value(end), value(step)],
        _ => {
            let message = format!("a range has one to three numbers, found {}", args.len());
            let problem = W::WORDS.problem(W::WORDS.arguments, message, span, "here");
            cx.tell(problem.help("write `range(first, end, step)`"));
            return None;
        }
    })
}

/// The numbers from `first` to `end` by `step`.
pub(crate) fn counted<W: Unroll>(
    cx: &mut W,
    [first, end, step]: [i128; 3],
    span: Span,
) -> Option<Counted> {
    if step == 0 {
        cx.tell(by_nothing::<W>(span));
        return None;
    }
    Some(Counted { next: Some(first), end, step })
}

/// Numbers that are counted, up or down.
#[derive(Debug)]
pub(crate) struct Counted {
    next: Option<i128>,
    end: i128,
    step: i128,
}

impl Iterator for Counted {
    type Item = i128;

    fn next(&mut self) -> Option<i128> {
        let Counted { next, end, step } = *self;
        let index = next.filter(|at| if step > 0 { *at < end } else { *at > end })?;
        self.next = index.checked_add(step);
        Some(index)
    }
}

/// That a range would never end.
fn by_nothing<W: Unroll>(span: Span) -> Diagnostic {
    let problem = W::WORDS.problem("loop", "a step of 0", span, "never ends");
    problem.help("count by another number")
}

/// `enumerate(x)`
pub(crate) fn enumerate<W: Unroll>(cx: &mut W, x: &Arg<W::Value>) -> Option<W::Value> {
    let Some(Constant::Tuple(items)) = cx.constant(&x.value) else {
        cx.expects("a tuple", "x", x);
        return None;
    };
    let pairs = items.into_iter().enumerate().map(|(number, item)| {
        let number = cx.of_int((number as i128).into());
        cx.of_items(vec![number, item])
    });
    let pairs = pairs.collect();
    Some(cx.of_items(pairs))
}

/// `zip(a, b)`
pub(crate) fn zip<W: Unroll>(cx: &mut W, tuples: &[Arg<W::Value>]) -> Option<W::Value> {
    let tuples = tuples.iter().map(|arg| cx.items(&arg.value, arg.span));
    let tuples: Vec<_> = tuples.collect::<Option<_>>()?;
    let count = tuples.iter().map(Vec::len).min().unwrap_or(0);
    let row = |at: usize| cx.of_items(tuples.iter().map(|items| items[at].clone()).collect());
    let rows = (0..count).map(row).collect();
    Some(cx.of_items(rows))
}

/// `[e for x in xs if c]`: a tuple that is made while compiling.
pub(crate) fn comprehension<W: Unroll>(cx: &mut W, made: &Comprehension) -> Option<W::Value> {
    if made.loops.len() > MOST_LOOPS {
        let message = format!("a comprehension of more than {MOST_LOOPS} loops");
        let problem = W::WORDS.problem("too-deep", message, made.element.span, "in all of them");
        cx.tell(problem.help("write a function for the inner ones"));
        return None;
    }
    let around = cx.open_names();
    let mut items = Vec::new();
    let is_made = comprehend(cx, made, &made.loops, &mut items);
    cx.close_names(around);
    is_made.then(|| cx.of_items(items))
}

fn comprehend<W: Unroll>(
    cx: &mut W,
    made: &Comprehension,
    loops: &[ComprehensionLoop],
    items: &mut Vec<W::Value>,
) -> bool {
    let Some((one, inner)) = loops.split_first() else {
        let item = cx.evaluate(&made.element);
        let is_made = item.is_some();
        items.extend(item);
        return is_made;
    };
    let turns = cx.evaluate(&one.iter).and_then(|iter| cx.turns_of(&iter, one.iter.span));
    let Some(turns) = turns else { return false };
    for turn in turns {
        if !cx.begin_turn(one.target.span) {
            return false;
        }
        cx.assign_turn(&one.target, turn);
        let mut holds = true;
        for condition in &one.conditions {
            match cx.known_condition(condition) {
                Some(truth) => holds &= truth,
                None => return false,
            }
        }
        if holds && !comprehend(cx, made, inner, items) {
            return false;
        }
    }
    true
}
