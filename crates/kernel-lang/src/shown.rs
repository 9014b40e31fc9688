// SPDX-License-Identifier: Apache-2.0
//! `kp.print_type(…)`: values as they are told while compiling, in kernels and packed functions
//! alike: types, layouts and tensors, and constants as they are written. What is told is a note
//! among the diagnostics, once for each place and text.
//!
//! Not here: which parts a value has, as each walker has values of its own.

use kernpack_kernel_ir::{Scalar, Space};
use kernpack_syntax::{Diagnostic, Span};
use std::fmt;

/// The parameters of the function.
pub(crate) const TAKES: &[&str] = &["*values"];

/// A tensor in memory.
pub(crate) fn tensor(
    element: Scalar,
    (space, align): (Space, u32),
    is_written: bool,
    layout: impl fmt::Display,
) -> String {
    let written = if is_written { ", mut" } else { "" };
    format!("tensor<{element}, {space}, align {align}{written}> {layout}")
}

/// A tuple, of which items may have names.
pub(crate) fn tuple<'n>(items: impl Iterator<Item = (Option<&'n str>, String)>) -> String {
    let items = items.map(|(name, item)| match name {
        Some(name) => format!("{name}={item}"),
        None => item,
    });
    let items: Vec<_> = items.collect();
    match &items[..] {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

/// A truth value.
pub(crate) fn truth(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

/// The note that tells values at a place, with a label there.
pub(crate) fn note(values: &[String], span: Span, label: &str) -> Diagnostic {
    Diagnostic::note("print", values.join(" ")).label(span, label)
}
