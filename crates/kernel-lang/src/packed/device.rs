// SPDX-License-Identifier: Apache-2.0
//! `kp.device`: the GPU of a call. A packed function computes with its numbers as it does with
//! dims, in layouts of launches, in `if`s around them and in what kernels are passed.
//!
//! Rules of the signature know no device, as calls are checked before it is asked.

use super::expression::Evaluator;
use super::max_blocks;
use super::value::Evaluated;
use crate::builtin::Entry;
use crate::python::tree::Ident;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::Rule;
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::plan::DeviceFact;

/// Its numbers, as the reference has them.
pub(super) fn reference() -> Vec<Entry> {
    let entry =
        |fact: DeviceFact| Entry { call: format!("kp.{}", fact.name()), doc: doc(fact).into() };
    DeviceFact::ALL.map(entry).into()
}

fn doc(fact: DeviceFact) -> &'static str {
    match fact {
        DeviceFact::SmCount => "How many multiprocessors it has.",
        DeviceFact::SmemOptin => {
            "How many bytes of shared memory a block may have, static and dynamic."
        }
        DeviceFact::Cc => "Its compute capability, 90 for 9.0.",
    }
}

/// The name of a number behind the device's.
fn short(fact: DeviceFact) -> &'static str {
    fact.name().rsplit('.').next().unwrap_or_default()
}

impl Evaluator<'_> {
    /// `kp.device.member`
    pub(super) fn of_device(&mut self, member: &Ident) -> Option<Evaluated> {
        let known = DeviceFact::ALL.map(short);
        match DeviceFact::ALL.into_iter().find(|fact| short(*fact) == &*member.name) {
            Some(fact) => Some(Evaluated::Dim(Number::symbol(fact.name()))),
            None => self.no_attribute(&Evaluated::Device, &member.name, &known, member.span),
        }
    }

    /// Whether a rule of the signature can be asked: one that names the device cannot, which is
    /// told.
    pub(super) fn knows_no_device(&mut self, rule: &Rule, span: Span) -> bool {
        let names = rule.names();
        if names.iter().any(|name| max_blocks::is_name(&name.text)) {
            self.report(max_blocks::known_late().label(span, "demanded of calls"));
            return false;
        }
        let named = names.iter().find(|name| DeviceFact::named(&name.text).is_some());
        let Some(named) = named else { return true };
        let message = format!("calls are checked before `kp.{}` is known", named.text);
        let problem = Diagnostic::new("packed-value", message).label(span, "demanded of calls");
        self.report(problem.help("choose launches by it: `if …:`, with a launch on each side"));
        false
    }
}
