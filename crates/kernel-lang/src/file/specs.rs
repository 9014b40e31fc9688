// SPDX-License-Identifier: Apache-2.0
//! Signatures that a caller gives for functions of a file which have none: `@kp.jit` alone, or with
//! keywords. As of a program's calls, what such a function writes, returns and allocates is what
//! its body says. Not here: the decorators of functions that have a signature.

use super::Said;
use crate::python::tree::{Call, Expr, ExprKind, Ident, Name};
use kernpack_syntax::{Diagnostic, Diagnostics, Texts};
use kernpack_validators::Signature;
use std::sync::Arc;

/// The signatures, each for one function.
#[derive(Debug, Default)]
pub(super) struct Specs(Vec<Spec>);

#[derive(Debug)]
struct Spec {
    text: Arc<str>,
    signature: Signature,
    is_used: bool,
}

impl Specs {
    /// Reads them; what is wrong with any is told in a text of its own.
    pub fn read(specs: &[String], texts: &mut Texts, problems: &mut Diagnostics) -> Specs {
        let mut list = Vec::new();
        for text in specs {
            let id = texts.add("--specs", &**text);
            match Signature::parse(texts.snippet(id)) {
                Ok(signature) => {
                    list.push(Spec { text: text[..].into(), signature, is_used: false });
                }
                Err(found) => problems.extend(found),
            }
        }
        Specs(list)
    }

    /// The decorator of a function without a signature, where one is given for it.
    pub fn said(
        &mut self,
        name: &str,
        call: Option<&Call>,
        problems: &mut Diagnostics,
    ) -> Option<Said> {
        let spec = self.0.iter_mut().find(|spec| spec.signature.name == name)?;
        spec.is_used = true;
        let mut said = Said {
            signature: spec.text.clone(),
            workspaces: Vec::new(),
            is_made: true,
            is_strict: false,
        };
        let mut rules = Vec::new();
        for (keyword, value) in call.map_or(&[][..], |call| &call.keywords) {
            add_keyword(&mut said, &mut rules, keyword, value, problems);
        }
        if !rules.is_empty() {
            let behind = if spec.signature.rules.is_empty() { " where " } else { ", " };
            said.signature = format!("{}{behind}{}", spec.text, rules.join(", ")).into();
        }
        Some(said)
    }

    /// The problems of those that are for no function.
    pub fn unused(&self) -> impl Iterator<Item = Diagnostic> {
        let unused = self.0.iter().filter(|spec| !spec.is_used);
        unused.map(|Spec { signature, .. }| {
            let name = &signature.name;
            let message = format!("there is no function `{name}` without a signature");
            let problem = Diagnostic::new("decorator", message);
            let problem = problem.label(signature.span, "a signature is given for it");
            problem.help("name a function of the file whose decorator has none")
        })
    }
}

/// A keyword of `kp.jit` that is about what is compiled.
fn add_keyword(
    said: &mut Said,
    rules: &mut Vec<Arc<str>>,
    keyword: &Ident,
    value: &Expr,
    problems: &mut Diagnostics,
) {
    let is_known = match &*keyword.name {
        "where" => texts_of(value).map(|texts| rules.extend(texts)),
        "workspace" => tensors_of(value).map(|tensors| said.workspaces = tensors),
        "strict" => match value.kind {
            ExprKind::Bool(is_strict) => {
                said.is_strict = is_strict;
                Some(())
            }
            _ => None,
        },
        // What calls of a program are about.
        "arch" | "max_variants" => Some(()),
        other => {
            let message = format!("`kp.jit` takes no keyword `{other}`");
            problems.push(Diagnostic::new("decorator", message).label(keyword.span, "unknown"));
            return;
        }
    };
    if is_known.is_none() {
        let message = format!("`{}` is not what `kp.jit` takes for it", keyword.name);
        let problem = Diagnostic::new("decorator", message).label(value.span, "not known here");
        let help = "write it out: texts for `where`, names with tensors for `workspace`, True or \
                    False for `strict`";
        problems.push(problem.help(help));
    }
}

/// A text, or several.
fn texts_of(value: &Expr) -> Option<Vec<Arc<str>>> {
    match &value.kind {
        ExprKind::Text(text) => Some(vec![text.value.clone()]),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            let texts = items.iter().map(|item| match &item.kind {
                ExprKind::Text(text) => Some(text.value.clone()),
                _ => None,
            });
            texts.collect()
        }
        _ => None,
    }
}

/// Names with texts.
fn tensors_of(value: &Expr) -> Option<Vec<(Name, Arc<str>)>> {
    let ExprKind::Dict(items) = &value.kind else { return None };
    let tensors = items.iter().map(|(name, tensor)| match (&name.kind, &tensor.kind) {
        (ExprKind::Text(name), ExprKind::Text(tensor)) => {
            Some((Name::from(&*name.value), tensor.value.clone()))
        }
        _ => None,
    });
    tensors.collect()
}
