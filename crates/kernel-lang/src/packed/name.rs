// SPDX-License-Identifier: Apache-2.0
//! Names and targets of a packed function.

use super::closure::Closure;
use super::expression::Evaluator;
use super::number;
use super::shown::PRINT_TYPE;
use super::value::Evaluated;
use crate::algebra;
use crate::builtin::{self, DEVICE};
use crate::file::{Captured, ClassDefinition, Definition, DefinitionKind, KernelFiles, ModuleId};
use crate::names::{self, Constants, Names, Target};
use crate::python::tree::{Expr, Name};
use crate::value as elaborated;
use crate::walker::{Walker, Words};
use kernpack_ffi_abi::DType;
use kernpack_layout::Layout;
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// The words of packed functions.
const WORDS: Words = Words {
    arguments: Words::code("packed-argument"),
    constant: Words::code("packed-value"),
    unpack: Words::code("packed-value"),
    python: Words::code("unknown-name"),
    python_ends: ("which is not there in a package", None),
    define: None,
    target: (Words::code("packed-statement"), "a packed function assigns names only", "name it"),
    by_zero: (Words::code("packed-value"), "a division by 0 has no value"),
    recursion: "write what it does: functions stand in the place of their calls",
    has_labels: true,
};

impl Walker for Evaluator<'_> {
    type Value = Evaluated;
    const WORDS: &'static Words = &WORDS;

    fn evaluate(&mut self, expr: &Expr) -> Option<Evaluated> {
        self.expr(expr)
    }

    fn items(&mut self, value: &Evaluated, span: Span) -> Option<Vec<Evaluated>> {
        match value {
            Evaluated::Tuple(items) => Some(items.iter().map(|(_, item)| item.clone()).collect()),
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

    fn constants(&mut self) -> &mut Constants<Evaluated> {
        &mut self.progress.constants
    }

    fn local(&mut self, name: &Name, _: Span) -> Option<Option<Evaluated>> {
        let value = self.refreshed(self.names.get(name)?);
        Some(Some(value).filter(|value| !matches!(value, Evaluated::Poison)))
    }

    fn has_local(&self, name: &str) -> bool {
        self.names.get(name).is_some()
    }

    fn dtype_variable(&self, name: &str) -> Option<Evaluated> {
        self.facts.row().get(name).copied().map(Evaluated::DType)
    }

    fn member(&mut self, name: &Name, span: Span) -> Option<Evaluated> {
        if let Some(dtype) = DType::parse(name) {
            return Some(Evaluated::DType(dtype));
        }
        if &**name == DEVICE {
            return Some(Evaluated::Device);
        }
        if number::takes(name).is_some() || algebra::find(name).is_some() {
            return Some(Evaluated::Builtin(name.clone()));
        }
        // Whatever else there is, is for kernels, and can be passed to them.
        match (builtin::find(name), builtin::constant(name)) {
            (Some(_), _) => Some(Evaluated::Builtin(name.clone())),
            (None, Some(elaborated::Elaborated::Int(number))) => Some(Evaluated::Int(number)),
            (None, _) => match self.files.library_with(name) {
                Some(module) => names::of_file(self, module, name, span),
                None => self.report(builtin::unknown(name).label(span, "")),
            },
        }
    }

    fn python(&self, name: &str) -> Option<&'static str> {
        (name == "print").then_some(PRINT_TYPE.name)
    }

    fn definition(&mut self, one: &Arc<Definition>, name: &str, span: Span) -> Option<Evaluated> {
        match one.kind {
            DefinitionKind::Kernel => Some(Evaluated::Kernel(one.clone())),
            DefinitionKind::Device | DefinitionKind::Bare | DefinitionKind::Packed(_) => {
                let (module, function) = (one.module, one.function.clone());
                let is_jit = !matches!(one.kind, DefinitionKind::Device);
                Some(Evaluated::Function(Closure { module, function, frame: None, is_jit }))
            }
            DefinitionKind::Python(_) => {
                let message = format!("`{name}` is called from Python only");
                let problem = Diagnostic::new("packed-value", message);
                self.report(problem.label(span, "no kernel, and no function of kernels"))
            }
        }
    }

    fn class(&mut self, _: &Arc<ClassDefinition>, name: &str, span: Span) -> Option<Evaluated> {
        let message = format!("`{name}` is a class, and packed functions have no objects");
        let problem = Diagnostic::new("packed-value", message).label(span, "kernels alone use it");
        self.report(problem.help("make the object in the kernel, of what is passed to it"))
    }

    fn kernpack(&self) -> Evaluated {
        Evaluated::Kernpack
    }

    fn file(&self, module: ModuleId) -> Evaluated {
        Evaluated::Module(module)
    }

    fn captured(&mut self, captured: &Captured<ModuleId>, span: Span) -> Option<Evaluated> {
        Some(match captured {
            Captured::None => Evaluated::None,
            Captured::Bool(truth) => Evaluated::Bool(*truth),
            Captured::Int(int) => Evaluated::Int(int.clone()),
            Captured::Float(float) => Evaluated::Float(*float),
            Captured::Text(text) => Evaluated::Text(text.clone()),
            Captured::DType(dtype) => Evaluated::DType(*dtype),
            Captured::Layout(layout, swizzle) => {
                let layout = layout.convert(&mut |never| match *never {});
                Evaluated::Layout(layout.unwrap_or_else(Layout::unit), *swizzle)
            }
            Captured::Swizzle(swizzle) => Evaluated::Swizzle(*swizzle),
            Captured::Tuple(items) => {
                let item = |(name, item): &(Option<Name>, _)| {
                    Some((name.clone(), self.captured(item, span)?))
                };
                Evaluated::Tuple(items.iter().map(item).collect::<Option<Vec<_>>>()?)
            }
            Captured::Kernpack => Evaluated::Kernpack,
            Captured::Member(name) => return self.member(name, span),
            Captured::Function(module, name) => return names::of_file(self, *module, name, span),
            Captured::Foreign(unheld) => {
                return self.report(unheld.diagnostic("packed-value", span));
            }
        })
    }

    fn at_top(&mut self, module: ModuleId, expr: &Expr) -> Option<Evaluated> {
        self.value_in(module, None, expr)
    }
}

impl Target for Evaluator<'_> {
    const POISON: Evaluated = Evaluated::Poison;

    fn bind(&mut self, name: &Name, value: Evaluated, _: Span, _: Span) {
        self.names.insert(name.clone(), value);
    }

    fn store(&mut self, _: (&Expr, &Expr), _: &Evaluated, _: Span, _: Span) -> bool {
        false
    }
}

impl Evaluator<'_> {
    /// Gives targets a value, which stands at `span`.
    pub fn assign_all(&mut self, targets: &[Expr], value: &Evaluated, span: Span) {
        targets.iter().for_each(|target| names::assign(self, target, value.clone(), span));
    }
}
