// SPDX-License-Identifier: Apache-2.0
//! What names and targets are to a packed function.

use super::closure::Closure;
use super::expression::Evaluator;
use super::number;
use super::value::Value;
use crate::algebra;
use crate::builtin;
use crate::file::{Captured, Definition, DefinitionKind, KernelFiles, ModuleId};
use crate::names::{self, Constants, Names, Target};
use crate::python::tree::{Expr, Name};
use crate::value as elaborated;
use crate::walker::{self, Walker, Words};
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl Walker for Evaluator<'_> {
    type Value = Value;
    const WORDS: &'static Words = &walker::PACKED;

    fn evaluate(&mut self, expr: &Expr) -> Option<Value> {
        self.expr(expr)
    }

    fn items(&mut self, value: &Value, span: Span) -> Option<Vec<Value>> {
        match value {
            Value::Tuple(items) => Some(items.iter().map(|(_, item)| item.clone()).collect()),
            value => {
                self.expected("a tuple", value, span);
                None
            }
        }
    }

    fn tell(&mut self, problem: Diagnostic) {
        self.report(problem);
    }
}

impl<'f> Names<'f> for Evaluator<'f> {
    fn files(&self) -> &'f KernelFiles {
        self.files
    }

    fn module_here(&self) -> ModuleId {
        self.module
    }

    fn constants(&mut self) -> &mut Constants<Value> {
        &mut self.progress.constants
    }

    fn local(&mut self, name: &Name, _: Span) -> Option<Option<Value>> {
        let value = self.refreshed(self.names.get(name)?);
        Some(Some(value).filter(|value| !matches!(value, Value::Poison)))
    }

    fn dtype_variable(&self, name: &str) -> Option<Value> {
        self.facts.row().get(name).copied().map(Value::DType)
    }

    fn member(&mut self, name: &Name, span: Span) -> Option<Value> {
        if let Some(dtype) = DType::parse(name) {
            return Some(Value::DType(dtype));
        }
        if number::takes(name).is_some() || algebra::find(name).is_some() {
            return Some(Value::Builtin(name.clone()));
        }
        // Whatever else there is, is for kernels, and can be passed to them.
        match (builtin::find(name), builtin::constant(name)) {
            (Some(_), _) => Some(Value::Builtin(name.clone())),
            (None, Some(elaborated::Value::Int(number))) => Some(Value::Int(number)),
            (None, _) => self.report(builtin::unknown(name).label(span, "")),
        }
    }

    fn definition(&mut self, one: &Arc<Definition>, name: &str, span: Span) -> Option<Value> {
        match one.kind {
            DefinitionKind::Kernel => Some(Value::Kernel(one.clone())),
            DefinitionKind::Device => {
                let (module, function) = (one.module, one.function.clone());
                Some(Value::Function(Closure { module, function, frame: None }))
            }
            DefinitionKind::Packed(_) | DefinitionKind::Python(_) => {
                let message = format!("`{name}` is called from Python only");
                let problem = Diagnostic::new("packed-value", message);
                self.report(problem.label(span, "no kernel, and no function of kernels"))
            }
        }
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
            Captured::DType(dtype) => Value::DType(*dtype),
            Captured::Tuple(items) => {
                let items = items.iter().map(|item| self.captured(item, span));
                Value::tuple(items.collect::<Option<Vec<_>>>()?)
            }
            Captured::Kernpack => Value::Kernpack,
            Captured::Member(name) => return self.member(name, span),
            Captured::Function(module, name) => return names::of_file(self, *module, name, span),
        })
    }

    fn at_top(&mut self, module: ModuleId, expr: &Expr) -> Option<Value> {
        self.value_in(module, None, expr)
    }
}

impl Target for Evaluator<'_> {
    const POISON: Value = Value::Poison;

    fn bind(&mut self, name: &Name, value: Value, _: Span, _: Span) {
        self.names.insert(name.clone(), value);
    }

    fn store(&mut self, _: (&Expr, &Expr), _: &Value, _: Span, _: Span) -> bool {
        false
    }
}

impl Evaluator<'_> {
    /// Gives targets a value, which stands at `span`.
    pub fn assign_all(&mut self, targets: &[Expr], value: &Value, span: Span) {
        targets.iter().for_each(|target| names::assign(self, target, value.clone(), span));
    }
}
