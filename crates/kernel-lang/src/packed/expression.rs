// SPDX-License-Identifier: Apache-2.0
//! Expressions of a packed function.

use super::closure::Names;
use super::facts::CallFacts;
use super::found::{Found, Pass};
use super::kernel_call::why_not;
use super::limits::{DEPTH_OF_CONSTANT, Progress};
use super::max_blocks::Asked;
use super::value::Evaluated;
use crate::algebra;
use crate::argument::Dim;
use crate::builtin;
use crate::expr::{dtype_names, dtype_part};
use crate::file::{KernelFiles, ModuleId};
use crate::integer::MOST_BITS;
use crate::names::{self, FrameId};
use crate::python::tree::{BinaryOp, Expr, ExprKind, Foreign, Ident, Name, UnaryOp};
use crate::python::walk;
use crate::unroll::comprehension;
use crate::untyped::{self, Refused, Untyped};
use crate::value as elaborated;
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Scalar;
use kernpack_layout::{Int, Layout};
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::expr::{Expr as Number, Field, Op};

/// The evaluator of a packed function for one combination of dtypes.
#[derive(Clone, Debug)]
pub(super) struct Evaluator<'f> {
    pub files: &'f KernelFiles,
    /// The file whose names count.
    pub module: ModuleId,
    /// The names that are assigned here.
    pub names: Names,
    /// The facts here.
    pub facts: CallFacts,
    /// How the body is gone through.
    pub pass: Pass,
    /// Rules of the signature that it says.
    pub found: Found,
    /// The places of those that some calls get to without being asked. The finding pass sees that.
    pub unasked: Vec<Span>,
    pub problems: Diagnostics,
    /// Its prints.
    pub notes: Diagnostics,
    /// The problems of this combination of dtypes alone: see [`super::body::Walked`].
    pub of_row: Vec<OfRow>,
    /// How far this has gone.
    pub progress: Progress,
    /// The launches of which it was asked how many blocks there are at once.
    pub asked: Vec<Asked>,
}

/// A problem of one combination of dtypes.
#[derive(Clone, Debug)]
pub(super) struct OfRow {
    /// The problem, without the dtypes.
    pub diagnostic: Diagnostic,
    /// Where they are told.
    pub span: Span,
    /// In which words.
    pub words: &'static str,
}

impl<'f> Evaluator<'f> {
    /// An evaluator that begins with these names and facts.
    pub fn new(
        files: &'f KernelFiles,
        module: ModuleId,
        names: Names,
        facts: CallFacts,
    ) -> Evaluator<'f> {
        let (pass, found) = (Pass::Final, Found::default());
        let (problems, notes) = (Diagnostics::default(), Diagnostics::default());
        let (of_row, progress, asked, unasked) = (vec![], Progress::default(), vec![], vec![]);
        Evaluator {
            files,
            module,
            names,
            facts,
            pass,
            found,
            unasked,
            problems,
            notes,
            of_row,
            progress,
            asked,
        }
    }
}

