// SPDX-License-Identifier: Apache-2.0
//! Rules of well-formed plans. A failure is a bug of kernpack's, never the user's.
//!
//! This is the contract between those who make plans and those who read them. What is accepted
//! here, every reader handles: printing, interpreting, lowering to code and lowering to a program
//! for the runtime neither panic on it nor disagree about it. So a reader may rely on each of these
//! rules, and on nothing else.
//!
//! Of expressions (`expr`):
//!
//! 1. An operand has a smaller number than the expression it stands in: expressions are acyclic.
//! 2. Operands have the types that their operation wants: conditions are bools, everything else is
//!    an integer, but for texts, which are compared with constants; the branches of a `select`
//!    agree.
//! 3. Only an addition, a subtraction or a multiplication is asked whether it overflows.
//! 4. What rounds a float rounds it to `float16`, `bfloat16` or `float32`.
//! 5. The arguments, and a sum of them and a number, are addresses to read from; what is known of
//!    the device is read as elements, of which there is one for each [`DeviceFact`], and behind
//!    them at most one for each launch. Nothing computes with these addresses, and no step uses
//!    them.
//! 6. An element lies less than 2^32 bytes behind the first.
//!
//! Of steps (`step`), and of what follows them:
//!
//! 7. A value that is used exists, and has the type that is wanted.
//! 8. A value that a `when` yields is used only behind that step, in its block or inside it.
//! 9. A value is yielded once, by an expression made for it, and has the types of both its sources.
//! 10. What a `repeat` gives its steps is given by that step alone, by expressions made for it, and
//!     used only inside it. What it hands on has one type throughout.
//! 11. Blocks nest at most [`MAX_DEPTH`] deep, and at most [`MAX_REPEATS`] of them repeat: so a
//!     call ends.
//! 12. A fault has at most [`MAX_VALUES`] values, which are texts where they are shown as such, and
//!     else integers, and [`MAX_PARTS`] parts. No text, and no constant one, has a NUL in it.
//! 13. What is known of the device is used behind the step that asks. There is one at most, and it
//!     stands in no other step. Behind it, and in no other step either, launches on a GPU may be
//!     asked about. Each answer is one of the elements behind the facts, made for that step.
//!
//! Of what an accepted call does (`effect`):
//!
//! 14. The function's name is an identifier.
//! 15. Its values hold at the end of the plan; those that the device tells are two integers and a
//!     bool, and those of peers are integers.
//! 16. The arguments tell the call's device, and no step asks about it, where nothing is launched
//!     on a GPU: a package has code for that only where it has such launches.
//! 17. An allocation is aligned to a power of two.
//! 18. There is a number for the combination of dtypes where there are dtype variables, and only
//!     there. Each combination has a dtype for each variable, and there is one at least.
//! 19. Launches have ascending numbers. The combinations that one has kernels for exist and ascend,
//!     and where there are dtype variables, there is one at least.
//! 20. A kernel's argument is a scalar of a type that C has, a result or a workspace that exists,
//!     the stream, or a struct of these that has a field.
//! 21. The status of a host function is a value made for it, which only its own fault uses.
//! 22. Only a launch on a GPU passes tensor maps, each as an argument of its own: of an address,
//!     with a stride, a box and a step for each of 1 to [`MOST_RANK`] dims (the innermost has no
//!     stride), and with choices that the driver has.
//!
//! One rule cannot be seen here: a load is evaluated only where the steps and conditions before it
//! have made it safe. Where something is read through an address, everything that the plan reads
//! through that address may be read. The sources of what a `when` yields elsewhere are evaluated in
//! any case.
//!
//! [`DeviceFact`]: super::DeviceFact
//! [`MOST_RANK`]: kernpack_machine::tensor_map::MOST_RANK

mod effect;
mod expr;
mod step;
#[cfg(test)]
mod tests;

use super::{Plan, Type, Value};
use crate::fault::{Fault, Part};
use std::fmt;

/// The most values that a fault may print.
pub const MAX_VALUES: usize = 32;
/// The most pieces that a fault may have.
pub const MAX_PARTS: usize = 64;
/// How deep steps may stand in steps.
pub const MAX_DEPTH: usize = 256;
/// How many `repeat`s may stand in one another.
pub const MAX_REPEATS: usize = 2;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The subject: a value, a launch, an allocation.
    pub place: String,
    /// The problem.
    pub message: &'static str,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed plan: {} {}", self.place, self.message)
    }
}

impl std::error::Error for VerifyError {}

impl Plan {
    /// Checks the rules that this module opens with.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let findings = expr::verify(self)?;
        let mut scope = step::Scope::new(self, findings);
        scope.block(&self.steps)?;
        effect::verify(self, &mut scope)
    }
}

/// The findings of the rules of expressions about each.
struct Findings {
    types: Vec<Type>,
    /// Whether it is an address that nothing computes with.
    is_address: Vec<bool>,
}

fn error(value: Value, message: &'static str) -> VerifyError {
    VerifyError { place: format!("{value:?}"), message }
}

fn require(holds: bool, place: impl FnOnce() -> String, message: &'static str) -> Verified {
    if holds { Ok(()) } else { Err(VerifyError { place: place(), message }) }
}

/// A fault of which the table of a package has room, and the runtime too.
fn fault(of: Value, fault: &Fault) -> Verified {
    if fault.values().count() > MAX_VALUES || fault.parts.len() > MAX_PARTS {
        return Err(error(of, "has a fault with too many parts"));
    }
    let has_nul = |part: &Part| matches!(part, Part::Text(text) if text.contains('\0'));
    match fault.parts.iter().any(has_nul) {
        true => Err(error(of, "has a fault with a NUL in its text")),
        false => Ok(()),
    }
}

type Verified = Result<(), VerifyError>;
