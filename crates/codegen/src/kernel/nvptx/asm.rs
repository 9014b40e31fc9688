// SPDX-License-Identifier: Apache-2.0
//! PTX as it is written, of kernels and of rows of the table: `{0}` is the result.

use super::Nvptx;
use super::scalar::row;
use crate::kernel::shared::{Lowering, scalar_ty};
use crate::llvm::{Inline, Ty, V};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Asm, Dialect};
use kernpack_kernel_ir::types::Type;

/// LLVM's letter for the register that a value is in, and its type there.
fn register(ty: Type) -> (char, Ty) {
    match ty {
        Type::Scalar(scalar) => (row(scalar).letter, row(scalar).register),
        Type::Pointer(_) => ('l', Ty::I64),
        Type::Vector(..) => unreachable!("{ty} is in no register"),
    }
}

/// The placeholders of a text: where each begins and ends, and its number.
fn placeholders(text: &str) -> Vec<(std::ops::Range<usize>, usize)> {
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

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_asm(&mut self, result: Option<Value>, asm: &Asm) {
        match asm.dialect {
            Dialect::Ptx => {
                let has_effects = asm.has_effects || result.is_none();
                self.lower_ptx(result, &asm.text, &asm.operands, has_effects);
            }
        }
    }

    pub(super) fn lower_ptx(
        &mut self,
        result: Option<Value>,
        text: &str,
        operands: &[Value],
        has_effects: bool,
    ) {
        let of = |value: Value| register(self.kernel.ty(value));
        let mut constraints: Vec<_> =
            result.iter().map(|result| format!("={}", of(*result).0)).collect();
        constraints.extend(operands.iter().map(|operand| of(*operand).0.to_string()));
        if has_effects {
            constraints.push("~{memory}".to_string());
        }
        let given: Vec<_> = operands.iter().map(|operand| self.in_register(*operand)).collect();
        let inline = Inline {
            text: &with_dollars(text),
            constraints: &constraints.join(","),
            result: result.map(|result| of(result).1),
            has_effects,
        };
        let value = self.emitter.inline(&inline, &given);
        if let (Some(result), Some(value)) = (result, value) {
            self.set_from_register(result, value);
        }
    }

    fn in_register(&self, value: Value) -> V<'c> {
        let (full, ty) = (self.full(value), self.kernel.ty(value));
        match ty {
            Type::Pointer(_) => self.emitter.to_int(full),
            Type::Scalar(_) | Type::Vector(..) => self.emitter.bitcast(full, register(ty).1),
        }
    }

    fn set_from_register(&mut self, result: Value, value: V<'c>) {
        match self.kernel.ty(result) {
            Type::Scalar(scalar) => {
                let number = self.emitter.bitcast(value, scalar_ty(scalar));
                self.set_number(result, number, scalar);
            }
            ty @ (Type::Vector(..) | Type::Pointer(_)) => unreachable!("PTX gives no {ty}"),
        }
    }
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
