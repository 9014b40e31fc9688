// SPDX-License-Identifier: Apache-2.0
//! Barriers and fences.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_kernel_ir::op::Operand;

/// Who sees a fence.
const SCOPES: &[&str] = &["block", "cluster", "gpu", "sys"];

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "sync_threads",
        takes: &[],
        doc: "Waits until every thread of the block is here. What was written before it is seen \
              behind it by all of them. Conditions around it are the same for the whole block.",
        data: "barrier",
        run: barrier,
    },
    Builtin {
        name: "sync_warp",
        takes: &[],
        doc: "Waits until every thread of the warp is here.",
        data: "barrier.warp",
        run: barrier,
    },
    Builtin {
        name: "fence",
        takes: &["scope="],
        doc: "What this thread wrote before it is seen by others of that scope (`\"block\"`, \
              `\"cluster\"`, `\"gpu\"`, which it is where it is left out, or `\"sys\"`) before what \
              it writes behind it.",
        data: "fence",
        run: fence,
    },
];

fn barrier(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    cx.emit.call_with(given.row.data, vec![]);
    Elaborated::None
}

fn fence(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if let Some(scope) = cx.word(given, "scope", SCOPES, "gpu") {
        cx.emit.call_with("fence", vec![Operand::Word(scope)]);
    }
    Elaborated::None
}
