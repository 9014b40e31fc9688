// SPDX-License-Identifier: Apache-2.0
//! Calls of functions that are written: their statements in the place of the call.
//!
//! A function that returns where its last statement is gives its value as it is, also a constant.
//! One that returns under a condition of the kernel's has its body in a loop of one turn, which
//! such a `return` leaves: what it returns is in slots.

use crate::budget::DEPTH_OF_CALL;
use crate::call::{self, Bound};
use crate::elaborate::Elaborator;
use crate::expr::{Arg, Args};
use crate::names::FrameId;
use crate::python::assigner::Head;
use crate::python::tree::{Block, Expr, Function, Param};
use crate::python::walk;
use crate::scope::{Binding, Horizon, Key, Lost, Stored, Variable};
use crate::stmt::Flow;
use crate::value::{Closure, Elaborated};
use kernpack_kernel_ir::kernel::Slot;
use kernpack_kernel_ir::op::{Jump, OpKind, Region};
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A call that we are in.
#[derive(Debug)]
pub(crate) struct Activation {
    /// Its names.
    pub frame: FrameId,
    /// The controls around the statement that is elaborated, the innermost last.
    pub controls: Vec<Control>,
    /// Of each run-time loop around, the innermost last, what it does to names.
    pub turns: Vec<Turn>,
    function: Option<Arc<Function>>,
    is_kernel: bool,
    /// The point of its call; nothing of what has no caller.
    from: Option<Horizon>,
    early: Option<Early>,
}

/// A turn of a run-time loop.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// The branch of its names.
    pub branch: u64,
    /// The names that it assigns and no slot holds.
    pub held: Vec<Held>,
}

/// A name that a loop assigns and that no slot holds.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The name.
    pub key: Key,
    /// The variable before the loop.
    pub before: Variable,
    /// Why it stands for nothing where it may have changed.
    pub lost: Lost,
    /// Whether a turn is left where it stands for something else.
    pub is_left_changed: bool,
}

/// A control around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A branch of the kernel's.
    Branch,
    /// A loop of the kernel's.
    Loop,
    /// A loop that is unrolled, and what it goes over.
    Unrolled(Span),
}

/// The meanings of fields at a point.
type Fields = FxHashMap<Key, Binding>;

/// The state of returns under conditions of the kernel's.
#[derive(Clone, Debug)]
struct Early {
    /// Where it puts its result.
    result: Stored,
    /// Whether it has returned, where that is asked behind a loop.
    flag: Option<Slot>,
    /// Where.
    span: Span,
    /// The fields at each of them.
    fields: Vec<Fields>,
}

impl Activation {
    /// That of a kernel.
    pub fn kernel(frame: FrameId, function: &Arc<Function>) -> Activation {
        Activation {
            function: Some(function.clone()),
            is_kernel: true,
            ..Activation::constant(frame)
        }
    }

    /// That of a constant of a file.
    pub fn constant(frame: FrameId) -> Activation {
        let (function, controls, turns) = (None, Vec::new(), Vec::new());
        Activation { frame, controls, turns, function, is_kernel: false, from: None, early: None }
    }

    /// The statements of its function.
    pub fn body(&self) -> Option<&Block> {
        self.function.as_ref().map(|function| &function.body)
    }

    /// That of a function, and what there was before its call.
    fn call(frame: FrameId, function: &Arc<Function>, from: Horizon) -> Activation {
        let (function, from) = (Some(function.clone()), Some(from));
        Activation { function, from, ..Activation::constant(frame) }
    }
}

