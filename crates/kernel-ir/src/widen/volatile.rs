// SPDX-License-Identifier: Apache-2.0
//! Which parameters others write behind while a kernel runs, as its volatile accesses say.

use super::effect::{Memory, Root};
use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Expr, OpKind, Qualifier, Region};

/// The parameters behind which there are volatile accesses: every pointer where it is not known.
pub fn volatile_params(kernel: &Kernel) -> Vec<Value> {
    let (memory, mut found) = (Memory::of(kernel), Vec::new());
    collect(&kernel.body, &mut |pointer| match memory.root_of(pointer) {
        Some(Root::Param(param)) => found.push(param),
        Some(Root::Shared(_) | Root::Local(_)) => {}
        Some(Root::Any(_)) | None => found.extend(pointers(kernel)),
    });
    found
}

fn pointers(kernel: &Kernel) -> impl Iterator<Item = Value> {
    let params = (0..).map(Value).zip(&kernel.params);
    let pointers = params.filter(|(_, param)| matches!(param.kind, ParamKind::Pointer(_)));
    pointers.map(|(value, _)| value)
}

/// The addresses of volatile accesses.
fn collect(region: &Region, found: &mut dyn FnMut(Value)) {
    for op in &region.0 {
        let (pointer, qualifier) = match &op.kind {
            OpKind::Expr(Expr::Load(load)) => (load.pointer, load.qualifier),
            OpKind::Store(store) => (store.pointer, store.qualifier),
            kind => {
                kind.regions().for_each(|region| collect(region, found));
                continue;
            }
        };
        if qualifier == Some(Qualifier::Volatile) {
            found(pointer);
        }
    }
}
