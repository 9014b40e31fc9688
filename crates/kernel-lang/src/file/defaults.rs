// SPDX-License-Identifier: Apache-2.0
//! Defaults of parameters of a running program: Python has evaluated them where it defined the
//! function, among names that may be gone or have other values by now. So the program captures each
//! value, by the parameter's name and `=`, which is no name of Python's.

use super::Global;
use crate::python::tree::{Expr, ExprKind, Function, Name};
use std::collections::HashMap;
use std::sync::Arc;

/// The name that the default of a parameter is captured by.
fn captured_name(parameter: &str) -> Name {
    format!("{parameter}=").into()
}

/// A function whose defaults are the values that a program has captured for them, among the names
/// of its file.
pub(super) fn given(function: &Arc<Function>, names: &HashMap<Name, Global>) -> Arc<Function> {
    let is_given = |name: &Name| names.contains_key(&captured_name(name));
    if !function.params.iter().any(|param| is_given(&param.name.name)) {
        return function.clone();
    }
    let mut function = Function::clone(function);
    for param in &mut function.params {
        let name = &param.name.name;
        if let Some(default) = param.default.as_mut().filter(|_| is_given(name)) {
            default.kind = ExprKind::Name(captured_name(name));
        }
    }
    Arc::new(function)
}

/// The same of a lambda; anything else as it is.
pub(super) fn given_to_value(value: &Expr, names: &HashMap<Name, Global>) -> Expr {
    let ExprKind::Lambda(function) = &value.kind else { return value.clone() };
    Expr { kind: ExprKind::Lambda(given(function, names)), span: value.span }
}
