// SPDX-License-Identifier: Apache-2.0
//! What a name is: of the function, of those around it, of the file, or of Python.

use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::file::{Captured, Definition, KernelFiles, ModuleId};
use crate::inline::Activation;
use crate::names::{self, Constants, Names};
use crate::python::tree::{Expr, Name};
use crate::scope::{Binding, Lost, Stored};
use crate::value::{Elements, Items, Value};
use crate::walker::{self, Walker, Words};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::op::{Expr as OpExpr, Op, OpKind};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl Walker for Elaborator<'_> {
    type Value = Value;
    const WORDS: &'static Words = &walker::KERNEL;

    fn evaluate(&mut self, expr: &Expr) -> Option<Value> {
        Some(self.expr(expr))
    }

    fn items(&mut self, value: &Value, span: Span) -> Option<Vec<Value>> {
        match self.given(value.clone(), span) {
            Value::Tuple(tuple) => Some(tuple.items.clone()),
            other => {
                self.not_a_tuple(&other, span);
                None
            }
        }
    }

    fn tell(&mut self, problem: Diagnostic) {
        self.report(problem);
    }
}

impl<'f> Names<'f> for Elaborator<'f> {
    fn files(&self) -> &'f KernelFiles {
        self.files
    }

    fn module_here(&self) -> ModuleId {
        self.scopes.module()
    }

    fn constants(&mut self) -> &mut Constants<Value> {
        self.scopes.constants()
    }

    fn local(&mut self, name: &Name, span: Span) -> Option<Option<Value>> {
        let binding = self.scopes.find(name)?.binding.clone();
        Some(Some(self.bound(name, &binding, span)))
    }

    fn dtype_variable(&self, name: &str) -> Option<Value> {
        self.dtypes.get(name).copied().map(Value::DType)
    }

    fn member(&mut self, name: &Name, span: Span) -> Option<Value> {
        Some(self.builtin(name, span))
    }

    fn definition(&mut self, one: &Arc<Definition>, _: &str, _: Span) -> Option<Value> {
        Some(self.closure_of(one))
    }

    fn kernpack(&self) -> Value {
        Value::Kernpack
    }

    fn file(&self, module: ModuleId) -> Value {
        Value::Module(module)
    }

    fn captured(&mut self, captured: &Captured<ModuleId>, span: Span) -> Option<Value> {
        Some(match captured {
            Captured::None => Value::None,
            Captured::Bool(truth) => Value::Bool(*truth),
            Captured::Int(int) => Value::Int(int.clone()),
            Captured::Float(float) => Value::Float(*float),
            Captured::Text(text) => Value::Text(text.clone()),
            Captured::DType(dtype) => match Scalar::of(*dtype) {
                Some(scalar) => Value::DType(scalar),
                None => {
                    let message = format!("kernels have no {dtype} yet");
                    self.mistake("type", span, message, "choose another dtype")
                }
            },
            Captured::Tuple(items) => {
                let items = items.iter().map(|item| self.captured(item, span));
                Value::tuple(items.collect::<Option<_>>()?)
            }
            Captured::Kernpack => Value::Kernpack,
            Captured::Member(name) => self.builtin(name, span),
            Captured::Function(module, name) => names::of_file(self, *module, name, span)?,
        })
    }

    /// Everything in it is constant.
    fn at_top(&mut self, module: ModuleId, expr: &Expr) -> Option<Value> {
        let value = self.evaluate_global(module, expr);
        (!value.is_poison()).then_some(value)
    }
}

impl Emission {
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

impl Elaborator<'_> {
    /// The value that a name stands for.
    pub fn name(&mut self, name: &Name, span: Span) -> Value {
        names::find(self, name, span).unwrap_or(Value::Poison)
    }

    fn bound(&mut self, name: &Name, binding: &Binding, span: Span) -> Value {
        match binding {
            Binding::Value(value) => value.clone(),
            Binding::Stored(stored) => self.emit.stored(stored),
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

    /// An expression at the level of a file: everything in it is constant.
    fn evaluate_global(&mut self, module: ModuleId, expr: &Expr) -> Value {
        let frame = self.scopes.open(module, None);
        let caller = self.places.enter(None);
        self.scopes.push(Activation::constant(frame));
        self.emit.b.open();
        let value = self.expr(expr);
        let region = self.emit.b.close();
        self.scopes.pop();
        self.places.enter(caller);
        // Nothing of the region is in any kernel.
        let is_constant = |op: &Op| matches!(op.kind, OpKind::Expr(OpExpr::Const(_)));
        let value = self.emit.folded(value);
        if region.0.iter().all(is_constant) || is_known(&value) {
            return value;
        }
        let message = "a constant of a file is known while compiling, and this is not";
        self.mistake("constexpr", expr.span, message, "compute it in the kernel")
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
