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

#[cfg(test)]
mod tests {
    use super::leave_out_models;
    use crate::text::{Item, parse};
    use expect_test::expect;

    #[test]
    fn assembly_stays_and_its_model_goes() {
        let text = r#"kernel k(v0 b: bool, v1 n: int32) {
            s0 r: int32
            v2: bool = call interpreted()
            if v0 {
                if v2 { set s0, v1 } else { ptx "mov.b32 {0}, {1};" v1 sets s0 }
            }
            if v0 { set s0, v1 } else { ptx "nanosleep.u32 1;" }
        }"#;
        let Some(Item::Kernel(mut kernel)) = parse(&text.into()).expect("it is right").pop() else {
            panic!("it is a kernel")
        };
        leave_out_models(&mut kernel);
        expect![[r#"
            kernel k(v0 b: bool, v1 n: int32) {
              s0 r: int32
              v2: bool = call interpreted()
              if v0 {
                ptx "mov.b32 {0}, {1};" v1 sets s0
              }
              if v0 {
                set s0, v1
              } else {
                ptx "nanosleep.u32 1;"
              }
            }
        "#]]
        .assert_eq(&kernel.to_string());
    }
}
