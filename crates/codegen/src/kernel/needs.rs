// SPDX-License-Identifier: Apache-2.0
//! Which version of PTX kernels need, beyond what their architecture does.

use kernpack_kernel_ir::intrinsic::Needs;
use kernpack_kernel_ir::kernel::Kernel;
use kernpack_kernel_ir::op::{OpKind, Region};
use kernpack_machine::PtxVersion;

/// The least version of PTX that has what these kernels call.
pub(super) fn needed_ptx(kernels: &[&Kernel]) -> PtxVersion {
    let needs = kernels.iter().map(|kernel| needs(&kernel.body));
    let Needs { ptx, .. } = needs.fold(Needs::NOTHING, Needs::and);
    PtxVersion::of_number(ptx)
}

fn needs(region: &Region) -> Needs {
    region.0.iter().fold(Needs::NOTHING, |all, op| match &op.kind {
        OpKind::Call(call) => all.and(call.needs()),
        OpKind::If { then: first, otherwise: second, .. }
        | OpKind::While { before: first, body: second, .. } => {
            all.and(needs(first)).and(needs(second))
        }
        OpKind::For { body, .. } => all.and(needs(body)),
        _ => all,
    })
}
