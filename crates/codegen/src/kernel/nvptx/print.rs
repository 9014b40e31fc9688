// SPDX-License-Identifier: Apache-2.0
//! Lines for people: `vprintf` of the device, which reads values from memory.

use super::Nvptx;
use crate::kernel::shared::Lowering;
use crate::llvm::{Extension, Passed, Ty, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::types::{Class, Scalar, Type};

/// The function of the device.
pub const VPRINTF: &str = "vprintf";
/// The bytes of each value: those of the largest, so that each is aligned.
const VALUE_BYTES: u32 = 8;

impl<'c> Lowering<'c, '_, Nvptx> {
    /// `{}` stands for the next value.
    pub(super) fn lower_print(&mut self, text: &str, values: &[Value]) {
        let mut pieces = text.split("{}");
        let mut format = escaped(pieces.next().unwrap_or_default());
        let mut given = Vec::new();
        for (piece, value) in pieces.zip(values) {
            format.push_str(&self.shown(*value, &mut given));
            format.push_str(&escaped(piece));
        }
        format.push_str("\n\0");
        let format = self.text("format", &format);
        let buffer = self.buffer(&given);
        let passed =
            [format, buffer].map(|value| Passed { value, ty: Ty::Ptr, extension: Extension::None });
        self.emitter.call_c(VPRINTF, &passed, Some(Ty::I32));
    }

    /// The address of a text. Modules are joined, so that its name has the kernel's in it.
    fn text(&self, name: &str, text: &str) -> V<'c> {
        let name = format!("{}$print_{name}", self.kernel.name);
        self.emitter.bytes(&name, text.as_bytes(), 1)
    }

    fn buffer(&self, given: &[V<'c>]) -> V<'c> {
        if given.is_empty() {
            return self.emitter.null();
        }
        let bytes = given.len() as u32 * VALUE_BYTES;
        let buffer = self.emitter.stack(self.function, bytes);
        for (place, value) in (0..).zip(given) {
            self.emitter.store_at(buffer, place * VALUE_BYTES, *value);
        }
        buffer
    }

    /// How a number is shown, and what is passed for it.
    fn shown(&self, value: Value, given: &mut Vec<V<'c>>) -> String {
        match self.kernel.ty(value) {
            Type::Scalar(scalar) => self.shown_scalar(self.full(value), scalar, given),
            Type::Vector(..) | Type::Pointer(_) => unreachable!("{value} is one number"),
        }
    }

    fn shown_scalar(&self, value: V<'c>, scalar: Scalar, given: &mut Vec<V<'c>>) -> String {
        let emitter = self.emitter;
        let (format, passed) = match scalar.class() {
            Class::Bool => {
                let [yes, no] = ["true\0", "false\0"].map(|word| self.text("word", word));
                ("%s", emitter.select(value, yes, no))
            }
            Class::Signed => ("%lld", emitter.resize(value, Ty::I64, true)),
            Class::Unsigned => ("%llu", emitter.resize(value, Ty::I64, false)),
            Class::Float => ("%g", self.convert(value, scalar, Scalar::F64, Rounding::NearestEven)),
        };
        given.push(passed);
        format.to_string()
    }
}

/// A text as a format has it.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}
