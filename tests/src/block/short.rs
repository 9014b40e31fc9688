// SPDX-License-Identifier: Apache-2.0
//! `short`: the short form of the signature, as messages have it.

use super::{Kind, Role, Shown};

pub(super) const KIND: Kind = Kind { info: "short", role: Role::Show(|shown| Ok(show(shown))) };

fn show(shown: &Shown<'_>) -> String {
    shown.subject.signature.short()
}
