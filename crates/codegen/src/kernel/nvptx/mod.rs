// SPDX-License-Identifier: Apache-2.0
//! NVIDIA's GPUs: what only they have, and kernels as PTX. A kernel is a function of LLVM's that
//! each thread runs.
//!
//! `param.rs` begins kernels, and `space.rs` numbers address spaces. `geometry.rs` reads
//! registers, `warp.rs`, `matrix.rs`, `wgmma.rs`, `atomic.rs` and `mbarrier.rs` are what threads do
//! together, and `copy.rs` and `bulk.rs` what goes on beside them. `instruction.rs` has conversions
//! that round, `asm.rs` is PTX as it is written, `print.rs` calls the device's `vprintf`, and
//! `assert.rs` writes down which assertion failed.
//! `call.rs` does each row as it means, or as its entry says: `rows.rs` is NVIDIA's column of the
//! table of intrinsics. `needs.rs` says what rows need of an architecture and of PTX.
//!
//! Not here: the way from LLVM's module to PTX (`llvm/nvptx.rs`), and machine code.

mod asm;
mod assert;
mod atomic;
mod bulk;
mod call;
mod cluster;
mod copy;
mod geometry;
mod grid;
mod instruction;
mod matrix;
mod mbarrier;
mod needs;
mod param;
mod print;
mod rows;
mod scalar;
mod space;
#[cfg(test)]
mod tests;
mod warp;
mod wgmma;

use super::shared::{Lowering, Target, locals_named, module};
use crate::llvm::{self, Context, Emitter, Function, PtxError, PtxOptions, Ty, V};
use kernpack_kernel_ir::intrinsic::Meaning;
use kernpack_kernel_ir::kernel::{Kernel, Local, Place, Value};
use kernpack_kernel_ir::op::{Asm, Assert, Call, Check, Rounding};
use kernpack_kernel_ir::types::{Scalar, Space};
use kernpack_machine::Arch;
use kernpack_process::parallel;

pub use crate::llvm::NEWEST_PTX;
pub use needs::{Needs, check_needs};
pub use print::VPRINTF;

/// The last line of the head of PTX.
const END_OF_HEAD: &str = "\n.address_size 64\n";

/// The operations that are enough for a module. Each module has passes and a code generator made
/// for it, which for a small one takes longer than another thread saves.
const ENOUGH_OPERATIONS: usize = 2000;

/// The code of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// PTX, with all of them.
    pub text: String,
    /// Of each kernel, the register tensors that are still in memory when LLVM is done: the
    /// assembler may yet make values of them.
    pub kept: Vec<Vec<Local>>,
}

/// Writes kernels as PTX for an architecture, several at once. Their names differ; each is verified
/// and expanded, and the architecture has what it needs.
///
/// Which kernels are a module of LLVM's together depends on them alone, so that the text is the
/// same however many threads there are. With lines, all are one module: the tables of lines are of
/// the whole text.
///
/// # Errors
/// Where LLVM writes no PTX for the architecture.
pub fn ptx(kernels: &[&Kernel], arch: Arch, with_lines: bool) -> Result<Lowered, PtxError> {
    let version = Some(needs::needed_ptx(kernels));
    let target = Nvptx { arch };
    let modules: Vec<_> = match with_lines {
        true => vec![kernels],
        false => in_modules(kernels),
    };
    let written = parallel::map(&modules, |kernels| {
        let context = Context::create();
        let emitter = module(&context, kernels, &target, with_lines);
        let as_written = kernels.iter().any(|kernel| has_matrices(kernel));
        llvm::ptx(&emitter, arch, &PtxOptions { version, as_written })
    });
    let written = written.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kept = kernels.iter().map(|kernel| {
        let of_kernel =
            written.iter().flat_map(|ptx| &ptx.arrays).find(|(name, _)| *name == kernel.name);
        of_kernel.map_or_else(Vec::new, |(_, names)| locals_named(kernel, names))
    });
    let kept = kept.collect();
    Ok(Lowered { text: joined(written.into_iter().map(|ptx| ptx.text)), kept })
}

/// Whether a kernel uses matrix units. Its threads keep many sums, with an address each, over which
/// strength reduction takes long; without it the machine code is as fast. Other kernels need the
/// pass: without it `transpose` of the examples takes six registers more a thread.
fn has_matrices(kernel: &Kernel) -> bool {
    let is_matrix =
        |call: &Call| matches!(call.intrinsic.meaning, Meaning::Matrix(_) | Meaning::Product(_));
    kernel.body.any_call(is_matrix)
}

