// SPDX-License-Identifier: Apache-2.0
//! The host code of a package: each distinct source built once, and the functions that it has held against what launches name.
//!
//! A source becomes a module, an object of its own, in which nothing but its kernels can be seen, under symbols that no user's file has. So a
//! kernel may be called whatever C allows, and sources may share names.

use crate::error::{Problem, Problems};
use crate::link::{self, Isolated, UndefinedSymbol};
use crate::package::Function;
use crate::parallel;
use crate::source::host::HostArtifact;
use crate::source::{HostSource, SourceError, SourceErrorKind};
use crate::target::Target;
use kernpack_validators::Plan;

/// The host code of a package.
#[derive(Debug, Default)]
pub struct HostCode {
    /// A module for each source, in the order in which launches name them.
    pub modules: Vec<HostModule>,
}

/// What a source became.
#[derive(Debug)]
pub struct HostModule {
    /// The source.
    pub source: HostSource,
    /// The first launch that has it: the function, and the launch's place there.
    pub launch: (String, usize),
    /// Its files.
    pub artifact: HostArtifact,
    /// All of it as one object.
    pub object: Vec<u8>,
    /// What the object needs.
    pub needs: Vec<UndefinedSymbol>,
    /// The kernels that launches name, each with its symbol in the object.
    pub kernels: Vec<(String, String)>,
}

/// A source that is to be built.
struct Wanted<'a> {
    source: &'a HostSource,
    /// The launches that have it: the function, the launch's place there, and the kernels that it names.
    launches: Vec<(&'a str, usize, Vec<String>)>,
}

impl HostCode {
    /// Builds every host source of a package once. What cannot be built, and every function that a source lacks, is a problem.
    pub fn build(
        functions: &[(&Function, &Plan)],
        target: &Target,
        problems: &mut Problems,
    ) -> HostCode {
        let mut code = HostCode::default();
        let wanted: Vec<_> = wanted(functions).into_iter().enumerate().collect();
        for module in parallel::map(&wanted, |(number, wanted)| wanted.build(*number, target)) {
            match module {
                Ok(module) => code.modules.push(module),
                Err(found) => problems.0.extend(found.0),
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
}

/// Every host source, with the kernels that launches of it name.
fn wanted<'p>(functions: &[(&'p Function, &Plan)]) -> Vec<Wanted<'p>> {
    let mut wanted: Vec<Wanted<'p>> = Vec::new();
    for (function, plan) in functions {
        for planned in &plan.launches {
            let (index, launch) = (planned.index, &function.launches[planned.index]);
            let Some(source) = launch.host_source() else { continue };
            let known = wanted.iter().position(|known| known.source == source);
            let known = known.unwrap_or_else(|| {
                wanted.push(Wanted { source, launches: vec![] });
                wanted.len() - 1
            });
            let kernels = launch.symbols(plan, planned);
            wanted[known].launches.push((&function.signature.name, index, kernels));
        }
    }
    wanted
}

impl HostModule {
    /// A problem with a symbol that its source needs.
    pub fn problem(&self, message: String) -> Problem {
        let error = SourceError::new(SourceErrorKind::Symbol, &self.source.paths[0], message);
        Problem::of_launch(&self.launch.0, self.launch.1, error)
    }
}

impl Wanted<'_> {
    /// The module of that number.
    fn build(&self, number: usize, target: &Target) -> Result<HostModule, Problems> {
        let artifact = self.source.build(target).map_err(|errors| self.problems(errors))?;
        self.check_kernels(&artifact)?;
        let mut kernels: Vec<(String, String)> = Vec::new();
        for kernel in self.launches.iter().flat_map(|(_, _, kernels)| kernels) {
            if !kernels.iter().any(|(known, _)| known == kernel) {
                kernels.push((kernel.clone(), format!("kernpack_host_{number}_{kernel}")));
            }
        }
        let exports: Vec<_> =
            kernels.iter().map(|(name, symbol)| (&name[..], &symbol[..])).collect();
        let isolated = link::isolate(target.elf, &artifact.link_inputs(), &exports);
        let Isolated { object, needs } = isolated.map_err(|error| {
            let path = &self.source.paths[0];
            self.problems(vec![SourceError::new(SourceErrorKind::Object, path, error)])
        })?;
        let (function, index, _) = &self.launches[0];
        let launch = (function.to_string(), *index);
        Ok(HostModule { source: self.source.clone(), launch, artifact, object, needs, kernels })
    }

    /// Problems of the source itself: those of the first launch which has it.
    fn problems(&self, errors: Vec<SourceError>) -> Problems {
        let (function, index, _) = &self.launches[0];
        let problem = |error| Problem::of_launch(function, *index, error);
        Problems(errors.into_iter().map(problem).collect())
    }

    /// Every launch's kernel is among the functions.
    fn check_kernels(&self, artifact: &HostArtifact) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for (function, index, kernels) in &self.launches {
            if let Some(kernel) = kernels.iter().find(|kernel| !artifact.functions.contains(kernel))
            {
                problems.push(Problem::of_launch(function, *index, self.missing(artifact, kernel)));
            }
        }
        problems.into_result()
    }

    fn missing(&self, artifact: &HostArtifact, kernel: &str) -> SourceError {
        let has = match &artifact.functions[..] {
            [] => "none".to_string(),
            functions => functions.join(", "),
        };
        let names: Vec<_> = artifact.files.iter().map(|file| format!("`{}`", file.name)).collect();
        let (have, it) = if names.len() == 1 { ("has", "it has") } else { ("have", "they have") };
        let message = format!("{} {have} no function `{kernel}`; {it} {has}", names.join(", "));
        SourceError::new(SourceErrorKind::MissingKernel, &self.source.paths[0], message)
    }
}
