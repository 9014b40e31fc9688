// SPDX-License-Identifier: Apache-2.0
//! `verified`: what the verifier says of each kernel and function of the `ir` above.

use super::{Kind, Role};
use crate::kernel_text::KernelText;

pub(super) const KIND: Kind = Kind { info: "verified", role: Role::Kernels(show) };

fn show(file: &mut KernelText, _: &str) -> Result<String, String> {
    Ok(file.verdicts())
}
