// SPDX-License-Identifier: Apache-2.0
//! `workspace`: memory that a call allocates for its launches, one a line: `scratch: Tensor([m],
//! float32)`.

use super::{Kind, Role};
use crate::subject::Subject;
use kernpack_validators::{Workspace, parse_tensor};

pub(super) const KIND: Kind = Kind { info: "workspace", role: Role::Add(read) };

fn read(text: &str, subject: &mut Subject) -> Result<(), String> {
    for line in text.lines() {
        let (name, tensor) = line.split_once(':').ok_or("expected `name: Tensor(…)`")?;
        let tensor = parse_tensor(tensor).map_err(|diagnostics| diagnostics.to_string())?;
        subject.workspaces.push(Workspace::new(name.trim(), tensor));
    }
    subject.plan_again();
    Ok(())
}
