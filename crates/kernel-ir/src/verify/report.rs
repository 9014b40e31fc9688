// SPDX-License-Identifier: Apache-2.0
//! Problems of a kernel as diagnostics. One that is shown at the place where the kernel's author
//! wrote the operation says no more; where nobody wrote it in a text of the table, the message
//! names the operation.

use crate::kernel::{Kernel, Place};
use crate::op::Op;
use crate::text;
use kernpack_syntax::{Diagnostic, Diagnostics};

pub(super) struct Report<'k> {
    pub kernel: &'k Kernel,
    problems: Diagnostics,
}

impl<'k> Report<'k> {
    pub fn new(kernel: &'k Kernel) -> Report<'k> {
        Report { kernel, problems: Diagnostics::default() }
    }

    /// The report again, as long as there is nothing in it.
    pub fn unless_wrong(mut self) -> Result<Report<'k>, Diagnostics> {
        self.problems.sort();
        std::mem::take(&mut self.problems).into_result().map(|()| self)
    }

    /// Something is wrong that is no operation's.
    pub fn malformed(&mut self, message: impl Into<String>) {
        let message = format!("kernel `{}`: {}", self.kernel.name, message.into());
        self.problems.push(Diagnostic::new("kernel-malformed", message));
    }

    /// An operation is wrong.
    pub fn malformed_op(&mut self, op: &Op, message: impl Into<String>) {
        self.push(op, Diagnostic::new("kernel-malformed", message), "");
    }

    /// Something is wrong with an operation.
    pub fn push(&mut self, op: &Op, mut problem: Diagnostic, label: &str) {
        if !self.has_span(op.place) {
            problem.message = format!("{}, in {}", problem.message, self.described(op));
        }
        problem = self.mark(problem, op.place, label);
        // What is shown first is what the problem is about.
        problem.labels.rotate_right(usize::from(self.has_span(op.place)));
        self.problems.push(problem);
    }

    /// The operation as text, and its line where that is known.
    fn described(&self, op: &Op) -> String {
        let text = format!("`{}`", text::first_line(self.kernel, op));
        match self.line(op.place) {
            Some(line) => format!("{text} at {line}"),
            None => text,
        }
    }

    fn has_span(&self, place: Place) -> bool {
        self.kernel.places.get(place.index()).is_some_and(|data| data.span.text.is_some())
    }

    /// A label at a place, where it is in a text of the table.
    pub fn mark(&self, problem: Diagnostic, place: Place, label: &str) -> Diagnostic {
        match self.kernel.places.get(place.index()) {
            Some(data) => problem.mark(data.span, label),
            None => problem,
        }
    }

    /// `file:line` of a place, where somebody wrote it.
    pub fn line(&self, place: Place) -> Option<String> {
        let data = self.kernel.places.get(place.index())?;
        let file = self.kernel.files.get(data.file?.index())?;
        Some(format!("{file}:{}", data.line))
    }

    /// Each operation of the kernel, in the order of its text.
    pub fn each_op(&mut self, mut visit: impl FnMut(&mut Report<'k>, &'k Op)) {
        let kernel = self.kernel;
        kernel.body.for_each(&mut |op| visit(self, op));
    }
}
