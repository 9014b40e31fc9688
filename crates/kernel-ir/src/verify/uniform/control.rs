// SPDX-License-Identifier: Apache-2.0
//! How alike threads get somewhere, and what makes them differ.

use crate::intrinsic::{Intrinsic, Level};
use crate::kernel::Place;
use crate::op::{Jump, Op, OpKind};
use crate::verify::report::Report;
use kernpack_syntax::Diagnostic;

/// How alike threads get to an operation: all those of a group of that level do at once, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub level: Level,
    pub cause: Option<Cause>,
}

/// A condition that parts threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cause {
    pub kind: CauseKind,
    /// Where the condition is.
    pub place: Place,
    /// How alike it is.
    pub level: Level,
    /// The jump by which some threads have left.
    pub jump: Option<(Jump, Place)>,
}

/// The statement that has the condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CauseKind {
    If,
    Loop,
}

impl Control {
    /// Every thread of the grid.
    pub const ALL: Control = Control { level: Level::Grid, cause: None };

    /// The control of a condition of that level.
    pub const fn under(kind: CauseKind, place: Place, level: Level) -> Control {
        Control { level, cause: Some(Cause { kind, place, level, jump: None }) }
    }

    /// Where both have let through.
    pub fn meet(self, other: Control) -> Control {
        if other.level < self.level { other } else { self }
    }

    /// Of those that did not jump here.
    pub fn without(self, jump: Jump, place: Place) -> Control {
        // The first jump that parted threads is the one to tell of.
        let jumped = |cause: Cause| Cause { jump: cause.jump.or(Some((jump, place))), ..cause };
        Control { cause: self.cause.map(jumped), ..self }
    }
}

pub(super) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Thread => "thread",
        Level::Warp => "warp",
        Level::Warpgroup => "warpgroup",
        Level::Block => "block",
        Level::Cluster => "cluster",
        Level::Grid => "grid",
    }
}

/// Reports rows that not all threads get to that execute them together: each cause once, with the
/// first row that it keeps them from.
pub(super) fn report_divergent(report: &mut Report<'_>, divergent: &[(&Op, Control)]) {
    let mut causes: Vec<(Cause, Vec<&Op>)> = Vec::new();
    for (op, control) in divergent {
        let Some(cause) = control.cause else { continue };
        // Conditions that nobody has written anywhere are not told apart by their place.
        let is_it = |known: &Cause| *known == cause && cause.place != Place::NOWHERE;
        match causes.iter_mut().find(|(known, _)| is_it(known)) {
            Some((_, ops)) => ops.push(op),
            None => causes.push((cause, vec![op])),
        }
    }
    for (cause, ops) in causes {
        report_cause(report, cause, &ops);
    }
}

/// The row that an operation calls.
fn row_of(op: &Op) -> Option<&'static Intrinsic> {
    match &op.kind {
        OpKind::Call(call) => Some(call.intrinsic),
        _ => None,
    }
}

fn report_cause(report: &mut Report<'_>, cause: Cause, ops: &[&Op]) {
    let Some((op, row)) = ops.first().and_then(|op| Some((*op, row_of(op)?))) else { return };
    let group = level_name(row.uniform);
    // Who calls the library knows no row of it.
    let (name, it) = match report.is_in_library(op.place) {
        true => ("this call".to_string(), "it".to_string()),
        false => (format!("`{}`", row.name), format!("`{}`", row.name)),
    };
    let on = level_name(cause.level);
    let at = |place: Place| report.line(place).map_or(String::new(), |line| format!(" at {line}"));
    let depends = match cause.kind {
        CauseKind::If => format!("the `if`{} depends on the {on}", at(cause.place)),
        CauseKind::Loop => {
            let line = at(cause.place);
            format!("how often the loop{line} runs depends on the {on}")
        }
    };
    let (reason, help) = match cause.jump {
        None => (depends, format!("move {it} to where every thread of the {group} comes by")),
        Some((jump, place)) => {
            let (jump, line) = (jump.name(), at(place));
            let reason = format!("some leave by the `{jump}`{line}, as {depends}");
            let help =
                format!("in place of the `{jump}`, put what only some threads do into an `if`");
            (reason, help)
        }
    };
    let message = format!("not every thread of a {group} gets to {name}: {reason}");
    let label = match cause.kind {
        CauseKind::If => format!("this condition depends on the {on}"),
        CauseKind::Loop => format!("how often this runs depends on the {on}"),
    };
    let mut problem = Diagnostic::new("divergent", message).help(help);
    problem = report.mark(problem, cause.place, &label);
    if let Some((_, place)) = cause.jump {
        problem = report.mark(problem, place, "some threads leave here");
    }
    if let Some(others) = report.others(ops) {
        problem = problem.detail(format!("nor to {others}"));
    }
    report.push(op, problem, &format!("every thread of the {group} has to get here"));
}
