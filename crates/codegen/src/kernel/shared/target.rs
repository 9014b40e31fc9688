// SPDX-License-Identifier: Apache-2.0
//! The target as lowering sees it: all that is asked of one. A folder beside this one answers.

use super::Lowering;
use crate::llvm::{Emitter, Function, Ty, V};
use kernpack_kernel_ir::kernel::{Kernel, Place, Value};
use kernpack_kernel_ir::op::{Asm, Assert, Call, Check, Rounding};
use kernpack_kernel_ir::types::{Scalar, Space};

/// A target.
pub(in crate::kernel) trait Target: Sized {
    /// The type of pointers into a space.
    fn pointer_ty(space: Space) -> Ty;

    /// Starts a kernel, with what is known of it as a whole: the builder stands at its first block.
    fn define<'c>(emitter: &Emitter<'c>, kernel: &Kernel) -> Function<'c>;

    /// Makes what a kernel was passed the values of its parameters.
    fn read_params(cx: &mut Lowering<'_, '_, Self>);

    /// The address of an array of that many bytes that the threads of a block share.
    fn block_array<'c>(cx: &Lowering<'c, '_, Self>, name: &str, bytes: u32, align: u32) -> V<'c>;

    /// The address of the array of the threads of a block that a launch brings.
    fn launched_array<'c>(cx: &Lowering<'c, '_, Self>, name: &str, align: u32) -> V<'c>;

    /// Calls a row of the table, which the target has, and which is no expansion.
    fn lower_call(cx: &mut Lowering<'_, '_, Self>, result: Option<Value>, call: &Call);

    /// Runs assembly as it is written.
    fn lower_asm(cx: &mut Lowering<'_, '_, Self>, asm: &Asm);

    /// Writes a line for a person: `{}` stands for the next value.
    fn lower_print(cx: &mut Lowering<'_, '_, Self>, text: &str, values: &[Value]);

    /// Writes down that an assertion fails, if it does, and goes on. The kernel's function has a
    /// parameter for that behind its own.
    fn lower_assert(cx: &mut Lowering<'_, '_, Self>, assert: &Assert, place: Place);

    /// Writes down in the same way that an index is not in bounds, if it is not.
    fn lower_check(
        cx: &mut Lowering<'_, '_, Self>,
        index_and_extent: [Value; 2],
        check: &Check,
        place: Place,
    );

    /// The upper half of a product of integers of 32 or 64 bits.
    fn mul_high<'c>(cx: &Lowering<'c, '_, Self>, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c>;

    /// A float32 or float64 as the integer of 32 or 64 bits that it is rounded to: the nearest one
    /// where there is none, and 0 of a NaN. The types are what it is and what it becomes.
    fn float_to_int<'c>(
        cx: &Lowering<'c, '_, Self>,
        value: V<'c>,
        of: [Scalar; 2],
        by: Rounding,
    ) -> V<'c>;

    /// A float32 that is an integer of this type as that.
    fn whole_to_int<'c>(cx: &Lowering<'c, '_, Self>, value: V<'c>, to: Scalar) -> V<'c>;

    /// An integer of 32 or 64 bits as a float32 or float64.
    fn int_to_float<'c>(
        cx: &Lowering<'c, '_, Self>,
        value: V<'c>,
        of: [Scalar; 2],
        by: Rounding,
    ) -> V<'c>;

    /// A float64 as a float32.
    fn double_to_single<'c>(cx: &Lowering<'c, '_, Self>, value: V<'c>, by: Rounding) -> V<'c>;

    /// A float32 as a float16, not rounded to the nearest.
    fn single_to_half<'c>(cx: &Lowering<'c, '_, Self>, value: V<'c>, by: Rounding) -> V<'c>;
}
