// SPDX-License-Identifier: Apache-2.0
//! `fault`: the error that the call before raises: kind, name and message, with `SIG` for the short
//! form of the signature.

use super::{Kind, Role, Shown};
use crate::callee::Outcome;

pub(super) const KIND: Kind = Kind { info: "fault", role: Role::End(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    let Some(Outcome::Refused(refused)) = shown.outcome else {
        return Err("the call before is accepted".to_string());
    };
    let signature = format!("`{}`", shown.subject.signature.short());
    let message = refused.message.replacen(&signature, "`SIG`", 1);
    Ok(format!("{} {}: {message}", refused.kind, refused.fault.unwrap_or_default()))
}
