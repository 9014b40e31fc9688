// SPDX-License-Identifier: Apache-2.0
//! Defaults of parameters of a running program: Python has evaluated them where it defined the
//! function, among names that may be gone or have other values by now. So the program captures each
//! value, by the parameter's name and `=`, which is no name of Python's. Constants of a class are
//! captured so, too, and the defaults of its methods with the method's name in front.

use super::Global;
use crate::python::tree::{Class, Expr, ExprKind, Function, Method, Name};
use std::collections::HashMap;
use std::sync::Arc;

/// The name that the default of a parameter is captured by, or a constant.
fn captured_name(parameter: &str) -> Name {
    format!("{parameter}=").into()
}

/// A class whose constants, and defaults of methods, are the values that a program has captured.
pub(super) fn given_to_class(class: &Arc<Class>, names: &HashMap<Name, Global>) -> Arc<Class> {
    let mut class = Class::clone(class);
    for (constant, value) in &mut class.constants {
        let captured = captured_name(&constant.name);
        if names.contains_key(&captured) {
            value.kind = ExprKind::Name(captured);
        }
    }
    for Method { function, .. } in &mut class.methods {
        let of = format!("{}.", function.name.name);
        *function = given_as(function, &of, names);
    }
    Arc::new(class)
}

/// A function whose defaults are the values that a program has captured for them, among the names
/// of its file.
pub(super) fn given(function: &Arc<Function>, names: &HashMap<Name, Global>) -> Arc<Function> {
    given_as(function, "", names)
}

/// The same, where something stands in front of the names.
fn given_as(function: &Arc<Function>, of: &str, names: &HashMap<Name, Global>) -> Arc<Function> {
    let captured = |name: &Name| captured_name(&format!("{of}{name}"));
    let is_given = |name: &Name| names.contains_key(&captured(name));
    if !function.params.iter().any(|param| is_given(&param.name.name)) {
        return function.clone();
    }
    let mut function = Function::clone(function);
    for param in &mut function.params {
        let name = &param.name.name;
        if let Some(default) = param.default.as_mut().filter(|_| is_given(name)) {
            default.kind = ExprKind::Name(captured(name));
        }
    }
    Arc::new(function)
}

/// The same of a lambda; anything else as it is.
pub(super) fn given_to_value(value: &Expr, names: &HashMap<Name, Global>) -> Expr {
    let ExprKind::Lambda(function) = &value.kind else { return value.clone() };
    Expr { kind: ExprKind::Lambda(given(function, names)), span: value.span }
}