/// Kernels as modules, small ones together, but none that uses matrix units with one that does not.
fn in_modules<'k, 'm>(kernels: &'k [&'m Kernel]) -> Vec<&'k [&'m Kernel]> {
    let mut n_operations = 0;
    let has_room = |last: &&Kernel, next: &&Kernel| {
        n_operations += last.values.len();
        if n_operations < ENOUGH_OPERATIONS && has_matrices(last) == has_matrices(next) {
            return true;
        }
        n_operations = 0;
        false
    };
    kernels.chunk_by(has_room).collect()
}

/// Modules of the same version and architecture as one: the head of the first stands for all.
fn joined(modules: impl Iterator<Item = String>) -> String {
    let join = |text: String, next: String| {
        let behind_head = next.split_once(END_OF_HEAD);
        text + behind_head.unwrap_or_else(|| unreachable!("PTX with another head:\n{next}")).1
    };
    modules.reduce(join).unwrap_or_default()
}

/// The same in LLVM's text, before any pass.
pub fn llvm_text(kernels: &[&Kernel], arch: Arch, with_lines: bool) -> String {
    let context = Context::create();
    module(&context, kernels, &Nvptx { arch }, with_lines).text()
}

/// A GPU of NVIDIA.
struct Nvptx {
    arch: Arch,
}

impl Target for Nvptx {
    fn pointer_ty(space: Space) -> Ty {
        space::pointer_ty(space)
    }

    fn define<'c>(emitter: &Emitter<'c>, kernel: &Kernel) -> Function<'c> {
        param::define(emitter, kernel)
    }

    fn read_params(cx: &mut Lowering<'_, '_, Nvptx>) {
        cx.read_params();
    }

    fn block_array<'c>(cx: &Lowering<'c, '_, Nvptx>, name: &str, bytes: u32, align: u32) -> V<'c> {
        cx.emitter.block_array(space::SHARED, name, bytes, align)
    }

    fn launched_array<'c>(cx: &Lowering<'c, '_, Nvptx>, name: &str, align: u32) -> V<'c> {
        cx.emitter.launched_array(space::SHARED, name, align)
    }

    fn lower_call(cx: &mut Lowering<'_, '_, Nvptx>, result: Option<Value>, call: &Call) {
        cx.lower_call(result, call);
    }

    fn lower_asm(cx: &mut Lowering<'_, '_, Nvptx>, asm: &Asm) {
        cx.lower_asm(asm);
    }

    fn lower_print(cx: &mut Lowering<'_, '_, Nvptx>, text: &str, values: &[Value]) {
        cx.lower_print(text, values);
    }

    fn lower_assert(cx: &mut Lowering<'_, '_, Nvptx>, assert: &Assert, place: Place) {
        cx.lower_assert(assert, place);
    }

    fn lower_check(
        cx: &mut Lowering<'_, '_, Nvptx>,
        index_and_extent: [Value; 2],
        check: &Check,
        place: Place,
    ) {
        cx.lower_check(index_and_extent, check, place);
    }

    fn mul_high<'c>(cx: &Lowering<'c, '_, Nvptx>, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
        instruction::mul_high(cx, scalar, a, b)
    }

    fn float_to_int<'c>(
        cx: &Lowering<'c, '_, Nvptx>,
        value: V<'c>,
        of: [Scalar; 2],
        by: Rounding,
    ) -> V<'c> {
        instruction::float_to_int(cx, value, of, by)
    }

    fn whole_to_int<'c>(cx: &Lowering<'c, '_, Nvptx>, value: V<'c>, to: Scalar) -> V<'c> {
        instruction::whole_to_int(cx, value, to)
    }

    fn int_to_float<'c>(
        cx: &Lowering<'c, '_, Nvptx>,
        value: V<'c>,
        of: [Scalar; 2],
        by: Rounding,
    ) -> V<'c> {
        instruction::int_to_float(cx, value, of, by)
    }

    fn double_to_single<'c>(cx: &Lowering<'c, '_, Nvptx>, value: V<'c>, by: Rounding) -> V<'c> {
        instruction::double_to_single(cx, value, by)
    }

    fn single_to_half<'c>(cx: &Lowering<'c, '_, Nvptx>, value: V<'c>, by: Rounding) -> V<'c> {
        instruction::single_to_half(cx, value, by)
    }
}
