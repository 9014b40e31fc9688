// SPDX-License-Identifier: Apache-2.0
//! `pdl=`: whether a launch may begin before the one in front of it has ended, and which tensors
//! that one has not written. Nobody but the interpreter asks for these: it holds the launch to wait
//! before it reads the others.

use super::expression::Evaluator;
use super::kernel_call::for_each_tensor;
use super::value::Evaluated;
use crate::argument::Argument;
use crate::python::tree::Expr;
use kernpack_syntax::{Diagnostic, Placed};

impl Evaluator<'_> {
    /// The tensors that what is in front of a launch has not written, by name; nothing inside where
    /// the launch begins behind its end.
    pub fn dependence(&mut self, expr: &Expr) -> Option<Option<Vec<Placed<String>>>> {
        let items = match self.expr(expr)? {
            Evaluated::Bool(truth) => return Some(truth.then(Vec::new)),
            Evaluated::Tuple(items) if !items.is_empty() => items,
            value => {
                let expected = "`True`, `False`, or a tuple of names of tensors";
                self.expected(expected, &value, expr.span);
                return None;
            }
        };
        let mut names: Vec<Placed<String>> = Vec::new();
        for (_, item) in items {
            let Evaluated::Text(name) = &item else {
                self.expected("the name of a tensor, a text", &item, expr.span);
                return None;
            };
            names.push(Placed::new(name.to_string(), expr.span));
        }
        Some(Some(names))
    }

    /// Whether a launch passes each tensor that it names.
    pub fn are_passed(&mut self, names: &[Placed<String>], args: &mut [Argument]) -> bool {
        let mut passed = Vec::new();
        let mut add = |pointer: String| {
            if !passed.contains(&pointer) {
                passed.push(pointer);
            }
        };
        let mut each = |tensor: &mut crate::argument::TensorArg| add(tensor.pointer.to_string());
        args.iter_mut().for_each(|arg| for_each_tensor(arg, &mut each));
        let unknown: Vec<_> = names.iter().filter(|name| !passed.contains(*name)).collect();
        for name in &unknown {
            let message = format!("the launch passes no tensor `{}`", name.value);
            let problem = Diagnostic::new("launch-argument", message).label(name.span, "here");
            let passed: Vec<_> = passed.iter().map(|name| format!("`{name}`")).collect();
            let passed = if passed.is_empty() { "none".to_string() } else { passed.join(", ") };
            self.report(problem.help(format!("it passes {passed}")));
        }
        unknown.is_empty()
    }
}
