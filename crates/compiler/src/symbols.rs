// SPDX-License-Identifier: Apache-2.0
//! Which symbols a package defines, and which it may leave undefined.

mod glibc;
mod library;
mod loading;

pub use loading::{check_alone, check_loading};

use crate::error::CompileError;
use crate::host_code::HostCode;
use kernpack_codegen::link::{self, Input, LinkError, UndefinedSymbol};
use kernpack_ffi_abi::{FUNCTION_PREFIX, imports};
use kernpack_package::source::SourceErrorKind;
use kernpack_package::target::Target;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};
use std::collections::BTreeSet;

/// Whether others may see the symbol: entry points, their metadata and documentation.
pub fn is_entry_point(symbol: &str) -> bool {
    symbol.starts_with(FUNCTION_PREFIX)
}

/// The symbols that the users' objects leave undefined beyond those that every package may, by
/// name.
pub fn needed_by_user(host: &HostCode) -> Vec<String> {
    let needs = host.modules.iter().flat_map(|module| &module.needs);
    let names: BTreeSet<_> = needs.map(|symbol| &symbol.name).collect();
    names.into_iter().filter(|name| !imports::is_allowed(name)).cloned().collect()
}

/// Refuses sources that need a symbol which only the package's own code defines. `inputs` are all
/// that is to be merged.
///
/// # Errors
/// Every such symbol, as a problem of the source.
pub fn check_reserved(host: &HostCode, inputs: &[Input<'_>]) -> Result<(), CompileError> {
    let defined = link::definitions(inputs)?;
    let mut problems = Diagnostics::default();
    for module in &host.modules {
        let reserved = module
            .needs
            .iter()
            .filter(|symbol| defined.contains(&symbol.name) && !is_entry_point(&symbol.name));
        for symbol in reserved {
            let message = format!(
                "{} needs the symbol `{}`, which is kernpack's own; define it in the source, or call it otherwise",
                quoted(&symbol.wanted_by),
                symbol.name
            );
            let problem = Diagnostic::new(SourceErrorKind::Symbol.code(), message);
            problems.push(module.of_needy(symbol, problem));
        }
    }
    Ok(problems.into_result()?)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Refuses an object with undefined symbols that are neither on the list nor a user's own.
///
/// # Errors
/// Every such symbol, with who wants it.
pub fn check_undefined(
    object: &[u8],
    inputs: &[Input<'_>],
    needs: &[String],
) -> Result<(), LinkError> {
    let undefined = link::undefined(object, inputs)?;
    let users = |symbol: &UndefinedSymbol| needs.contains(&symbol.name);
    link::gate(&undefined, &|symbol| imports::is_allowed(&symbol.name) || users(symbol))
}

/// The libraries to load first: libdl where GPU code has to find its driver (before glibc 2.34
/// `dlopen` is there), libm where an object wants one of its functions, and what the user names.
/// Each once.
pub fn libraries(
    needs: &[String],
    link: &[Placed<String>],
    on_gpu: bool,
    target: &Target,
) -> Vec<String> {
    let is_libm = |symbol: &String| {
        glibc::find(symbol, target).is_some_and(|known| known.library == glibc::Library::Libm)
    };
    let mut needed = Vec::new();
    if on_gpu {
        needed.push("libdl.so.2".to_string());
    }
    if needs.iter().any(is_libm) {
        needed.push("libm.so.6".to_string());
    }
    for Placed { value: name, .. } in link {
        if !needed.contains(name) {
            needed.push(name.clone());
        }
    }
    needed
}
