// SPDX-License-Identifier: Apache-2.0
//! Values of a kernel as `kp.print_type` tells them.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::shown;
use crate::value::{Base, Elaborated, Tensor};

pub(super) const PRINT_TYPE: Builtin = Builtin {
    name: "print_type",
    takes: shown::TAKES,
    doc: "Tells what values are while compiling, as a note: types, layouts and tensors, and \
          constants as they are. In a packed function `print` is the same.",
    data: "",
    run: print_type,
};

fn print_type(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if !given.is_poisoned() {
        let values: Vec<_> = given.rest.iter().map(|arg| cx.emit.shown(&arg.value, true)).collect();
        cx.report(shown::note(&values, given.span, ""));
    }
    Elaborated::None
}

impl Emission {
    /// A value as it is told; a text by itself is told as it is.
    fn shown(&self, value: &Elaborated, is_alone: bool) -> String {
        match value {
            Elaborated::None => "None".to_string(),
            Elaborated::Bool(truth) => shown::truth(*truth).to_string(),
            Elaborated::Int(int) => int.to_string(),
            Elaborated::Float(float) => format!("{float:?}"),
            Elaborated::Text(text) if is_alone => text.to_string(),
            Elaborated::Text(text) => format!("{text:?}"),
            Elaborated::DType(scalar) => format!("kp.{scalar}"),
            Elaborated::Const(constant) => format!("{} {constant}", constant.scalar()),
            Elaborated::Typed(value) => self.b.ty(*value).to_string(),
            Elaborated::Elements(of) => format!("elements<{}> {}", of.scalar, of.shape),
            Elaborated::Tuple(tuple) => {
                let name = |at: usize| tuple.names.get(at).and_then(|name| name.as_deref());
                let items = tuple.items.iter().enumerate();
                shown::tuple(items.map(|(at, item)| (name(at), self.shown(item, false))))
            }
            Elaborated::Layout(layout) => layout.to_string(),
            Elaborated::Swizzle(swizzle) => swizzle.to_string(),
            Elaborated::Tensor(tensor) => tensor_shown(tensor),
            Elaborated::Pointer(tensor) => match &tensor.base {
                Base::Memory(memory) => {
                    format!("pointer<{}, {}, align {}>", memory.element, memory.space, memory.align)
                }
                Base::Coordinates | Base::Map(_) => "pointer".to_string(),
            },
            other => other.what().to_string(),
        }
    }
}

fn tensor_shown(tensor: &Tensor) -> String {
    match &tensor.base {
        Base::Memory(memory) => {
            let layout = match memory.swizzle {
                Some(swizzle) => format!("{swizzle} o {}", tensor.layout),
                None => tensor.layout.to_string(),
            };
            let place = (memory.space, memory.align);
            shown::tensor(memory.element, place, memory.is_written, layout)
        }
        Base::Coordinates => format!("tensor<coordinates> {}", tensor.layout),
        Base::Map(mapped) => format!("map<{}> {}", mapped.map.element, tensor.layout),
    }
}
