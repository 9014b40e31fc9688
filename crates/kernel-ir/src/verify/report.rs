// SPDX-License-Identifier: Apache-2.0
//! Problems of a kernel as diagnostics. One that is shown at the place where the kernel's author
//! wrote the operation says no more; where nobody wrote it in a text of the table, the message
//! names the operation. What is wrong with an operation of the library's is told at its call.

use crate::kernel::{BY_LIBRARY, Kernel, Place, PlaceData};
use crate::op::{Op, OpKind};
use crate::text;
use kernpack_syntax::{Diagnostic, Diagnostics};

pub(super) struct Report<'k> {
    pub kernel: &'k Kernel,
    problems: Diagnostics,
}

/// How many of the rows behind the first are named.
const MOST_OTHERS: usize = 3;

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
        if self.is_in_library(op.place) {
            let written = self.kernel.place(op.place).span;
            problem = problem.mark(written, BY_LIBRARY);
        }
        self.problems.push(problem);
    }

    /// Something is wrong that is about all of the kernel, and seen where these places are.
    pub fn at_places(&mut self, problem: Diagnostic, places: &[(Place, String)]) {
        let mark = |problem, (place, label): &(Place, String)| self.mark(problem, *place, label);
        let mut problem = places.iter().fold(problem, mark);
        if problem.labels.is_empty() {
            problem.message = format!("kernel `{}`: {}", self.kernel.name, problem.message);
        }
        self.problems.push(problem);
    }

    /// Whether it is a function of the library that has what is at a place.
    pub fn is_in_library(&self, place: Place) -> bool {
        self.user_place(place) != self.kernel.places.get(place.index())
    }

    /// Where somebody wrote what is at a place: what the library does, its caller does.
    fn user_place(&self, place: Place) -> Option<&PlaceData> {
        (place.index() < self.kernel.places.len()).then(|| self.kernel.place_of_user(place))
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
        self.user_place(place).is_some_and(|data| data.span.text.is_some())
    }

    /// A label at a place, where it is in a text of the table.
    pub fn mark(&self, problem: Diagnostic, place: Place, label: &str) -> Diagnostic {
        match self.user_place(place) {
            Some(data) => problem.mark(data.span, label),
            None => problem,
        }
    }

    /// The rows that operations behind the first call, and where they are, each once.
    pub fn others(&self, ops: &[&Op]) -> Option<String> {
        let told = |op: &&Op| {
            let line = self.line(op.place).map_or(String::new(), |line| format!(" at {line}"));
            let OpKind::Call(call) = &op.kind else { return None };
            Some(format!("`{}`{line}", call.intrinsic.name))
        };
        let mut all: Vec<String> = Vec::new();
        for one in ops.iter().filter_map(told) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        let others = all.get(1..).filter(|others| !others.is_empty())?;
        let shown = others.iter().take(MOST_OTHERS).cloned().collect::<Vec<_>>().join(", ");
        match others.len().checked_sub(MOST_OTHERS).filter(|more| *more > 0) {
            Some(more) => Some(format!("{shown} and {more} more")),
            None => Some(shown),
        }
    }

    /// `file:line` of a place, where somebody wrote it.
    pub fn line(&self, place: Place) -> Option<String> {
        let data = self.user_place(place)?;
        let file = self.kernel.files.get(data.file?.index())?;
        Some(format!("{file}:{}", data.line))
    }

    /// Each operation of the kernel, in the order of its text.
    pub fn each_op(&mut self, mut visit: impl FnMut(&mut Report<'k>, &'k Op)) {
        let kernel = self.kernel;
        kernel.body.for_each(&mut |op| visit(self, op));
    }
}
