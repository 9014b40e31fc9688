// SPDX-License-Identifier: Apache-2.0
//! `diagnostic`: everything that is wrong with the function, each place with its line and column in
//! the block of the function, or in that of the name in front of it. In kernel files the line of
//! the import is counted.

use super::{Kind, Role, Shown};

pub(super) const KIND: Kind = Kind { info: "diagnostic", role: Role::Show(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    match &shown.subject.plan {
        Ok(_) => Err(format!("nothing is wrong with `{}`", shown.subject.signature)),
        Err(diagnostics) => Ok(diagnostics.in_texts(&shown.subject.texts)),
    }
}
