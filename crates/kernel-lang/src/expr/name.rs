// SPDX-License-Identifier: Apache-2.0
//! Names: of the function, of those around it, of the file, or of Python.

use crate::argument::Constant;
use crate::bind::constant_value;
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::file::{Captured, ClassDefinition, Definition, KernelFiles, ModuleId};
use crate::inline::Activation;
use crate::names::{self, Constants, Names};
use crate::python::tree::{Expr, Name};
use crate::python::walk;
use crate::scope::{Binding, Lost, Stored};
use crate::value::{Elaborated, Elements, Items};
use crate::walker::{Walker, Words};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::op::{Expr as OpExpr, Op, OpKind};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// The words of kernels.
const WORDS: Words = Words {
    arguments: Words::code("arguments"),
    constant: Words::code("constexpr"),
    unpack: Words::code("unpack"),
    python: Words::code("python-name"),
    python_ends: ("and no part of kernels", Some("pass what is needed of it as an argument")),
    define: Some("assign it, pass it, or define it in the file"),
    target: (
        Words::code("assignment"),
        "only names, fields of objects and elements of tensors are assigned to",
        "assign to a name",
    ),
    by_zero: (Words::code("division"), "a division by zero"),
    recursion: "write a loop: functions stand in the place of their calls",
    has_labels: false,
};

