// SPDX-License-Identifier: Apache-2.0
//! Calls in a packed function: of functions, and of kernels, which then wait for their launch.
//!
//! A function of the file that is called by itself is gone through as if it stood there, launches
//! and all; one that is called for its value computes with what is known (`returned.rs`).

use super::allocation;
use super::closure::Closure;
use super::expression::Evaluator;
use super::max_blocks::MAX_BLOCKS;
use super::number;
use super::shown::PRINT_TYPE;
use super::value::{Evaluated, KernelCall};
use crate::algebra;
use crate::call::{self, Arg, Bound};
use crate::file::{Definition, Global, ModuleId};
use crate::names::{self, FrameId};
use crate::plain;
use crate::python::tree::{Call, Expr, ExprKind, Function, Name};
use crate::python::walk;
use crate::unroll;
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A function that is being called, and where.
pub(super) type OpenCall = (Arc<Function>, Span);

/// Where we are: in which file, and whose names count.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    module: ModuleId,
    frame: Option<FrameId>,
    calls: Vec<OpenCall>,
}

impl Scope {
    /// Whose names count.
    pub fn frame(&self) -> Option<FrameId> {
        self.frame
    }
}

/// The meaning of a call by itself.
pub(super) enum Called {
    /// One of `print`, which has told.
    Nothing,
    /// One that gives a value.
    Value(Box<Evaluated>),
    /// One of a function that is written.
    Function(InScope),
}

/// A function that is called, with the names that it begins with.
pub(super) type InScope = (Arc<Function>, Scope);

/// The arguments of a call.
type Passed = call::Passed<Evaluated>;

