// SPDX-License-Identifier: Apache-2.0
//! Memory that a packed function asks for in its body: `y = kp.empty((m, n), kp.float32)`, and
//! `kp.zeros`, which is written by a launch of the library's. What it returns of that is a result,
//! and the rest a workspace.
//!
//! Only functions whose signature was made of a call's arguments ask for memory: others say it in
//! their signatures. Each has the name that it is given first, and a number behind that where the
//! way through the function has asked for memory of that name before.

use super::body::{End, Rest, State, Walk};
use super::expression::Evaluator;
use super::found::Pass;
use super::max_blocks;
use super::number::Row;
use super::tensor::{self, Memory};
use super::value::Evaluated;
use crate::call::{self, Bound};
use crate::python::tree::{Call, Expr, ExprKind, Name};
use kernpack_syntax::{Diagnostic, Placed, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::param::Tensor;
use kernpack_validators::{SignatureResult, Workspace, parse_tensor};

const SHAPE_AND_DTYPE: &[&str] = &["shape", "dtype"];

/// The functions that ask for it.
pub(super) const ROWS: [Row; 2] = [
    Row {
        name: "empty",
        takes: SHAPE_AND_DTYPE,
        doc: "Memory that the call allocates, row-major, of which nothing is known: what is \
              returned of it is a result, and the rest is gone with the call. For functions \
              without a signature.",
    },
    Row {
        name: ZEROS,
        takes: SHAPE_AND_DTYPE,
        doc: "The same, of zeros: a launch on the call's stream writes them.",
    },
];

const ZEROS: &str = "zeros";
/// The function of the library that writes zeros to all of a tensor.
const CLEAR: &str = "clear";

/// The row of a name.
pub(super) fn find(name: &str) -> Option<Row> {
    ROWS.into_iter().find(|row| row.name == name)
}

/// A call that asks for memory.
pub(super) struct Asked<'e> {
    call: &'e Call,
    row: Row,
}

/// Memory that each call allocates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Allocation {
    /// The name that it is given.
    pub name: Name,
    tensor: Tensor,
    span: Span,
}

impl Allocation {
    /// It as a result.
    pub fn as_result(&self) -> SignatureResult {
        let (name, tensor) = (self.name.to_string(), self.tensor.clone());
        SignatureResult { name, tensor, span: self.span }
    }

    /// It as memory that goes with the call.
    pub fn as_workspace(&self) -> Workspace {
        Workspace {
            name: Placed::new(self.name.to_string(), self.span),
            tensor: Placed::new(self.tensor.clone(), self.span),
        }
    }
}

impl Evaluator<'_> {
    /// The call by which a value is asked for, where it is memory.
    pub(super) fn as_allocation<'e>(&mut self, value: &'e Expr) -> Option<Asked<'e>> {
        let ExprKind::Call(call) = &value.kind else { return None };
        let member = match &call.function.kind {
            ExprKind::Attribute(_, member) => &member.name,
            ExprKind::Name(name) => name,
            _ => return None,
        };
        let row = find(member)?;
        let function = self.expr(&call.function);
        let is_it = matches!(function, Some(Evaluated::Builtin(name)) if &*name == row.name);
        is_it.then_some(Asked { call, row })
    }

    /// Memory that is given no name.
    pub(super) fn unnamed_memory(&mut self, row: &Row, span: Span) -> Option<Evaluated> {
        let problem = Diagnostic::new("packed-value", "memory has a name of its own");
        let problem = problem.label(span, "asked for within something else");
        let help = format!("give it a name first: `y = kp.{}(shape, dtype)`", row.name);
        self.report(problem.help(help))
    }

    /// The memory that a call asks for, under a name.
    fn allocation(&mut self, name: Name, of: &Asked<'_>, span: Span) -> Option<Allocation> {
        let Asked { call, row } = of;
        let passed = call::passed(self, call)?;
        let path = format!("kp.{}", row.name);
        let Bound { values, .. } = call::bind(self, &path, row.takes, passed, span)?;
        let [Some(shape), Some(dtype)] = &values[..] else { return None };
        let dims = match &shape.value {
            Evaluated::Tuple(items) => items.iter().map(|(_, item)| item.clone()).collect(),
            one => vec![one.clone()],
        };
        let dims = dims.iter().map(|dim| self.extent(dim, shape.span));
        let dims: Vec<String> = dims.collect::<Option<_>>()?;
        let Some(dtype) = dtype.value.dtype() else {
            return self.expected("a dtype", &dtype.value.clone(), dtype.span).and(None);
        };
        let text = format!("Tensor([{}], {dtype})", dims.join(", "));
        match parse_tensor(&text[..]) {
            Ok(tensor) => Some(Allocation { name, tensor, span }),
            Err(found) => {
                let why = found.0.first().map(|one| one.message.clone()).unwrap_or_default();
                let problem = Diagnostic::new("packed-value", format!("`{text}` is no tensor"));
                self.report(problem.label(span, why)).and(None)
            }
        }
    }

    /// An extent as a signature writes it.
    fn extent(&mut self, dim: &Evaluated, span: Span) -> Option<String> {
        match self.folded(dim.clone()) {
            Evaluated::Int(number) => Some(number.to_string()),
            late if max_blocks::is_in(&late) => {
                self.report(max_blocks::known_late().label(span, "asked for")).and(None)
            }
            Evaluated::Dim(expr) => Some(self.facts.canonical(&expr).to_string()),
            other => self.expected("an extent", &other, span).map(|_| String::new()),
        }
    }
}

