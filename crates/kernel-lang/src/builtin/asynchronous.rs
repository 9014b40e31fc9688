// SPDX-License-Identifier: Apache-2.0
//! Groups of copies that go on by themselves. The copies are `kp.copy(…, to=kp.async_group)`, and
//! `to=kp.bulk_group`.

use super::given::row_alone;
use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::value::Elaborated;
use kernpack_kernel_ir::intrinsic::MOST_IN_FLIGHT;
use kernpack_kernel_ir::op::Operand;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "commit_group",
        takes: &[],
        doc: "Makes a group of the copies `to=kp.async_group` that this thread has begun since its \
              last group.",
        data: "copy.commit",
        run: row_alone,
    },
    Builtin {
        name: "wait_group",
        takes: &["n"],
        doc: "Waits until no more than the last `n` groups of this thread, a constant, are in \
              flight. The thread sees what the others copied; other threads do behind a barrier.",
        data: "",
        run: wait,
    },
    Builtin {
        name: "cp_async_commit_group",
        takes: &[],
        doc: "As `kp.commit_group`.",
        data: "copy.commit",
        run: row_alone,
    },
    Builtin {
        name: "cp_async_wait_group",
        takes: &["n"],
        doc: "As `kp.wait_group`.",
        data: "",
        run: wait,
    },
    Builtin {
        name: "bulk_commit_group",
        takes: &[],
        doc: "Makes a group of the copies `to=kp.bulk_group` that this thread has begun since its \
              last group.",
        data: "copy.bulk_commit",
        run: row_alone,
    },
    Builtin {
        name: "bulk_wait_group",
        takes: &["n", "read="],
        doc: "Waits until no more than the last `n` groups `to=kp.bulk_group` of this thread, a \
              constant, are in flight; with `read=True`, until the others have read shared memory.",
        data: "",
        run: wait_bulk,
    },
    Builtin {
        name: "cp_async_bulk_commit_group",
        takes: &[],
        doc: "As `kp.bulk_commit_group`.",
        data: "copy.bulk_commit",
        run: row_alone,
    },
    Builtin {
        name: "cp_async_bulk_wait_group",
        takes: &["n", "read="],
        doc: "As `kp.bulk_wait_group`.",
        data: "",
        run: wait_bulk,
    },
    Builtin {
        name: "fence_proxy_async",
        takes: &[],
        doc: "What was written before it, also by other threads that a barrier orders before it, is \
              seen by copies to an mbarrier or `kp.bulk_group` behind it.",
        data: "fence.proxy_async",
        run: row_alone,
    },
    Builtin {
        name: "fence_view_async_shared",
        takes: &[],
        doc: "As `kp.fence_proxy_async`, of what was written into the block's shared memory alone. It \
              waits for nothing that goes to global memory.",
        data: "fence.proxy_async_shared",
        run: row_alone,
    },
];

fn wait(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    wait_by(cx, given, "copy.wait")
}

fn wait_bulk(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    match given.opt("read").map(|arg| &arg.value) {
        None | Some(Elaborated::Bool(false)) => wait_by(cx, given, "copy.bulk_wait"),
        Some(Elaborated::Bool(true)) => wait_by(cx, given, "copy.bulk_wait_read"),
        Some(_) => cx.expected("`True` or `False`", given, "read"),
    }
}

/// Waits for all but `n` groups by that row.
fn wait_by(cx: &mut Elaborator<'_>, given: &Given, row: &str) -> Elaborated {
    let n = given.get("n").as_int().filter(|n| (0..=i128::from(MOST_IN_FLIGHT)).contains(n));
    match n {
        Some(n) => {
            cx.emit.call_with(row, vec![Operand::Constant(n as i64)]);
            Elaborated::None
        }
        None => cx.expected(&format!("a constant from 0 to {MOST_IN_FLIGHT}"), given, "n"),
    }
}
