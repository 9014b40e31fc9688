// SPDX-License-Identifier: Apache-2.0
//! Who uses stages: the role that multiplies, and writes tiles.

use super::text::Lines;
use super::{Ring, Schedule, Unit};

impl Schedule {
    /// The role that multiplies.
    pub(super) fn consumer(&self, lines: &mut Lines) {
        let [m, n, _] = self.tile;
        lines.add(format!("thread = kp.thread_idx()[0] - {}", self.n_producers));
        lines.add("part = mma.get_slice(thread)");
        lines.add(format!("acc = part.make_fragment_C(({m}, {n}))"));
        lines.block("for number in numbers:", |lines| {
            lines.add("m, n = number // columns, number % columns");
            if self.unit == Unit::Warp {
                lines.add("acc.clear()");
            }
            if self.keeps_before() {
                lines.add("before = kp.int32(0)");
            }
            lines.block("for k in range(steps):", |lines| self.product(lines));
            if self.is_late {
                if self.unit == Unit::Warpgroup {
                    lines.add("kp.wgmma_wait(0)");
                }
                self.release(lines);
            }
            self.store(lines);
        });
    }

    /// Whether the number of the stage that is released later is kept.
    fn keeps_before(&self) -> bool {
        self.is_late && self.ring == Ring::Mbarriers
    }

    fn product(&self, lines: &mut Lines) {
        self.wait(lines);
        let accumulate = if self.unit == Unit::Warp { "True" } else { "k > 0" };
        let tiles = "tiles_a[None, None, at], tiles_b[None, None, at]";
        lines.add(format!("kp.gemm(mma, acc, {tiles}, accumulate={accumulate})"));
        if self.unit == Unit::Warpgroup {
            lines.add(format!("kp.wgmma_wait({})", u8::from(self.is_late)));
        }
        match self.is_late {
            true => lines.block("if k > 0:", |lines| self.release(lines)),
            false => self.release(lines),
        }
        if self.keeps_before() {
            lines.add("before = at");
        }
        if self.ring != Ring::Participants {
            lines.add("state.advance()");
        }
    }

    fn store(&self, lines: &mut Lines) {
        if !self.is_boxed {
            return lines.add("kp.store_tile(mma, acc, c, (m, n))");
        }
        let meet = format!("kp.barrier(1, {})", self.n_consumers);
        lines.add("kp.store_tile(mma, acc, tile_c, (0, 0))");
        lines.add("kp.fence_proxy_async()");
        lines.add(&meet);
        lines.block("if thread == 0:", |lines| {
            lines.add("kp.copy(tile_c, to_c[None, (m, n)], to=kp.bulk_group)");
            lines.add("kp.bulk_commit_group()");
            lines.add("kp.bulk_wait_group(0)");
        });
        lines.add(meet);
    }
}
