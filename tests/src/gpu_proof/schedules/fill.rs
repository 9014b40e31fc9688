// SPDX-License-Identifier: Apache-2.0
//! Who fills stages: one thread that begins copies of boxes, or threads of a role that copy or
//! store.

use super::ring::Part;
use super::text::Lines;
use super::{Factor, Fill, Ring, Schedule, Unit};

impl Schedule {
    /// The role that fills stages.
    pub(super) fn producer(&self, lines: &mut Lines) {
        match self.fill {
            Fill::Boxes { .. } => {
                let is_elected = format!("if kp.thread_idx()[0] == {}:", self.elected[0]);
                lines.block(is_elected, |lines| self.steps(lines));
            }
            Fill::Copies { .. } | Fill::Stores => self.steps(lines),
        }
    }

    /// Tile after tile and step after step.
    fn steps(&self, lines: &mut Lines) {
        let parts = self.parts(self.orders[0]);
        lines.block("for number in numbers:", |lines| {
            lines.add("m, n = number // columns, number % columns");
            lines.block("for k in range(steps):", |lines| {
                if self.ring == Ring::Mbarriers {
                    lines.add("at = state.index");
                    lines.add("empty[at].wait(state.phase ^ 1)");
                }
                parts.iter().for_each(|part| self.part(part, lines));
                if self.ring == Ring::Mbarriers {
                    lines.add("state.advance()");
                }
            });
        });
        if self.ring != Ring::Mbarriers && self.has_tail {
            parts.iter().for_each(|part| lines.add(format!("load{}.tail()", part.name)));
        }
    }

    /// Fills a part of a stage, and says so.
    fn part(&self, part: &Part, lines: &mut Lines) {
        let name = part.name;
        if self.ring != Ring::Mbarriers {
            lines.add(format!("stage{name} = load{name}.acquire_and_advance()"));
            lines.add(format!("at = stage{name}.index"));
        }
        match self.fill {
            Fill::Boxes { says_first } => self.boxes(part, says_first, lines),
            Fill::Copies { waits } => self.copies(part, waits, lines),
            Fill::Stores => self.stores(part, lines),
        }
        let is_fenced = !matches!(self.fill, Fill::Boxes { .. }) && self.unit == Unit::Warpgroup;
        if is_fenced {
            lines.add("kp.fence_proxy_async()");
        }
        match (self.ring, self.fill) {
            (Ring::Participants | Ring::States, _) => lines.add(format!("stage{name}.commit()")),
            (Ring::Mbarriers, Fill::Boxes { says_first: true }) => {}
            (Ring::Mbarriers, Fill::Copies { waits: false }) => {
                lines.add(format!("full{name}[at].arrive_after_copies()"));
            }
            (Ring::Mbarriers, _) => lines.add(format!("full{name}[at].arrive()")),
        }
    }

    /// The rows of a factor in a tile, and what counts them.
    fn rows_of(&self, factor: Factor) -> (usize, &'static str) {
        match factor {
            Factor::A => (self.tile[0], "m"),
            Factor::B => (self.tile[1], "n"),
        }
    }

    fn boxes(&self, part: &Part, says_first: bool, lines: &mut Lines) {
        // A pipeline's stage counts the bytes of its copies itself.
        let mut to = format!("stage{}", part.name);
        if self.ring == Ring::Mbarriers {
            to = format!("full{}[at]", part.name);
            let rows: usize = part.factors.iter().map(|factor| self.rows_of(*factor).0).sum();
            let says = if says_first { "arrive_and_expect_tx" } else { "expect_tx" };
            lines.add(format!("{to}.{says}({})", rows * self.tile[2] * self.each()));
        }
        for factor in &part.factors {
            let (name, place) = (factor.name(), self.rows_of(*factor).1);
            let from = format!("from_{name}[None, ({place}, k)]");
            lines.add(format!("kp.copy({from}, tiles_{name}[None, None, at], to={to})"));
        }
    }

    /// So many places of a part of a tile, which the threads share: `i` is the number of one.
    fn shared_by_threads(&self, count: usize, lines: &mut Lines, add: impl FnOnce(&mut Lines)) {
        let threads = self.n_producers;
        lines.block(format!("for i in range(kp.thread_idx()[0], {count}, {threads}):"), add);
    }

    fn copies(&self, part: &Part, waits: bool, lines: &mut Lines) {
        let (k, chunk) = (self.tile[2], self.chunk());
        let chunks = k / chunk;
        let to = match self.ring {
            Ring::Participants | Ring::States if !waits => format!("stage{}", part.name),
            _ => "kp.async_group".to_string(),
        };
        for factor in &part.factors {
            let (name, (rows, place)) = (factor.name(), self.rows_of(*factor));
            self.shared_by_threads(rows * chunks, lines, |lines| {
                lines.add(format!("row, chunk = {place} * {rows} + i // {chunks}, i % {chunks}"));
                let from = format!("{name}[row, None], ({chunk},), (k * {chunks} + chunk,)");
                lines.add(format!("source = kp.local_tile({from})"));
                let into = format!("tiles_{name}[i // {chunks}, None, at], ({chunk},), (chunk,)");
                lines.add(format!("target = kp.local_tile({into})"));
                let column = format!("k * {k} + chunk * {chunk}");
                let inside = format!("row < {name}.shape[0] and {column} < {name}.shape[1]");
                lines.add(format!("kp.copy(source, target, pred={inside}, to={to})"));
            });
        }
        if waits {
            lines.add("kp.commit_group()");
            lines.add("kp.wait_group(0)");
        }
    }

    fn stores(&self, part: &Part, lines: &mut Lines) {
        let k = self.tile[2];
        for factor in &part.factors {
            let (name, (rows, place)) = (factor.name(), self.rows_of(*factor));
            self.shared_by_threads(rows * k, lines, |lines| {
                let row = format!("{place} * {rows} + i // {k}");
                lines.add(format!("row, column = {row}, k * {k} + i % {k}"));
                lines.add("value = a.element_type(0)");
                let inside = format!("row < {name}.shape[0] and column < {name}.shape[1]");
                lines.block(format!("if {inside}:"), |lines| {
                    lines.add(format!("value = {name}[row, column]"));
                });
                lines.add(format!("tiles_{name}[i // {k}, i % {k}, at] = value"));
            });
        }
    }
}
