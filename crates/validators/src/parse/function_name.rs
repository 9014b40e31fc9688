// SPDX-License-Identifier: Apache-2.0
//! Which names a function can have.

use kernpack_syntax::{Diagnostic, Diagnostics, Span};

/// Names that libtvm_ffi gives a meaning of their own, and those that C cannot have.
pub(super) fn check(name: &str, span: Span, diagnostics: &mut Diagnostics) {
    let reserved = ["_library", "_metadata_", "_doc_", "_cubin_", "kernpack_"];
    if let Some(prefix) = reserved.iter().find(|prefix| name.starts_with(**prefix)) {
        diagnostics.push(
            Diagnostic::new(
                "reserved-name",
                format!("a function's name cannot start with `{prefix}`"),
            )
            .label(span, "its symbol would mean something else")
            .help("choose another name"),
        );
    }
}
