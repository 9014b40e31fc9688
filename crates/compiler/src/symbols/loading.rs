// SPDX-License-Identifier: Apache-2.0
//! What the users' sources need of the process that loads a package, and whether it will be there: a symbol that nothing has would end the
//! process at the call that needs it.
//!
//! libtvm_ffi has it, or the C library, or a library that the package file names under `link`. What only later versions have is told, and so
//! is a library that is not on this machine.

use super::glibc;
use super::library::{Libraries, Search};
use super::quoted;
use crate::error::{Problem, Problems, Warning};
use crate::host_code::{HostCode, HostModule};
use crate::link::UndefinedSymbol;
use crate::target::Target;
use kernpack_ffi_abi::imports;

/// What is known of a symbol that a source needs.
enum Answer {
    /// It will be there.
    There,
    /// It is there, if this holds.
    If(String),
    /// Nothing has it.
    Nowhere,
}

/// What a package's sources need, and where it may come from.
#[derive(Debug)]
pub struct Needs {
    /// What the sources need, without what every package may.
    needs: Vec<Need>,
    /// The libraries of `link`.
    libraries: Vec<String>,
    target: &'static Target,
}

/// A symbol that a source needs.
#[derive(Debug)]
struct Need {
    symbol: UndefinedSymbol,
    /// What messages call the source.
    source: String,
    /// The problem that there is if nothing has it.
    problem: Problem,
}

impl Needs {
    /// The needs of a package's sources.
    pub fn of(host: &HostCode, libraries: &[String], target: &'static Target) -> Needs {
        let needs = host.modules.iter().flat_map(|module| {
            let others = module.needs.iter().filter(|need| !imports::is_allowed(&need.name));
            others.map(|symbol| Need {
                symbol: symbol.clone(),
                source: module.source.name(),
                problem: module.problem(nowhere(host, module, symbol)),
            })
        });
        Needs { needs: needs.collect(), libraries: libraries.to_vec(), target }
    }

    /// Finds out where each of the symbols comes from. What is not sure is a warning.
    ///
    /// # Errors
    /// Where nothing has one of them.
    pub fn check(&self, symbols: &[String]) -> Result<Vec<Warning>, Problems> {
        let mut libraries = Libraries::of(self.target);
        let (mut warnings, mut problems) = (vec![], Problems::default());
        for need in self.needs.iter().filter(|need| symbols.contains(&need.symbol.name)) {
            match self.answer(&need.symbol.name, &mut libraries) {
                Answer::There => {}
                Answer::If(what) => {
                    let (owners, name) = (quoted(&need.symbol.wanted_by), &need.symbol.name);
                    let text = format!("warning: {owners} needs the symbol `{name}`, {what}");
                    warnings.push(Warning { source: need.source.clone(), text });
                }
                Answer::Nowhere => problems.push(need.problem.clone()),
            }
        }
        problems.into_result().map(|()| warnings)
    }

    fn answer(&self, symbol: &str, libraries: &mut Libraries<'_>) -> Answer {
        if imports::LIBTVM_FFI_C.contains(&symbol) {
            return Answer::There;
        }
        let known = glibc::find(symbol, self.target);
        if known.is_some_and(|known| known.since == glibc::OLDEST) {
            return Answer::There;
        }
        let missing = match libraries.search(&self.libraries, symbol) {
            Search::Found => return Answer::There,
            Search::Lacking => None,
            Search::Unknown(missing) => Some(missing),
        };
        if let Some(known) = known {
            let since = known.since;
            return Answer::If(format!(
                "which glibc has since version {since}: with an older one, the process ends where it is called"
            ));
        }
        if imports::LIBTVM_FFI_C_LATER.contains(&symbol) {
            let what = "which libtvm_ffi 0.1.0 lacks: the process ends where it is called";
            return Answer::If(what.to_string());
        }
        match missing {
            Some(missing) => Answer::If(format!(
                "which must be in {}: that is not on this machine, and nothing else has it",
                missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
            )),
            None => Answer::Nowhere,
        }
    }
}

/// What is said of a symbol that nothing has.
fn nowhere(host: &HostCode, module: &HostModule, symbol: &UndefinedSymbol) -> String {
    let UndefinedSymbol { name, wanted_by, .. } = symbol;
    let others = host.modules.iter().filter(|other| other.source != module.source);
    let mut others = others.filter(|other| other.artifact.functions.contains(name));
    let help = match others.next() {
        Some(other) => format!(
            "`{}` has it, but a source sees itself alone: name the files of both in one `host`",
            other.source.name()
        ),
        None => "define it in a file of the source, or name the library that has it under `link`"
            .to_string(),
    };
    format!(
        "{} needs the symbol `{name}`, and neither libtvm_ffi, nor the C library, nor a library of `link` has it; {help}",
        quoted(wanted_by)
    )
}
