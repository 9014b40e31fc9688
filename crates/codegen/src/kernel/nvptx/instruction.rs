// SPDX-License-Identifier: Apache-2.0
//! Numbers as other types, by instructions that LLVM has no operation for: each rounds once, the
//! way that is asked for. And the upper half of a product.

use super::Nvptx;
use super::scalar::row;
use crate::kernel::shared::{Lowering, scalar_ty};
use crate::llvm::{FloatPredicate, Inline, Ty, V};
use kernpack_kernel_ir::op::Rounding;
use kernpack_kernel_ir::types::Scalar;

type Cx<'c, 'k> = Lowering<'c, 'k, Nvptx>;

/// How rounding is called in PTX, and in LLVM's names of its instructions.
const fn word(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::NearestEven => "rn",
        Rounding::Zero => "rz",
        Rounding::Down => "rm",
        Rounding::Up => "rp",
    }
}

/// How a type of 32 or 64 bits is called in LLVM's names of instructions.
fn type_word(scalar: Scalar) -> &'static str {
    let converted = row(scalar).converted;
    converted.unwrap_or_else(|| unreachable!("no instruction converts {scalar}"))
}

pub(super) fn mul_high<'c>(cx: &Cx<'c, '_>, scalar: Scalar, a: V<'c>, b: V<'c>) -> V<'c> {
    cx.plain_intrinsic(&format!("llvm.nvvm.mulhi.{}", type_word(scalar)), &[a, b])
}

/// PTX's conversion keeps to the bounds by itself. Of a NaN it makes 0 where neither type has 64
/// bits.
pub(super) fn float_to_int<'c>(
    cx: &Cx<'c, '_>,
    value: V<'c>,
    [from, to]: [Scalar; 2],
    by: Rounding,
) -> V<'c> {
    let name = format!("llvm.nvvm.{}2{}.{}", type_word(from), type_word(to), word(by));
    let converted = cx.plain_intrinsic(&name, &[value]);
    match from == Scalar::F64 || to.bits() == 64 {
        true => {
            let is_nan = cx.emitter.float_compare(FloatPredicate::UNO, value, value);
            cx.emitter.select(is_nan, cx.emitter.int(scalar_ty(to), 0), converted)
        }
        false => converted,
    }
}

pub(super) fn whole_to_int<'c>(cx: &Cx<'c, '_>, value: V<'c>, to: Scalar) -> V<'c> {
    cx.plain_intrinsic(&format!("llvm.nvvm.f2{}.rz", type_word(to)), &[value])
}

pub(super) fn int_to_float<'c>(
    cx: &Cx<'c, '_>,
    value: V<'c>,
    [from, to]: [Scalar; 2],
    by: Rounding,
) -> V<'c> {
    let name = format!("llvm.nvvm.{}2{}.{}", type_word(from), type_word(to), word(by));
    cx.plain_intrinsic(&name, &[value])
}

pub(super) fn double_to_single<'c>(cx: &Cx<'c, '_>, value: V<'c>, by: Rounding) -> V<'c> {
    cx.plain_intrinsic(&format!("llvm.nvvm.d2f.{}", word(by)), &[value])
}

pub(super) fn single_to_half<'c>(cx: &Cx<'c, '_>, value: V<'c>, by: Rounding) -> V<'c> {
    let text = format!("cvt.{}.f16.f32 $0, $1;", word(by));
    let inline =
        Inline { text: &text, constraints: "=h,f", result: Some(Ty::I16), has_effects: false };
    let bits = cx.emitter.inline(&inline, &[value]);
    let bits = bits.unwrap_or_else(|| unreachable!("`cvt` gives a number"));
    cx.emitter.bitcast(bits, Ty::Half)
}
