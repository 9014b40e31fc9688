// SPDX-License-Identifier: Apache-2.0
//! `signature`: the function that the blocks up to the next one are about. One with problems must be followed by a `diagnostic`.

use super::{Kind, Role};
use crate::subject::Subject;

pub(super) const KIND: Kind = Kind { info: "signature", role: Role::Begin(read) };

fn read(text: &str) -> Result<Subject, String> {
    let subject = Subject::new(text);
    if subject.plan.is_ok() && !subject.reads_back() {
        return Err(format!("`{}` does not read back as the same signature", subject.signature));
    }
    Ok(subject)
}
