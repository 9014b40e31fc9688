// SPDX-License-Identifier: Apache-2.0
//! `beside`: a file that the kernels above import. Its first line is a comment with its name.

use super::{Kind, Role};
use crate::kernel_text::KernelText;

pub(super) const KIND: Kind = Kind { info: "beside", role: Role::Kernels(show) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    let head = text.lines().next().unwrap_or_default();
    let name = head.strip_prefix("# ").ok_or("expected a comment with the name of the file")?;
    file.put_beside(name, text);
    Ok(text.to_string())
}
