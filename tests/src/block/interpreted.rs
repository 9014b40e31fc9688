// SPDX-License-Identifier: Apache-2.0
//! `interpreted`: calls of packed functions of the `python` file above, each with what the
//! interpreter finds.

use super::{Kind, Role};
use crate::kernel_text::{KernelText, interpreted};

pub(super) const KIND: Kind = Kind { info: "interpreted", role: Role::Kernels(show) };

fn show(file: &mut KernelText, text: &str) -> Result<String, String> {
    interpreted::rewritten(file, text)
}
