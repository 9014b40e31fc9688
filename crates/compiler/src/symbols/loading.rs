// SPDX-License-Identifier: Apache-2.0
//! Symbols that the users' sources need of the process that loads a package, and whether they will
//! be there: a symbol that nothing has would end the process at the call that needs it.
//!
//! libtvm_ffi has it, or the C library, or a library that the package file names under `link`. What
//! only later versions have is told, and so is a library that is not on this machine.

use super::library::{Libraries, Search};
use super::{glibc, quoted};
use crate::host_code::{HostCode, HostModule};
use kernpack_codegen::link::UndefinedSymbol;
use kernpack_ffi_abi::imports;
use kernpack_package::source::SourceErrorKind;
use kernpack_package::target::Target;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};

/// The place of a symbol that a source needs.
enum Answer {
    /// It will be there.
    There,
    /// It is there where a library is new enough; these words say which, and what happens else.
    Later(String),
    /// It is there if it is in one of these libraries, which are not here.
    Missing(Vec<String>),
    /// Nothing has it.
    Nowhere,
}

/// Finds out where each of these symbols comes from, which the process that loads a package has to
/// have. What is not there is an error, and what is not sure a warning.
pub fn check_loading(
    host: &HostCode,
    link: &[Placed<String>],
    target: &Target,
    symbols: &[String],
) -> Diagnostics {
    let needs = host.modules.iter().flat_map(|module| {
        let needs = module.needs.iter().map(move |symbol| (module, symbol));
        needs.filter(|(_, symbol)| !imports::is_allowed(&symbol.name))
    });
    let needs: Vec<_> = needs.filter(|(_, symbol)| symbols.contains(&symbol.name)).collect();
    if needs.is_empty() {
        return Diagnostics::default();
    }
    let mut libraries = Libraries::of(target);
    let told = needs.into_iter().filter_map(|(module, symbol)| {
        let answer = answer(&symbol.name, link, &mut libraries);
        let told = told(host, module, symbol, link, answer)?;
        Some(module.of_needy(symbol, told))
    });
    Diagnostics(told.collect())
}

/// The same, of sources that are not linked with each other, as something is wrong besides.
pub fn check_alone(host: &HostCode, link: &[Placed<String>], target: &Target) -> Diagnostics {
    let (mut told, mut symbols) = (Diagnostics::default(), vec![]);
    for module in &host.modules {
        match module.link_alone(target) {
            Ok(needs) => symbols.extend(needs),
            Err(error) => told.extend(module.unlinked(&error)),
        }
    }
    told.extend(check_loading(host, link, target, &symbols));
    told
}

/// Where a symbol comes from.
fn answer(symbol: &str, link: &[Placed<String>], libraries: &mut Libraries<'_>) -> Answer {
    if imports::LIBTVM_FFI_C.contains(&symbol) {
        return Answer::There;
    }
    let known = glibc::find(symbol, libraries.target());
    if known.is_some_and(|known| known.since == glibc::OLDEST) {
        return Answer::There;
    }
    let names: Vec<_> = link.iter().map(|name| name.value.clone()).collect();
    let missing = match libraries.search(&names, symbol) {
        Search::Found => return Answer::There,
        Search::Lacking => None,
        Search::Unknown(missing) => Some(missing),
    };
    if let Some(known) = known {
        let since = known.since;
        return Answer::Later(format!(
            "which glibc has since version {since}: with an older one, the process ends where it is called"
        ));
    }
    if imports::LIBTVM_FFI_C_LATER.contains(&symbol) {
        let what = "which libtvm_ffi 0.1.0 lacks: the process ends where it is called";
        return Answer::Later(what.to_string());
    }
    missing.map_or(Answer::Nowhere, Answer::Missing)
}

/// The diagnostic about a symbol that a source needs.
fn told(
    host: &HostCode,
    module: &HostModule,
    symbol: &UndefinedSymbol,
    link: &[Placed<String>],
    answer: Answer,
) -> Option<Diagnostic> {
    let needs = format!("{} needs the symbol `{}`", quoted(&symbol.wanted_by), symbol.name);
    match answer {
        Answer::There => None,
        Answer::Later(what) => {
            Some(Diagnostic::warning("later-symbol", format!("{needs}, {what}")))
        }
        Answer::Missing(libraries) => {
            let names: Vec<_> = libraries.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "{needs}, which must be in {}: that is not on this machine, and nothing else has it",
                names.join(" or ")
            );
            let named = link.iter().filter(|name| libraries.contains(name));
            let warning = Diagnostic::warning("missing-library", message);
            Some(named.fold(warning, |warning, name| warning.mark(name.span, "is not here")))
        }
        Answer::Nowhere => {
            let help = nowhere(host, module, &symbol.name);
            let message = format!(
                "{needs}, and neither libtvm_ffi, nor the C library, nor a library of `link` has it; {help}"
            );
            Some(Diagnostic::new(SourceErrorKind::Symbol.code(), message))
        }
    }
}

/// The advice about a symbol that nothing has.
fn nowhere(host: &HostCode, module: &HostModule, symbol: &str) -> String {
    let others = host.modules.iter().filter(|other| other.source != module.source);
    let mut others =
        others.filter(|other| other.artifact.functions.iter().any(|name| name == symbol));
    match others.next() {
        Some(other) => format!(
            "`{}` has it, but a source sees itself alone: name the files of both in one `host`",
            other.source.name()
        ),
        None => "define it in a file of the source, or name the library that has it under `link`"
            .to_string(),
    }
}
