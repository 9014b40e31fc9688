// SPDX-License-Identifier: Apache-2.0
//! Rules over texts: a String parameter is compared with texts, and nothing else is.

use super::{Bindings, Declarations};
use crate::expr::{Expr, Name};
use crate::rule::{Rule, RuleKind};
use kernpack_syntax::Diagnostic;

impl Declarations {
    /// Whether a name of a rule has a value, or what is wrong with it is told by the part that has
    /// it.
    pub(super) fn has_value(&self, rule: &Rule, name: &str, bindings: &Bindings) -> bool {
        let is_in = |part: &&Rule| match &part.kind {
            RuleKind::Texts(own, _) => own.as_symbol() == Some(name),
            _ => false,
        };
        bindings.symbols.contains_key(name)
            || self.is_value(name)
            || self.texts.contains(name)
            || rule.parts().iter().any(is_in)
    }

    /// What is wrong with the name that is compared with texts.
    pub(super) fn check_text(&self, name: &Expr) -> Option<Diagnostic> {
        let [name] = &name.names()[..] else { unreachable!("texts are compared with a name") };
        let is_dtype = self.dtype_vars.iter().any(|used| used.name == name.text);
        let help = match is_dtype {
            true => "write the dtype without quotes".to_string(),
            false => format!("add a parameter `{}: String`, or compare with a number", name.text),
        };
        let problem = || {
            Diagnostic::new("text-rule", format!("`{}` is no String parameter", name.text))
                .label(name.span, "compared with a text")
                .help(help)
        };
        (!self.texts.contains(&name.text)).then(problem)
    }

    /// What is wrong with a comparison of numbers that names Strings.
    pub(super) fn check_no_texts(&self, part: &Rule) -> Vec<Diagnostic> {
        let names = part.names().into_iter().filter(|name| self.texts.contains(&name.text));
        let problem = |name: Name| {
            Diagnostic::new("text-rule", format!("`{}` is a String", name.text))
                .label(name.span, "not compared with a text")
                .help(format!("compare it with texts: `{} == \"…\"`", name.text))
        };
        names.map(problem).collect()
    }
}
