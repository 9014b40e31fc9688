// SPDX-License-Identifier: Apache-2.0
//! Which parameter each argument is for, and what is wrong where there is none.

use super::{Arg, Passed, call_text, counted};
use crate::walker::Walker;
use kernpack_syntax::{Diagnostic, Span};
use std::fmt::Display;

/// The arguments, by parameters.
#[derive(Debug)]
pub(crate) struct Bound<V> {
    /// One for each parameter but `*`, in order; nothing where it is left out.
    pub values: Vec<Option<Arg<V>>>,
    /// The arguments for `*xs`.
    pub rest: Vec<Arg<V>>,
}

/// A parameter.
struct Param<'t> {
    name: &'t str,
    /// As it is written: `x`, `x=` or `*xs`.
    written: &'t str,
}

impl Param<'_> {
    fn is_needed(&self) -> bool {
        self.name == self.written
    }
}

/// Where arguments by position end.
#[derive(Clone, Copy)]
enum End {
    /// So many there are.
    Of(usize),
    /// From that one on, all go to it.
    Rest(usize),
}

/// A call, and who is called.
struct Call<'c, T> {
    path: &'c dyn Display,
    takes: &'c [T],
    params: Vec<Param<'c>>,
    end: End,
    span: Span,
}

/// Gives each parameter its argument; nothing where they do not fit, all of which is reported.
pub(crate) fn bind<W: Walker>(
    cx: &mut W,
    path: &dyn Display,
    takes: &[impl AsRef<str>],
    passed: Passed<W::Value>,
    span: Span,
) -> Option<Bound<W::Value>> {
    let call = Call::new(path, takes, span);
    let mut bound = Bound { values: vec![None; call.params.len()], rest: Vec::new() };
    let mut problems = Vec::new();
    let n_passed = passed.positional.len();
    for (place, arg) in passed.positional.into_iter().enumerate() {
        match call.end {
            End::Rest(from) if place >= from => bound.rest.push(arg),
            End::Of(most) if place >= most => {
                problems.push(call.one_more::<W>(most, n_passed, arg.span));
                break;
            }
            End::Rest(_) | End::Of(_) => bound.values[place] = Some(arg),
        }
    }
    for (name, arg) in passed.named {
        match call.params.iter().position(|param| *param.name == *name.name) {
            Some(place) if bound.values[place].is_none() => bound.values[place] = Some(arg),
            place => problems.push(call.misnamed::<W>(&name.name, place.is_some(), name.span)),
        }
    }
    // What is named wrongly may be what is missing.
    if problems.is_empty() {
        problems.extend(call.missing::<W>(&bound));
    }
    let is_good = problems.is_empty();
    problems.into_iter().for_each(|problem| cx.tell(problem));
    is_good.then_some(bound)
}

impl<'c, T: AsRef<str>> Call<'c, T> {
    fn new(path: &'c dyn Display, takes: &'c [T], span: Span) -> Call<'c, T> {
        let written = || takes.iter().map(AsRef::as_ref);
        let named = written().filter(|one| *one != "*");
        // Nothing is passed to `*xs` by its name.
        let name = |one: &'c str| if one.starts_with('*') { "" } else { one.trim_end_matches('=') };
        let params: Vec<_> = named.map(|one| Param { name: name(one), written: one }).collect();
        let end = match written().position(|one| one.starts_with('*')) {
            None => End::Of(params.len()),
            Some(at) if takes[at].as_ref() == "*" => End::Of(at),
            Some(at) => End::Rest(at),
        };
        Call { path, takes, params, end, span }
    }

    fn problem<W: Walker>(&self, message: String, span: Span, label: &str) -> Diagnostic {
        let problem = W::WORDS.problem(W::WORDS.arguments, message, span, label);
        problem.help(format!("it is `{}`", call_text(self.path, self.takes)))
    }

    fn one_more<W: Walker>(&self, most: usize, n_passed: usize, span: Span) -> Diagnostic {
        let by_position = if most < self.params.len() { " by position" } else { "" };
        let count = counted(most, "argument");
        let message = format!("`{}` takes {count}{by_position}, not {n_passed}", self.path);
        self.problem::<W>(message, span, "one more than it takes")
    }

    fn misnamed<W: Walker>(&self, name: &str, is_twice: bool, span: Span) -> Diagnostic {
        let message = match is_twice {
            true => format!("`{name}` of `{}` is given twice", self.path),
            false => format!("`{}` has no parameter `{name}`", self.path),
        };
        self.problem::<W>(message, span, "this one")
    }

    fn missing<W: Walker>(&self, bound: &Bound<W::Value>) -> Vec<Diagnostic> {
        let given = self.params.iter().zip(&bound.values);
        let missing = given.filter(|(param, value)| param.is_needed() && value.is_none());
        let problem = |(param, _): (&Param<'_>, _)| {
            let message = format!("`{}` is not given its `{}`", self.path, param.name);
            self.problem::<W>(message, self.span, "missing")
        };
        missing.map(problem).collect()
    }
}