impl Walk<'_> {
    /// `name = kp.empty(shape, dtype)`, or `kp.zeros`
    pub(super) fn assign_memory(
        &mut self,
        mut state: State,
        targets: &[Expr],
        asked: &Asked<'_>,
        span: Span,
        behind: &Rest<'_>,
    ) -> End {
        let memory = self.allocate(&mut state, targets, asked, span);
        self.evaluator.assign_all(targets, &memory, span);
        let called = match memory {
            Evaluated::Tensor(_) if asked.row.name == ZEROS => {
                self.evaluator.of_library(CLEAR, memory, span)
            }
            Evaluated::NoTensor(..) if asked.row.name == ZEROS => {
                self.evaluator.expected("a tensor of kernels", &memory, span).and(None)
            }
            _ => None,
        };
        match called {
            Some(called) => self.run_function(state, called, span, behind),
            None => End::Behind(state),
        }
    }

    fn allocate(
        &mut self,
        state: &mut State,
        targets: &[Expr],
        asked: &Asked<'_>,
        span: Span,
    ) -> Evaluated {
        if !self.parts.is_made {
            let problem = Diagnostic::new("packed-value", "the signature says what is allocated");
            let problem = problem.label(span, "asked for in the body");
            let help = "write a result, `-> y: Tensor([n], float32)`, or `workspace=`";
            self.evaluator.report(problem.help(help));
            return Evaluated::Poison;
        }
        let [Expr { kind: ExprKind::Name(name), .. }] = targets else {
            return self.evaluator.unnamed_memory(&asked.row, span).unwrap_or(Evaluated::Poison);
        };
        let name = self.free_name(state, name);
        let Some(allocation) = self.evaluator.allocation(name.clone(), asked, span) else {
            return Evaluated::Poison;
        };
        state.asked.insert(name);
        if self.parts.pass == Pass::Finding && !self.note(&allocation) {
            return Evaluated::Poison;
        }
        let Allocation { name, tensor, .. } = &allocation;
        tensor::of_tensor(name, tensor, Memory::Allocated, &self.evaluator.facts)
    }

    /// A name for memory that nothing else on this way has: that which it is given, or the first of
    /// `y_2`, `y_3` and so on.
    fn free_name(&self, state: &State, given: &Name) -> Name {
        let params = &self.parts.signature.params;
        let (mut name, mut number) = (given.clone(), 1);
        while state.asked.contains(&name) || params.iter().any(|param| *param.name == *name) {
            number += 1;
            name = format!("{given}_{number}").into();
        }
        name
    }

    /// Notes that calls allocate this. On other ways the same may be asked for by that name.
    fn note(&mut self, allocation: &Allocation) -> bool {
        let known = &mut self.evaluator.found.allocations;
        let of_name = known.iter().find(|known| known.name == allocation.name);
        match of_name {
            Some(known) if known.tensor == allocation.tensor => true,
            None => {
                known.push(allocation.clone());
                true
            }
            Some(_) => {
                let message = format!("`{}` is other memory on another way", allocation.name);
                let problem = Diagnostic::new("packed-value", message);
                let problem = problem.label(allocation.span, "asked for with another shape");
                self.evaluator.report(problem.help("give it a name of its own"));
                false
            }
        }
    }

    /// `return y`, or several.
    pub(super) fn give_back(&mut self, value: Option<&Expr>, span: Span) {
        let mut names = Vec::new();
        if let Some(value) = value.filter(|value| !matches!(value.kind, ExprKind::None)) {
            let Some(given) = self.evaluator.expr(value) else { return };
            let items = match given {
                Evaluated::Tuple(items) => items.into_iter().map(|(_, item)| item).collect(),
                one => vec![one],
            };
            for item in items {
                if matches!(item, Evaluated::Poison | Evaluated::NoTensor(..)) {
                    return;
                }
                match self.memory_of(&item) {
                    Some(name) => names.push(name),
                    None => return self.report_returned(value.span),
                }
            }
        }
        if self.parts.pass == Pass::Final {
            return;
        }
        let known = self.evaluator.found.returned.get_or_insert_with(|| names.clone());
        if *known != names {
            let message = "every `return` of a function gives the same";
            let problem = Diagnostic::new("packed-value", message).label(span, "something else");
            self.evaluator.report(problem.help("return the same names everywhere"));
        }
    }

    /// The name of memory that was asked for, where a value is all of it.
    fn memory_of(&self, value: &Evaluated) -> Option<Name> {
        let Evaluated::Tensor(tensor) = value else { return None };
        let is_it = |one: &&Allocation| tensor.pointer == Number::symbol(&*one.name);
        let of_found = self.evaluator.found.allocations.iter().find(is_it);
        let of_found = of_found.map(|one| one.name.clone());
        let results = self.parts.signature.results.iter();
        let mut of_signature =
            results.filter(|one| tensor.pointer == Number::symbol(&one.name[..]));
        of_found.or_else(|| of_signature.next().map(|one| one.name[..].into()))
    }

    fn report_returned(&mut self, span: Span) {
        let problem = Diagnostic::new("packed-value", "a call returns memory that it allocates");
        let problem = problem.label(span, "something else");
        self.evaluator.report(problem.help("return what `kp.empty` or `kp.zeros` gave"));
    }
}
