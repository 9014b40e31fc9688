// SPDX-License-Identifier: Apache-2.0
//! `k(…).launch(grid=…, block=…)`: what a kernel is passed, and how its launch is laid out.

use super::expression::Evaluator;
use super::value::{Evaluated, KernelCall};
use super::{PackedLaunch, arch, demand, max_blocks};
use crate::argument::{Argument, Constant, OptionalArg, ScalarArg, TensorArg};
use crate::python::tree::{Call, Expr, Ident};
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_syntax::{Diagnostic, Placed, Span};
use kernpack_validators::expr::{Expr as Number, Field};
use kernpack_validators::{Branch, Geometry, LaunchFlag, LaunchFlags};

/// The keywords of a launch, each with what it is.
pub(super) fn keywords() -> impl Iterator<Item = (&'static str, &'static str)> {
    let flags = LaunchFlag::ALL.iter().map(|flag| (flag.key(), flag.doc()));
    NUMBERS.into_iter().chain(flags).chain(PLACE).chain(demand::KEYWORDS).chain([arch::KEYWORD])
}

/// The keywords that say how large it is.
const NUMBERS: [(&str, &str); 4] = [
    ("grid", "How many blocks there are: one to three numbers, x first. It has to be there."),
    ("block", "How many threads a block has: one to three numbers. It has to be there."),
    ("smem", "Bytes of dynamic shared memory, beside those that the kernel asks for itself."),
    ("cluster", "How many blocks are a cluster: one to three numbers."),
];

/// The keywords that say where it goes.
const PLACE: [(&str, &str); 2] = [
    ("priority", "The priority of the launch: a number."),
    ("stream", "A Stream parameter, whose stream the launch goes to."),
];

