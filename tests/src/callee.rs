// SPDX-License-Identifier: Apache-2.0
//! What can be called: the interpreter of a plan here, compiled code in [`module`](crate::module).

use crate::kernels;
use crate::memory::Arguments;
use crate::subject::Subject;
use kernpack_validators::Plan;
use kernpack_validators::plan::{self, interpret_with};
use std::fmt;

/// How a call ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Accepted.
    Accepted(Accepted),
    /// Refused with an error.
    Refused(Refused),
    /// Something that no function may do.
    Broken(String),
}

/// An error, as a caller sees it.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The fault's name; compiled code does not tell.
    pub fault: Option<&'static str>,
    /// The kind of the error.
    pub kind: String,
    /// The message.
    pub message: String,
}

impl PartialEq for Refused {
    fn eq(&self, other: &Refused) -> bool {
        self.kind == other.kind && self.message == other.message
    }
}

/// What an accepted call did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    /// What it launched, in order.
    pub launches: Vec<Launched>,
    /// The extents of each result that it allocated.
    pub results: Vec<Vec<i64>>,
}

/// A launch that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Its number in the function.
    pub number: usize,
    /// The combination of dtypes that its kernel is for: 0 where it is the same for all.
    pub combination: usize,
    /// What the kernel got, structs field by field.
    pub values: Vec<i64>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Accepted(Accepted { launches, results }) => {
                f.write_str("accepted")?;
                for extents in results {
                    write!(f, "; result {extents:?}")?;
                }
                for Launched { number, combination, values } in launches {
                    write!(f, "; launch {number} ({combination}): {values:x?}")?;
                }
                Ok(())
            }
            Outcome::Refused(Refused { kind, message, .. }) => write!(f, "{kind}: {message}"),
            Outcome::Broken(what) => write!(f, "broken: {what}"),
        }
    }
}

/// Something that takes calls.
pub trait Callee {
    /// What it is, for failures.
    fn name(&self) -> &'static str;

    /// Makes a call.
    fn call(&mut self, arguments: &Arguments) -> Outcome;
}

/// The interpreter of a plan. A kernel that fails is told as compiled code does.
pub struct Interpreter<'s> {
    plan: &'s Plan,
    statuses: &'s [Option<i32>],
}

impl<'s> Interpreter<'s> {
    /// The interpreter of a function without problems.
    pub fn new(subject: &'s Subject) -> Option<Interpreter<'s>> {
        let plan = subject.plan.as_ref().ok()?;
        Some(Interpreter { plan, statuses: &subject.statuses })
    }
}

impl plan::Kernels for Interpreter<'_> {
    fn status_of(&self, launch: usize) -> i32 {
        self.statuses[launch].unwrap_or(0)
    }
}

impl Callee for Interpreter<'_> {
    fn name(&self) -> &'static str {
        "interpreter"
    }

    fn call(&mut self, arguments: &Arguments) -> Outcome {
        let (args, n_args) = (arguments.address(), arguments.count());
        match interpret_with(self.plan, arguments, args, n_args, self) {
            plan::Outcome::Accepted(accepted) => {
                let combination = accepted.combination.unwrap_or(0) as usize;
                let launches = accepted.launches.into_iter();
                let launches = launches.map(|(number, values)| {
                    let values = kernels::with_addresses(self.plan, number, values);
                    Launched { number, combination, values }
                });
                let launches = launches.collect();
                Outcome::Accepted(Accepted { launches, results: accepted.results })
            }
            plan::Outcome::Refused(refused) => Outcome::Refused(Refused {
                fault: Some(refused.name),
                kind: refused.kind.to_string(),
                message: refused.message,
            }),
            plan::Outcome::NoDevice => Outcome::Broken("asked about a device".to_string()),
            plan::Outcome::Unreadable(address) => {
                Outcome::Broken(format!("read {address:#x}, which holds no argument"))
            }
        }
    }
}
