// SPDX-License-Identifier: Apache-2.0
//! `signature`: the function that the blocks up to the next one are about. One with problems must
//! be followed by a `diagnostic`.

use super::{Kind, Role};
use crate::subject::Subject;
use kernpack_validators::Plan;

pub(super) const KIND: Kind = Kind { info: "signature", role: Role::Begin(read) };

fn read(text: &str) -> Result<Subject, String> {
    let subject = Subject::new(text);
    if subject.plan.is_ok() && !subject.reads_back() {
        return Err(format!("`{}` does not read back as the same signature", subject.signature));
    }
    if let Some(line) = subject.plan.iter().map(unnamed).next().flatten() {
        return Err(format!("the plan shows a value without a name: {line}"));
    }
    Ok(subject)
}

/// A line of a plan in which a message shows a value by its number.
fn unnamed(plan: &Plan) -> Option<String> {
    let text = plan.to_string();
    let is_unnamed = |line: &&str| {
        let values = line.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let mut words = values.flat_map(|v| v.split(|c: char| !c.is_ascii_alphanumeric()));
        let number = |word: &str| word.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok());
        line.trim_start().starts_with("else ") && words.any(number)
    };
    text.lines().find(is_unnamed).map(str::to_string)
}
