// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together. Their parts go in registers of 32 bits, which
//! have as many of their numbers as fit.

use super::Nvptx;
use crate::kernel::shared::{Lowering, scalar_ty, values, words};
use crate::llvm::{Inline, Lane, Ty, V};
use kernpack_kernel_ir::intrinsic::{Intrinsic, MatrixOp, ROW_BYTES};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Call;
use kernpack_kernel_ir::types::Scalar;

/// The bytes of a register.
const WORD_BYTES: u32 = 4;

/// How the numbers of a factor are called in PTX. Those of a float32 are rounded first.
pub(super) fn word_of(factor: Scalar) -> &'static str {
    match factor {
        Scalar::F16 => "f16",
        Scalar::BF16 => "bf16",
        Scalar::F32 => "tf32",
        Scalar::I8 => "s8",
        Scalar::U8 => "u8",
        other => unreachable!("matrices of {other} are multiplied by no row"),
    }
}

/// Registers in braces, from the first of that number on.
pub(super) fn registers(first: usize, count: usize) -> String {
    let all: Vec<_> = (first..first + count).map(|number| format!("${number}")).collect();
    format!("{{{}}}", all.join(", "))
}

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_matrix(&mut self, result: Option<Value>, op: MatrixOp, call: &Call) {
        let values = values(call);
        match (op, result) {
            (MatrixOp::Multiply, Some(result)) => self.lower_product(result, &values),
            (MatrixOp::Load, Some(result)) => self.load_matrices(result, call, values[0]),
            (MatrixOp::Store, _) => self.store_matrices(call, [values[0], values[1]]),
            (MatrixOp::Multiply | MatrixOp::Load, None) => unreachable!("it gives numbers"),
        }
    }

    fn lower_product(&mut self, result: Value, values: &[Value]) {
        let [a, b, c] = values else { unreachable!("products are verified") };
        let factors = [*a, *b].map(|value| (self.element(value), self.in_words(value)));
        let sums = self.element(*c);
        let (sum, letter) = if sums.is_float() { ("f32", 'f') } else { ("s32", 'r') };
        let [(of_a, in_a), (of_b, in_b)] = &factors;
        let n_sums = usize::from(self.kernel.ty(*c).lanes());
        let (n_a, n_b) = (in_a.len(), in_b.len());
        let text = format!(
            "mma.sync.aligned.m16n8k{}.row.col.{sum}.{}.{}.{sum} {}, {}, {}, {};",
            ROW_BYTES as u32 / of_a.bytes(),
            word_of(*of_a),
            word_of(*of_b),
            registers(0, n_sums),
            registers(n_sums, n_a),
            registers(n_sums + n_a, n_b),
            registers(n_sums + n_a + n_b, n_sums),
        );
        let mut constraints = vec![format!("={letter}"); n_sums];
        constraints.extend(vec!["r".to_string(); n_a + n_b]);
        constraints.extend(vec![letter.to_string(); n_sums]);
        let inline = Inline {
            text: &text,
            constraints: &constraints.join(","),
            result: None,
            has_effects: false,
        };
        let added = self.full(*c);
        let added = (0..n_sums as u32).map(|lane| self.emitter.lane(added, lane));
        let operands: Vec<_> = in_a.iter().chain(in_b).copied().chain(added).collect();
        let given = self.emitter.inline_all(&inline, &vec![scalar_ty(sums); n_sums], &operands);
        let given = self.vector_of(sums, &given);
        self.set_value(result, given);
    }

    fn load_matrices(&mut self, result: Value, call: &Call, pointer: Value) {
        let n_matrices = call.intrinsic.n_matrices() as usize;
        let text = format!(
            "ldmatrix.sync.aligned.{} {}, [${n_matrices}];",
            manner(call),
            registers(0, n_matrices)
        );
        let constraints = format!("{}l,~{{memory}}", "=r,".repeat(n_matrices));
        let inline =
            Inline { text: &text, constraints: &constraints, result: None, has_effects: true };
        let address = self.emitter.to_int(self.full(pointer));
        let words = self.emitter.inline_all(&inline, &vec![Ty::I32; n_matrices], &[address]);
        let words = self.emitter.vector(Lane::I32, &words);
        let numbers = self.emitter.bitcast(words, Self::ty(self.kernel.ty(result)));
        self.set_value(result, numbers);
    }

    fn store_matrices(&mut self, call: &Call, [pointer, value]: [Value; 2]) {
        let n_matrices = call.intrinsic.n_matrices() as usize;
        let text =
            format!("stmatrix.sync.aligned.{} [$0], {};", manner(call), registers(1, n_matrices));
        let constraints = format!("l,{}~{{memory}}", "r,".repeat(n_matrices));
        let inline =
            Inline { text: &text, constraints: &constraints, result: None, has_effects: true };
        let mut operands = vec![self.emitter.to_int(self.full(pointer))];
        operands.extend(self.in_words(value));
        self.emitter.inline_all(&inline, &[], &operands);
    }

    /// The type of the numbers of a vector.
    fn element(&self, value: Value) -> Scalar {
        let scalar = self.kernel.ty(value).scalar();
        scalar.unwrap_or_else(|| unreachable!("{value} is a vector"))
    }

    /// The numbers of a vector as registers have them. Those of a float32 are rounded as products
    /// take them.
    fn in_words(&self, value: Value) -> Vec<V<'c>> {
        let n_words = self.kernel.ty(value).bytes() / WORD_BYTES;
        let words = self.emitter.bitcast(self.full(value), Ty::Vector(Lane::I32, n_words));
        let words = (0..n_words).map(|place| self.emitter.lane(words, place));
        match self.element(value) {
            Scalar::F32 => words.map(|word| self.rounded(word)).collect(),
            _ => words.collect(),
        }
    }

    /// A float32 with as much of its mantissa as a product takes.
    fn rounded(&self, word: V<'c>) -> V<'c> {
        let inline = Inline {
            text: "cvt.rna.tf32.f32 $0, $1;",
            constraints: "=r,r",
            result: Some(Ty::I32),
            has_effects: false,
        };
        let rounded = self.emitter.inline(&inline, &[word]);
        rounded.unwrap_or_else(|| unreachable!("`cvt` gives a number"))
    }
}

/// How many matrices lie there how, as PTX says it.
fn manner(call: &Call) -> String {
    let transposed = if words(call).contains(&"columns") { ".trans" } else { "" };
    let row: &Intrinsic = call.intrinsic;
    format!("m8n8.x{}{transposed}.shared.b16", row.n_matrices())
}
