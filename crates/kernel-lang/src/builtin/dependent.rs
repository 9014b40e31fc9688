// SPDX-License-Identifier: Apache-2.0
//! Launches that may begin before those in front of them have ended. That they may is `pdl=` of
//! `.launch(…)`.

use super::Builtin;
use super::given::row_alone;

pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "griddepcontrol_wait",
        takes: &[],
        doc: "Waits until the launch in front of this one has ended, where this one was launched \
              with `pdl=` and may have begun before that. The thread sees what it wrote; other \
              threads do behind a barrier. It needs sm_90.",
        data: "griddepcontrol.wait",
        run: row_alone,
    },
    Builtin {
        name: "griddepcontrol_launch_dependents",
        takes: &[],
        doc: "Lets the launch behind this one begin, where that was launched with `pdl=`, once a \
              thread of every block has come here or the block has ended. It orders nothing: the \
              other one waits before it reads what this one writes. It needs sm_90.",
        data: "griddepcontrol.launch_dependents",
        run: row_alone,
    },
];
