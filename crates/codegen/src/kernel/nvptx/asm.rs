// SPDX-License-Identifier: Apache-2.0
//! PTX as it is written, of kernels and of rows of the table: `{0}` is the first result, and a
//! vector stands for its lanes in braces.

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
        Type::Vector(..) => unreachable!("{ty} is in several registers"),
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

/// The text as LLVM wants it, where the values that it names have so many registers each.
fn with_dollars(text: &str, counts: &[usize]) -> String {
    let (mut written, mut end) = (String::new(), 0);
    for (place, number) in placeholders(text) {
        written.push_str(&text[end..place.start].replace('$', "$$"));
        let first: usize = counts.iter().take(number).sum();
        let registers = first..first + counts.get(number).copied().unwrap_or(1);
        let registers: Vec<_> = registers.map(|register| format!("${register}")).collect();
        match &registers[..] {
            [one] => written.push_str(one),
            many => written.push_str(&format!("{{{}}}", many.join(", "))),
        }
        end = place.end;
    }
    written + &text[end..].replace('$', "$$")
}

/// A piece of PTX.
struct Piece<'a> {
    text: &'a str,
    results: &'a [Type],
    operands: &'a [Value],
    has_effects: bool,
}

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_asm(&mut self, asm: &Asm) {
        match asm.dialect {
            Dialect::Ptx => {
                let slots = asm.results.iter().map(|slot| self.kernel.slots[slot.index()].ty);
                let results: Vec<_> = slots.collect();
                let has_effects = asm.has_effects || results.is_empty();
                let (text, operands) = (&asm.text[..], &asm.operands[..]);
                let given = self.run(&Piece { text, results: &results, operands, has_effects });
                asm.results.iter().zip(given).for_each(|(slot, value)| self.put(*slot, value));
            }
        }
    }

    /// Runs PTX of a row, which gives a number, if anything.
    pub(super) fn lower_ptx(
        &mut self,
        result: Option<Value>,
        text: &str,
        operands: &[Value],
        has_effects: bool,
    ) {
        let results: Vec<_> = result.iter().map(|result| self.kernel.ty(*result)).collect();
        let given = self.run(&Piece { text, results: &results, operands, has_effects });
        if let (Some(result), Some(value)) = (result, given.first()) {
            match self.kernel.ty(result) {
                Type::Scalar(scalar) => self.set_number(result, *value, scalar),
                ty @ (Type::Vector(..) | Type::Pointer(_)) => unreachable!("rows give no {ty}"),
            }
        }
    }

    /// Runs PTX. Gives its results, as LLVM has them.
    fn run(&self, piece: &Piece<'_>) -> Vec<V<'c>> {
        let lanes = |ty: Type| vec![ty.scalar().map_or(ty, Type::Scalar); usize::from(ty.lanes())];
        let of_results: Vec<_> = piece.results.iter().map(|ty| lanes(*ty)).collect();
        let of_operands = piece.operands.iter().map(|operand| lanes(self.kernel.ty(*operand)));
        let of_operands: Vec<_> = of_operands.collect();
        let letters = |all: &[Vec<Type>], sign: &str| -> Vec<_> {
            all.iter().flatten().map(|ty| format!("{sign}{}", register(*ty).0)).collect()
        };
        let mut constraints = letters(&of_results, "=");
        constraints.extend(letters(&of_operands, ""));
        if piece.has_effects {
            constraints.push("~{memory}".to_string());
        }
        let counts: Vec<_> = of_results.iter().chain(&of_operands).map(Vec::len).collect();
        let inline = Inline {
            text: &with_dollars(piece.text, &counts),
            constraints: &constraints.join(","),
            result: None,
            has_effects: piece.has_effects,
        };
        let registers: Vec<_> = of_results.iter().flatten().map(|ty| register(*ty).1).collect();
        let operands = piece.operands.iter().flat_map(|operand| self.in_registers(*operand));
        let operands: Vec<_> = operands.collect();
        let mut given = self.emitter.inline_all(&inline, &registers, &operands).into_iter();
        let results = of_results.iter().zip(piece.results);
        results
            .map(|(lanes, ty)| self.of_registers(*ty, given.by_ref().take(lanes.len())))
            .collect()
    }

    /// A value as registers have it, lane by lane.
    fn in_registers(&self, value: Value) -> Vec<V<'c>> {
        let (full, ty) = (self.full(value), self.kernel.ty(value));
        match ty {
            Type::Pointer(_) => vec![self.emitter.to_int(full)],
            Type::Scalar(_) => vec![self.emitter.bitcast(full, register(ty).1)],
            Type::Vector(scalar, lanes) => (0..lanes.into())
                .map(|lane| self.emitter.lane(full, lane))
                .map(|lane| self.emitter.bitcast(lane, register(Type::Scalar(scalar)).1))
                .collect(),
        }
    }

    /// A value of what its registers have.
    fn of_registers(&self, ty: Type, registers: impl Iterator<Item = V<'c>>) -> V<'c> {
        let scalar = ty.scalar().unwrap_or_else(|| unreachable!("PTX gives no {ty}"));
        let lanes = registers.map(|lane| self.emitter.bitcast(lane, scalar_ty(scalar)));
        let lanes: Vec<_> = lanes.collect();
        match (ty, &lanes[..]) {
            (Type::Vector(..), lanes) => self.vector_of(scalar, lanes),
            (_, [one]) => *one,
            (_, lanes) => unreachable!("{ty} in {} registers", lanes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_dollars;

    #[test]
    fn placeholders_are_numbers_in_braces_and_nothing_else_is() {
        assert_eq!(with_dollars("add {0}, {1}, {12};", &[1; 13]), "add $0, $1, $12;");
        assert_eq!(
            with_dollars("{ .reg .b32 %r; $L: mov {0}, {}; }", &[1]),
            "{ .reg .b32 %r; $$L: mov $0, {}; }"
        );
        assert_eq!(with_dollars("{{0}, {1}}", &[1, 1]), "{$0, $1}");
        let text = "ld.v2.f32 {0}, [{1}]; st.v4.b16 [{1}], {2};";
        let expected = "ld.v2.f32 {$0, $1}, [$2]; st.v4.b16 [$2], {$3, $4, $5, $6};";
        assert_eq!(with_dollars(text, &[2, 1, 4]), expected);
    }
}
