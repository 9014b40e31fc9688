// SPDX-License-Identifier: Apache-2.0
//! The keywords of `kp.jit`, as a file has them. Not here: what signatures and tensors mean.

use super::Checks;
use crate::python::tree::{Call, Expr, ExprKind, Ident, Text};
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};

/// The values of the keywords.
#[derive(Debug, Default)]
pub(crate) struct Keywords<'c> {
    /// Rules that relate arguments.
    pub rules: Vec<Placed<&'c Text>>,
    /// Names with tensors.
    pub workspaces: Vec<[Placed<&'c Text>; 2]>,
    /// Whether indices are refused that the extent of another tensor alone bounds.
    pub is_strict: bool,
    /// The checks of kernels as they run.
    pub checks: Checks,
}

/// Reads the keywords of a call.
pub(crate) fn read<'c>(call: &'c Call, problems: &mut Diagnostics) -> Keywords<'c> {
    let mut keywords = Keywords::default();
    for (keyword, value) in &call.keywords {
        keywords.add(keyword, value, problems);
    }
    keywords
}

impl<'c> Keywords<'c> {
    fn add(&mut self, keyword: &Ident, value: &'c Expr, problems: &mut Diagnostics) {
        let is_known = match &*keyword.name {
            "workspace" => {
                self.workspaces = workspaces(value, problems);
                true
            }
            "where" => texts(value).map(|texts| self.rules.extend(texts)).is_some(),
            "strict" => set(&mut self.is_strict, value),
            "asserts" => set(&mut self.checks.asserts, value),
            "checked" => set(&mut self.checks.is_checked, value),
            // What calls of a program are about.
            "arch" | "max_variants" => true,
            other => {
                let message = format!("`kp.jit` takes no keyword `{other}`");
                let problem = Diagnostic::new("decorator", message).label(keyword.span, "unknown");
                let help = "write `kp.jit(\"signature\", workspace={\"name\": \"Tensor(…)\"})`";
                problems.push(problem.help(help));
                return;
            }
        };
        if !is_known {
            let message = format!("`{}` is not what `kp.jit` takes for it", keyword.name);
            let problem = Diagnostic::new("decorator", message).label(value.span, "not known here");
            let help = "write it out: texts for `where`, and True or False for the others";
            problems.push(problem.help(help));
        }
    }
}

/// Sets what is True or False, if it is.
fn set(to: &mut bool, value: &Expr) -> bool {
    let ExprKind::Bool(truth) = value.kind else { return false };
    *to = truth;
    true
}

fn text(expr: &Expr) -> Option<Placed<&Text>> {
    match &expr.kind {
        ExprKind::Text(text) => Some(Placed::new(text, expr.span)),
        _ => None,
    }
}

/// A text, or several.
fn texts(value: &Expr) -> Option<Vec<Placed<&Text>>> {
    match &value.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().map(text).collect(),
        _ => text(value).map(|text| vec![text]),
    }
}

fn workspaces<'c>(value: &'c Expr, problems: &mut Diagnostics) -> Vec<[Placed<&'c Text>; 2]> {
    let expected = "write `workspace={\"ws\": \"Tensor([n], uint8)\"}`";
    let ExprKind::Dict(items) = &value.kind else {
        let problem = Diagnostic::new("decorator", "`workspace` is no dictionary");
        problems.push(problem.label(value.span, "expected names with tensors").help(expected));
        return vec![];
    };
    let mut workspaces = Vec::new();
    for (name, tensor) in items {
        let place = name.span.to(tensor.span);
        let (Some(name), Some(tensor)) = (text(name), text(tensor)) else {
            let problem = Diagnostic::new("decorator", "a workspace is a name with a tensor");
            problems.push(problem.label(place, "not two texts").help(expected));
            continue;
        };
        workspaces.push([name, tensor]);
    }
    workspaces
}
