// SPDX-License-Identifier: Apache-2.0
//! Keys of a kernel that Triton compiled: beside the cubin lies a JSON
//! file, and what that says of the launch, the package file does not say. The JSON itself is not
//! opened here.

use super::fields::{Fields, Reader};
use crate::triton_launch;
use kernpack_syntax::{Diagnostic, Placed};
use kernpack_validators::LaunchFlag;
use std::path::PathBuf;

/// The key that names the cubin.
pub(super) const KEY: &str = "triton";

/// The keys of a layout and of its `attr` that the JSON says beside its flags, and what it says of
/// them.
const SAID: &[(&str, &str)] = &[
    ("block", "32 threads for each of `num_warps`"),
    ("smem", "`shared`"),
    ("cluster", "`num_ctas`"),
];

/// Where the JSON lies: where `json` says, else next to the cubin.
pub(super) fn json(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    cubin: Option<&Placed<PathBuf>>,
) -> Option<Placed<PathBuf>> {
    match fields.take("json") {
        Some(value) => reader.text("json", value).map(|text| reader.path(&text)),
        None => cubin.map(|cubin| Placed::new(cubin.with_extension("json"), cubin.span)),
    }
}

/// Reports what the JSON says already.
pub(super) fn refuse_said(reader: &mut Reader<'_>, fields: &Fields<'_>) {
    let said = SAID.iter().map(|(key, says)| (*key, says.to_string()));
    let flags = LaunchFlag::ALL.iter().filter_map(|flag| {
        let json_key = triton_launch::flag_key(*flag)?;
        Some((flag.key(), format!("`{json_key}`")))
    });
    for (key, says) in said.chain(flags).filter(|(key, _)| fields.has(key)) {
        let message = format!("`{key}` is what Triton's JSON says: {says}");
        let problem = Diagnostic::new("conflict", message).label(fields.place(key), "said twice");
        reader.report(problem.help(format!("remove `{key}`")));
    }
}

#[cfg(test)]
mod tests;
