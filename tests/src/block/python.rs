// SPDX-License-Identifier: Apache-2.0
//! `python`: a file of kernels, which the blocks below are about; or, without a `def`, expressions,
//! each with what it gives.

use super::{Kind, Role};
use crate::kernel_text::{KernelText, expression};

pub(super) const KIND: Kind = Kind { info: "python", role: Role::Kernels(show) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    if !text.contains("def ") {
        return expression::rewritten(text);
    }
    *file = KernelText::new(text);
    Ok(text.to_string())
}
