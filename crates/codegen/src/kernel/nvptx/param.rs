// SPDX-License-Identifier: Apache-2.0
//! How a kernel is called: its parameters, and what is known of it as a whole.

use super::Nvptx;
use super::assert::RECORD;
use super::space::pointer_ty;
use crate::kernel::shared::{Lowering, scalar_ty};
use crate::llvm::{Emitter, Function, KernelParam, Ty};
use kernpack_kernel_ir::intrinsic::{DependentOp, Meaning};
use kernpack_kernel_ir::kernel::{Demands, Kernel, MAP_ALIGN, MAP_BYTES, Param, ParamKind, Value};
use kernpack_kernel_ir::op::{Operand, Region};
use kernpack_kernel_ir::types::{Scalar, Space};
use kernpack_kernel_ir::widen::volatile_params;

/// LLVM's number for functions that a host launches.
const KERNEL: u32 = 71;

/// Starts a kernel. Where the threads of a block are known, the driver refuses other launches.
pub(super) fn define<'c>(emitter: &Emitter<'c>, kernel: &Kernel) -> Function<'c> {
    let (hears, volatile) = (hears(&kernel.body), volatile_params(kernel));
    let record = kernel.asserts().then_some(RECORD);
    let params = (0..).map(Value).zip(&kernel.params).map(|(number, one)| {
        let changes = hears || volatile.contains(&number);
        param(one, changes)
    });
    let params: Vec<_> = params.chain(record).collect();
    let function = emitter.define_kernel(&kernel.name, &params, KERNEL);
    if let [Some(x), Some(y), Some(z)] = kernel.block {
        emitter.set_kernel_attribute(function, "nvvm.reqntid", &format!("{x},{y},{z}"));
    }
    let Demands { min_blocks, max_registers } = kernel.demands;
    for (name, demand) in [("nvvm.minctasm", min_blocks), ("nvvm.maxnreg", max_registers)] {
        if let Some(count) = demand {
            emitter.set_kernel_attribute(function, name, &count.to_string());
        }
    }
    function
}

/// Whether threads see what others than the kernel's own have written meanwhile: they wait for
/// another launch, or do something in the order of the whole system, as ranks do.
fn hears(region: &Region) -> bool {
    region.any_call(|call| {
        let is_wait = matches!(call.intrinsic.meaning, Meaning::Dependent(DependentOp::Wait));
        is_wait || call.operands.contains(&Operand::Word("sys"))
    })
}

/// Where what lies behind it changes while the kernel runs, no load may be moved in front of where
/// it is heard of, or go by a cache that is not told of changes. LLVM does both where nothing else
/// is said to lie there.
fn param(param: &Param, changes: bool) -> KernelParam {
    match param.kind {
        // A truth value takes a byte.
        ParamKind::Scalar(Scalar::Bool, _) => Ty::I8.into(),
        ParamKind::Scalar(scalar, _) => scalar_ty(scalar).into(),
        ParamKind::Pointer(pointer) => KernelParam {
            alignment_bytes: Some(pointer.align),
            is_alone: pointer.is_alone && !changes,
            is_read_only: !pointer.is_written,
            ..KernelParam::from(pointer_ty(Space::Global))
        },
        ParamKind::Map(_) => KernelParam {
            alignment_bytes: Some(MAP_ALIGN),
            value_bytes: Some(MAP_BYTES),
            ..KernelParam::from(pointer_ty(Space::Map))
        },
    }
}

impl Lowering<'_, '_, Nvptx> {
    pub(super) fn read_params(&mut self) {
        for (number, param) in (0..).zip(&self.kernel.params) {
            let (value, given) = (Value(number), self.emitter.param(self.function, number));
            match param.kind {
                ParamKind::Scalar(Scalar::Bool, _) => {
                    self.set_value(value, self.emitter.resize(given, Ty::I1, false));
                }
                ParamKind::Scalar(scalar, _) => self.set_number(value, given, scalar),
                ParamKind::Pointer(_) | ParamKind::Map(_) => self.set_value(value, given),
            }
        }
    }
}
