// SPDX-License-Identifier: Apache-2.0
//! Rules over texts: a String parameter is compared with texts, and nothing else is.

use super::{Bindings, Declarations};
use crate::expr::{Expr, Name};
use crate::rule::{Comparison, Rule, RuleKind};
use kernpack_syntax::Diagnostic;

impl Declarations {
    /// Whether a name of a rule has a value, or what is wrong with it is told by the part that has
    /// it.
    pub(super) fn has_value(&self, rule: &Rule, name: &str, bindings: &Bindings) -> bool {
        let is_in = |part: &&Rule| match &part.kind {
            RuleKind::Texts(own, _) => own.as_symbol() == Some(name),
            _ => self.bare_text(part).is_some_and(|(_, text)| text == name),
        };
        bindings.symbols.contains_key(name)
            || self.is_value(name)
            || self.texts.contains(name)
            || rule.parts().iter().any(is_in)
    }

    /// The problem of a name that is compared with texts.
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

    /// The problems of a comparison of numbers that names Strings.
    pub(super) fn check_no_texts(&self, part: &Rule) -> Vec<Diagnostic> {
        let names = part.names().into_iter().filter(|name| self.texts.contains(&name.text));
        let text = self.bare_text(part).map_or("…", |(_, text)| text);
        let sign = match part.kind {
            RuleKind::Compare(_, Comparison::Ne, _) => Comparison::Ne,
            _ => Comparison::Eq,
        };
        let problem = |name: Name| {
            Diagnostic::new("text-rule", format!("`{}` is a String", name.text))
                .label(name.span, "not compared with a text")
                .help(format!("compare it with texts: `{} {} \"{text}\"`", name.text, sign.text()))
        };
        names.map(problem).collect()
    }

    /// A String, and a word that it is compared with and that names nothing: a text without its
    /// quotes.
    fn bare_text<'p>(&self, part: &'p Rule) -> Option<(&'p str, &'p str)> {
        let RuleKind::Compare(a, Comparison::Eq | Comparison::Ne, b) = &part.kind else {
            return None;
        };
        let (a, b) = (a.as_symbol()?, b.as_symbol()?);
        let is_word = |name: &str| {
            !self.texts.contains(name)
                && !self.is_value(name)
                && !self.symbols.iter().any(|used| used.name == name)
        };
        let pairs = [(a, b), (b, a)].into_iter();
        pairs.into_iter().find(|(text, word)| self.texts.contains(*text) && is_word(word))
    }
}
