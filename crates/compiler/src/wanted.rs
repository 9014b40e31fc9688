// SPDX-License-Identifier: Apache-2.0
//! The sources that are to be built: each distinct one once, with the launches that have it. What a
//! source reports is told to them: where the first of them names it, or where each names a kernel
//! that it lacks.

use kernpack_package::package::{Function, Launch};
use kernpack_package::source::SourceError;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;

/// A source that is to be built.
#[derive(Debug)]
pub struct Wanted<'p, S> {
    /// The source, as the first of the launches has it.
    pub source: &'p S,
    /// The launches that have it, at least one.
    pub uses: Vec<Use<'p>>,
}

/// A launch that has a source.
#[derive(Debug)]
pub struct Use<'p> {
    /// The function's name.
    pub function: &'p str,
    /// The launch.
    pub launch: &'p Launch,
    /// The kernels that it names: none where its function has no plan, which says them.
    pub kernels: Vec<String>,
}

/// Every source that launches of functions have.
pub fn wanted<'p, S: PartialEq>(
    functions: &[(&'p Function, Option<&Plan>)],
    source: impl Fn(&'p Launch) -> Option<&'p S>,
) -> Vec<Wanted<'p, S>> {
    let mut wanted: Vec<Wanted<'p, S>> = Vec::new();
    for (function, plan) in functions {
        for Use { function, launch, kernels } in uses(function, *plan) {
            let Some(source) = source(launch) else { continue };
            let one = Use { function, launch, kernels };
            match wanted.iter_mut().find(|known| known.source == source) {
                Some(known) => known.uses.push(one),
                None => wanted.push(Wanted { source, uses: vec![one] }),
            }
        }
    }
    wanted
}

/// The launches of a function: those that its plan has, or all.
fn uses<'p>(function: &'p Function, plan: Option<&Plan>) -> Vec<Use<'p>> {
    let name = &function.signature.name;
    let one = |launch, kernels| Use { function: name, launch, kernels };
    match plan {
        None => function.launches.iter().map(|launch| one(launch, vec![])).collect(),
        Some(plan) => {
            let planned = plan.launches.iter().map(|planned| {
                let launch = &function.launches[planned.index];
                one(launch, launch.symbols(plan, planned))
            });
            planned.collect()
        }
    }
}

impl<S> Wanted<'_, S> {
    /// Every kernel that launches name, once.
    pub fn kernels(&self) -> Vec<String> {
        let mut kernels: Vec<String> = Vec::new();
        for kernel in self.uses.iter().flat_map(|one| &one.kernels) {
            if !kernels.contains(kernel) {
                kernels.push(kernel.clone());
            }
        }
        kernels
    }

    /// The problems of a source that could not be built.
    pub fn problems(&self, errors: Vec<SourceError>) -> Diagnostics {
        Diagnostics(errors.into_iter().map(|error| self.problem(error)).collect())
    }

    fn problem(&self, error: SourceError) -> Diagnostic {
        let names = |one: &&Use<'_>| one.kernels.iter().any(|name| error.kernels.contains(name));
        let named: Vec<_> = self.uses.iter().filter(names).collect();
        let function = named.first().map_or(self.function(), |one| one.function);
        error.diagnostic(function, named.iter().map(|one| one.launch.kernel.span))
    }

    /// The function that has the source first.
    pub fn function(&self) -> &str {
        self.uses[0].function
    }
}
