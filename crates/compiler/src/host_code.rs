// SPDX-License-Identifier: Apache-2.0
//! The host code of a package: each distinct source built once, and the functions that it has held
//! against what launches name.
//!
//! A source becomes a module, an object of its own, in which nothing but its kernels can be seen,
//! under symbols that no user's file has. So a kernel may be called whatever C allows, and sources
//! may share names.

use crate::source::host::{self, HostArtifact};
use crate::wanted::{Use, Wanted, wanted};
use kernpack_codegen::link::{self, Isolated, LinkError, SharedOptions, UndefinedSymbol};
use kernpack_package::file::Held;
use kernpack_package::package::{Function, Launch};
use kernpack_package::problem::of_function;
use kernpack_package::source::{HostSource, SourceError, SourceErrorKind};
use kernpack_package::target::Target;
use kernpack_process::parallel;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;

/// The host code of a package.
#[derive(Debug, Default)]
pub struct HostCode {
    /// A module for each source, in the order in which launches name them.
    pub modules: Vec<HostModule>,
}

/// The code of a source.
#[derive(Debug)]
pub struct HostModule {
    /// The source.
    pub source: HostSource,
    /// The first function that has it.
    pub function: String,
    /// Its files.
    pub artifact: HostArtifact,
    /// All of it as one object.
    pub object: Vec<u8>,
    /// The symbols that the object needs.
    pub needs: Vec<UndefinedSymbol>,
    /// The kernels that launches name, each with its symbol in the object.
    pub kernels: Vec<(String, String)>,
}

impl HostCode {
    /// Builds every host source of a package once. What cannot be built, and every function that a
    /// source lacks, is a problem.
    pub fn build(
        functions: &[(&Function, Option<&Plan>)],
        target: &Target,
        held: &Held,
        problems: &mut Diagnostics,
    ) -> HostCode {
        let mut code = HostCode::default();
        let wanted: Vec<_> =
            wanted(functions, Launch::host_source).into_iter().enumerate().collect();
        let build = |(number, wanted): &_| build(wanted, *number, target, held);
        for module in parallel::map(&wanted, build) {
            match module {
                Ok(module) => code.modules.push(module),
                Err(found) => problems.extend(found),
            }
        }
        code
    }

    /// The symbol of a kernel of a source, by the name that a launch has for it.
    pub fn symbol(&self, source: &HostSource, kernel: &str) -> Option<&str> {
        let module = self.modules.iter().find(|module| module.source == *source)?;
        let (_, symbol) = module.kernels.iter().find(|(name, _)| name == kernel)?;
        Some(symbol)
    }

    /// The kernels' symbols, each with the name that its source has for it.
    pub fn own_names(&self) -> Vec<(&str, &str)> {
        let kernels = self.modules.iter().flat_map(|module| &module.kernels);
        kernels.map(|(name, symbol)| (&symbol[..], &name[..])).collect()
    }

    /// Warnings of the C compiler, file by file.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.modules.iter().flat_map(HostModule::warnings).collect()
    }
}

impl HostModule {
    /// Links it to nothing else: the symbols that it needs of the process that loads it.
    pub fn link_alone(&self, target: &Target) -> Result<Vec<String>, LinkError> {
        let kept = self.kernels.iter().map(|(_, symbol)| symbol.clone()).collect();
        let options = SharedOptions { kept, ..SharedOptions::default() };
        link::loader_needs(&link::link_shared(target.elf, &self.object, &options)?)
    }

    /// The diagnostic where the linker refuses it, if that is for what the files hold.
    pub fn unlinked(&self, error: &LinkError) -> Option<Diagnostic> {
        let LinkError::Refused { message, .. } = error else { return None };
        let words = format!("cannot link `{}`: {message}", self.source.name());
        let place = self.source.place_in(message);
        let error = SourceError::new(SourceErrorKind::Object, place, words);
        Some(error.diagnostic(&self.function, []))
    }

    /// A diagnostic of the files of the source that need a symbol, where those are named.
    pub fn of_needy(&self, symbol: &UndefinedSymbol, diagnostic: Diagnostic) -> Diagnostic {
        let place = self.source.place_in(&symbol.wanted_by.join(" "));
        of_function(&self.function, diagnostic.at(place))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let files = self.artifact.files.iter().zip(&self.source.paths);
        let told = files.filter(|(file, _)| !file.log.is_empty()).map(|(file, path)| {
            let message = format!("the C compiler warns of `{}`", file.name);
            let warning = Diagnostic::warning("compiler-warning", message);
            of_function(&self.function, warning.at(path.span).detail(&file.log))
        });
        told.collect()
    }
}

/// The module of that number.
fn build(
    wanted: &Wanted<'_, HostSource>,
    number: usize,
    target: &Target,
    held: &Held,
) -> Result<HostModule, Diagnostics> {
    let source = wanted.source;
    let artifact = host::build(source, target, held).map_err(|errors| wanted.problems(errors))?;
    check_kernels(wanted, &artifact)?;
    let symbol = |kernel: String| {
        let symbol = format!("kernpack_host_{number}_{kernel}");
        (kernel, symbol)
    };
    let kernels: Vec<_> = wanted.kernels().into_iter().map(symbol).collect();
    let exports: Vec<_> = kernels.iter().map(|(name, symbol)| (&name[..], &symbol[..])).collect();
    let isolated = link::isolate(target.elf, &artifact.link_inputs(), &exports);
    let Isolated { object, needs } =
        isolated.map_err(|error| wanted.problems(vec![host::unlinked(source, &error)]))?;
    let function = wanted.function().to_string();
    Ok(HostModule { source: source.clone(), function, artifact, object, needs, kernels })
}

/// Every launch's kernel is among the functions.
fn check_kernels(
    wanted: &Wanted<'_, HostSource>,
    artifact: &HostArtifact,
) -> Result<(), Diagnostics> {
    let missing = wanted.uses.iter().filter_map(|Use { function, launch, kernels }| {
        let kernel = kernels.iter().find(|kernel| !artifact.functions.contains(kernel))?;
        let path = &wanted.source.paths[0];
        let message = missing(artifact, kernel);
        let error = SourceError::new(SourceErrorKind::MissingKernel, path.span, message);
        Some(error.diagnostic(function, [launch.kernel.span]))
    });
    Diagnostics(missing.collect()).into_result()
}

fn missing(artifact: &HostArtifact, kernel: &str) -> String {
    let has = match &artifact.functions[..] {
        [] => "none".to_string(),
        functions => functions.join(", "),
    };
    let names: Vec<_> = artifact.files.iter().map(|file| format!("`{}`", file.name)).collect();
    let (have, it) = if names.len() == 1 { ("has", "it has") } else { ("have", "they have") };
    format!("{} {have} no function `{kernel}`; {it} {has}", names.join(", "))
}
