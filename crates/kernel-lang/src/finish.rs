// SPDX-License-Identifier: Apache-2.0
//! Makes a kernel tidy once it is elaborated: operations whose result nobody uses go, and values
//! are numbered in the order in which they are defined, parameters first.

use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::{Size, Value};
use kernpack_kernel_ir::op::{Expr, OpKind, Region};

/// Removes operations that compute what is not used. Gives whether each value is.
pub(crate) fn remove_unused(kernel: &mut Kernel) -> Vec<bool> {
    let mut used = vec![false; kernel.values.len()];
    for array in &kernel.shared {
        if let Size::Param(value) = array.size {
            used[value.index()] = true;
        }
    }
    sweep(&mut kernel.body, &mut used);
    used
}

/// From the last operation to the first, so that what only the unused used is unused, too.
fn sweep(region: &mut Region, used: &mut [bool]) {
    let mut kept = Vec::with_capacity(region.0.len());
    for mut op in std::mem::take(&mut region.0).into_iter().rev() {
        if op.result.is_some_and(|result| !used[result.index()]) && only_computes(&op.kind) {
            continue;
        }
        // The condition of a `while` is used behind the region that computes it.
        op.kind.uses(&mut |value| used[value.index()] = true);
        let mut regions: Vec<_> = op.kind.regions_mut().collect();
        regions.reverse();
        regions.into_iter().for_each(|region| sweep(region, used));
        kept.push(op);
    }
    kept.reverse();
    region.0 = kept;
}

/// Whether nothing is lost where nobody uses the result.
fn only_computes(kind: &OpKind) -> bool {
    match kind {
        // A load is one that the interpreter may find fault with.
        OpKind::Expr(expr) => !matches!(expr, Expr::Load(_)),
        OpKind::Call(call) => call.intrinsic.only_gives(),
        OpKind::Store(_) | OpKind::InBounds { .. } | OpKind::Set(..) => false,
        OpKind::If { .. } | OpKind::For { .. } | OpKind::While { .. } => false,
        OpKind::Jump(_) | OpKind::Print(..) | OpKind::Assert(_) | OpKind::Asm(_) => false,
    }
}

/// Whether operations compute without touching memory or other threads, so that it does not matter
/// whether they run.
pub(crate) fn is_pure(region: &Region) -> bool {
    region.0.iter().all(|op| only_computes(&op.kind))
}

/// Numbers values anew: parameters, then the others as they are defined.
pub(crate) fn renumber(kernel: &mut Kernel, params: &[Value]) {
    let mut order = params.to_vec();
    kernel.body.for_each(&mut |op| {
        order.extend(op.result);
        if let OpKind::For { index, .. } = &op.kind {
            order.push(*index);
        }
    });
    let mut numbers = vec![None; kernel.values.len()];
    for (number, value) in order.iter().enumerate() {
        numbers[value.index()] = Some(Value(number as u32));
    }
    kernel.values = order.iter().map(|value| kernel.values[value.index()]).collect();
    // What nobody defines keeps no number that another value has now: the verifier finds it.
    let rename = |value: &mut Value| {
        *value = numbers[value.index()].unwrap_or(Value(u32::MAX));
    };
    for array in &mut kernel.shared {
        if let Size::Param(value) = &mut array.size {
            rename(value);
        }
    }
    kernel.body.renumber(&rename);
}
