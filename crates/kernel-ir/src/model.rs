// SPDX-License-Identifier: Apache-2.0
//! Models of assembly: what stands in the place of it where the interpreter runs a kernel. A model
//! is a branch under the row `interpreted`, whose other branch is the assembly.

use crate::intrinsic::Meaning;
use crate::kernel::{Kernel, Value};
use crate::op::{Op, OpKind, Region};

/// Leaves out the models, for those who make code for a machine.
pub fn leave_out_models(kernel: &mut Kernel) {
    leave_out(&mut kernel.body, &mut Vec::new());
}

/// `asked` are the values that say whether the interpreter runs the kernel.
fn leave_out(region: &mut Region, asked: &mut Vec<Value>) {
    let mut kept: Vec<Op> = Vec::with_capacity(region.0.len());
    for mut op in region.0.drain(..) {
        op.kind.regions_mut().for_each(|region| leave_out(region, asked));
        match op.kind {
            OpKind::If { condition, otherwise, .. } if asked.contains(&condition) => {
                kept.extend(otherwise.0);
                continue;
            }
            OpKind::Call(ref call) if matches!(call.intrinsic.meaning, Meaning::Interpreted) => {
                asked.extend(op.result);
            }
            _ => {}
        }
        kept.push(op);
    }
    region.0 = kept;
}
