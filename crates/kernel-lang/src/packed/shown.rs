// SPDX-License-Identifier: Apache-2.0
//! Values of a packed function as `print` tells them.

use super::expression::Evaluator;
use super::number::Row;
use super::value::Evaluated;
use crate::call::Arg;
use crate::shown;
use kernpack_kernel_ir::Space;
use kernpack_syntax::Span;

/// The function, which `print` is too.
pub(super) const PRINT_TYPE: Row = Row {
    name: "print_type",
    takes: shown::TAKES,
    doc: "Tells what values are while the package is built, as a note: numbers of the call by their \
          expressions, types, layouts and tensors, and constants as they are. `print` is the same.",
};

impl Evaluator<'_> {
    /// `print(values)`
    pub(super) fn print(&mut self, values: &[Arg<Evaluated>], span: Span) -> Option<Evaluated> {
        let values = values.iter().map(|arg| self.shown(&self.refreshed(&arg.value), true));
        let values: Vec<_> = values.collect();
        let row = self.facts.row().iter().map(|(var, dtype)| format!("`{var}` is {dtype}"));
        let label = match &row.collect::<Vec<_>>()[..] {
            [] => String::new(),
            row => format!("where {}", row.join(" and ")),
        };
        self.notes.extend_new([shown::note(&values, span, &label)]);
        Some(Evaluated::None)
    }

    /// A value as it is told; a text by itself is told as it is.
    fn shown(&self, value: &Evaluated, is_alone: bool) -> String {
        match value {
            Evaluated::None => "None".to_string(),
            Evaluated::Bool(truth) => shown::truth(*truth).to_string(),
            Evaluated::Int(int) => int.to_string(),
            Evaluated::Float(float) => format!("{float:?}"),
            Evaluated::Text(text) if is_alone => text.to_string(),
            Evaluated::Text(text) => format!("{text:?}"),
            Evaluated::DType(dtype) | Evaluated::DTypeParam(_, dtype) => format!("kp.{dtype}"),
            Evaluated::Dim(number) => match self.facts.type_of(number) {
                Some(dtype) => format!("{dtype} {number}"),
                None => number.to_string(),
            },
            Evaluated::Scalar(scalar) => format!("{} {}", scalar.scalar, scalar.expr),
            Evaluated::Rule(rule) => format!("bool {rule}"),
            Evaluated::Tuple(items) => {
                let items = items.iter();
                shown::tuple(items.map(|(name, item)| (name.as_deref(), self.shown(item, false))))
            }
            Evaluated::Layout(layout, None) => layout.to_string(),
            Evaluated::Layout(layout, Some(swizzle)) => format!("{swizzle} o 0 o {layout}"),
            Evaluated::Swizzle(swizzle) => swizzle.to_string(),
            Evaluated::Tensor(of) => {
                shown::tensor(of.element, (Space::Global, of.align), of.is_written, &of.view)
            }
            Evaluated::Pointer(of) => format!("Pointer {} to {}", of.name, of.element),
            Evaluated::Optional(_, inner) => format!("Optional {}", self.shown(inner, false)),
            Evaluated::String(name) => format!("String {name}"),
            Evaluated::Stream(name) => format!("Stream {name}"),
            Evaluated::Kernel(kernel) => format!("kernel {}", kernel.name()),
            Evaluated::NoTensor(..)
            | Evaluated::Range(_)
            | Evaluated::Poison
            | Evaluated::Opaque(..)
            | Evaluated::Function(_)
            | Evaluated::Builtin(_)
            | Evaluated::Kernpack
            | Evaluated::Device
            | Evaluated::Module(_)
            | Evaluated::Call(_) => value.what().to_string(),
        }
    }
}