impl Walker for Elaborator<'_> {
    type Value = Elaborated;
    const WORDS: &'static Words = &WORDS;

    fn evaluate(&mut self, expr: &Expr) -> Option<Elaborated> {
        Some(self.expr(expr))
    }

    fn items(&mut self, value: &Elaborated, span: Span) -> Option<Vec<Elaborated>> {
        match self.given(value.clone(), span) {
            Elaborated::Tuple(tuple) => Some(tuple.items.clone()),
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

    fn constants(&mut self) -> &mut Constants<Elaborated> {
        self.scopes.constants()
    }

    fn local(&mut self, name: &Name, span: Span) -> Option<Option<Elaborated>> {
        let binding = self.scopes.find(name)?.binding.clone();
        Some(Some(self.bound(name, &binding, span)))
    }

    fn assigned_elsewhere(&self, name: &Name) -> Option<Span> {
        walk::assignment(self.scopes.function()?, name)
    }

    fn has_local(&self, name: &str) -> bool {
        self.scopes.find(name).is_some()
    }

    fn dtype_variable(&self, name: &str) -> Option<Elaborated> {
        self.dtypes.get(name).copied().map(Elaborated::DType)
    }

    fn member(&mut self, name: &Name, span: Span) -> Option<Elaborated> {
        Some(self.builtin(name, span))
    }

    fn definition(&mut self, one: &Arc<Definition>, _: &str, _: Span) -> Option<Elaborated> {
        Some(self.closure_of(one))
    }

    fn class(&mut self, one: &Arc<ClassDefinition>, _: &str, _: Span) -> Option<Elaborated> {
        Some(Elaborated::Class(one.clone()))
    }

    fn kernpack(&self) -> Elaborated {
        Elaborated::Kernpack
    }

    fn file(&self, module: ModuleId) -> Elaborated {
        Elaborated::Module(module)
    }

    fn captured(&mut self, captured: &Captured<ModuleId>, span: Span) -> Option<Elaborated> {
        Some(match captured {
            Captured::None => Elaborated::None,
            Captured::Bool(truth) => Elaborated::Bool(*truth),
            Captured::Int(int) => Elaborated::Int(int.clone()),
            Captured::Float(float) => Elaborated::Float(*float),
            Captured::Text(text) => Elaborated::Text(text.clone()),
            Captured::DType(dtype) => match Scalar::of(*dtype) {
                Some(scalar) => Elaborated::DType(scalar),
                None => {
                    let message = format!("kernels have no {dtype} yet");
                    self.mistake("type", span, message, "choose another dtype")
                }
            },
            Captured::Layout(layout, swizzle) => {
                constant_value(&Constant::Layout(layout.clone(), *swizzle))
            }
            Captured::Swizzle(swizzle) => Elaborated::Swizzle(*swizzle),
            Captured::Tuple(fields) => {
                let has_names = fields.iter().any(|(name, _)| name.is_some());
                let names = fields.iter().filter(|_| has_names).map(|(name, _)| name.clone());
                let names = names.collect();
                let items = fields.iter().map(|(_, item)| self.captured(item, span));
                let items = items.collect::<Option<_>>()?;
                Elaborated::Tuple(Arc::new(Items { items, names }))
            }
            Captured::Kernpack => Elaborated::Kernpack,
            Captured::Member(name) => self.builtin(name, span),
            Captured::Function(module, name) => names::of_file(self, *module, name, span)?,
            Captured::Foreign(unheld) => {
                self.report(unheld.diagnostic("constexpr", span));
                return None;
            }
        })
    }

    /// Everything in it is constant.
    fn at_top(&mut self, module: ModuleId, expr: &Expr) -> Option<Elaborated> {
        let value = self.evaluate_global(module, expr);
        (!value.is_poison()).then_some(value)
    }
}

impl Emission {
    /// The value in slots.
    pub fn stored(&mut self, stored: &Stored) -> Elaborated {
        match stored {
            Stored::One(slot) => Elaborated::Typed(self.b.get(*slot)),
            Stored::Same(value) => value.clone(),
            Stored::Items(parts, like) => {
                let items = parts.iter().map(|part| self.stored(part)).collect();
                Elaborated::Tuple(Arc::new(Items { items, names: like.names.clone() }))
            }
            Stored::Elements(slots, like) => {
                let items = slots.iter().map(|slot| Elaborated::Typed(self.b.get(*slot))).collect();
                let shape = like.shape.clone();
                Elaborated::Elements(Arc::new(Elements { scalar: like.scalar, shape, items }))
            }
        }
    }

    /// A value with its numbers as constants, where they are known.
    fn folded(&self, value: Elaborated) -> Elaborated {
        let each =
            |items: &[Elaborated]| items.iter().cloned().map(|item| self.folded(item)).collect();
        match value {
            Elaborated::Typed(typed) => match self.b.known(typed) {
                Some(known) => {
                    known.as_int().map_or_else(|| Elaborated::of_const(known), Elaborated::index)
                }
                None => Elaborated::Typed(typed),
            },
            Elaborated::Tuple(tuple) => Elaborated::Tuple(Arc::new(Items {
                items: each(&tuple.items),
                names: tuple.names.clone(),
            })),
            Elaborated::Elements(of) => Elaborated::Elements(Arc::new(Elements {
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
    pub fn name(&mut self, name: &Name, span: Span) -> Elaborated {
        names::find(self, name, span).unwrap_or(Elaborated::Poison)
    }

    pub fn bound(&mut self, name: &Name, binding: &Binding, span: Span) -> Elaborated {
        match binding {
            Binding::Value(value) => value.clone(),
            Binding::Stored(stored) => self.emit.stored(stored),
            Binding::Lost(Lost::Poison) => Elaborated::Poison,
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
                    Lost::Return => (
                        format!("`{name}` gets numbers in a function that returns early"),
                        format!("give `{name}` a number before, or return at the end alone"),
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
    fn evaluate_global(&mut self, module: ModuleId, expr: &Expr) -> Elaborated {
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
        if holds_object(&value) {
            let message = "an object at the level of a file, of which each kernel has its own";
            return self.mistake("constexpr", expr.span, message, "make it in the kernel");
        }
        if region.0.iter().all(is_constant) || is_known(&value) {
            return value;
        }
        let message = "a constant of a file is known while compiling, and this is not";
        self.mistake("constexpr", expr.span, message, "compute it in the kernel")
    }
}

/// Whether an object is in a value.
fn holds_object(value: &Elaborated) -> bool {
    match value {
        Elaborated::Object(_) => true,
        Elaborated::Closure(closure) => closure.object.is_some(),
        Elaborated::Tuple(tuple) => tuple.items.iter().any(holds_object),
        _ => false,
    }
}

/// Whether nothing of a value is what threads compute, or where they do.
pub(crate) fn is_known(value: &Elaborated) -> bool {
    match value {
        Elaborated::Typed(_)
        | Elaborated::Layout(_)
        | Elaborated::Tensor(_)
        | Elaborated::Pointer(_)
        | Elaborated::Mbarrier(_) => false,
        Elaborated::Range(_) => false,
        Elaborated::Tuple(tuple) => tuple.items.iter().all(is_known),
        Elaborated::Elements(of) => of.items.iter().all(is_known),
        Elaborated::Method(of, _) => is_known(of),
        Elaborated::Poison
        | Elaborated::None
        | Elaborated::Bool(_)
        | Elaborated::Int(_)
        | Elaborated::Float(_) => true,
        Elaborated::Text(_)
        | Elaborated::DType(_)
        | Elaborated::Const(_)
        | Elaborated::Swizzle(_) => true,
        Elaborated::Closure(_)
        | Elaborated::Builtin(_)
        | Elaborated::AsyncGroup
        | Elaborated::BulkGroup
        | Elaborated::Kernpack
        | Elaborated::Class(_)
        | Elaborated::Module(_) => true,
        Elaborated::Object(_) => false,
        Elaborated::Optional(_) => true,
    }
}
