// SPDX-License-Identifier: Apache-2.0
//! Views of tensors that say how they are accessed, and what is said ahead of an access.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::expr::memory_of;
use crate::tensor::map_of;
use crate::value::{Base, Elaborated, Tensor};
use kernpack_kernel_ir::Space;
use kernpack_kernel_ir::intrinsic::CACHES;
use kernpack_kernel_ir::op::{Operand, Qualifier};
use std::sync::Arc;

/// The hints, as they are written.
const HINTS: &[&str] =
    &[Qualifier::Stream.name(), Qualifier::Keep.name(), Qualifier::LastUse.name()];

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "volatile",
        takes: &["x"],
        doc: "The tensor, in global or shared memory, accessed as it is written: as often, in that \
              order, one element at a time, and each in one step for all threads. It orders \
              nothing else; `kp.fence` does.",
        data: "",
        run: volatile,
    },
    Builtin {
        name: "cached",
        takes: &["x", "cache"],
        doc: "The tensor, in global memory, with a hint to caches for its loads and stores: \
              `\"stream\"` of what is likely accessed once, `\"keep\"` of what is likely accessed \
              again, `\"last_use\"` of what is not. A hint changes no result.",
        data: "",
        run: cached,
    },
    Builtin {
        name: "prefetch",
        takes: &["x", "index=", "level="],
        doc: "Has the line of a cache fetched that an element of a tensor in global memory is in, \
              which changes no result. `level` is `\"L2\"`, which it is where it is left out, or \
              `\"L1\"`. The index is in bounds, as in a read. Of a tile of a map, `tma[None, (i, j)]`, \
              which has no index, all is fetched to L2; it needs `sm_90`.",
        data: "prefetch",
        run: prefetch,
    },
];

fn volatile(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let spaces = [Space::Global, Space::Shared, Space::Cluster];
    qualified(cx, given, Qualifier::Volatile, &spaces, "a tensor in global or shared memory")
}

fn cached(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Some(word) = cx.word(given, "cache", HINTS, HINTS[0]) else { return Elaborated::Poison };
    let hint = Qualifier::parse(word).unwrap_or(Qualifier::Stream);
    qualified(cx, given, hint, &[Space::Global], "a tensor in global memory")
}

fn prefetch(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Elaborated::Tensor(tensor) = given.get("x").clone() else {
        return cx.expected("a tensor", given, "x");
    };
    if let Some(mapped) = map_of(&tensor).cloned() {
        if given.opt("index").is_some() || given.opt("level").is_some() {
            let message = "a tile of a map is fetched to L2, all of it";
            cx.mistake("arguments", given.span, message, "leave `index` and `level` out");
        } else {
            cx.prefetch_box(&tensor, &mapped, given.span);
        }
        return Elaborated::None;
    }
    let memory = match memory_of(&tensor) {
        Some(memory) if memory.space == Space::Global => memory.clone(),
        _ => return cx.expected("a tensor in global memory", given, "x"),
    };
    if given.opt("index").is_none() {
        let message = "`kp.prefetch` of a tensor needs an index";
        cx.mistake("arguments", given.span, message, "write `kp.prefetch(x, i)`");
        return Elaborated::Poison;
    }
    let level = cx.word(given, "level", CACHES, "L2");
    let place = cx.element_address(&tensor, &memory, given);
    let (Some(level), Some((pointer, within))) = (level, place) else { return Elaborated::Poison };
    let operands = vec![Operand::Value(pointer), Operand::Word(level)];
    cx.emit.access(within, |emit| emit.call_with(given.row.data, operands));
    Elaborated::None
}

/// The tensor, accessed so, where it lies in one of these spaces.
fn qualified(
    cx: &mut Elaborator<'_>,
    given: &Given,
    qualifier: Qualifier,
    spaces: &[Space],
    expected: &str,
) -> Elaborated {
    let Elaborated::Tensor(tensor) = given.get("x").clone() else {
        return cx.expected("a tensor", given, "x");
    };
    let mut memory = match memory_of(&tensor) {
        Some(memory) if spaces.contains(&memory.space) => memory.clone(),
        _ => return cx.expected(expected, given, "x"),
    };
    memory.qualifier = Some(qualifier);
    let base = Base::Memory(memory);
    Elaborated::Tensor(Arc::new(Tensor { base, ..Tensor::clone(&tensor) }))
}
