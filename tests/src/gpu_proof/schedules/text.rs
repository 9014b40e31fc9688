// SPDX-License-Identifier: Apache-2.0
//! A schedule as a kernel of the language, in a file with a packed function.

use super::{Factor, Fill, Release, Schedule, Unit};
use std::fmt::Write;

/// Lines, with how deep the next one stands.
#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn add(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", 4 * self.depth, line.as_ref());
    }

    /// A line that ends with a colon, and what stands below it.
    fn block(&mut self, line: impl AsRef<str>, add: impl FnOnce(&mut Lines)) {
        self.add(line);
        self.depth += 1;
        add(self);
        self.depth -= 1;
    }
}

const FUNCTION: &str = r#"

@kp.jit(
    """
    multiply(
        a: Tensor([m, k], bfloat16, align=16), b: Tensor([n, k], bfloat16, align=16),
        c: Tensor([m, n], float32, align=16, mut)
    ) where k >= 8, k % 8 == 0, n % 4 == 0, noalias(a, c), noalias(b, c)
    """
)
def multiply(a, b, c):"#;

impl Schedule {
    /// The file.
    pub fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add("import kernpack as kp\n\n\n@kp.kernel");
        lines.block(format!("def {}(a, b, c):", self.kernel_name()), |lines| {
            self.arrays(lines);
            self.mbarriers(lines);
            self.loops(lines);
            match self.unit {
                Unit::Warp => {
                    let warps = self.n_producers / 32;
                    lines.block(format!("if kp.warp_idx() < {warps}:"), |all| self.producer(all));
                }
                Unit::Warpgroup => {
                    lines.block("if kp.warpgroup_idx() == 0:", |lines| self.producer(lines));
                }
            }
            lines.block("else:", |lines| self.consumer(lines));
        });
        let launch = format!(
            "    {}(a, b, c).launch(grid={}, block={}, arch=\"sm_90a\")",
            self.kernel_name(),
            self.n_blocks,
            self.n_threads()
        );
        format!("{}{FUNCTION}\n{launch}\n", lines.text)
    }

    fn kernel_name(&self) -> &'static str {
        match self.unit {
            Unit::Warp => "by_warps",
            Unit::Warpgroup => "by_warpgroups",
        }
    }

    fn arrays(&self, lines: &mut Lines) {
        let ([m, n, k], stages, [down, across]) = (self.tile, self.stages, self.atoms);
        let op = match self.unit {
            Unit::Warp => "kp.mma(a.element_type, kp.float32, (16, 8, 16))".to_string(),
            Unit::Warpgroup => format!("kp.wgmma(a.element_type, kp.float32, (64, {n}, 16))"),
        };
        lines.add(format!("mma = kp.make_tiled_mma({op}, ({down}, {across}, 1))"));
        for (name, rows) in [("a", m), ("b", n)] {
            let layout = format!("kp.make_smem_layout_{name}(mma, ({rows}, {k}), {stages})");
            lines.add(format!("layout_{name} = {layout}"));
            lines.add(format!("tiles_{name} = kp.shared(a.element_type, layout_{name})"));
            if self.fill != Fill::Stores {
                lines.add(format!("from_{name} = kp.make_tma({name}, layout_{name})"));
            }
        }
        if self.is_boxed {
            lines.add(format!("layout_c = kp.make_layout(({m}, {n}), stride=({n}, 1))"));
            lines.add("to_c, tile_c = kp.make_tma(c, layout_c), kp.shared(kp.float32, layout_c)");
        }
    }

    /// The mbarriers that say that a stage is full.
    fn full(&self) -> &'static [&'static str] {
        if self.is_split { &["full_a", "full_b"] } else { &["full"] }
    }

    /// That of a factor.
    fn full_of(&self, factor: Factor) -> &'static str {
        match factor {
            Factor::B if self.is_split => "full_b",
            Factor::A | Factor::B => self.full()[0],
        }
    }

    fn mbarriers(&self, lines: &mut Lines) {
        let [full, empty] = self.n_arrivals();
        for name in self.full().iter().chain(&["empty"]) {
            lines.add(format!("{name} = kp.mbarrier({})", self.stages));
        }
        lines.block(format!("if kp.thread_idx()[0] == {}:", self.elected[1]), |lines| {
            lines.block(format!("for s in kp.range_constexpr({}):", self.stages), |lines| {
                for name in self.full() {
                    lines.add(format!("{name}[s].init({full})"));
                }
                lines.add(format!("empty[s].init({empty})"));
            });
        });
        lines.add("kp.sync_threads()");
    }

    fn loops(&self, lines: &mut Lines) {
        let [m, n, k] = self.tile;
        lines.add(format!("rows = kp.ceil_div(a.shape[0], {m})"));
        lines.add(format!("columns = kp.ceil_div(b.shape[0], {n})"));
        lines.add(format!("steps = kp.ceil_div(a.shape[1], {k})"));
        lines.add("numbers = range(kp.block_idx()[0], rows * columns, kp.grid_dim()[0])");
        let user = "kp.PipelineUserType.Consumer";
        lines.add(format!("state = kp.make_pipeline_state({user}, {})", self.stages));
    }

    fn producer(&self, lines: &mut Lines) {
        match self.fill {
            Fill::Boxes { says_first } => {
                lines.block(format!("if kp.thread_idx()[0] == {}:", self.elected[0]), |lines| {
                    self.steps(lines, |lines| self.copies(says_first, lines));
                });
            }
            Fill::Stores => self.steps(lines, |lines| self.stores(lines)),
        }
    }

    /// What fills a stage, tile after tile and step after step.
    fn steps(&self, lines: &mut Lines, fill: impl FnOnce(&mut Lines)) {
        lines.block("for number in numbers:", |lines| {
            lines.add("m, n = number // columns, number % columns");
            lines.block("for k in range(steps):", |lines| {
                lines.add("at = state.index");
                lines.add("empty[at].wait(state.phase ^ 1)");
                fill(lines);
                lines.add("state.advance()");
            });
        });
    }

    /// The rows of a factor in a tile, and what counts them.
    fn rows_of(&self, factor: Factor) -> (usize, &'static str) {
        match factor {
            Factor::A => (self.tile[0], "m"),
            Factor::B => (self.tile[1], "n"),
        }
    }

    fn copies(&self, says_first: bool, lines: &mut Lines) {
        let order = self.orders[0];
        let together: Vec<&[Factor]> =
            if self.is_split { order.chunks(1).collect() } else { vec![&order] };
        for factors in together {
            let full = self.full_of(factors[0]);
            let rows: usize = factors.iter().map(|factor| self.rows_of(*factor).0).sum();
            let bytes = rows * self.tile[2] * 2;
            let says = if says_first { "arrive_and_expect_tx" } else { "expect_tx" };
            lines.add(format!("{full}[at].{says}({bytes})"));
            for factor in factors {
                let (name, place) = (factor.name(), self.rows_of(*factor).1);
                let [from, to] = [format!("from_{name}"), format!("tiles_{name}[None, None, at]")];
                lines.add(format!("kp.copy({from}[None, ({place}, k)], {to}, to={full}[at])"));
            }
            if !says_first {
                lines.add(format!("{full}[at].arrive()"));
            }
        }
    }

    fn stores(&self, lines: &mut Lines) {
        let k = self.tile[2];
        let last = self.orders[0][1];
        for factor in self.orders[0] {
            let (name, (rows, place)) = (factor.name(), self.rows_of(factor));
            let (n_elements, threads) = (rows * k, self.n_producers);
            let each = format!("for i in range(kp.thread_idx()[0], {n_elements}, {threads}):");
            lines.block(each, |lines| {
                let row = format!("{place} * {rows} + i // {k}");
                lines.add(format!("row, column = {row}, k * {k} + i % {k}"));
                lines.add("value = a.element_type(0)");
                let inside = format!("row < {name}.shape[0] and column < {name}.shape[1]");
                lines.block(format!("if {inside}:"), |lines| {
                    lines.add(format!("value = {name}[row, column]"));
                });
                lines.add(format!("tiles_{name}[i // {k}, i % {k}, at] = value"));
            });
            if self.is_split || factor == last {
                if self.unit == Unit::Warpgroup {
                    lines.add("kp.fence_proxy_async()");
                }
                lines.add(format!("{}[at].arrive()", self.full_of(factor)));
            }
        }
    }

    fn consumer(&self, lines: &mut Lines) {
        let [m, n, _] = self.tile;
        lines.add(format!("thread = kp.thread_idx()[0] - {}", self.n_producers));
        lines.add("part = mma.get_slice(thread)");
        lines.add(format!("acc = part.make_fragment_C(({m}, {n}))"));
        lines.block("for number in numbers:", |lines| {
            lines.add("m, n = number // columns, number % columns");
            if self.unit == Unit::Warp {
                lines.add("acc.clear()");
            }
            lines.add("before = kp.int32(0)");
            lines.block("for k in range(steps):", |lines| self.product(lines));
            if self.is_late {
                if self.unit == Unit::Warpgroup {
                    lines.add("kp.wgmma_wait(0)");
                }
                self.release("before", lines);
            }
            self.store(lines);
        });
    }

    fn product(&self, lines: &mut Lines) {
        lines.add("at = state.index");
        for factor in &self.orders[1][..self.full().len()] {
            lines.add(format!("{}[at].wait(state.phase)", self.full_of(*factor)));
        }
        let accumulate = if self.unit == Unit::Warp { "True" } else { "k > 0" };
        let tiles = "tiles_a[None, None, at], tiles_b[None, None, at]";
        lines.add(format!("kp.gemm(mma, acc, {tiles}, accumulate={accumulate})"));
        if self.unit == Unit::Warpgroup {
            lines.add(format!("kp.wgmma_wait({})", u8::from(self.is_late)));
        }
        match self.is_late {
            true => {
                lines.block("if k > 0:", |lines| self.release("before", lines));
                lines.add("before = at");
            }
            false => self.release("at", lines),
        }
        lines.add("state.advance()");
    }

    fn release(&self, stage: &str, lines: &mut Lines) {
        let (arrive, lane) = (format!("empty[{stage}].arrive()"), self.elected[2]);
        match self.release {
            Release::Threads => lines.add(arrive),
            Release::Warps => {
                lines.add("kp.sync_warp()");
                lines.block(format!("if kp.lane_idx() == {lane}:"), |lines| lines.add(arrive));
            }
            Release::Warpgroups => {
                lines.block(format!("if thread % 128 == {lane}:"), |lines| lines.add(arrive));
            }
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
