// SPDX-License-Identifier: Apache-2.0
//! Keys of a kernel that Triton compiled: beside the cubin lies a JSON
//! file, and what that says of the launch, the package file does not say. The JSON itself is not
//! opened here.

use super::fields::{Fields, Reader};
use kernpack_syntax::{Diagnostic, Placed};
use std::path::PathBuf;

/// The key that names the cubin.
pub(super) const KEY: &str = "triton";

/// The keys of a layout and of its `attr` that the JSON says, and what it says of them.
const SAID: &[(&str, &str)] = &[
    ("block", "32 threads for each of `num_warps`"),
    ("smem", "`shared`"),
    ("cluster", "`num_ctas`"),
    ("cooperative", "`launch_cooperative_grid`"),
    ("pdl", "`launch_pdl`"),
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
    for (key, says) in SAID.iter().filter(|(key, _)| fields.has(key)) {
        let message = format!("`{key}` is what Triton's JSON says: {says}");
        let problem = Diagnostic::new("conflict", message).label(fields.place(key), "said twice");
        reader.report(problem.help(format!("remove `{key}`")));
    }
}

#[cfg(test)]
mod tests;
