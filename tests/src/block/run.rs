// SPDX-License-Identifier: Apache-2.0
//! `run`: launches of the kernels above, each with what came of it. Checked kernels find the same
//! indices outside.
//! `checked`: the same of kernels that check their indices as they run.

use super::{Kind, Role};
use crate::kernel_text::{KernelText, call};

pub(super) const KIND: Kind = Kind { info: "run", role: Role::Kernels(show) };
pub(super) const CHECKED: Kind = Kind { info: "checked", role: Role::Kernels(show_checked) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    call::rewritten_as_checked(file, text)
}

fn show_checked(file: &mut KernelText, text: &str) -> Result<String, String> {
    let checked = file.checked().ok_or("kernels as operations are checked where they say so")?;
    call::rewritten(&checked, text)
}
