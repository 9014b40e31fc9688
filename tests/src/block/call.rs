// SPDX-License-Identifier: Apache-2.0
//! `call`: a call of the function, in the form that [`value::text`](crate::value::text) reads. It
//! must be accepted unless a `fault` follows.
//!
//! Where a tensor does not say how it arrives, the call is made both ways. Whoever is called must
//! say the same every time.

use super::{Kind, Role};
use crate::callee::{Callee, Outcome};
use crate::memory::Arguments;
use crate::value::text::parse_call;
use crate::value::{Arrival, Value};

pub(super) const KIND: Kind = Kind { info: "call", role: Role::Call(call) };

fn call(text: &str, callees: &mut [&mut dyn Callee]) -> Result<Outcome, String> {
    let values = parse_call(text)?;
    let arrivals: &[Arrival] = match values.iter().any(Value::has_two_arrivals) {
        true => &[Arrival::Tensor, Arrival::DLTensor],
        false => &[Arrival::Tensor],
    };
    let mut outcomes = Vec::new();
    for arrival in arrivals {
        let arguments = Arguments::new(&values, *arrival);
        for callee in callees.iter_mut() {
            let who = format!("{} ({arrival:?})", callee.name());
            outcomes.push((who, callee.call(&arguments)));
        }
    }
    let first = outcomes[0].1.clone();
    let broken = outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Broken(_)));
    if broken || outcomes.iter().any(|(_, outcome)| *outcome != first) {
        let lines = outcomes.iter().map(|(who, outcome)| format!("{who}: {outcome}"));
        return Err(lines.collect::<Vec<_>>().join("\n"));
    }
    Ok(first)
}