impl Evaluator<'_> {
    /// A launch of what `of` gives, on these sides of `if`s.
    pub fn launch(
        &mut self,
        of: &Expr,
        call: &Call,
        branches: &[Branch],
        span: Span,
    ) -> Option<PackedLaunch> {
        let kernel = match self.expr(of)? {
            Evaluated::Call(kernel) => *kernel,
            value => {
                self.expected("a kernel with its arguments", &value, of.span);
                return None;
            }
        };
        let (args, geometry) = (self.arguments(&kernel), self.geometry(call, span));
        let demands = self.demands(call, geometry.as_ref());
        let archs = self.optional(call, arch::KEYWORD.0, Evaluator::archs);
        let (mut args, geometry, demands) = (args?, geometry?, demands?);
        let geometry = self.with_max_blocks(geometry, &kernel, &args, span)?;
        let archs = archs?.unwrap_or_default();
        self.are_passed(&geometry.unwritten, &mut args).then_some(())?;
        self.settle_aliases(&mut args);
        let KernelCall { kernel, .. } = kernel;
        let (branches, known) = (branches.to_vec(), self.facts.facts_here());
        let relations = self.facts.relations().clone();
        Some(PackedLaunch {
            span,
            branches,
            kernel,
            args,
            geometry,
            demands,
            archs,
            known,
            relations,
        })
    }

    pub(super) fn arguments(&mut self, call: &KernelCall) -> Option<Vec<Argument>> {
        let args: Vec<_> = call
            .args
            .iter()
            .map(|(value, span)| match self.argument(&self.refreshed(value), *span) {
                Ok(arg) => Some(arg),
                Err(problem) => {
                    problem.map(|problem| self.report(*problem));
                    None
                }
            })
            .collect();
        args.into_iter().collect()
    }

    /// The argument of a kernel for a value.
    ///
    /// # Errors
    /// Why it is passed nothing; no diagnostic where one was reported already.
    pub fn argument(
        &self,
        value: &Evaluated,
        span: Span,
    ) -> Result<Argument, Option<Box<Diagnostic>>> {
        let refused = |message: String, help: &str| {
            let problem = Diagnostic::new("packed-argument", message).label(span, "passed here");
            Err(Some(Box::new(problem.help(help))))
        };
        let constant = |constant| Ok(Argument::Constant(constant));
        match value {
            value if max_blocks::is_in(value) => {
                Err(Some(Box::new(max_blocks::known_late().label(span, "passed here"))))
            }
            Evaluated::Poison => Err(None),
            Evaluated::None => constant(Constant::None),
            Evaluated::Bool(truth) => constant(Constant::Bool(*truth)),
            Evaluated::Int(value) => constant(Constant::Int(value.clone())),
            Evaluated::Float(value) => constant(Constant::Float(*value)),
            Evaluated::Text(text) => constant(Constant::Text(text.clone())),
            Evaluated::Swizzle(swizzle) => constant(Constant::Swizzle(*swizzle)),
            Evaluated::DType(dtype) => match Scalar::of(*dtype) {
                Some(scalar) => constant(Constant::DType(scalar)),
                None => refused(format!("kernels have no {dtype} yet"), "choose another dtype"),
            },
            Evaluated::Layout(layout, swizzle) => match layout.convert(&mut |_| None) {
                Some(layout) => constant(Constant::Layout(layout, *swizzle)),
                None => Ok(Argument::Layout(layout.clone(), *swizzle)),
            },
            Evaluated::Dim(expr) => Ok(self.number_passed(expr)),
            Evaluated::Scalar(scalar) => Ok(Argument::Scalar(scalar.clone())),
            Evaluated::Tensor(tensor) => Ok(Argument::Tensor(tensor.clone())),
            Evaluated::Pointer(pointer) => Ok(Argument::Pointer(pointer.clone())),
            Evaluated::Tuple(items) => {
                let items = items.iter().map(|(name, item)| {
                    self.argument(item, span).map(|argument| (name.clone(), argument))
                });
                items.collect::<Result<_, _>>().map(Argument::Tuple)
            }
            Evaluated::Optional(path, inner) => Ok(Argument::Optional(Box::new(OptionalArg {
                given: Number::Field(path.to_string(), Field::Given, Span::default()),
                inner: self.argument(inner, span)?,
                name: path.clone(),
            }))),
            Evaluated::Function(closure) => self.function_argument(closure, span),
            Evaluated::Builtin(name) => {
                Ok(Argument::Function(crate::argument::FunctionArg::Builtin(name.clone())))
            }
            Evaluated::NoTensor(..)
            | Evaluated::String(_)
            | Evaluated::DTypeParam(..)
            | Evaluated::Stream(_)
            | Evaluated::Opaque(..)
            | Evaluated::Range(_)
            | Evaluated::Rule(_)
            | Evaluated::Kernel(_)
            | Evaluated::Kernpack
            | Evaluated::Device
            | Evaluated::Module(_)
            | Evaluated::Call(_) => {
                let (message, help) = why_not(value);
                refused(message, &help)
            }
        }
    }

    /// A parameter is passed in its own type, also where its number is known.
    fn number_passed(&self, expr: &Number) -> Argument {
        let own = self.facts.type_of(expr).and_then(Scalar::of);
        let scalar = own.unwrap_or(Scalar::I64);
        let facts = self.facts.kernel_facts(expr);
        match (self.facts.canonical(expr), own) {
            (Number::Int(value), Some(scalar)) => {
                Argument::Constant(Constant::Number(Const::int(scalar, value)))
            }
            (Number::Int(value), None) => Argument::Constant(Constant::Int(value.into())),
            (expr, _) => Argument::Scalar(ScalarArg { expr, scalar, facts }),
        }
    }

    /// How a launch is laid out.
    fn geometry(&mut self, call: &Call, span: Span) -> Option<Geometry> {
        let mut is_good = true;
        if let Some(arg) = call.args.first() {
            let problem = Diagnostic::new("launch-argument", "a launch takes its layout by name");
            let problem = problem.label(arg.span, "without a name");
            self.report(problem.help("write `.launch(grid=…, block=…)`"));
            is_good = false;
        }
        for (place, (name, _)) in call.keywords.iter().enumerate() {
            if call.keywords[..place].iter().any(|(other, _)| other.name == name.name) {
                let message = format!("the launch has two `{}`", name.name);
                let problem = Diagnostic::new("launch-argument", message);
                self.report(problem.label(name.span, "the second").help("write one of them"));
                is_good = false;
            }
            if !keywords().any(|(keyword, _)| keyword == &*name.name) {
                let message = format!("a launch has no `{}`", name.name);
                let problem =
                    Diagnostic::new("launch-argument", message).label(name.span, "unknown");
                let known: Vec<_> = keywords().map(|(keyword, _)| keyword).collect();
                self.report(problem.help(format!("it has {}", known.join(", "))));
                is_good = false;
            }
        }
        let (grid, block) =
            (self.required_dims(call, "grid", span), self.required_dims(call, "block", span));
        let cluster = self.optional(call, "cluster", Evaluator::dims_of);
        let shared = self.optional(call, "smem", Evaluator::one_number);
        let priority = self.optional(call, "priority", Evaluator::one_number);
        let stream = self.optional(call, "stream", Evaluator::stream);
        let dependence = self.optional(call, LaunchFlag::Dependent.key(), Evaluator::dependence);
        let flags = LaunchFlags::ask(|flag| match flag {
            LaunchFlag::Cooperative => {
                let truth = self.optional(call, flag.key(), Evaluator::flag);
                truth.map(Option::unwrap_or_default).ok_or(())
            }
            LaunchFlag::Dependent => {
                dependence.as_ref().map(|given| matches!(given, Some(Some(_)))).ok_or(())
            }
        });
        is_good.then_some(())?;
        Some(Geometry {
            grid: grid?,
            block: block?,
            cluster: cluster?.unwrap_or_default(),
            shared: shared?.unwrap_or(Number::Int(0).into()),
            flags: flags.ok()?,
            unwritten: dependence?.flatten().unwrap_or_default(),
            priority: priority?,
            stream: stream?.flatten(),
        })
    }

    /// The value of a keyword that may be there; nothing at all where it is no good.
    pub fn optional<T>(
        &mut self,
        call: &Call,
        name: &str,
        read: fn(&mut Self, &Expr) -> Option<T>,
    ) -> Option<Option<T>> {
        let is_it = |(own, _): &&(Ident, Expr)| &*own.name == name;
        match call.keywords.iter().find(is_it) {
            None => Some(None),
            Some((_, value)) => read(self, value).map(Some),
        }
    }

    fn required_dims(
        &mut self,
        call: &Call,
        name: &str,
        span: Span,
    ) -> Option<Vec<Placed<Number>>> {
        let dims = self.optional(call, name, Evaluator::dims_of)?;
        if dims.is_none() {
            let problem = Diagnostic::new("launch-argument", format!("the launch has no `{name}`"));
            let help = format!("write `{name}=…`, one to three numbers, x first");
            self.report(problem.label(span, "missing").help(help));
        }
        dims
    }

    /// One to three numbers.
    fn dims_of(&mut self, expr: &Expr) -> Option<Vec<Placed<Number>>> {
        let value = self.expr(expr)?;
        self.extents_of(value, expr.span)
    }

    /// One to three numbers that a value is.
    pub(super) fn extents_of(
        &mut self,
        value: Evaluated,
        span: Span,
    ) -> Option<Vec<Placed<Number>>> {
        let items = match value {
            Evaluated::Tuple(items) => items.into_iter().map(|(_, item)| item).collect(),
            value => vec![value],
        };
        if items.is_empty() || items.len() > 3 {
            let message =
                format!("a layout of a launch has one to three numbers, not {}", items.len());
            self.report(Diagnostic::new("launch-argument", message).label(span, "here"));
            return None;
        }
        let numbers = items
            .into_iter()
            .map(|item| self.number(&(item, span)).map(|number| Placed::new(number, span)));
        let numbers: Vec<_> = numbers.collect();
        numbers.into_iter().collect()
    }

    fn one_number(&mut self, expr: &Expr) -> Option<Placed<Number>> {
        let value = self.expr(expr)?;
        self.number(&(value, expr.span)).map(|number| Placed::new(number, expr.span))
    }

    fn flag(&mut self, expr: &Expr) -> Option<bool> {
        match self.expr(expr)? {
            Evaluated::Bool(truth) => Some(truth),
            value => {
                self.expected("`True` or `False`", &value, expr.span);
                None
            }
        }
    }

    fn stream(&mut self, expr: &Expr) -> Option<Option<Placed<String>>> {
        match self.expr(expr)? {
            Evaluated::Stream(name) => Some(Some(Placed::new(name.to_string(), expr.span))),
            Evaluated::None => Some(None),
            value => {
                self.expected("a Stream parameter", &value, expr.span);
                None
            }
        }
    }

    /// Finds which tensors share no memory with another one of the kernel's.
    pub fn settle_aliases(&self, args: &mut [Argument]) {
        let mut passed: Vec<(Number, String, bool)> = Vec::new();
        let mut learn = |tensor: &mut TensorArg| {
            if !passed.iter().any(|(pointer, ..)| *pointer == tensor.pointer) {
                let (pointer, path) = (tensor.pointer.clone(), tensor.pointer.to_string());
                passed.push((pointer, path, tensor.is_written));
            }
        };
        args.iter_mut().for_each(|arg| for_each_tensor(arg, &mut learn));
        let mut settle = |tensor: &mut TensorArg| {
            let path = tensor.pointer.to_string();
            let others = passed.iter().filter(|(pointer, ..)| *pointer != tensor.pointer);
            let mut meeting = others.filter(|(_, _, is_written)| tensor.is_written || *is_written);
            tensor.is_alone = meeting.all(|(_, other, _)| self.facts.are_apart(&path, other));
        };
        args.iter_mut().for_each(|arg| for_each_tensor(arg, &mut settle));
    }
}

