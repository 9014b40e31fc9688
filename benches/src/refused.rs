// SPDX-License-Identifier: Apache-2.0
//! Refused calls from C, against an entry point in C that does nothing but have libtvm_ffi raise an
//! error of as many parts, whose texts are all there.
//!
//! libtvm_ffi walks the stack for its error, which is nearly all of what that costs; ours has its
//! backtrace with it.

use crate::call::{Arg, Call, float};
use crate::ffi::Raise;
use crate::figure::{Figure, Target};
use crate::series::interleave;
use crate::subject::{Sides, Subject};
use anyhow::{Result, anyhow};
use kernpack_ffi_abi::TypeIndex;

const N_ROUNDS: usize = 101;
/// Calls in a sample: each takes microseconds.
const N_CALLS: u32 = 20;

/// Pieces of the reference's message: the most that these messages have.
const N_PARTS: usize = 8;

/// The most that a refused call may cost of that.
const TARGET: Target = Target::Ratio(0.10);

/// Calls that are refused by the first argument's type, by the last tensor, and by the last of many
/// arguments: for its type, and for a value that has many digits.
///
/// # Errors
/// Where an entry point is missing.
pub fn measure(sides: &Sides) -> Result<Vec<Figure>> {
    let mut mismatch = Subject::AddOne.accepted();
    if let Arg::Tensor(tensor) = &mut mismatch[1] {
        tensor.shape = vec![128];
    }
    let mut no_tensor = Subject::AddOne.accepted();
    no_tensor[0] = float(1.0);
    let mut no_float = Subject::Blend.accepted();
    no_float[18] = Arg::Plain(TypeIndex::NONE, 0);
    let mut too_large = Subject::Blend.accepted();
    too_large[18] = float(1.2345678901234567e300);
    let cases = [
        ("an extent that does not match", Subject::AddOne, mismatch),
        ("no tensor", Subject::AddOne, no_tensor),
        ("no float, behind 18 arguments", Subject::Blend, no_float),
        ("a float that is too large", Subject::Blend, too_large),
    ];
    cases.into_iter().map(|(title, subject, args)| refusal(sides, title, subject, &args)).collect()
}

fn refusal(sides: &Sides, title: &str, subject: Subject, args: &[Arg]) -> Result<Figure> {
    let call = Call::new(args);
    let ours = sides.ours.entry_point(subject.name())?;
    let raised = ours.call(&call).err().ok_or_else(|| anyhow!("{title}: the call is accepted"))?;
    let reference = sides.reference.entry_point("raise")?;
    let raise = Raise::new(&raised.kind, &parts(&raised.message));
    Figure::measure(format!("refused call from C, {title}"), "us", TARGET, || {
        let ours = || ours.time_refused(&call, N_CALLS) / 1e3;
        let reference = || raise.time(reference, N_CALLS) / 1e3;
        Ok(interleave(N_ROUNDS, ours, reference))
    })
}

/// A message cut into pieces.
fn parts(message: &str) -> Vec<&str> {
    let piece = message.len() / N_PARTS;
    let mut rest = message;
    let mut parts = Vec::new();
    while parts.len() + 1 < N_PARTS {
        let (part, tail) = rest.split_at(piece);
        parts.push(part);
        rest = tail;
    }
    parts.push(rest);
    parts
}
