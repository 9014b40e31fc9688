// SPDX-License-Identifier: Apache-2.0
//! `run`: launches of the kernels above, each with what came of it.

use super::{Kind, Role};
use crate::kernel_text::{KernelText, call};

pub(super) const KIND: Kind = Kind { info: "run", role: Role::Kernels(show) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    call::rewritten(file, text)
}
