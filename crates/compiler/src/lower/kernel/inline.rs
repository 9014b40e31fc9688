// SPDX-License-Identifier: Apache-2.0
//! PTX as it is written, of kernels and of rows of the table: `{0}` is the result.

use super::Lowering;
use super::number::{bits_ty, pointer_ty};
use crate::llvm::{Inline, Ty, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Ptx;
use kernpack_kernel_ir::types::{Scalar, Type};

/// PTX with placeholders.
#[derive(Clone, Copy)]
pub(super) struct Asm<'a> {
    pub text: &'a str,
    pub has_effects: bool,
}

/// The register that a value is in.
struct Register {
    /// LLVM's letter for it.
    letter: char,
    /// The type there.
    ty: Ty,
}

/// The register for values of a type, if there is one.
fn register(ty: Type) -> Option<Register> {
    let (letter, ty) = match ty {
        Type::Scalar(Scalar::Bool) => ('b', Ty::I1),
        Type::Scalar(Scalar::F32) => ('f', Ty::Float),
        Type::Scalar(Scalar::F64) => ('d', Ty::Double),
        Type::Scalar(scalar) if scalar.bits() == 8 => ('h', Ty::I16),
        Type::Scalar(scalar) => (bits_letter(scalar.bytes())?, bits_ty(scalar)),
        Type::Vector(..) => {
            let bits = [(2, Ty::I16), (4, Ty::I32), (8, Ty::I64)];
            let (bytes, of_bits) = bits.into_iter().find(|(bytes, _)| *bytes == ty.bytes())?;
            (bits_letter(bytes)?, of_bits)
        }
        Type::Pointer(_) => ('l', Ty::I64),
    };
    Some(Register { letter, ty })
}

fn bits_letter(bytes: u32) -> Option<char> {
    match bytes {
        2 => Some('h'),
        4 => Some('r'),
        8 => Some('l'),
        _ => None,
    }
}

/// Whether values of a type are in a register of PTX.
pub(super) fn has_register(ty: Type) -> bool {
    register(ty).is_some()
}

/// The placeholders of a text: where each begins and ends, and its number.
pub(super) fn placeholders(text: &str) -> Vec<(std::ops::Range<usize>, usize)> {
    let opened = text.match_indices('{').filter_map(|(start, _)| {
        let length = text[start..].find('}')?;
        let digits = &text[start + 1..start + length];
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().unwrap_or(usize::MAX);
        is_number.then_some((start..start + length + 1, number))
    });
    opened.collect()
}

/// The text as LLVM wants it.
fn with_dollars(text: &str) -> String {
    let (mut written, mut end) = (String::new(), 0);
    for (place, number) in placeholders(text) {
        written.push_str(&text[end..place.start].replace('$', "$$"));
        written.push_str(&format!("${number}"));
        end = place.end;
    }
    written + &text[end..].replace('$', "$$")
}

impl<'c> Lowering<'c, '_> {
    pub(super) fn lower_ptx(&mut self, result: Option<Value>, ptx: &Ptx) {
        let asm = Asm { text: &ptx.text, has_effects: ptx.has_effects || result.is_none() };
        self.lower_asm(result, asm, &ptx.operands);
    }

    pub(super) fn lower_asm(&mut self, result: Option<Value>, asm: Asm<'_>, operands: &[Value]) {
        let of = |value: Value| {
            let ty = self.kernel.ty(value);
            register(ty).unwrap_or_else(|| unreachable!("{ty} is in a register"))
        };
        let mut constraints: Vec<_> =
            result.iter().map(|result| format!("={}", of(*result).letter)).collect();
        constraints.extend(operands.iter().map(|operand| of(*operand).letter.to_string()));
        if asm.has_effects {
            constraints.push("~{memory}".to_string());
        }
        let given: Vec<_> = operands.iter().map(|operand| self.into_register(*operand)).collect();
        let inline = Inline {
            text: &with_dollars(asm.text),
            constraints: &constraints.join(","),
            result: result.map(|result| of(result).ty),
            has_effects: asm.has_effects,
        };
        let value = self.emitter.inline(&inline, &given);
        if let (Some(result), Some(value)) = (result, value) {
            self.from_register(result, value);
        }
    }

    fn into_register(&self, value: Value) -> V<'c> {
        let full = self.full(value);
        match self.kernel.ty(value) {
            Type::Scalar(Scalar::Bool | Scalar::F32 | Scalar::F64) => full,
            Type::Scalar(scalar) if scalar.bits() == 8 => {
                self.emitter.resize(full, Ty::I16, scalar.is_signed())
            }
            Type::Scalar(scalar) => self.emitter.bitcast(full, bits_ty(scalar)),
            Type::Vector(..) => self.emitter.bitcast(full, register_ty(self.kernel.ty(value))),
            Type::Pointer(_) => self.emitter.to_int(full),
        }
    }

    fn from_register(&mut self, result: Value, value: V<'c>) {
        match self.kernel.ty(result) {
            Type::Scalar(scalar) => {
                let number = match scalar {
                    Scalar::Bool | Scalar::F32 | Scalar::F64 => value,
                    _ if scalar.bits() == 8 => self.emitter.resize(value, Ty::I8, false),
                    _ => self.emitter.bitcast(value, super::number::scalar_ty(scalar)),
                };
                self.set_number(result, number, scalar);
            }
            Type::Vector(..) => {
                let vector = self.emitter.bitcast(value, super::number::ty(self.kernel.ty(result)));
                self.set_value(result, vector);
            }
            Type::Pointer(space) => {
                let pointer = self.emitter.to_pointer_in(value, pointer_ty(space));
                self.set_value(result, pointer);
            }
        }
    }
}

fn register_ty(ty: Type) -> Ty {
    register(ty).map_or(Ty::I64, |register| register.ty)
}

#[cfg(test)]
mod tests {
    use super::with_dollars;

    #[test]
    fn placeholders_are_numbers_in_braces_and_nothing_else_is() {
        assert_eq!(with_dollars("add {0}, {1}, {12};"), "add $0, $1, $12;");
        assert_eq!(
            with_dollars("{ .reg .b32 %r; $L: mov {0}, {}; }"),
            "{ .reg .b32 %r; $$L: mov $0, {}; }"
        );
        assert_eq!(with_dollars("{{0}, {1}}"), "{$0, $1}");
    }
}
