// SPDX-License-Identifier: Apache-2.0
//! Which names a function can have: `module.name` has to find it, and its symbols must not mean
//! something else.

use kernpack_syntax::{Diagnostic, Diagnostics, Span};

/// Beginnings that libtvm_ffi gives a meaning of its own, in front of a symbol's name or in place
/// of it; and what kernpack does.
const PREFIXES: &[&str] = &["_library", "_metadata_", "_doc_", "_cubin_", "kernpack_"];

/// The names that a module has already: the attributes of the Python class `tvm_ffi.Module` in
/// apache-tvm-ffi
/// 0.1.0 and 0.1.15, but for those that begin with two underscores. A test compares.
const MODULE_ATTRIBUTES: &[&str] = &[
    "_abc_impl",
    "_move",
    "clear_imports",
    "entry_name",
    "get_function",
    "get_function_doc",
    "get_function_metadata",
    "get_property_mask",
    "get_write_formats",
    "id_",
    "implements_function",
    "import_module",
    "imports",
    "imports_",
    "inspect_source",
    "is_",
    "is_binary_serializable",
    "is_compilation_exportable",
    "is_runnable",
    "kind",
    "same_as",
    "write_to_file",
];

/// Reports a name that a function cannot have.
pub(super) fn check(name: &str, span: Span, diagnostics: &mut Diagnostics) {
    let (message, why) = if let Some(prefix) = PREFIXES.iter().find(|p| name.starts_with(**p)) {
        let message = format!("a function's name cannot start with `{prefix}`");
        (message, "its symbol would mean something else")
    } else if name.starts_with("__") || MODULE_ATTRIBUTES.contains(&name) {
        let message = format!("a function cannot have the name `{name}`");
        (message, "in Python, a module has an attribute of this name already")
    } else {
        return;
    };
    let problem = Diagnostic::new("reserved-name", message).label(span, why);
    diagnostics.push(problem.help("choose another name"));
}
