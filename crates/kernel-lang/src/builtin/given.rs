// SPDX-License-Identifier: Apache-2.0
//! Arguments of a function of kernpack's, by the names of its row.

use super::Builtin;
use crate::call::{Bound, bind};
use crate::elaborate::Elaborator;
use crate::expr::{Arg, Args};
use crate::plain::Plain;
use crate::value::Elaborated;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::{Scalar, kernel};
use kernpack_syntax::Span;

/// The arguments of a function.
#[derive(Debug)]
pub(crate) struct Given {
    /// The function.
    pub row: &'static Builtin,
    /// The value in front of the point of a method.
    pub of: Elaborated,
    /// The argument of each parameter that the row names.
    values: Vec<Option<Arg>>,
    /// The arguments of `*xs`.
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
        of: Option<&Elaborated>,
        args: Args,
        span: Span,
    ) -> Option<Given> {
        let prefix = if of.is_some() { "." } else { "kp." };
        let mut given = |arg: Arg| Arg { value: cx.given(arg.value, arg.span), ..arg };
        let args = Args {
            positional: args.positional.into_iter().map(&mut given).collect(),
            named: args.named.into_iter().map(|(name, arg)| (name, given(arg))).collect(),
        };
        let Bound { values, rest } =
            bind(cx, &format_args!("{prefix}{}", row.name), row.takes, args, span)?;
        Some(Given { row, of: of.cloned().unwrap_or(Elaborated::None), values, rest, span })
    }

    /// An argument; nothing where it is left out.
    pub fn opt(&self, name: &str) -> Option<&Arg> {
        let at = self.row.takes.iter().position(|one| plain(one) == name)?;
        self.values.get(at)?.as_ref()
    }

    /// An argument, which the row needs.
    pub fn get(&self, name: &str) -> &Elaborated {
        static NOTHING: Elaborated = Elaborated::Poison;
        self.opt(name).map_or(&NOTHING, |arg| &arg.value)
    }

    /// Where an argument stands; where the call does, if it is left out.
    pub fn at(&self, name: &str) -> Span {
        self.opt(name).map_or(self.span, |arg| arg.span)
    }

    /// All that is passed, in order.
    pub fn args(&self) -> Vec<Arg> {
        self.values.iter().flatten().chain(&self.rest).cloned().collect()
    }

    /// The argument of each parameter that the row names, in order.
    pub fn in_order(&self) -> Vec<Option<(&Elaborated, Span)>> {
        self.values.iter().map(|arg| arg.as_ref().map(|arg| (&arg.value, arg.span))).collect()
    }

    /// Whether any argument comes of a mistake.
    pub fn is_poisoned(&self) -> bool {
        let values = self.values.iter().flatten().chain(&self.rest);
        values.into_iter().any(|arg| arg.value.is_poison()) || self.of.is_poison()
    }
}

/// Calls the row of the table that a function is, which takes nothing and gives nothing.
pub(super) fn row_alone(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    cx.emit.call_with(given.row.data, vec![]);
    Elaborated::None
}

impl Elaborator<'_> {
    /// Reports what an argument should be.
    pub fn expected(&mut self, what: &str, given: &Given, name: &str) -> Elaborated {
        let found = Arg { value: given.get(name).clone(), span: given.at(name) };
        self.expects(what, name, &found);
        Elaborated::Poison
    }

    /// An argument that is an index, as an `int64` of the kernel.
    pub fn index_arg(&mut self, given: &Given, name: &str) -> Option<kernel::Value> {
        self.read_index(&given.get(name).clone(), given.at(name))
    }

    /// An argument that is a dtype.
    pub fn dtype_arg(&mut self, given: &Given, name: &str) -> Option<Scalar> {
        match given.get(name) {
            Elaborated::DType(scalar) => Some(*scalar),
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
            Elaborated::Text(text) => words.iter().find(|word| **word == &**text),
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
            Elaborated::Text(text) => Rounding::parse(text),
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
