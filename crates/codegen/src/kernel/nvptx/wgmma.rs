// SPDX-License-Identifier: Apache-2.0
//! Products of warpgroups. The sums are operands that the assembly is given and gives back, an
//! element each, so that LLVM has them in registers and sees who writes them. Fences and waits give
//! back, too, what registers they are about, or LLVM would move what is computed with them to the
//! other side.
//!
//! Registers that are touched in between are the verifier's to refuse
//! (`kernpack_kernel_ir::verify`).

use super::Nvptx;
use super::matrix::{registers, word_of};
use crate::kernel::shared::{Lowering, scalar_ty};
use crate::llvm::{Exact, Inline, Operation, Ty, V};
use kernpack_kernel_ir::group_product::{Elements, GroupProduct, Left, Matrix, TOGETHER};
use kernpack_kernel_ir::intrinsic::ProductOp;
use kernpack_kernel_ir::kernel::Local;
use kernpack_kernel_ir::op::{Call, Operand};
use kernpack_kernel_ir::types::Scalar;

/// The letter of the registers that elements are in.
fn letter(element: Scalar) -> char {
    if element == Scalar::F32 { 'f' } else { 'r' }
}

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_group_product(&mut self, op: ProductOp, call: &Call) {
        match op {
            ProductOp::Fence => {
                let handed = self.products.next_fence();
                self.hand_on("wgmma.fence.sync.aligned;", &handed);
            }
            ProductOp::Multiply => self.begin_product(call),
            ProductOp::Commit => self.hand_on("wgmma.commit_group.sync.aligned;", &[]),
            ProductOp::Wait => {
                let [Operand::Constant(n_left)] = call.operands[..] else {
                    unreachable!("waits are verified")
                };
                let handed = self.products.next_wait();
                self.hand_on(&format!("wgmma.wait_group.sync.aligned {n_left};"), &handed);
            }
        }
    }

    pub(super) fn lower_registers(&mut self, is_increase: bool, call: &Call) {
        let [Operand::Constant(count)] = call.operands[..] else {
            unreachable!("the number of registers is verified")
        };
        let way = if is_increase { "inc" } else { "dec" };
        self.hand_on(&format!("setmaxnreg.{way}.sync.aligned.u32 {count};"), &[]);
    }

    /// An instruction in front of which register tensors have what they have behind it.
    fn hand_on(&self, text: &str, locals: &[Local]) {
        let all: Vec<_> = locals.iter().map(|local| self.all_elements(*local)).collect();
        let of = |elements: &Elements| self.kernel.locals[elements.local.index()].element;
        let words = all.iter().map(|elements| {
            let letter = letter(of(elements));
            let words = self.read_registers(*elements).into_iter();
            words.map(|word| self.emitter.bitcast(word, word_ty(letter))).collect()
        });
        let words: Vec<Vec<_>> = words.collect();
        let letters = all
            .iter()
            .zip(&words)
            .flat_map(|(elements, words)| std::iter::repeat_n(letter(of(elements)), words.len()));
        let letters: Vec<_> = letters.collect();
        let outputs = letters.iter().map(|letter| format!("={letter}"));
        let tied = (0..letters.len()).map(|number| number.to_string());
        let constraints: Vec<_> = outputs.chain(tied).chain(["~{memory}".to_string()]).collect();
        let types: Vec<_> = letters.iter().map(|letter| word_ty(*letter)).collect();
        let inline =
            Inline { text, constraints: &constraints.join(","), result: None, has_effects: true };
        let operands = words.concat();
        let mut given = self.emitter.inline_all(&inline, &types, &operands).into_iter();
        for (elements, words) in all.iter().zip(&words) {
            let words: Vec<_> = given.by_ref().take(words.len()).collect();
            self.write_registers(*elements, words);
        }
    }

    fn begin_product(&self, call: &Call) {
        let product = GroupProduct::of(call);
        let product = product.unwrap_or_else(|| unreachable!("products are verified"));
        let sums = self.read_registers(product.sums);
        let (n_sums, sum) = (sums.len(), product.sum());
        let mut operands = sums;
        let (a, b) = match product.a {
            Left::Registers(elements) => {
                let words = self.read_registers(elements).into_iter();
                operands.extend(words.map(|word| self.emitter.bitcast(word, Ty::I32)));
                let n_words = operands.len() - n_sums;
                (registers(2 * n_sums, n_words), 2 * n_sums + n_words)
            }
            Left::Shared(matrix) => {
                operands.push(self.descriptor(matrix));
                (format!("${}", 2 * n_sums), 2 * n_sums + 1)
            }
        };
        operands.push(self.descriptor(product.b));
        operands.push(self.emitter.resize(self.full(product.accumulate), Ty::I32, false));
        let text = format!(
            "{{ .reg .pred accumulate; setp.ne.b32 accumulate, ${}, 0; \
             wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{factor}.{factor} {}, {a}, ${b}, accumulate{}; }}",
            b + 1,
            product.n,
            product.k(),
            if sum.is_float() { "f32" } else { "s32" },
            registers(0, n_sums),
            modifiers(&product),
            factor = word_of(product.factor),
        );
        let of_a = match product.a {
            Left::Registers(_) => vec!["r".to_string(); b - 2 * n_sums],
            Left::Shared(_) => vec!["l".to_string()],
        };
        let outputs = vec![format!("={}", letter(sum)); n_sums];
        let tied = (0..n_sums).map(|number| number.to_string());
        let rest = ["l", "r", "~{memory}"].map(str::to_string);
        let constraints: Vec<_> = outputs.into_iter().chain(tied).chain(of_a).chain(rest).collect();
        let inline = Inline {
            text: &text,
            constraints: &constraints.join(","),
            result: None,
            has_effects: true,
        };
        let types = vec![scalar_ty(sum); n_sums];
        let given = self.emitter.inline_all(&inline, &types, &operands);
        self.write_registers(product.sums, given);
    }

    /// Where a factor is and how it lies, as one number: of the address it counts 16 bytes at once.
    /// What is constant in that is added last, as the products of a tile differ in nothing else.
    fn descriptor(&self, matrix: Matrix) -> V<'c> {
        let emitter = self.emitter;
        let lies = matrix.lies.descriptor();
        let (rest, by) = match self.split_address(matrix.pointer) {
            (rest, by) if by % i64::from(TOGETHER) == 0 => (rest, by / i64::from(TOGETHER)),
            _ => (self.full(matrix.pointer), 0),
        };
        let address = emitter.resize(emitter.to_int(rest), Ty::I32, false);
        let places = emitter.arith(Operation::ShiftRight, address, emitter.int(Ty::I32, 4));
        let constant = emitter.int(Ty::I32, by + i64::from(lies as u32));
        let low = emitter.resize(
            emitter.sum(Operation::Add, Exact::No, places, constant),
            Ty::I64,
            false,
        );
        let high = emitter.int(Ty::I64, (lies & !u64::from(u32::MAX)) as i64);
        emitter.arith(Operation::Or, low, high)
    }
}

fn word_ty(letter: char) -> Ty {
    if letter == 'f' { scalar_ty(Scalar::F32) } else { Ty::I32 }
}

/// The text behind the operands: that no factor is negated, and which of them lie column by column,
/// where they can.
fn modifiers(product: &GroupProduct) -> String {
    let way = |matrix: Matrix| if matrix.lies.is_k_major { ", 0" } else { ", 1" };
    let ways: String = product.matrices().map(way).collect();
    match product.factor {
        Scalar::F16 | Scalar::BF16 => format!(", 1, 1{ways}"),
        factor if factor.is_float() => ", 1, 1".to_string(),
        _ => String::new(),
    }
}
