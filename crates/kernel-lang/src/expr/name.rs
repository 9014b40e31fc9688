// SPDX-License-Identifier: Apache-2.0
//! What a name is: of the function, of those around it, of the file, or of Python.

use crate::builtin;
use crate::elaborate::Elaborator;
use crate::file::{Global, ModuleId};
use crate::inline::Activation;
use crate::python::tree::{Expr, Name};
use crate::scope::{Binding, Lost, Stored};
use crate::value::{Elements, Items, Value};
use kernpack_kernel_ir::op::{Expr as OpExpr, Op, OpKind};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// Functions of Python's that kernels have, by kernpack's names.
const PYTHONS: [(&str, &str); 10] = [
    ("range", "range"),
    ("min", "min"),
    ("max", "max"),
    ("abs", "abs"),
    ("len", "len"),
    ("float", "float32"),
    ("int", "int64"),
    ("bool", "bool"),
    ("enumerate", "enumerate"),
    ("zip", "zip"),
];

impl Elaborator<'_> {
    /// What a name stands for.
    pub fn name(&mut self, name: &Name, span: Span) -> Value {
        let mut frame = Some(self.frame_id());
        while let Some(id) = frame {
            if let Some(variable) = self.frames[id.0].get(name) {
                let binding = variable.binding.clone();
                return self.bound(name, &binding, span);
            }
            frame = self.frames[id.0].outer;
        }
        if let Some(value) = self.global(self.module(), name, span) {
            return value;
        }
        if let Some(scalar) = self.dtypes.get(&**name) {
            return Value::DType(*scalar);
        }
        match PYTHONS.iter().find(|(python, _)| *python == &**name) {
            Some((_, ours)) => self.builtin(ours, span),
            None => self.unknown_name(name, span),
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) -> Value {
        let problem = Diagnostic::new("unknown-name", format!("`{name}` is not defined"));
        let problem = problem.label(span, "");
        let is_ours = builtin::find(name).is_some();
        self.report(match (is_ours, builtin::called_here(name)) {
            (true, _) => problem.help(format!("write `kp.{name}`")),
            (false, Some(ours)) => problem.help(format!("write `{ours}`")),
            (false, None) => problem.help("assign it, pass it, or define it in the file"),
        })
    }

    fn bound(&mut self, name: &Name, binding: &Binding, span: Span) -> Value {
        match binding {
            Binding::Value(value) => value.clone(),
            Binding::Stored(stored) => self.stored(stored),
            Binding::Lost(Lost::Poison) => Value::Poison,
            Binding::Lost(lost) => {
                let (message, help) = match lost {
                    Lost::Branch => (
                        format!("`{name}` is not assigned on every way here"),
                        format!("assign `{name}` before the `if`, or in each of its branches"),
                    ),
                    Lost::Loop => (
                        format!("`{name}` is assigned in a loop, which may not run"),
                        format!("assign `{name}` before the loop"),
                    ),
                    Lost::Index => (
                        format!("`{name}` is the index of a loop that has ended"),
                        "assign it to another name in the loop".to_string(),
                    ),
                    Lost::Changes | Lost::Poison => (
                        format!("`{name}` is no number, and is not the same on every way here"),
                        format!("give `{name}` its value here, from numbers that were chosen"),
                    ),
                };
                self.mistake("unassigned", span, message, help)
            }
        }
    }

    /// What slots hold.
    pub fn stored(&mut self, stored: &Stored) -> Value {
        match stored {
            Stored::One(slot) => Value::Typed(self.b.get(*slot)),
            Stored::Same(value) => value.clone(),
            Stored::Items(parts, like) => {
                let items = parts.iter().map(|part| self.stored(part)).collect();
                Value::Tuple(Arc::new(Items { items, names: like.names.clone() }))
            }
            Stored::Elements(slots, like) => {
                let items = slots.iter().map(|slot| Value::Typed(self.b.get(*slot))).collect();
                let shape = like.shape.clone();
                Value::Elements(Arc::new(Elements { scalar: like.scalar, shape, items }))
            }
        }
    }

    /// What a name of a file stands for.
    pub fn global(&mut self, module: ModuleId, name: &Name, span: Span) -> Option<Value> {
        let (module, global) = self.files.find(module, name)?;
        Some(match global.clone() {
            Global::Function(definition) => self.closure_of(&definition),
            Global::Constant(expr, part) => self.global_constant(module, name, &expr, part, span),
            Global::Kernpack => Value::Kernpack,
            Global::Member(member) => self.builtin(&member, span),
            Global::Module(module) => Value::Module(module),
            Global::Imported(..) => return None,
            Global::Python(_) => self.mistake(
                "python-name",
                span,
                format!("`{name}` is Python's, and no part of kernels"),
                "pass what is needed of it as an argument",
            ),
        })
    }

    fn global_constant(
        &mut self,
        module: ModuleId,
        name: &Name,
        expr: &Expr,
        part: Option<usize>,
        span: Span,
    ) -> Value {
        let key = (module, name.clone());
        match self.globals.get(&key) {
            Some(Some(value)) => return value.clone(),
            Some(None) => {
                let message = format!("`{name}` is made of itself");
                return self.mistake("constexpr", span, message, "give it a value of its own");
            }
            None => {}
        }
        self.globals.insert(key.clone(), None);
        let value = self.evaluate_global(module, expr);
        let value = match (part, value) {
            (None, value) => value,
            (Some(part), Value::Tuple(tuple)) if part < tuple.items.len() => {
                tuple.items[part].clone()
            }
            (Some(_), other) => self.not_a_tuple(&other, expr.span),
        };
        self.globals.insert(key, Some(value.clone()));
        value
    }

    /// An expression at the level of a file: everything in it is constant.
    fn evaluate_global(&mut self, module: ModuleId, expr: &Expr) -> Value {
        let frame = self.push_frame(module, None);
        let caller = self.caller.take();
        self.activations.push(Activation::constant(frame));
        self.b.open();
        let value = self.expr(expr);
        let region = self.b.close();
        self.activations.pop();
        self.caller = caller;
        // Nothing of the region is in any kernel.
        let is_constant = |op: &Op| matches!(op.kind, OpKind::Expr(OpExpr::Const(_)));
        let value = self.folded(value);
        if region.0.iter().all(is_constant) || is_known(&value) {
            return value;
        }
        let message = "a constant of a file is known while compiling, and this is not";
        self.mistake("constexpr", expr.span, message, "compute it in the kernel")
    }

    /// A value with its numbers as constants, where they are known.
    fn folded(&self, value: Value) -> Value {
        let each = |items: &[Value]| items.iter().cloned().map(|item| self.folded(item)).collect();
        match value {
            Value::Typed(typed) => match self.b.known(typed) {
                Some(known) => known.as_int().map_or_else(|| Value::of_const(known), Value::index),
                None => Value::Typed(typed),
            },
            Value::Tuple(tuple) => Value::Tuple(Arc::new(Items {
                items: each(&tuple.items),
                names: tuple.names.clone(),
            })),
            Value::Elements(of) => Value::Elements(Arc::new(Elements {
                items: each(&of.items),
                scalar: of.scalar,
                shape: of.shape.clone(),
            })),
            other => other,
        }
    }
}

/// Whether nothing of a value is what threads compute, or where they do.
fn is_known(value: &Value) -> bool {
    match value {
        Value::Typed(_) | Value::Layout(_) | Value::Tensor(_) | Value::Pointer(_) => false,
        Value::Range(_) => false,
        Value::Tuple(tuple) => tuple.items.iter().all(is_known),
        Value::Elements(of) => of.items.iter().all(is_known),
        Value::Method(of, _) => is_known(of),
        Value::Poison | Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::Text(_) | Value::DType(_) | Value::Const(_) | Value::Swizzle(_) => true,
        Value::Closure(_) | Value::Builtin(_) | Value::Kernpack | Value::Module(_) => true,
        Value::Optional(_) => true,
    }
}
