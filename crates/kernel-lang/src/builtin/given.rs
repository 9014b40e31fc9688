// SPDX-License-Identifier: Apache-2.0
//! What a function of kernpack's is given: arguments by the names of its row.

use super::{Builtin, counted};
use crate::elaborate::Elaborator;
use crate::expr::{Arg, Args};
use crate::value::Value;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::{Scalar, kernel};
use kernpack_syntax::{Diagnostic, Span};

/// What a function is given.
#[derive(Debug)]
pub(crate) struct Given {
    /// The function.
    pub row: &'static Builtin,
    /// What stands in front of the point of a method.
    pub of: Value,
    /// What is passed for each parameter that the row names.
    values: Vec<Option<Arg>>,
    /// What is passed for `*xs`.
    pub rest: Vec<Arg>,
    /// The call.
    pub span: Span,
}

/// The name of a parameter, without what says how it is passed.
fn plain(takes: &str) -> &str {
    takes.trim_start_matches('*').trim_end_matches('=')
}

impl Given {
    /// The arguments of a call, where they fit the row. Arguments that may be None are taken for
    /// what they are where they are given.
    pub fn new(
        cx: &mut Elaborator<'_>,
        row: &'static Builtin,
        of: Option<&Value>,
        args: Args,
        span: Span,
    ) -> Option<Given> {
        let prefix = if of.is_some() { "." } else { "kp." };
        let mut values = vec![None; row.takes.len()];
        let mut rest = Vec::new();
        let variadic = row.takes.iter().position(|one| one.starts_with('*'));
        for (place, mut arg) in args.positional.into_iter().enumerate() {
            arg.value = cx.given(arg.value, arg.span);
            match variadic {
                Some(at) if place >= at => rest.push(arg),
                _ if place < values.len() => values[place] = Some(arg),
                _ => {
                    let count = counted(row.takes.len(), "argument");
                    let message = format!("`{}` takes {count}", row.path(prefix));
                    Given::refuse(cx, row.call(prefix), message, arg.span);
                    return None;
                }
            }
        }
        for (name, mut arg) in args.named {
            arg.value = cx.given(arg.value, arg.span);
            let at = row.takes.iter().position(|one| plain(one) == &*name.name);
            match at.filter(|at| Some(*at) != variadic) {
                Some(at) if values[at].is_none() => values[at] = Some(arg),
                Some(_) => {
                    let message = format!("`{}` is given twice", name.name);
                    Given::refuse(cx, row.call(prefix), message, name.span);
                    return None;
                }
                None => {
                    let message = format!("`{}` has no `{}`", row.path(prefix), name.name);
                    Given::refuse(cx, row.call(prefix), message, name.span);
                    return None;
                }
            }
        }
        for (takes, value) in row.takes.iter().zip(&values) {
            let is_needed = !takes.ends_with('=') && !takes.starts_with('*');
            if is_needed && value.is_none() {
                let message = format!("`{}` misses `{takes}`", row.path(prefix));
                Given::refuse(cx, row.call(prefix), message, span);
                return None;
            }
        }
        Some(Given { row, of: of.cloned().unwrap_or(Value::None), values, rest, span })
    }

    fn refuse(cx: &mut Elaborator<'_>, call: String, message: String, span: Span) {
        let problem = Diagnostic::new("arguments", message).label(span, "");
        cx.report(problem.help(format!("write `{call}`")));
    }

    /// An argument; nothing where it is left out.
    pub fn opt(&self, name: &str) -> Option<&Arg> {
        let at = self.row.takes.iter().position(|one| plain(one) == name)?;
        self.values.get(at)?.as_ref()
    }

    /// An argument, which the row needs.
    pub fn get(&self, name: &str) -> &Value {
        static NOTHING: Value = Value::Poison;
        self.opt(name).map_or(&NOTHING, |arg| &arg.value)
    }

    /// Where an argument stands; where the call does, if it is left out.
    pub fn at(&self, name: &str) -> Span {
        self.opt(name).map_or(self.span, |arg| arg.span)
    }

    /// What is passed for each parameter that the row names, in order.
    pub fn in_order(&self) -> Vec<Option<(&Value, Span)>> {
        self.values.iter().map(|arg| arg.as_ref().map(|arg| (&arg.value, arg.span))).collect()
    }

    /// Whether any argument comes of a mistake.
    pub fn is_poisoned(&self) -> bool {
        let values = self.values.iter().flatten().chain(&self.rest);
        values.into_iter().any(|arg| arg.value.is_poison()) || self.of.is_poison()
    }
}

impl Elaborator<'_> {
    /// Reports what an argument should be.
    pub fn expected(&mut self, what: &str, given: &Given, name: &str) -> Value {
        let value = given.get(name);
        if !value.is_poison() {
            let message = format!("expected {what}, found {}", self.describe(value));
            let help = format!("pass {what} as `{name}`");
            self.mistake("type", given.at(name), message, help);
        }
        Value::Poison
    }

    /// An argument that is an index, as an `int64` of the kernel.
    pub fn index_arg(&mut self, given: &Given, name: &str) -> Option<kernel::Value> {
        self.read_index(&given.get(name).clone(), given.at(name))
    }

    /// An argument that is a dtype.
    pub fn dtype_arg(&mut self, given: &Given, name: &str) -> Option<Scalar> {
        match given.get(name) {
            Value::DType(scalar) => Some(*scalar),
            _ => {
                self.expected("a dtype", given, name);
                None
            }
        }
    }

    /// An argument that is one of some words; the first where it is left out.
    pub fn word(
        &mut self,
        given: &Given,
        name: &str,
        words: &'static [&'static str],
        otherwise: &'static str,
    ) -> Option<&'static str> {
        let Some(arg) = given.opt(name) else { return Some(otherwise) };
        let found = match &arg.value {
            Value::Text(text) => words.iter().find(|word| **word == &**text),
            _ => None,
        };
        if found.is_none() {
            let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            self.expected(&quoted.join(" or "), given, name);
        }
        found.copied()
    }

    /// A rounding, as it is written.
    pub fn rounding(&mut self, arg: &Arg) -> Option<Rounding> {
        let found = match &arg.value {
            Value::Text(text) => Rounding::parse(text),
            _ => None,
        };
        if found.is_none() && !arg.value.is_poison() {
            let names: Vec<_> =
                Rounding::ALL.iter().map(|one| format!("\"{}\"", one.name())).collect();
            let message = format!("a rounding is {}", names.join(" or "));
            self.mistake("type", arg.span, message, "write one of them");
        }
        found
    }
}
