// SPDX-License-Identifier: Apache-2.0
//! One name, one thing: parameters, symbols and dtype variables share one name space.

use super::{Bindings, Declarations, Strength, Use};
use crate::param::is_keyword;
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use std::collections::{BTreeMap, HashSet};

impl Declarations {
    pub(super) fn check_names(
        &self,
        params: &[(String, Span)],
        bindings: &Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for (name, span) in params {
            if let Some(problem) = reserved(name) {
                diagnostics.push(
                    Diagnostic::new("reserved-name", format!("`{name}` {problem}"))
                        .label(*span, "used as a parameter's name")
                        .help("choose another name"),
                );
            }
            if seen.insert(name, *span).is_some() {
                diagnostics.push(clash(name, *span, "another parameter has that name"));
            }
        }
        for used in self.symbols.iter().filter(|used| used.name != used.path) {
            if reserved(&used.name).is_some() || used.name == "device" {
                diagnostics.push(
                    Diagnostic::new(
                        "reserved-name",
                        format!("`{}` is reserved and cannot be a symbol", used.name),
                    )
                    .label(used.span, "used as a symbol")
                    .help("choose another name"),
                );
            }
            let is_param = seen.contains_key(used.name.as_str());
            if is_param && !bindings.int_params.contains(&used.name) {
                diagnostics.push(clash(
                    &used.name,
                    used.span,
                    "the parameter of that name is no integer of at most 64 signed bits",
                ));
            }
        }
        self.check_stars(&seen, bindings, diagnostics);
        let is_param = |used: &&Use| used.strength == Strength::Param;
        let dtype_params = self.dtype_vars.iter().filter(is_param).map(|used| &used.name);
        let dtype_params: HashSet<_> = dtype_params.collect();
        for used in &self.dtype_vars {
            let is_symbol = bindings.symbols.contains_key(&used.name)
                || bindings.stars.contains_key(&used.name);
            let is_other =
                seen.contains_key(used.name.as_str()) && !dtype_params.contains(&used.name);
            if is_other || is_symbol {
                diagnostics.push(clash(
                    &used.name,
                    used.span,
                    "a dtype variable needs a name of its own",
                ));
            }
        }
        self.check_elements(bindings, diagnostics);
    }

    fn check_stars(
        &self,
        params: &BTreeMap<&str, Span>,
        bindings: &Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for used in &self.stars {
            if let Some(problem) = reserved(&used.name) {
                diagnostics.push(
                    Diagnostic::new("reserved-name", format!("`{}` {problem}", used.name))
                        .label(used.span, "used as a star's name")
                        .help("choose another name"),
                );
            }
            let is_symbol = bindings.symbols.contains_key(&used.name);
            if params.contains_key(used.name.as_str()) || is_symbol {
                let why = "stands for dims here, and for a value elsewhere";
                diagnostics.push(clash(&used.name, used.span, why).help(format!(
                    "rename one; the number of elements of `*{0}` is `{0}.numel`, that of dims `{0}.ndim`",
                    used.name
                )));
            }
        }
    }

    /// An element goes by its path: one that has the name of a symbol or dtype variable looks like
    /// what it is not.
    fn check_elements(&self, bindings: &Bindings, diagnostics: &mut Vec<Diagnostic>) {
        for (name, path, span) in &self.elements {
            let is_var = self.dtype_vars.iter().any(|used| used.name == *name);
            if is_var || bindings.symbols.contains_key(name) {
                let other = if is_var { "dtype variable" } else { "symbol" };
                let why = format!("its element `{path}` is not the {other} `{name}`");
                let problem = Diagnostic::new("name-clash", format!("`{name}` means two things"));
                let help = format!("rename one; the element is used as `{path}`");
                diagnostics.push(problem.label(*span, why).help(help));
            }
        }
    }
}

/// Why nothing may have that name, if so.
fn reserved(name: &str) -> Option<&'static str> {
    if is_keyword(name) {
        Some("is a keyword")
    } else if DType::parse(name).is_some() {
        Some("is a dtype")
    } else {
        None
    }
}

fn clash(name: &str, span: Span, why: &str) -> Diagnostic {
    Diagnostic::new("name-clash", format!("`{name}` means two things"))
        .label(span, why)
        .help("parameters, symbols and dtype variables share one name space: rename one")
}
