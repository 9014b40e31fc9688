// SPDX-License-Identifier: Apache-2.0
//! `workspace`: memory that a call allocates for its launches, one a line: `scratch: Tensor([m],
//! float32)`.

use super::{Kind, Role};
use crate::subject::Subject;
use kernpack_syntax::Placed;
use kernpack_validators::{Workspace, parse_tensor};

pub(super) const KIND: Kind = Kind { info: "workspace", role: Role::Add(read) };

fn read(text: &str, subject: &mut Subject) -> Result<(), String> {
    let block = subject.add_text("workspace", text);
    let mut start = 0;
    for line in text.lines() {
        let (name, tensor) = line.split_once(':').ok_or("expected `name: Tensor(…)`")?;
        let end = start + line.len();
        let block = subject.texts.snippet(block);
        let behind = block.piece(end - tensor.trim_start().len(), end);
        let before = block.piece(start, start + name.len());
        start = end + 1;
        let tensor = parse_tensor(behind).map_err(|diagnostics| diagnostics.to_string())?;
        subject.workspaces.push(Workspace {
            name: Placed::new(name.trim().to_string(), before.span),
            tensor: Placed::new(tensor, behind.span),
        });
    }
    subject.plan_again();
    Ok(())
}
