// SPDX-License-Identifier: Apache-2.0
//! Which parameters others write behind while a kernel runs, as its volatile accesses say.

use super::effect::{Memory, Root};
use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Expr, OpKind, Qualifier};

/// The parameters behind which there are volatile accesses: every pointer where it is not known.
pub fn volatile_params(kernel: &Kernel) -> Vec<Value> {
    let (memory, mut found) = (Memory::of(kernel), Vec::new());
    kernel.body.for_each(&mut |op| {
        let Some(pointer) = volatile_address(&op.kind) else { return };
        match memory.root_of(pointer) {
            Some(Root::Param(param)) => found.push(param),
            Some(Root::Shared(_) | Root::Local(_)) => {}
            Some(Root::Any(_)) | None => found.extend(pointers(kernel)),
        }
    });
    found
}

fn pointers(kernel: &Kernel) -> impl Iterator<Item = Value> {
    let params = (0..).map(Value).zip(&kernel.params);
    let pointers = params.filter(|(_, param)| matches!(param.kind, ParamKind::Pointer(_)));
    pointers.map(|(value, _)| value)
}

/// The address of a volatile access.
fn volatile_address(kind: &OpKind) -> Option<Value> {
    let (pointer, qualifier) = match kind {
        OpKind::Expr(Expr::Load(load)) => (load.pointer, load.qualifier),
        OpKind::Store(store) => (store.pointer, store.qualifier),
        _ => return None,
    };
    (qualifier == Some(Qualifier::Volatile)).then_some(pointer)
}
