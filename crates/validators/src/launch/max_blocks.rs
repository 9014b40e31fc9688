// SPDX-License-Identifier: Apache-2.0
//! `launch.max_blocks`: how many blocks of a launch the call's device holds at once, for the grid
//! of that launch. A call asks behind its checks, and about launches that run.

use super::{GpuLaunch, Join, LaunchSpec};
use crate::expr::Name;
use crate::geometry::Geometry;
use crate::path::Path;
use crate::plan::{MAX_BLOCKS, Value};
use crate::planner::{Named, NamedKind};
use kernpack_syntax::Diagnostic;

impl Join<'_, '_> {
    /// How many blocks of a launch the device holds at once, where its grid names that.
    pub(super) fn ask_blocks(
        &mut self,
        index: usize,
        launch: &LaunchSpec,
        cond: Option<Value>,
    ) -> Option<Value> {
        let GpuLaunch { geometry, .. } = launch.on_gpu()?;
        let mut names = geometry.grid.iter().flat_map(|extent| extent.names());
        let named = names.find(|name| name.text == MAX_BLOCKS)?;
        if self.cx.named(MAX_BLOCKS).is_some() {
            let message = format!("`{MAX_BLOCKS}` means two things");
            let problem = Diagnostic::new("name-clash", message).at(named.span);
            self.diagnostics.push(problem.help("rename the parameter `launch`"));
            return None;
        }
        if !geometry.cluster.is_empty() {
            let message = format!("`{MAX_BLOCKS}` counts blocks, and launch {index} has clusters");
            let problem = Diagnostic::new("launch", message).at(named.span);
            self.diagnostics.push(problem.help("compute the grid from `device.sm_count`"));
        }
        let is_never = cond.is_some_and(|cond| self.cx.b.as_bool(cond) == Some(false));
        // Of a name without a value is told where the layout is planned.
        if is_never || !self.has_values(geometry) {
            return Some(self.cx.b.int(1));
        }
        let mut block = [self.cx.b.int(1); 3];
        for (extent, written) in block.iter_mut().zip(&geometry.block) {
            *extent = self.value(written).value;
        }
        let shared = self.value(&geometry.shared).value;
        Some(self.cx.b.ask_blocks(index, cond, block, shared))
    }

    /// Whether everything that blocks are computed from has a value.
    fn has_values(&self, geometry: &Geometry) -> bool {
        let exprs = geometry.block.iter().chain([&geometry.shared]);
        let is_known = |name: Name| self.no_integer(&name.text).is_none();
        exprs.flat_map(|expr| expr.names()).all(is_known)
    }

    /// Calls `plan` where `launch.max_blocks` has that value, if there is one.
    pub(super) fn knowing_blocks<T>(
        &mut self,
        max_blocks: Option<Value>,
        plan: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let Some(value) = max_blocks else { return plan(self) };
        let path = Path::argument(MAX_BLOCKS, 0);
        self.cx.define(Named::new(value, NamedKind::Int, &path));
        let planned = plan(self);
        self.cx.forget(MAX_BLOCKS);
        planned
    }
}