/// Why a value is passed to no kernel, and what to do about it.
pub(super) fn why_not(value: &Evaluated) -> (String, String) {
    let (message, help) = match value {
        Evaluated::NoTensor(path, why, help) => (format!("`{path}`: {why}"), *help),
        Evaluated::String(path) => (
            format!("the String `{path}` chooses launches, and enters no kernel"),
            "ask for it by an `if`, and pass a constant",
        ),
        Evaluated::DTypeParam(path, _) => (
            format!("the DataType `{path}` chooses launches, and enters no kernel"),
            "name the dtype of a tensor, `x.element_type`",
        ),
        Evaluated::Stream(path) => (
            format!("the stream `{path}` enters no kernel"),
            "launch on it: `.launch(…, stream=…)`",
        ),
        Evaluated::Opaque(path, what) => {
            (format!("`{path}` is {what}, which enters no kernel"), "pass a tensor")
        }
        Evaluated::Range(_) => (
            "a range enters no kernel".to_string(),
            "pass its bounds, or the numbers: `[i for i in range(4)]`",
        ),
        Evaluated::Rule(_) => (
            "a condition enters no kernel".to_string(),
            "write an `if` with a launch on each side, or ask again in the kernel",
        ),
        value => (format!("{} enters no kernel", value.what()), "pass what it computes with"),
    };
    (message, help.to_string())
}

/// Every tensor and pointer in an argument.
pub(super) fn for_each_tensor(arg: &mut Argument, each: &mut dyn FnMut(&mut TensorArg)) {
    match arg {
        Argument::Tensor(tensor) | Argument::Pointer(tensor) => each(tensor),
        Argument::Tuple(items) => {
            items.iter_mut().for_each(|(_, item)| for_each_tensor(item, each));
        }
        Argument::Optional(optional) => for_each_tensor(&mut optional.inner, each),
        Argument::Function(crate::argument::FunctionArg::Written { captured, .. }) => {
            captured.iter_mut().for_each(|(_, item)| for_each_tensor(item, each));
        }
        Argument::Function(crate::argument::FunctionArg::Builtin(_))
        | Argument::Scalar(_)
        | Argument::Constant(_)
        | Argument::Layout(..) => {}
    }
}
