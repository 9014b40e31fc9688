// SPDX-License-Identifier: Apache-2.0
//! `arch=`: the architectures that a launch is for. Not here: which of several launches a device
//! takes (`settle/alternative.rs`).

use super::expression::Evaluator;
use super::value::Evaluated;
use crate::python::tree::Expr;
use kernpack_machine::{Arch, ArchError};
use kernpack_syntax::{Diagnostic, Placed};

/// The keyword, with what it is.
pub(super) const KEYWORD: (&str, &str) = (
    "arch",
    "The architectures that the launch is for: a text, `\"sm_90a\"`, or a tuple of them. Launches \
     that follow each other and say it are alternatives, of which a device takes one.",
);

impl Evaluator<'_> {
    /// One architecture, or a tuple of them.
    pub fn archs(&mut self, expr: &Expr) -> Option<Vec<Placed<Arch>>> {
        let items = match self.expr(expr)? {
            Evaluated::Tuple(items) => items.into_iter().map(|(_, item)| item).collect(),
            value => vec![value],
        };
        if items.is_empty() {
            let problem = Diagnostic::new("launch-argument", "a launch is for an architecture");
            self.report(problem.label(expr.span, "none"));
            return None;
        }
        let mut archs: Vec<Placed<Arch>> = Vec::new();
        for item in items {
            let arch = self.arch(&item, expr)?;
            if archs.contains(&arch) {
                let problem = Diagnostic::new("launch-argument", format!("`{arch}` is twice here"));
                self.report(problem.label(expr.span, "here").help("write it once"));
                return None;
            }
            archs.push(arch);
        }
        Some(archs)
    }

    fn arch(&mut self, value: &Evaluated, expr: &Expr) -> Option<Placed<Arch>> {
        let Evaluated::Text(name) = value else {
            self.expected("the name of an architecture", value, expr.span);
            return None;
        };
        let arch = name.parse().map_err(|error: ArchError| {
            let problem = Diagnostic::new("launch-argument", error.to_string());
            self.report(problem.label(expr.span, "here"));
        });
        Some(Placed::new(arch.ok()?, expr.span))
    }
}