impl Evaluator<'_> {
    /// Reports a mistake.
    pub fn report(&mut self, mut problem: Diagnostic) -> Option<Evaluated> {
        if !self.files.is_told(&problem) {
            let mut calls = self.progress.calls.iter().rev().map(|(_, called_at)| *called_at);
            if let Some(called_at) = calls.find(|span| !self.files.is_of_library(*span)) {
                self.files.tell_at_call(&mut problem, called_at);
            }
            self.problems.extend_new([problem]);
        }
        None
    }

    /// Reports a mistake that other combinations of dtypes may not have.
    pub fn report_of_row(&mut self, diagnostic: Diagnostic, span: Span, words: &'static str) {
        self.of_row.push(OfRow { diagnostic, span, words });
    }

    /// Reports that something is not what it should be.
    pub fn expected(&mut self, expected: &str, found: &Evaluated, span: Span) -> Option<Evaluated> {
        let problem = match found {
            Evaluated::Poison => return None,
            Evaluated::Optional(path, _) => unguarded(path, span),
            Evaluated::NoTensor(..) => {
                let (message, help) = why_not(found);
                Diagnostic::new("packed-value", message).label(span, "used here").help(help)
            }
            found => {
                let message = format!("expected {expected}, found {}", found.what());
                Diagnostic::new("packed-value", message).label(span, found.what())
            }
        };
        self.report(problem)
    }

    /// The value of an expression; nothing where a mistake was reported.
    pub fn expr(&mut self, expr: &Expr) -> Option<Evaluated> {
        self.begin(1, expr.span).then_some(())?;
        let value = self.expr_kind(expr);
        self.end(1);
        self.bounded(value?, expr.span)
    }

    /// `of.member`
    fn path(&mut self, expr: &Expr, of: &Expr, member: &Ident) -> Option<Evaluated> {
        if let Some(problem) = names::foreign_path(self, expr) {
            return self.report(problem);
        }
        match names::captured_part(self, expr) {
            Some(part) => names::Names::captured(self, part, expr.span),
            None => self.attribute_of(of, member, expr.span),
        }
    }

    /// Nothing is computed here, so that the stack grows by little with each level.
    fn expr_kind(&mut self, expr: &Expr) -> Option<Evaluated> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Int(value) => Some(Evaluated::Int(value.clone())),
            ExprKind::Float(value) => Some(Evaluated::Float(*value)),
            ExprKind::Bool(truth) => Some(Evaluated::Bool(*truth)),
            ExprKind::None => Some(Evaluated::None),
            ExprKind::Text(text) => Some(Evaluated::Text(text.value.clone())),
            ExprKind::Tuple(items) | ExprKind::List(items) => self.tuple(items),
            ExprKind::Attribute(of, member) => self.path(expr, of, member),
            ExprKind::Subscript(of, index) => self.subscript_of(of, index, span),
            ExprKind::Call(call) => self.call(call, span),
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Logic(..) | ExprKind::Compare(..) => {
                self.condition(expr)
            }
            ExprKind::Unary(op, of) => self.unary_of(*op, of, span),
            ExprKind::Binary(op, operands) => self.binary_of(*op, operands, span),
            ExprKind::Conditional(parts) => self.conditional(parts),
            ExprKind::Lambda(function) => Some(self.function(function)),
            ExprKind::Comprehension(made) => comprehension(self, made),
            ExprKind::Dict(_) | ExprKind::Starred(_) => self.unknown_kind(span),
            ExprKind::Formatted(_) => self.foreign(&walk::FORMATTED, span),
            ExprKind::Foreign(foreign) => self.foreign(foreign, span),
        }
    }

    fn attribute_of(&mut self, of: &Expr, member: &Ident, span: Span) -> Option<Evaluated> {
        let of = self.expr(of)?;
        self.attribute(&of, member, span)
    }

    fn subscript_of(&mut self, of: &Expr, index: &Expr, span: Span) -> Option<Evaluated> {
        let (of, at) = (self.expr(of), self.expr(index));
        self.subscript(of?, at?, span)
    }

    fn unary_of(&mut self, op: UnaryOp, of: &Expr, span: Span) -> Option<Evaluated> {
        let value = self.expr(of)?;
        self.unary(op, value, span)
    }

    fn binary_of(&mut self, op: BinaryOp, (a, b): &(Expr, Expr), span: Span) -> Option<Evaluated> {
        let (a, b) = (self.expr(a), self.expr(b));
        self.binary(op, a?, b?, span)
    }

    /// The value of a target behind `target op= value`.
    pub fn augmented(
        &mut self,
        target: &Expr,
        op: BinaryOp,
        value: &Expr,
        span: Span,
    ) -> Option<Evaluated> {
        let (a, b) = (self.expr(target), self.expr(value));
        let value = self.binary(op, a?, b?, span)?;
        self.bounded(value, span)
    }

    fn unknown_kind(&mut self, span: Span) -> Option<Evaluated> {
        let message = "a packed function names numbers, layouts and launches";
        let problem = Diagnostic::new("packed-statement", message);
        self.report(problem.label(span, "it has nothing like this"))
    }

    fn foreign(&mut self, foreign: &Foreign, span: Span) -> Option<Evaluated> {
        self.report(foreign.diagnostic(span))
    }

    fn tuple(&mut self, items: &[Expr]) -> Option<Evaluated> {
        let values: Vec<_> = items.iter().map(|item| self.expr(item)).collect();
        values.into_iter().collect::<Option<Vec<_>>>().map(Evaluated::tuple)
    }

    fn conditional(&mut self, parts: &(Expr, Expr, Expr)) -> Option<Evaluated> {
        let (test, then, otherwise) = parts;
        match self.truth(test)? {
            Evaluated::Bool(true) => self.expr(then),
            Evaluated::Bool(false) => self.expr(otherwise),
            _ => {
                let message = "which of both it is depends on the call";
                let problem = Diagnostic::new("packed-value", message);
                let problem = problem.label(test.span, "not known while the package is built");
                self.report(problem.help("write an `if` with a launch on each side"))
            }
        }
    }

    fn name(&mut self, name: &Name, span: Span) -> Option<Evaluated> {
        names::find(self, name, span)
    }

    /// A value with what is known here, which may be more than where it was named: an `if` around
    /// the launch tells of it too.
    pub fn refreshed(&self, value: &Evaluated) -> Evaluated {
        let view = |layout: &Layout<Dim>| {
            let known = layout.convert(&mut |dim: &Dim| Some(self.facts.refreshed(dim)));
            known.unwrap_or_else(|| layout.clone())
        };
        match value {
            // A parameter keeps its type, which a kernel is passed it in.
            Evaluated::Dim(expr) if self.facts.type_of(expr).is_some() => value.clone(),
            Evaluated::Dim(expr) => Evaluated::number(self.facts.canonical(expr)),
            Evaluated::Layout(layout, swizzle) => Evaluated::Layout(view(layout), *swizzle),
            Evaluated::Tensor(tensor) => {
                let mut known = (**tensor).clone();
                known.view = view(&tensor.view);
                if let Int::Dynamic(dim) = &tensor.offset {
                    known.offset = self.facts.int(&dim.expr);
                }
                let path = tensor.pointer.to_string();
                known.align = known.align.max(self.facts.alignment(&path));
                Evaluated::Tensor(Box::new(known))
            }
            Evaluated::Pointer(pointer) => {
                let mut known = (**pointer).clone();
                known.align = known.align.max(self.facts.alignment(&pointer.pointer.to_string()));
                Evaluated::Pointer(Box::new(known))
            }
            Evaluated::Tuple(items) => {
                let items = items.iter().map(|(name, item)| (name.clone(), self.refreshed(item)));
                Evaluated::Tuple(items.collect())
            }
            Evaluated::Optional(path, inner) => match self.is_given(path) {
                Some(true) => self.refreshed(inner),
                Some(false) => Evaluated::None,
                None => Evaluated::Optional(path.clone(), Box::new(self.refreshed(inner))),
            },
            Evaluated::Rule(rule) => self.decided(rule.clone()),
            other => other.clone(),
        }
    }

    /// A value to compute with: where the number of a parameter is known, that number.
    pub fn folded(&self, value: Evaluated) -> Evaluated {
        match value {
            Evaluated::Dim(expr) if expr.as_symbol().is_some() => {
                Evaluated::number(self.facts.canonical(&expr))
            }
            other => other,
        }
    }

    /// The value of a file's constant, or of a default among the names where its function stands.
    pub fn value_in(
        &mut self,
        module: ModuleId,
        frame: Option<FrameId>,
        expr: &Expr,
    ) -> Option<Evaluated> {
        self.begin(DEPTH_OF_CONSTANT, expr.span).then_some(())?;
        let here = self.names.go_to(frame);
        let home = std::mem::replace(&mut self.module, module);
        let value = self.expr(expr);
        self.names.go_to(here);
        self.module = home;
        self.end(DEPTH_OF_CONSTANT);
        value
    }

    /// `of.member`
    fn attribute(&mut self, of: &Evaluated, member: &Ident, span: Span) -> Option<Evaluated> {
        let name = &*member.name;
        match (of, name) {
            (Evaluated::Kernpack, _) => names::Names::member(self, &member.name, span),
            (Evaluated::Device, _) => self.of_device(member),
            (Evaluated::Module(module), _) => {
                names::of_file(self, *module, &member.name, member.span)
            }
            (Evaluated::Tensor(tensor), _) if algebra::names_of(true).contains(&name) => {
                algebra::attribute(self, &tensor.view, name, span)
            }
            (Evaluated::Layout(layout, _), _) if algebra::names_of(false).contains(&name) => {
                algebra::attribute(self, layout, name, span)
            }
            (Evaluated::Tensor(tensor) | Evaluated::Pointer(tensor), "element_type" | "dtype") => {
                Some(Evaluated::DType(tensor.element.dtype()))
            }
            (Evaluated::DType(dtype), _) => self.dtype_part(*dtype, name, member.span),
            (Evaluated::Tuple(items), _) if items.iter().any(|(own, _)| is(own, name)) => {
                items.iter().find(|(own, _)| is(own, name)).map(|(_, item)| item.clone())
            }
            (Evaluated::Poison | Evaluated::Optional(..) | Evaluated::NoTensor(..), _) => {
                self.expected("a tensor", of, span)
            }
            (of, _) => {
                let known = match of {
                    Evaluated::Tensor(_) => [algebra::names_of(true), &["element_type"]].concat(),
                    Evaluated::Layout(..) => algebra::names_of(false).to_vec(),
                    Evaluated::Pointer(_) => vec!["element_type"],
                    Evaluated::Tuple(items) => {
                        items.iter().filter_map(|(own, _)| own.as_deref()).collect()
                    }
                    Evaluated::Kernel(_) => return self.unlaunched(of, member.span),
                    _ => Vec::new(),
                };
                self.no_attribute(of, name, &known, member.span)
            }
        }
    }

    pub(super) fn no_attribute(
        &mut self,
        of: &Evaluated,
        name: &str,
        known: &[&str],
        span: Span,
    ) -> Option<Evaluated> {
        let message = format!("{} has no `{name}`", of.what());
        let problem = Diagnostic::new("packed-value", message).label(span, "unknown");
        self.report(problem.help(builtin::attribute_help(name, known)))
    }

    /// The attribute of a dtype: the same as in a kernel.
    fn dtype_part(&mut self, dtype: DType, name: &str, span: Span) -> Option<Evaluated> {
        let scalar = Scalar::of(dtype);
        let part = scalar.and_then(|scalar| dtype_part(scalar, name));
        match (part, scalar) {
            (Some(elaborated::Elaborated::Bool(truth)), _) => Some(Evaluated::Bool(truth)),
            (Some(elaborated::Elaborated::Const(constant)), _) if constant.scalar().is_float() => {
                constant.as_float().map(Evaluated::Float)
            }
            (Some(part), _) => part.as_int().map(|int| Evaluated::Int(int.into())),
            (None, None) if name == "width" => Some(Evaluated::Int(dtype.element_bits().into())),
            (None, scalar) => {
                let known = scalar.map_or(vec!["width"], dtype_names);
                self.no_attribute(&Evaluated::DType(dtype), name, &known, span)
            }
        }
    }

    /// That a kernel is used otherwise than by being launched.
    pub fn unlaunched(&mut self, kernel: &Evaluated, span: Span) -> Option<Evaluated> {
        let Evaluated::Kernel(kernel) = kernel else { return None };
        let params: Vec<_> = kernel.function.params.iter().map(|param| &*param.name.name).collect();
        let message = format!("`{}` is launched by its arguments and their layout", kernel.name());
        let problem = Diagnostic::new("packed-statement", message).label(span, "not called");
        let call = format!("{}({})", kernel.name(), params.join(", "));
        self.report(problem.help(format!("write `{call}.launch(grid=…, block=…)`")))
    }

    /// Whether an Optional is given, where that is known here.
    fn is_given(&self, path: &str) -> Option<bool> {
        let given = Number::Field(path.to_string(), Field::Given, Span::default());
        self.facts.canonical(&given).as_int().map(|given| given != 0)
    }

    /// `of[at]`
    fn subscript(&mut self, of: Evaluated, at: Evaluated, span: Span) -> Option<Evaluated> {
        let at = self.folded(at);
        match (&of, &at) {
            (Evaluated::Tuple(items), Evaluated::Int(number)) => {
                let n_items = items.len() as i128;
                let forward = number.small().map(|at| if at < 0 { n_items + at } else { at });
                match forward
                    .and_then(|at| usize::try_from(at).ok())
                    .and_then(|place| items.get(place))
                {
                    Some((_, item)) => Some(item.clone()),
                    None => {
                        let message = format!("a tuple of {n_items} has no item {number}");
                        let problem = Diagnostic::new("packed-value", message);
                        self.report(problem.label(span, "beyond its end"))
                    }
                }
            }
            (Evaluated::Tuple(items), Evaluated::Text(name)) => {
                match items.iter().find(|(own, _)| is(own, name)) {
                    Some((_, item)) => Some(item.clone()),
                    None => {
                        let known =
                            items.iter().filter_map(|(own, _)| own.as_deref()).collect::<Vec<_>>();
                        self.no_attribute(&of, name, &known, span)
                    }
                }
            }
            (Evaluated::Tuple(_), _) => self.expected("a constant integer", &at, span),
            (Evaluated::Tensor(tensor), _) => self.slice(tensor.clone(), &at, span),
            (Evaluated::Layout(layout, swizzle), _) => {
                algebra::mode_of(self, (layout, *swizzle), &at, span)
            }
            (Evaluated::Kernel(_), _) => self.unlaunched(&of, span),
            _ => self.expected("a tuple, a layout or a tensor", &of, span),
        }
    }

    pub fn unary(&mut self, op: UnaryOp, value: Evaluated, span: Span) -> Option<Evaluated> {
        match (op, self.folded(value)) {
            (
                UnaryOp::Pos,
                value @ (Evaluated::Int(_) | Evaluated::Float(_) | Evaluated::Dim(_)),
            ) => Some(value),
            (UnaryOp::Neg, value @ Evaluated::Int(_)) => {
                self.binary(BinaryOp::Sub, Evaluated::Int(0.into()), value, span)
            }
            (UnaryOp::Neg, Evaluated::Float(value)) => Some(Evaluated::Float(-value)),
            (UnaryOp::Neg, Evaluated::Dim(expr)) => {
                self.combined(Op::Sub, Number::Int(0), expr, span).map(Evaluated::number)
            }
            (UnaryOp::Invert, Evaluated::Int(value)) => Some(Evaluated::Int(!&value)),
            (_, Evaluated::Scalar(_)) => self.left_to_kernels(span),
            (_, value) => self.expected("a number", &value, span),
        }
    }

    /// That floats or uint64s of a call are computed with.
    fn left_to_kernels(&mut self, span: Span) -> Option<Evaluated> {
        let message = "expressions over dims have no floats and no uint64";
        let problem = Diagnostic::new("packed-value", message).label(span, "not known yet");
        self.report(problem.help("compute it in the kernel, or with constants"))
    }

    /// An operation on two numbers of a call, as far as possible done.
    pub fn combined(&mut self, op: Op, a: Number, b: Number, span: Span) -> Option<Number> {
        self.bounded_number(self.facts.canonical(&Number::binary(op, a, b)), span)
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: Evaluated,
        b: Evaluated,
        span: Span,
    ) -> Option<Evaluated> {
        let (a, b) = (self.folded(a), self.folded(b));
        if let (Some(left), Some(right)) = (untyped_of(&a), untyped_of(&b)) {
            return match untyped::binary(op, &left, &right) {
                Ok(Untyped::Int(int)) => Some(Evaluated::Int(int)),
                Ok(Untyped::Float(float)) => Some(Evaluated::Float(float)),
                Err(refused) => self.refused(op, refused, [left, right], span),
            };
        }
        match (&a, &b) {
            (Evaluated::Tuple(a), Evaluated::Tuple(b)) if op == BinaryOp::Add => {
                Some(Evaluated::Tuple([&a[..], b].concat()))
            }
            (Evaluated::Dim(_) | Evaluated::Int(_), Evaluated::Dim(_) | Evaluated::Int(_)) => {
                self.dims(op, &a, &b, span)
            }
            (Evaluated::Poison, _) | (_, Evaluated::Poison) => None,
            (a, b) if is_number(a) && is_number(b) => self.left_to_kernels(span),
            (a, b) => self.expected("a number", if is_number(a) { b } else { a }, span),
        }
    }

    fn refused(
        &mut self,
        op: BinaryOp,
        refused: Refused,
        [a, b]: [Untyped; 2],
        span: Span,
    ) -> Option<Evaluated> {
        let op = op.text();
        let numbers = match (&a, &b) {
            (Untyped::Int(_), Untyped::Int(_)) => "integers",
            (Untyped::Float(_), _) | (_, Untyped::Float(_)) => "floats",
        };
        let (message, help) = match refused {
            Refused::ByZero => (format!("`{a} {op} {b}` has no value"), "divide by another number"),
            Refused::TooLarge => (
                format!("`{a} {op} {b}` has more than {MOST_BITS} bits"),
                "compute with smaller numbers",
            ),
            Refused::NoFloat => {
                (format!("`{a} {op} {b}` is beyond all floats"), "compute with smaller numbers")
            }
            Refused::Undefined => {
                (format!("{numbers} have no `{op}` here"), "write another operation")
            }
        };
        self.report(Diagnostic::new("packed-value", message).label(span, "here").help(help))
    }

    /// An operation on numbers of which each call has its own.
    fn dims(
        &mut self,
        op: BinaryOp,
        a: &Evaluated,
        b: &Evaluated,
        span: Span,
    ) -> Option<Evaluated> {
        let (Some(left), Some(right)) = (a.expr(), b.expr()) else {
            let problem = Diagnostic::new("packed-value", "expressions over dims have 64 bits");
            return self.report(problem.label(span, "one of these has more"));
        };
        let (op, right) = match (op, right.as_int()) {
            (BinaryOp::Add, _) => (Op::Add, right),
            (BinaryOp::Sub, _) => (Op::Sub, right),
            (BinaryOp::Mul, _) => (Op::Mul, right),
            (BinaryOp::FloorDiv, _) => (Op::FloorDiv, right),
            (BinaryOp::Mod, _) => (Op::Mod, right),
            (BinaryOp::Shl, Some(by @ 0..62)) => (Op::Mul, Number::Int(1 << by)),
            (BinaryOp::Shr, Some(by @ 0..62)) => (Op::FloorDiv, Number::Int(1 << by)),
            (BinaryOp::Shl | BinaryOp::Shr, _) => {
                let message = "expressions over dims shift by constants from 0 to 61";
                let problem = Diagnostic::new("packed-value", message);
                return self.report(problem.label(span, "by another number"));
            }
            _ => {
                let message = format!("expressions over dims have no `{}`", op.text());
                let problem = Diagnostic::new("packed-value", message).label(span, "not known yet");
                let help = match op {
                    BinaryOp::Div => "write `//`, which rounds down",
                    _ => "write `+`, `-`, `*`, `//`, `%`, `min`, `max` or `kp.ceil_div`",
                };
                return self.report(problem.help(help));
            }
        };
        self.combined(op, left, right, span).map(Evaluated::number)
    }
}

fn is_number(value: &Evaluated) -> bool {
    matches!(
        value,
        Evaluated::Int(_) | Evaluated::Float(_) | Evaluated::Dim(_) | Evaluated::Scalar(_)
    )
}

pub(super) fn untyped_of(value: &Evaluated) -> Option<Untyped> {
    match value {
        Evaluated::Int(int) => Some(Untyped::Int(int.clone())),
        Evaluated::Float(float) => Some(Untyped::Float(*float)),
        _ => None,
    }
}

fn is(own: &Option<Name>, name: &str) -> bool {
    own.as_deref() == Some(name)
}

/// That something may not be there.
pub(super) fn unguarded(path: &str, span: Span) -> Diagnostic {
    Diagnostic::new("unguarded", format!("`{path}` may be None"))
        .label(span, "used without having asked")
        .help(format!("ask first: `if {path} is not None:`"))
}
