// SPDX-License-Identifier: Apache-2.0
//! A schedule as a kernel of the language, in a file with a packed function: what both roles have.

use super::{Fill, Schedule, Unit};
use std::fmt::Write;

/// Lines, with how deep the next one stands.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    pub(super) fn add(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", 4 * self.depth, line.as_ref());
    }

    /// A line that ends with a colon, and what stands below it.
    pub(super) fn block(&mut self, line: impl AsRef<str>, add: impl FnOnce(&mut Lines)) {
        self.add(line);
        self.depth += 1;
        add(self);
        self.depth -= 1;
    }
}

impl Schedule {
    /// The file.
    pub fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add("import kernpack as kp\n\n\n@kp.kernel");
        lines.block(format!("def {}(a, b, c):", self.kernel_name()), |lines| {
            self.arrays(lines);
            self.ring(lines);
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
        lines.add("");
        lines.add("");
        self.function(&mut lines);
        lines.text
    }

    fn function(&self, lines: &mut Lines) {
        let (element, sums, chunk) = (self.element.name(), self.sums().name(), self.chunk());
        lines.add("@kp.jit(");
        lines.add("    \"\"\"");
        lines.add("    multiply(");
        lines.add(format!("        a: Tensor([m, k], {element}, align=16),"));
        lines.add(format!("        b: Tensor([n, k], {element}, align=16),"));
        lines.add(format!("        c: Tensor([m, n], {sums}, align=16, mut)"));
        lines.add("    ) where");
        lines.add(format!("        k >= {chunk}, k % {chunk} == 0, n % 4 == 0,"));
        lines.add("        noalias(a, c), noalias(b, c)");
        lines.add("    \"\"\"");
        lines.add(")");
        lines.block("def multiply(a, b, c):", |lines| {
            let (name, blocks, threads) = (self.kernel_name(), self.n_blocks, self.n_threads());
            let launch = format!("grid={blocks}, block={threads}, arch=\"sm_90a\"");
            lines.add(format!("{name}(a, b, c).launch({launch})"));
        });
    }

    fn kernel_name(&self) -> &'static str {
        match self.unit {
            Unit::Warp => "by_warps",
            Unit::Warpgroup => "by_warpgroups",
        }
    }

    fn arrays(&self, lines: &mut Lines) {
        let ([m, n, k], stages, [down, across]) = (self.tile, self.stages, self.atoms);
        let (sums, each) = (format!("kp.{}", self.sums().name()), 2 * self.chunk());
        let op = match self.unit {
            Unit::Warp => format!("kp.mma(a.element_type, {sums}, (16, 8, {each}))"),
            Unit::Warpgroup => format!("kp.wgmma(a.element_type, {sums}, (64, {n}, {each}))"),
        };
        lines.add(format!("mma = kp.make_tiled_mma({op}, ({down}, {across}, 1))"));
        for (name, rows) in [("a", m), ("b", n)] {
            let layout = format!("kp.make_smem_layout_{name}(mma, ({rows}, {k}), {stages})");
            lines.add(format!("layout_{name} = {layout}"));
            lines.add(format!("tiles_{name} = kp.shared(a.element_type, layout_{name})"));
            if matches!(self.fill, Fill::Boxes { .. }) {
                lines.add(format!("from_{name} = kp.make_tma({name}, layout_{name})"));
            }
        }
        if self.is_boxed {
            lines.add(format!("layout_c = kp.make_layout(({m}, {n}), stride=({n}, 1))"));
            lines.add("to_c = kp.make_tma(c, layout_c)");
            lines.add(format!("tile_c = kp.shared({sums}, layout_c)"));
        }
    }

    fn loops(&self, lines: &mut Lines) {
        let [m, n, k] = self.tile;
        lines.add(format!("rows = kp.ceil_div(a.shape[0], {m})"));
        lines.add(format!("columns = kp.ceil_div(b.shape[0], {n})"));
        lines.add(format!("steps = kp.ceil_div(a.shape[1], {k})"));
        lines.add("numbers = range(kp.block_idx()[0], rows * columns, kp.grid_dim()[0])");
    }
}
