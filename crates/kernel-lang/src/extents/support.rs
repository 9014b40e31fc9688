// SPDX-License-Identifier: Apache-2.0
//! Origins of a number, through whatever computes it: where threads are, what loops count, what
//! is read, and names of the call. Of a slot it is all that the slot is made anywhere, and what
//! decides whether it is.

use super::definition::{Definition, Definitions};
use super::form::{Form, Part};
use kernpack_kernel_ir::intrinsic::Geometry;
use kernpack_kernel_ir::kernel::{Slot, Value};
use kernpack_kernel_ir::op::Expr;
use std::collections::BTreeSet;

/// The most values that are gone through for a number.
const MOST_VALUES: usize = 1024;

/// Something that a number comes of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Where a thread is.
    Place(Geometry),
    /// The index of a loop.
    Index(Value),
    /// A slot.
    Slot(Slot),
    /// A number that is read, or comes from other threads.
    Data(Value),
}

impl Source {
    /// Whether nothing is known of it but what conditions say.
    pub fn is_data(self) -> bool {
        match self {
            Source::Place(place) => {
                matches!(place, Geometry::BlockDim(_) | Geometry::GridDim(_))
            }
            Source::Index(_) => false,
            Source::Slot(_) | Source::Data(_) => true,
        }
    }
}

/// The origins of a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Support {
    /// Those that are no numbers of the call.
    pub sources: BTreeSet<Source>,
    /// The names of the call's numbers.
    pub names: BTreeSet<String>,
    /// Whether there is more, which was not gone through.
    pub has_more: bool,
}

/// A step on the way back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Value(Value),
    Slot(Slot),
    Control(usize),
}

impl Support {
    /// That of a sum.
    pub fn of(definitions: &Definitions<'_>, form: &Form) -> Support {
        let mut support = Support::default();
        let steps = form.parts.keys().filter_map(|part| match part {
            Part::Value(value) => Some(Step::Value(*value)),
            Part::Slot(slot, _) => Some(Step::Slot(*slot)),
            Part::Place(geometry) => {
                support.sources.insert(Source::Place(*geometry));
                None
            }
        });
        let steps = steps.collect();
        support.go(definitions, steps);
        support
    }

    /// That of some values.
    pub fn of_values(definitions: &Definitions<'_>, values: &[Value]) -> Support {
        let mut support = Support::default();
        support.go(definitions, values.iter().map(|value| Step::Value(*value)).collect());
        support
    }

    fn go(&mut self, definitions: &Definitions<'_>, mut steps: Vec<Step>) {
        let mut seen = BTreeSet::new();
        while let Some(step) = steps.pop() {
            if seen.len() > MOST_VALUES {
                self.has_more = true;
                return;
            }
            if seen.insert(step) {
                self.step(definitions, step, &mut steps);
            }
        }
    }

    fn step(&mut self, definitions: &Definitions<'_>, step: Step, steps: &mut Vec<Step>) {
        match step {
            Step::Value(value) => self.value(definitions, value, steps),
            Step::Slot(slot) => {
                self.sources.insert(Source::Slot(slot));
                for put in definitions.puts(slot) {
                    steps.extend([Step::Value(put.value), Step::Control(put.control)]);
                }
            }
            Step::Control(number) => {
                let control = definitions.control_at(number);
                steps.extend(control.values.iter().map(|value| Step::Value(*value)));
                steps.push(Step::Control(control.around));
            }
        }
    }

    fn value(&mut self, definitions: &Definitions<'_>, value: Value, steps: &mut Vec<Step>) {
        match definitions.get(value) {
            Definition::Given(number) => {
                self.names.extend(definitions.given(number).1.iter().cloned());
            }
            Definition::Geometry(geometry) => {
                self.sources.insert(Source::Place(geometry));
            }
            Definition::Index => {
                self.sources.insert(Source::Index(value));
            }
            Definition::Expr(Expr::Load(_)) | Definition::Other => {
                self.sources.insert(Source::Data(value));
            }
            Definition::Expr(Expr::Get(slot)) => steps.push(Step::Slot(*slot)),
            Definition::Expr(expr) => expr.uses(&mut |used| steps.push(Step::Value(*used))),
        }
    }

    /// Whether it has a name of these.
    pub fn names_any(&self, names: &BTreeSet<String>) -> bool {
        !self.names.is_disjoint(names)
    }
}