impl Elaborator<'_> {
    /// Calls a function that is written.
    pub fn inline(&mut self, closure: &Closure, args: Args, span: Span) -> Elaborated {
        let function = &closure.function;
        let name = &function.name.name;
        if let Some(what) = closure.uncallable {
            let message = format!("`{name}` is {what}, and kernels do not call it");
            let help = "call a plain `def`, which stands in the place of its call";
            return self.mistake("call", span, message, help);
        }
        let calls = self.scopes.calls().filter_map(|one| one.function.as_ref());
        if let Some(problem) = call::recursion::<Elaborator<'_>>(function, calls, span) {
            return self.report(problem);
        }
        for (foreign, place) in &function.foreign_params {
            self.report(foreign.diagnostic(*place));
        }
        // An object is not passed, and is there.
        let n_given = usize::from(closure.object.is_some());
        let takes = &walk::takes(function)[n_given..];
        let Some(mut bound) = call::bind(self, name, takes, args, span) else {
            return Elaborated::Poison;
        };
        let object = closure.object.clone().map(Elaborated::Object);
        bound.values.splice(0..0, object.map(|value| Some(Arg { value, span })));
        let from = self.horizon();
        let frame = self.scopes.open(closure.module, closure.frame);
        let called_at = self.emit.b.place();
        let caller = self.places.enter(Some(called_at));
        let before = self.at(span);
        self.scopes.push(Activation::call(frame, function, from));
        self.bind_params(function, bound);
        let fields = match walk::returns_early(&function.body) {
            true => {
                self.prepare_fields(Head::Call, &function.body);
                self.fields_here()
            }
            false => Fields::default(),
        };
        self.emit.b.open();
        self.budget.enter(DEPTH_OF_CALL);
        let flow = self.block(&function.body);
        self.budget.leave(DEPTH_OF_CALL);
        let region = self.emit.b.close();
        let activation = self.scopes.pop();
        self.places.enter(caller);
        self.emit.b.go_to(before);
        match activation.and_then(|activation| activation.early) {
            None => {
                self.emit.b.append(region);
                match flow {
                    Flow::Return(value) => value,
                    // Its statements are not gone through any more.
                    _ if self.budget.is_exhausted() => Elaborated::Poison,
                    Flow::Next | Flow::Ended | Flow::Break | Flow::Continue => Elaborated::None,
                }
            }
            Some(early) => {
                let result = self.one_turn(region, &early, &flow, function);
                self.settle_fields(early, &flow, from, &fields);
                result
            }
        }
    }

    /// The body of a function that returns early, and its result.
    fn one_turn(
        &mut self,
        region: Region,
        early: &Early,
        flow: &Flow,
        of: &Function,
    ) -> Elaborated {
        let falls_through = matches!(flow, Flow::Next);
        if falls_through && !matches!(early.result, Stored::Same(Elaborated::None)) {
            let problem = Diagnostic::new(
                "return",
                format!("`{}` does not return a value on every way", of.name.name),
            );
            let problem = problem.label(of.name.span, "").mark(early.span, "returns one here");
            return self.report(problem.help("return a value at its end"));
        }
        self.emit.store_zero(&early.result);
        if let Some(flag) = early.flag {
            let no = self.emit.b.constant(Const::bool(false));
            self.emit.b.set(flag, no);
        }
        let (first, end) = (self.emit.b.index(0), self.emit.b.index(1));
        let index = self.emit.b.loop_index(Scalar::I64.into());
        self.emit.b.effect(OpKind::For { index, first, end, step: end, body: region });
        self.emit.stored(&early.result)
    }

    /// Gives each parameter what is passed for it. Defaults see what the function sees, and none of
    /// its parameters.
    fn bind_params(&mut self, function: &Function, bound: Bound<Elaborated>) {
        let given = function.params.iter().zip(bound.values);
        let values = given.map(|(param, given)| match (given, &param.default) {
            (Some(given), _) => given.value,
            (None, Some(default)) => self.expr(default),
            (None, None) => Elaborated::Poison,
        });
        let values: Vec<_> = values.collect();
        function.params.iter().zip(values).for_each(|(param, value)| self.bind_param(param, value));
    }

    /// Binds a parameter. One that is annotated as constant is given a constant.
    pub fn bind_param(&mut self, param: &Param, value: Elaborated) {
        let scalar = self.emit.scalar_of_name(&value);
        let binding = match value {
            Elaborated::Poison => Binding::Lost(crate::scope::Lost::Poison),
            value => Binding::Value(value),
        };
        let variable = Variable { binding, scalar, span: param.name.span };
        self.scopes.bind_here(&param.name.name, variable);
    }

    /// `return value`
    pub fn leave_function(&mut self, value: Option<&Expr>, span: Span) -> Flow {
        let is_conditional = self
            .scopes
            .activation()
            .controls
            .iter()
            .any(|control| !matches!(control, Control::Unrolled(_)));
        if self.scopes.activation().is_kernel {
            if let Some(value) =
                value.filter(|value| !matches!(value.kind, crate::python::tree::ExprKind::None))
            {
                let help = "store it in a tensor";
                self.mistake("return", value.span, "a kernel returns nothing", help);
            }
            if !is_conditional {
                return Flow::Return(Elaborated::None);
            }
            self.emit.b.effect(OpKind::Jump(Jump::Return));
            return Flow::Ended;
        }
        let given = match value {
            Some(value) => self.expr(value),
            None => Elaborated::None,
        };
        if !is_conditional && self.scopes.activation().early.is_none() {
            return Flow::Return(given);
        }
        self.return_early(given, span);
        self.emit.b.effect(OpKind::Jump(Jump::Break));
        Flow::Ended
    }

    fn return_early(&mut self, value: Elaborated, span: Span) {
        let activation = self.scopes.activation();
        let (from, early) = (activation.from, activation.early.clone());
        let mut early = match early {
            Some(early) => early,
            None => {
                let result = match self.emit.promote("result", &value) {
                    Some(stored) => stored,
                    None if from.is_some_and(|from| self.emit.is_visible(&value, from)) => {
                        Stored::Same(value.clone())
                    }
                    None => {
                        let message = format!(
                            "{} is returned under a condition of the kernel's",
                            self.emit.describe(&value)
                        );
                        self.mistake("return", span, message, "return it at the end, or numbers");
                        Stored::Same(Elaborated::Poison)
                    }
                };
                Early { result, flag: None, span, fields: Vec::new() }
            }
        };
        early.fields.push(self.fields_here());
        let is_poisoned = matches!(early.result, Stored::Same(Elaborated::Poison));
        let is_told =
            is_poisoned || value.is_poison() || !self.fits_in(&early.result, &value, span);
        if !is_told && !self.emit.store_checked(&early.result, &value) {
            let found = self.emit.describe(&value);
            let problem = Diagnostic::new("return", format!("{found} is returned here"));
            let problem = problem.label(span, "").mark(early.span, "and something else here");
            self.report(problem.help("return values of one type"));
        }
        if self.scopes.activation().controls.contains(&Control::Loop) {
            let flag = match early.flag {
                Some(flag) => flag,
                None => self.emit.b.slot("returned", Scalar::Bool.into()),
            };
            let yes = self.emit.b.constant(Const::bool(true));
            self.emit.b.set(flag, yes);
            early.flag = Some(flag);
        }
        self.scopes.activation().early = Some(early);
    }

    /// The meanings of the fields here.
    fn fields_here(&self) -> Fields {
        let fields = self.scopes.fields().into_iter();
        fields
            .filter_map(|key| Some((key.clone(), self.scopes.get(&key)?.binding.clone())))
            .collect()
    }

    /// Fields behind a function that returns early. Those that are what they were before it are not
    /// bound again, so that nothing around its call takes them for assigned.
    fn settle_fields(&mut self, early: Early, flow: &Flow, from: Horizon, before: &Fields) {
        let mut ways = early.fields;
        if !matches!(flow, Flow::Ended) {
            ways.push(self.fields_here());
        }
        // Nothing outside knows an object that the function has made.
        for key in self.scopes.fields().into_iter().filter(|key| key.frame < from.next_frame) {
            let Some(variable) = self.scopes.get(&key).cloned() else { continue };
            let binding = match ways.iter().map(|way| way.get(&key)).collect::<Option<Vec<_>>>() {
                Some(ways) => self.settled(before.get(&key), &ways, from),
                None => Binding::Lost(Lost::Branch),
            };
            if !self.emit.is_same_binding(&variable.binding, &binding) {
                self.scopes.bind(&key, Variable { binding, ..variable });
            }
        }
    }

    /// A field behind the ways through a function: nothing where it is not the same on each, or is
    /// not known where the function began.
    fn settled(&self, before: Option<&Binding>, ways: &[&Binding], from: Horizon) -> Binding {
        let is_known = |binding: &Binding| match binding {
            Binding::Value(value) => self.emit.is_visible(value, from),
            Binding::Stored(_) => {
                before.is_some_and(|before| self.emit.is_same_binding(before, binding))
            }
            Binding::Lost(_) => true,
        };
        let is_number = |binding: &&Binding| match binding {
            Binding::Value(value) => self.emit.kind(value).is_some(),
            Binding::Stored(_) => true,
            Binding::Lost(_) => false,
        };
        match ways {
            [first, rest @ ..]
                if is_known(first)
                    && rest.iter().all(|one| self.emit.is_same_binding(first, one)) =>
            {
                (*first).clone()
            }
            _ => match ways.iter().find(|one| matches!(one, Binding::Lost(_))) {
                Some(lost) => (*lost).clone(),
                None if ways.iter().all(is_number) => Binding::Lost(Lost::Return),
                None => Binding::Lost(Lost::Changes),
            },
        }
    }

    /// Behind a loop out of which a function may have returned: leaves what is around it, too.
    pub fn leave_outer_loop(&mut self) {
        let Some(flag) = self.scopes.activation().early.as_ref().and_then(|early| early.flag)
        else {
            return;
        };
        let returned = self.emit.b.get(flag);
        self.emit.b.open();
        self.emit.b.effect(OpKind::Jump(Jump::Break));
        let leaves = self.emit.b.close();
        self.emit.b.if_else(returned, leaves, Region::default());
    }
}
