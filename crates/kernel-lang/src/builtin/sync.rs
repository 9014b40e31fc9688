// SPDX-License-Identifier: Apache-2.0
//! Barriers and fences.

use super::{Builtin, Given, given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::intrinsic::{Accepts, N_BARRIERS};
use kernpack_kernel_ir::op::{Operand, Rounding};

/// Who sees a fence.
const SCOPES: &[&str] = &["block", "cluster", "gpu", "sys"];

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "sync_threads",
        takes: &[],
        doc: "Waits until every thread of the block is here. What was written before it is seen \
              behind it by all of them. Conditions around it are the same for the whole block.",
        data: "barrier",
        run: given::row_alone,
    },
    Builtin {
        name: "sync_warp",
        takes: &[],
        doc: "Waits until every thread of the warp is here.",
        data: "barrier.warp",
        run: given::row_alone,
    },
    Builtin {
        name: "grid_sync",
        takes: &[],
        doc: "Waits until every thread of the grid is here. What was written before it is seen \
              behind it by all of them. The launch has `cooperative=True`, and conditions around it \
              are the same for the whole grid.",
        data: "barrier.grid",
        run: given::row_alone,
    },
    Builtin {
        name: "barrier",
        takes: &["barrier_id", "number_of_threads"],
        doc: "Waits at a barrier with a number, 1 to 15, until `number_of_threads` have come there, \
              a constant, whole warps, this one's among them. What was written before it is seen \
              behind it by those who wait. Others of the block need not come, and may have ended.",
        data: "barrier.sync",
        run: named,
    },
    Builtin {
        name: "barrier_arrive",
        takes: &["barrier_id", "number_of_threads"],
        doc: "Comes to a barrier with a number, as `kp.barrier`, and goes on.",
        data: "barrier.arrive",
        run: named,
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

fn named(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let is_number = |n: &i128| (1..i128::from(N_BARRIERS)).contains(n);
    if given.get("barrier_id").as_int().is_some_and(|number| !is_number(&number)) {
        let numbers = format!("a number from 1 to {}", N_BARRIERS - 1);
        return cx.expected(&numbers, given, "barrier_id");
    }
    let n_threads = given.get("number_of_threads").as_int().and_then(|n| i64::try_from(n).ok());
    let Some(n_threads) = n_threads.filter(|n| Accepts::Warps.takes_constant(*n)) else {
        return cx.expected(&Accepts::Warps.to_string(), given, "number_of_threads");
    };
    if let Some(number) = cx.index_arg(given, "barrier_id") {
        let number = cx.emit.convert(number, Scalar::I32, Rounding::NearestEven);
        let operands = vec![Operand::Value(number), Operand::Constant(n_threads)];
        cx.emit.call_with(given.row.data, operands);
    }
    Elaborated::None
}

fn fence(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    if let Some(scope) = cx.word(given, "scope", SCOPES, "gpu") {
        cx.emit.call_with("fence", vec![Operand::Word(scope)]);
    }
    Elaborated::None
}
