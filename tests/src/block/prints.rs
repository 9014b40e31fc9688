// SPDX-License-Identifier: Apache-2.0
//! `prints`: the full form of the signature.

use super::{Kind, Role, Shown};

pub(super) const KIND: Kind = Kind { info: "prints", role: Role::Show(|shown| Ok(show(shown))) };

fn show(shown: &Shown<'_>) -> String {
    shown.subject.signature.to_string()
}
