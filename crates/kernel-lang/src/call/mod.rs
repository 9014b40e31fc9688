// SPDX-License-Identifier: Apache-2.0
//! Calls as Python has them: what is passed, and which parameter it is for.
//!
//! A list of parameters is written as rows of tables have it, and as a `def` has it: `x`, which is
//! passed, `x=`, which may be left out, `*xs`, which is any number, and `*`, behind which all are
//! passed by name.

mod bind;

pub(crate) use bind::{Bound, bind};

use crate::python::tree::{Call, ExprKind, Function, Ident};
use crate::walker::Walker;
use kernpack_syntax::{Diagnostic, Span};
use std::fmt::Display;
use std::sync::Arc;

/// An argument.
#[derive(Clone, Debug)]
pub(crate) struct Arg<V> {
    /// The value.
    pub value: V,
    /// Where it stands.
    pub span: Span,
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct Passed<V> {
    /// By position.
    pub positional: Vec<Arg<V>>,
    /// By name.
    pub named: Vec<(Ident, Arg<V>)>,
}

/// Evaluates the arguments of a call; nothing where any of it is no good. All of it is looked at.
pub(crate) fn passed<W: Walker>(cx: &mut W, call: &Call) -> Option<Passed<W::Value>> {
    let mut passed = Passed { positional: Vec::new(), named: Vec::new() };
    let mut is_good = true;
    for arg in &call.args {
        let values = match &arg.kind {
            ExprKind::Starred(of) => cx.evaluate(of).and_then(|tuple| cx.items(&tuple, of.span)),
            _ => cx.evaluate(arg).map(|value| vec![value]),
        };
        is_good &= values.is_some();
        let values = values.into_iter().flatten();
        passed.positional.extend(values.map(|value| Arg { value, span: arg.span }));
    }
    for (name, value) in &call.keywords {
        match cx.evaluate(value) {
            Some(given) => {
                passed.named.push((name.clone(), Arg { value: given, span: value.span }));
            }
            None => is_good = false,
        }
    }
    is_good.then_some(passed)
}

/// Why a function that stands within another is none to call: a decorator does nothing there.
pub(crate) fn decorated(function: &Function) -> Option<Diagnostic> {
    let decorator = function.decorators.first()?;
    let message = format!("`{}` stands within a function, and has a decorator", function.name.name);
    let problem = Diagnostic::new("decorator", message).label(decorator.span, "not here");
    Some(problem.help("define it outside of all functions"))
}

/// How a function is called that takes this.
pub(crate) fn call_text(path: &dyn Display, takes: &[impl AsRef<str>]) -> String {
    let takes: Vec<_> = takes.iter().map(|one| one.as_ref().replace('=', "=…")).collect();
    format!("{path}({})", takes.join(", "))
}

/// So many of something: `no arguments`, `1 mode`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// That a function calls itself, where it is among those that are being called.
pub(crate) fn recursion<'c, W: Walker>(
    function: &Arc<Function>,
    mut calls: impl Iterator<Item = &'c Arc<Function>>,
    span: Span,
) -> Option<Diagnostic> {
    calls.any(|one| Arc::ptr_eq(one, function)).then(|| {
        let message = format!("`{}` calls itself", function.name.name);
        W::WORDS.problem("recursion", message, span, "this call").help(W::WORDS.recursion)
    })
}
