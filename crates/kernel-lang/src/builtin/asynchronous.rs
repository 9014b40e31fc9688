// SPDX-License-Identifier: Apache-2.0
//! Groups of copies that go on by themselves. The copies are `kp.copy(…, to=kp.async_group)`.

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
];

fn wait(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let n = given.get("n").as_int().filter(|n| (0..=i128::from(MOST_IN_FLIGHT)).contains(n));
    match n {
        Some(n) => {
            cx.emit.call_with("copy.wait", vec![Operand::Constant(n as i64)]);
            Elaborated::None
        }
        None => cx.expected(&format!("a constant from 0 to {MOST_IN_FLIGHT}"), given, "n"),
    }
}
