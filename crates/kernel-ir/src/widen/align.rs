// SPDX-License-Identifier: Apache-2.0
//! Alignments of addresses: they are multiples of what their memory is aligned to, and of what the
//! offset is a multiple of. Register tensors are none of it: most become values.

use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Expr, Op, OpKind, Region};
use crate::ranges::Ranges;
use crate::types::MOST_VECTOR_BYTES;
use kernpack_interval::power_of_two_in;
use rustc_hash::FxHashMap;

/// The alignments of addresses, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Alignments {
    known: FxHashMap<Value, u32>,
}

impl Alignments {
    /// Those of a kernel, which is verified, and of which these are the ranges.
    pub fn of(kernel: &Kernel, ranges: &Ranges) -> Alignments {
        let mut alignments = Alignments::default();
        for (number, param) in (0..).zip(&kernel.params) {
            if let ParamKind::Pointer(pointer) = param.kind {
                alignments.known.insert(Value(number), pointer.align);
            }
        }
        alignments.region(kernel, ranges, &kernel.body);
        alignments
    }

    /// The alignment of an address: 1 where nothing is known of it.
    pub fn address(&self, address: Value) -> u32 {
        self.known.get(&address).copied().unwrap_or(1)
    }

    fn region(&mut self, kernel: &Kernel, ranges: &Ranges, region: &Region) {
        for op in &region.0 {
            self.op(kernel, ranges, op);
            op.kind.regions().for_each(|region| self.region(kernel, ranges, region));
        }
    }

    fn op(&mut self, kernel: &Kernel, ranges: &Ranges, op: &Op) {
        let (Some(result), OpKind::Expr(expr)) = (op.result, &op.kind) else { return };
        let align = match expr {
            Expr::Shared(shared) => kernel.shared[shared.index()].align.max(1),
            Expr::Offset(base, bytes) => {
                let base = self.address(*base);
                match ranges.value(*bytes).divisor {
                    // The offset is 0.
                    0 => base,
                    divisor => u32::try_from(power_of_two_in(divisor)).unwrap_or(base).min(base),
                }
            }
            _ => return,
        };
        self.known.insert(result, align);
    }
}

/// Has every access say what is known of its address, up to what the widest one needs.
pub(super) fn raise(kernel: &mut Kernel, ranges: &Ranges) {
    let alignments = Alignments::of(kernel, ranges);
    raise_in(&mut kernel.body, &alignments);
}

fn raise_in(region: &mut Region, alignments: &Alignments) {
    for op in &mut region.0 {
        let (pointer, align) = match &mut op.kind {
            OpKind::Expr(Expr::Load(load)) => (load.pointer, &mut load.align),
            OpKind::Store(store) => (store.pointer, &mut store.align),
            kind => {
                kind.regions_mut().for_each(|region| raise_in(region, alignments));
                continue;
            }
        };
        *align = alignments.address(pointer).min(MOST_VECTOR_BYTES).max(*align);
    }
}
