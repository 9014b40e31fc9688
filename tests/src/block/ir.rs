// SPDX-License-Identifier: Apache-2.0
//! `ir`: kernels and functions as operations, which the blocks below are about: `verified`, and `run`,
//! which launches a kernel.

use super::{Kind, Role};
use crate::kernel_text::KernelText;

pub(super) const KIND: Kind = Kind { info: "ir", role: Role::Kernels(show) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    *file = KernelText::of_operations(text);
    Ok(text.to_string())
}