impl Evaluator<'_> {
    /// A call that is no launch.
    pub fn call(&mut self, call: &Call, span: Span) -> Option<Evaluated> {
        if self.launched(call).is_some() {
            let problem = Diagnostic::new("packed-statement", "a launch gives nothing");
            return self.report(problem.label(span, "used as a value"));
        }
        let function = self.expr(&call.function);
        let passed = call::passed(self, call);
        let (function, passed) = (function?, passed?);
        match function {
            Evaluated::Kernel(kernel) => self.kernel_call(&kernel, passed, span),
            Evaluated::Builtin(name) => self.builtin_call(&name, passed, span),
            Evaluated::Function(closure) => {
                let scope = self.scope(&closure, passed, span)?;
                self.value_of(&closure.function, scope, span)
            }
            Evaluated::DType(_) => {
                let problem =
                    Diagnostic::new("packed-value", "constants have their types in kernels");
                let problem = problem.label(span, "a conversion");
                self.report(problem.help("pass the number, and convert it in the kernel"))
            }
            Evaluated::Layout(layout, swizzle) if passed.named.is_empty() => {
                let coord = match &passed.positional[..] {
                    [one] => one.value.clone(),
                    args => Evaluated::tuple(args.iter().map(|arg| arg.value.clone())),
                };
                algebra::index_of(self, (&layout, swizzle), &coord, span)
            }
            function => self.expected("a function", &function, call.function.span),
        }
    }

    /// The kernel that `of.launch(…)` launches. A function of another file may have that name, too.
    pub fn launched<'c>(&self, call: &'c Call) -> Option<&'c Expr> {
        let ExprKind::Attribute(of, member) = &call.function.kind else { return None };
        let is_module = match &of.kind {
            ExprKind::Name(name) => self.is_module(name),
            _ => false,
        };
        (&*member.name == "launch" && !is_module).then_some(of)
    }

    fn is_module(&self, name: &Name) -> bool {
        match self.names.get(name) {
            Some(value) => matches!(value, Evaluated::Module(_)),
            None => {
                let global = self.files.find(self.module, name);
                global.is_some_and(|(_, global)| matches!(global, Global::Module(_)))
            }
        }
    }

    /// The jit function that a call is of, where that is named. Nothing is run to find out.
    pub fn jit_function(&mut self, call: &Call) -> Option<Closure> {
        if self.launched(call).is_some() || names::path_of(&call.function).is_empty() {
            return None;
        }
        match self.expr(&call.function)? {
            Evaluated::Function(closure) if closure.is_jit => Some(closure),
            _ => None,
        }
    }

    /// The function of a call, with the names that it begins with.
    pub fn called(&mut self, call: &Call, closure: &Closure, span: Span) -> Option<InScope> {
        let passed = call::passed(self, call)?;
        let scope = self.scope(closure, passed, span)?;
        Some((closure.function.clone(), scope))
    }

    /// Begins a call by itself.
    pub fn begin_call(&mut self, call: &Call, span: Span) -> Option<Called> {
        let written = match &call.function.kind {
            ExprKind::Name(_) | ExprKind::Attribute(..) => self.expr(&call.function)?,
            _ => Evaluated::None,
        };
        let closure = match written {
            Evaluated::Function(closure) => closure,
            Evaluated::Builtin(name) if *name == *PRINT_TYPE.name => {
                return self.call(call, span).map(|_| Called::Nothing);
            }
            _ => return self.call(call, span).map(|value| Called::Value(Box::new(value))),
        };
        self.called(call, &closure, span).map(Called::Function)
    }

    /// A call of a function of the library with one argument.
    pub fn of_library(&mut self, name: &str, arg: Evaluated, span: Span) -> Option<InScope> {
        let definition = self.files.of_library(name)?;
        let (module, function) = (definition.module, definition.function.clone());
        let closure = Closure { module, function, frame: None, is_jit: true };
        let passed = Passed { positional: vec![Arg { value: arg, span }], named: vec![] };
        self.scope(&closure, passed, span).map(|scope| (closure.function, scope))
    }

    /// Whether a name stands for the function of kernpack's of that name.
    pub fn is_builtin(&mut self, function: &Expr, name: &str) -> bool {
        let may_be = match &function.kind {
            ExprKind::Name(_) => true,
            ExprKind::Attribute(_, member) => &*member.name == name,
            _ => false,
        };
        let is_it = |found| matches!(found, Evaluated::Builtin(found) if &*found == name);
        may_be && self.expr(function).is_some_and(is_it)
    }

    /// Whether a call is one of `print`.
    pub fn prints(&mut self, call: &Call) -> bool {
        self.is_builtin(&call.function, PRINT_TYPE.name)
    }

    /// Where we are.
    pub fn scope_here(&self) -> Scope {
        let calls = self.progress.calls.clone();
        Scope { module: self.module, frame: self.names.here(), calls }
    }

    /// Goes over to another function; gives where we were.
    pub fn enter(&mut self, scope: Scope) -> Scope {
        let Scope { module, frame, calls } = scope;
        Scope {
            module: std::mem::replace(&mut self.module, module),
            frame: self.names.go_to(frame),
            calls: std::mem::replace(&mut self.progress.calls, calls),
        }
    }

    /// The names that a function begins with. Around them are those where it stands.
    fn scope(&mut self, closure: &Closure, passed: Passed, span: Span) -> Option<Scope> {
        let Closure { module, function, frame, .. } = closure;
        let mut calls = self.progress.calls.clone();
        if let Some(problem) =
            call::recursion::<Evaluator<'_>>(function, calls.iter().map(|(one, _)| one), span)
        {
            self.report(problem);
            return None;
        }
        calls.push((function.clone(), span));
        let takes = walk::takes(function);
        let bound = call::bind(self, &function.name.name, &takes, passed, span)?;
        let around = std::mem::replace(&mut self.progress.calls, calls.clone());
        let values = self.completed(*module, *frame, function, bound);
        self.progress.calls = around;
        let names = function.params.iter().map(|param| param.name.name.clone());
        let own = names.zip(values?.into_iter().map(|(value, _)| value)).collect();
        let own = self.names.open(*frame, own);
        Some(Scope { module: *module, frame: Some(own), calls })
    }

    fn builtin_call(&mut self, name: &Name, passed: Passed, span: Span) -> Option<Evaluated> {
        let path = format!("kp.{name}");
        if let Some(row) = algebra::find(name) {
            let Bound { values, .. } = call::bind(self, &path, row.takes, passed, span)?;
            let args = values.iter().map(|arg| arg.as_ref().map(|arg| (&arg.value, arg.span)));
            let args: Vec<_> = args.collect();
            return algebra::run(self, row, &args, span);
        }
        let row = plain::find(name);
        let Some(takes) = number::takes(name) else {
            let problem = Diagnostic::new("packed-value", format!("`{name}` is for kernels"));
            return self.report(problem.label(span, "called while the package is built"));
        };
        let bound = call::bind(self, &path, takes, passed, span)?;
        if **name == *MAX_BLOCKS.name {
            return self.max_blocks(&bound.values, span);
        }
        let args: Vec<_> = bound.values.into_iter().flatten().chain(bound.rest).collect();
        match (row, &**name, &args[..]) {
            (Some(row), _, args) => plain::run(self, row, args, span),
            (None, "range" | "range_constexpr", args) => {
                let bounds = unroll::bounds(self, args, span)?;
                self.range(bounds, span)
            }
            (None, "print_type", values) => self.print(values, span),
            (None, "enumerate", [x]) => unroll::enumerate(self, x),
            (None, "zip", args) => unroll::zip(self, args),
            (None, "static", _) => self.unnamed_static(span),
            (None, name, _) if let Some(row) = allocation::find(name) => {
                self.unnamed_memory(&row, span)
            }
            (None, "view", [tensor, layout]) => self.view(tensor, layout, span),
            (None, "make_tensor", [pointer, layout]) => self.make_tensor(pointer, layout),
            (None, "aligned", [tensor, bytes]) => self.aligned(tensor, bytes, span),
            (None, ..) => None,
        }
    }

    fn kernel_call(
        &mut self,
        kernel: &Arc<Definition>,
        passed: Passed,
        span: Span,
    ) -> Option<Evaluated> {
        let takes = walk::takes(&kernel.function);
        let bound = call::bind(self, kernel.name(), &takes, passed, span)?;
        let args = self.completed(kernel.module, None, &kernel.function, bound)?;
        Some(Evaluated::Call(Box::new(KernelCall { kernel: kernel.clone(), args })))
    }

    /// The arguments of all parameters, defaults included, which see what the function sees.
    fn completed(
        &mut self,
        module: ModuleId,
        frame: Option<FrameId>,
        function: &Function,
        bound: Bound<Evaluated>,
    ) -> Option<Vec<(Evaluated, Span)>> {
        let args = function.params.iter().zip(bound.values).map(|(param, given)| match given {
            Some(given) => Some((given.value, given.span)),
            None => {
                let default = param.default.as_ref()?;
                self.value_in(module, frame, default).map(|value| (value, default.span))
            }
        });
        let args: Vec<_> = args.collect();
        args.into_iter().collect()
    }
}
