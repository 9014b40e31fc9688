// SPDX-License-Identifier: Apache-2.0
//! `plan`: the checks of the function, step by step.

use super::{Kind, Role, Shown};

pub(super) const KIND: Kind = Kind { info: "plan", role: Role::Show(show) };

fn show(shown: &Shown<'_>) -> Result<String, String> {
    match &shown.subject.plan {
        Ok(plan) => Ok(plan.to_string().trim_end().to_string()),
        Err(diagnostics) => Err(diagnostics.to_string()),
    }
}
