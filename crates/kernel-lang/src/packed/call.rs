// SPDX-License-Identifier: Apache-2.0
//! Calls in a packed function: of functions, and of kernels, which then wait for their launch.
//!
//! A function of the file that is called by itself is gone through as if it stood there, launches
//! and all; one that is called for its value computes with what is known.

use super::expression::Evaluator;
use super::number;
use super::value::{KernelCall, Value};
use crate::algebra;
use crate::argument::FunctionArg;
use crate::builtin::{call_text, counted};
use crate::file::{Definition, ModuleId};
use crate::python::tree::{Block, Call, Expr, ExprKind, Function, Ident, Name, Param, StmtKind};
use kernpack_syntax::{Diagnostic, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// How deep functions may call one another.
const MOST_CALLS: usize = 32;

/// The names of a function that is called.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    module: ModuleId,
    names: HashMap<Name, Value>,
    n_calls: usize,
}

/// What a call by itself is.
pub(super) enum Called {
    /// One that gives a value.
    Value(Box<Value>),
    /// One of a function that is written, with its names.
    Function(Arc<Function>, Box<Scope>),
}

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
            Value::Function(FunctionArg::Written { module, function, captured: _ }) => {
                let scope = self.scope(module, &function, passed, span)?;
                self.value_of(&function, scope, span)
            }
            Value::Function(FunctionArg::Builtin(name)) => {
                let problem = Diagnostic::new("packed-value", format!("`{name}` is for kernels"));
                self.report(problem.label(span, "called while the package is built"))
            }
            Value::DType(_) => {
                let problem =
                    Diagnostic::new("packed-value", "constants have their types in kernels");
                let problem = problem.label(span, "a conversion");
                self.report(problem.help("pass the number, and convert it in the kernel"))
            }
            Value::Layout(layout, _) if passed.named.is_empty() => {
                let coord = match &passed.args[..] {
                    [(one, _)] => one.clone(),
                    args => Value::tuple(args.iter().map(|(value, _)| value.clone())),
                };
                algebra::index_of(self, &layout, &coord, span)
            }
            function => self.expected("a function", &function, call.function.span),
        }
    }

    /// Begins a call by itself.
    pub fn begin_call(&mut self, call: &Call, span: Span) -> Option<Called> {
        let written = match &call.function.kind {
            ExprKind::Name(_) | ExprKind::Attribute(..) => self.expr(&call.function)?,
            _ => Value::None,
        };
        let Value::Function(FunctionArg::Written { module, function, captured: _ }) = written
        else {
            return self.call(call, span).map(|value| Called::Value(Box::new(value)));
        };
        let passed = self.passed(call)?;
        let scope = self.scope(module, &function, passed, span)?;
        Some(Called::Function(function, Box::new(scope)))
    }

    /// Goes over to the names of another function; gives those that counted.
    pub fn enter(&mut self, scope: Scope) -> Scope {
        let Scope { module, names, n_calls } = scope;
        Scope {
            module: std::mem::replace(&mut self.module, module),
            names: std::mem::replace(&mut self.names, names),
            n_calls: std::mem::replace(&mut self.n_calls, n_calls),
        }
    }

    /// The names that a function begins with. One that stands here sees what is assigned here.
    fn scope(
        &mut self,
        module: ModuleId,
        function: &Arc<Function>,
        passed: Passed,
        span: Span,
    ) -> Option<Scope> {
        if self.n_calls >= MOST_CALLS {
            let message = format!("`{}` is called too deeply", function.name.name);
            let problem = Diagnostic::new("packed-value", message).label(span, "this call");
            self.report(problem.help("no function calls itself"));
            return None;
        }
        let bound = self.bound(&function.name.name, &takes(function), passed, span)?;
        let is_global = self
            .files
            .module(module)
            .functions
            .iter()
            .any(|one| Arc::ptr_eq(&one.function, function));
        let mut own = if is_global { HashMap::new() } else { self.names.clone() };
        let completed = self.completed(module, function, bound)?;
        for (param, (value, _)) in function.params.iter().zip(completed) {
            own.insert(param.name.name.clone(), value);
        }
        Some(Scope { module, names: own, n_calls: self.n_calls + 1 })
    }

    /// What a function gives that is called for its value.
    fn value_of(&mut self, function: &Function, scope: Scope, span: Span) -> Option<Value> {
        let caller = self.enter(scope);
        let value = self.run_for_value(&function.body);
        self.enter(caller);
        match value? {
            Some(value) => Some(value),
            None => {
                let message = format!("`{}` returns nothing", function.name.name);
                self.report(Diagnostic::new("packed-value", message).label(span, "used as a value"))
            }
        }
    }

    /// What statements return, where they do.
    fn run_for_value(&mut self, block: &Block) -> Option<Option<Value>> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Assign(targets, value) => {
                    let value = self.expr(value)?;
                    targets.iter().for_each(|target| self.assign(target, value.clone()));
                }
                StmtKind::Return(Some(value)) => return self.expr(value).map(Some),
                StmtKind::Return(None) => return Some(Some(Value::None)),
                StmtKind::If(sides, otherwise) => {
                    let mut taken = Some(otherwise);
                    for (test, block) in sides {
                        if self.known_truth(test)? {
                            taken = Some(block);
                            break;
                        }
                    }
                    if let Some(value) = self.run_for_value(taken?)? {
                        return Some(Some(value));
                    }
                }
                StmtKind::Pass => {}
                StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) => {}
                _ => {
                    let message = "a function that is called for its value only computes it";
                    let problem = Diagnostic::new("packed-statement", message);
                    self.report(problem.label(stmt.span, "does something else"));
                    return None;
                }
            }
        }
        Some(None)
    }

    /// A condition that has to be known while the package is built.
    fn known_truth(&mut self, test: &Expr) -> Option<bool> {
        match self.truth(test)? {
            Value::Bool(truth) => Some(truth),
            _ => {
                let message = "which value it is depends on the call";
                let problem = Diagnostic::new("packed-value", message);
                let problem = problem.label(test.span, "not known while the package is built");
                self.report(problem.help("write an `if` with a launch on each side"));
                None
            }
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
        let path = format!("kp.{name}");
        if let Some(row) = algebra::find(name) {
            let args = self.bound(&path, row.takes, passed, span)?;
            let args: Vec<_> =
                args.iter().map(|arg| arg.as_ref().map(|(value, at)| (value, *at))).collect();
            return algebra::run(self, row, &args, span);
        }
        let row = number::find(name)?;
        let args = match row.takes {
            ["*xs"] if passed.named.is_empty() => passed.args,
            ["*xs"] => {
                let named = Passed { args: vec![], ..passed };
                self.bound(&path, row.takes, named, span).map(|_| vec![])?
            }
            takes => self.bound(&path, takes, passed, span)?.into_iter().flatten().collect(),
        };
        (row.run)(self, &args, span)
    }

    /// What each parameter is given, in order; `x=` is one that may be left out.
    fn bound(
        &mut self,
        function: &str,
        takes: &[impl AsRef<str>],
        passed: Passed,
        span: Span,
    ) -> Option<Vec<Option<(Value, Span)>>> {
        let mut bound: Vec<Option<(Value, Span)>> = vec![None; takes.len()];
        let takes: Vec<&str> = takes.iter().map(AsRef::as_ref).collect();
        let params: Vec<&str> = takes.iter().map(|one| one.trim_end_matches('=')).collect();
        let written = || call_text(function, &takes);
        let Passed { args, named } = passed;
        if args.len() > params.len() {
            let count = counted(params.len(), "argument");
            let message = format!("`{function}` takes {count}, not {}", args.len());
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
        // What is named wrongly may be what is missing.
        is_good.then_some(())?;
        for (param, given) in takes.iter().zip(&bound) {
            if given.is_none() && !param.ends_with('=') {
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
        let bound = self.bound(kernel.name(), &takes(&kernel.function), passed, span)?;
        let args = self.completed(kernel.module, &kernel.function, bound)?;
        Some(Value::Call(Box::new(KernelCall { kernel: kernel.clone(), args })))
    }

    /// What each parameter is given, defaults included.
    fn completed(
        &mut self,
        module: ModuleId,
        function: &Function,
        bound: Vec<Option<(Value, Span)>>,
    ) -> Option<Vec<(Value, Span)>> {
        let args = function.params.iter().zip(bound).map(|(param, given)| match given {
            Some(given) => Some(given),
            None => {
                let default = param.default.as_ref()?;
                self.default(module, default).map(|value| (value, default.span))
            }
        });
        let args: Vec<_> = args.collect();
        args.into_iter().collect()
    }
}

/// What a function takes: `x`, and `x=` where it has a default.
fn takes(function: &Function) -> Vec<String> {
    let takes = |param: &Param| match param.default {
        Some(_) => format!("{}=", param.name.name),
        None => param.name.name.to_string(),
    };
    function.params.iter().map(takes).collect()
}
