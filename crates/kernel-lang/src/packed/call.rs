// SPDX-License-Identifier: Apache-2.0
//! Calls in a packed function: of functions, and of kernels, which then wait for their launch.

use super::expression::{Evaluator, PYTHONS};
use super::value::{KernelCall, Value};
use crate::file::Definition;
use crate::python::tree::{Call, Expr, ExprKind, Ident, Name, Param};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// What a call passes.
#[derive(Default)]
struct Passed {
    args: Vec<(Value, Span)>,
    named: Vec<(Ident, Value, Span)>,
}

impl Evaluator<'_> {
    /// A call that is no launch.
    pub fn call(&mut self, call: &Call, span: Span) -> Option<Value> {
        if let ExprKind::Attribute(_, member) = &call.function.kind
            && &*member.name == "launch"
        {
            let problem = Diagnostic::new("packed-statement", "a launch gives nothing");
            return self.report(problem.label(span, "used as a value"));
        }
        let function = self.expr(&call.function);
        let passed = self.passed(call);
        let (function, passed) = (function?, passed?);
        match function {
            Value::Kernel(kernel) => self.kernel_call(&kernel, passed, span),
            Value::Builtin(name) => self.builtin_call(&name, passed, span),
            Value::Function(_) => {
                let problem = Diagnostic::new("packed-value", "functions are called in kernels");
                let problem = problem.label(span, "called while the package is built");
                self.report(problem.help("pass the function to a kernel, or write its result"))
            }
            Value::DType(_) => {
                let problem =
                    Diagnostic::new("packed-value", "constants have their types in kernels");
                let problem = problem.label(span, "a conversion");
                self.report(problem.help("pass the number, and convert it in the kernel"))
            }
            function => self.expected("a function", &function, call.function.span),
        }
    }

    /// What is passed; nothing where any of it is no good.
    fn passed(&mut self, call: &Call) -> Option<Passed> {
        let mut passed = Passed::default();
        let mut is_good = true;
        for arg in &call.args {
            match (&arg.kind, self.starred(arg)) {
                (_, Some(values)) => passed.args.extend(values),
                (_, None) => is_good = false,
            }
        }
        for (name, value) in &call.keywords {
            match self.expr(value) {
                Some(given) => passed.named.push((name.clone(), given, value.span)),
                None => is_good = false,
            }
        }
        is_good.then_some(passed)
    }

    /// An argument, or those that a `*` stands in front of.
    fn starred(&mut self, arg: &Expr) -> Option<Vec<(Value, Span)>> {
        let ExprKind::Starred(of) = &arg.kind else {
            return self.expr(arg).map(|value| vec![(value, arg.span)]);
        };
        match self.expr(of)? {
            Value::Tuple(items) => {
                Some(items.into_iter().map(|(_, item)| (item, arg.span)).collect())
            }
            value => {
                self.expected("a tuple", &value, of.span);
                None
            }
        }
    }

    fn builtin_call(&mut self, name: &Name, passed: Passed, span: Span) -> Option<Value> {
        if PYTHONS.contains(&&**name) && passed.named.is_empty() {
            return self.call_python(name, &passed.args, span);
        }
        let builtin = Evaluator::builtin(name)?;
        let names: Vec<&str> = builtin.params.to_vec();
        let args = self.bound(name, &names, builtin.n_required, passed, span)?;
        self.call_builtin(builtin.name, &args, span)
    }

    /// What each parameter is given, in order.
    fn bound(
        &mut self,
        function: &str,
        params: &[&str],
        n_required: usize,
        passed: Passed,
        span: Span,
    ) -> Option<Vec<Option<(Value, Span)>>> {
        let mut bound: Vec<Option<(Value, Span)>> = vec![None; params.len()];
        let written = || format!("{function}({})", params.join(", "));
        let Passed { args, named } = passed;
        if args.len() > params.len() {
            let message =
                format!("`{function}` takes {} arguments, not {}", params.len(), args.len());
            let problem = Diagnostic::new("packed-argument", message);
            let problem = problem.label(args[params.len()].1, "one more than it takes");
            self.report(problem.help(format!("it is `{}`", written())));
            return None;
        }
        for (place, arg) in args.into_iter().enumerate() {
            bound[place] = Some(arg);
        }
        let mut is_good = true;
        for (name, value, at) in named {
            let place = params.iter().position(|param| **param == *name.name);
            let problem = match place {
                None => format!("`{function}` has no parameter `{}`", name.name),
                Some(place) if bound[place].is_some() => {
                    format!("`{}` of `{function}` is given twice", name.name)
                }
                Some(place) => {
                    bound[place] = Some((value, at));
                    continue;
                }
            };
            let problem = Diagnostic::new("packed-argument", problem).label(name.span, "this one");
            self.report(problem.help(format!("it is `{}`", written())));
            is_good = false;
        }
        for (place, param) in params.iter().enumerate().take(n_required) {
            if bound[place].is_none() {
                let message = format!("`{function}` is not given its `{param}`");
                let problem = Diagnostic::new("packed-argument", message);
                self.report(problem.label(span, "missing").help(format!("it is `{}`", written())));
                is_good = false;
            }
        }
        is_good.then_some(bound)
    }

    fn kernel_call(
        &mut self,
        kernel: &Arc<Definition>,
        passed: Passed,
        span: Span,
    ) -> Option<Value> {
        let params = &kernel.function.params;
        let names: Vec<&str> = params.iter().map(|param| &*param.name.name).collect();
        let bound = self.bound(kernel.name(), &names, 0, passed, span)?;
        let mut args = Vec::new();
        for (param, given) in params.iter().zip(bound) {
            let Param { name, default, .. } = param;
            let arg = match (given, default) {
                (Some(given), _) => Some(given),
                (None, Some(default)) => {
                    self.default(kernel.module, default).map(|value| (value, default.span))
                }
                (None, None) => {
                    let function = kernel.name();
                    let message = format!("`{function}` is not given its `{}`", name.name);
                    let problem = Diagnostic::new("packed-argument", message);
                    let help = format!("it is `{function}({})`", names.join(", "));
                    self.report(problem.label(span, "missing").help(help));
                    None
                }
            };
            args.push(arg);
        }
        let args = args.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Value::Call(Box::new(KernelCall { kernel: kernel.clone(), args })))
    }
}
