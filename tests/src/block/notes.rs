// SPDX-License-Identifier: Apache-2.0
//! `notes`: what the function and its kernels print while they are built, each with its place.

use super::{Kind, Role, Shown};

pub(super) const KIND: Kind = Kind { info: "notes", role: Role::Show(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    match &shown.subject.plan {
        Ok(_) => Ok(shown.subject.notes.in_texts(&shown.subject.texts)),
        Err(_) => Err("the function has problems: `diagnostic` shows what it prints".to_string()),
    }
}
