// SPDX-License-Identifier: Apache-2.0
//! The lines of source that a module's instructions come from.

use crate::llvm::{Emitter, Function, KernelLine, Lines, Place as Line};
use kernpack_kernel_ir::kernel::{Kernel, Place};
use kernpack_kernel_ir::op::Region;

/// The lines of a module.
pub(super) struct KernelLines<'c> {
    lines: Lines<'c>,
    /// Of each kernel, the number in the module of each of its files.
    files: Vec<Vec<usize>>,
}

/// The lines of one of its kernels.
pub(super) struct OfKernel<'c, 'l> {
    of: &'l KernelLines<'c>,
    number: usize,
}

impl<'c> KernelLines<'c> {
    pub(super) fn new(emitter: &Emitter<'c>, kernels: &[&Kernel]) -> KernelLines<'c> {
        let mut names: Vec<&str> = Vec::new();
        let mut number = |name| {
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        let files: Vec<Vec<usize>> = kernels
            .iter()
            .map(|kernel| kernel.files.iter().map(|file| number(file)).collect())
            .collect();
        // A kernel that nobody wrote has its name for a file.
        let own: Vec<_> = kernels
            .iter()
            .map(|kernel| {
                let first = first_place(kernel, &kernel.body);
                let file = first.and_then(|place| kernel.place(place).file);
                let line = first.map_or(1, |place| kernel.place(place).line.max(1));
                (file, line)
            })
            .collect();
        let lines: Vec<_> = kernels
            .iter()
            .zip(&own)
            .enumerate()
            .map(|(at, (kernel, (file, line)))| KernelLine {
                name: &kernel.name,
                file: file.map_or_else(|| number(&kernel.name), |file| files[at][file.index()]),
                line: *line,
            })
            .collect();
        let lines = Lines::new(emitter, &names, &lines);
        KernelLines { lines, files }
    }

    pub(super) fn of(&self, number: usize) -> OfKernel<'c, '_> {
        OfKernel { of: self, number }
    }
}

impl<'c> OfKernel<'c, '_> {
    pub(super) fn begin(&self, emitter: &Emitter<'c>, function: Function<'c>) {
        self.of.lines.begin(emitter, function, self.number);
    }

    /// Sets the place of code from now on. Code without a place belongs to what was before.
    pub(super) fn at(&self, emitter: &Emitter<'c>, kernel: &Kernel, place: Place) {
        let data = kernel.place(place);
        if let Some(file) = data.file {
            let file = self.of.files[self.number][file.index()];
            let place = Line { file, line: data.line, column: data.column };
            self.of.lines.at(emitter, self.number, place);
        }
    }
}

/// The first place of a region that somebody wrote.
fn first_place(kernel: &Kernel, region: &Region) -> Option<Place> {
    let places = region.0.iter().map(|op| op.place);
    places.into_iter().find(|place| kernel.place(*place).file.is_some())
}
