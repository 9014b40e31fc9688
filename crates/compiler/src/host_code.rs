// SPDX-License-Identifier: Apache-2.0
//! The host code of a package: each distinct source built once, and the functions that it has held against what launches name.

use crate::error::{Problem, Problems};
use crate::package::{Function, Launch};
use crate::source::host::HostArtifact;
use crate::source::{HostSource, SourceError, SourceErrorKind};
use crate::target::Target;
use kernpack_validators::Plan;

/// The host code of a package.
#[derive(Debug, Default)]
pub struct HostCode {
    /// What each source became, in the order in which launches name them.
    pub artifacts: Vec<HostArtifact>,
}

/// The sources that were built, and what became of each.
type Built<'p> = Vec<(&'p HostSource, Option<HostArtifact>)>;

impl HostCode {
    /// Builds every host source of a package once. What cannot be built, and every function that a source lacks, is a problem.
    pub fn build(
        functions: &[(&Function, &Plan)],
        target: &Target,
        problems: &mut Problems,
    ) -> HostCode {
        let mut built: Built<'_> = Vec::new();
        for (function, plan) in functions {
            for (index, launch) in function.launches.iter().enumerate() {
                let Some(source) = launch.host_source() else { continue };
                let name = &function.signature.name;
                if !built.iter().any(|(known, _)| *known == source) {
                    let artifact = source.build(target).map_err(|error| {
                        problems.push(Problem::of_launch(name, index, error));
                    });
                    built.push((source, artifact.ok()));
                }
                if let Some(error) = missing(&built, source, launch, plan) {
                    problems.push(Problem::of_launch(name, index, error));
                }
            }
        }
        HostCode { artifacts: built.into_iter().filter_map(|(_, artifact)| artifact).collect() }
    }
}

/// The function that a launch names and its source lacks.
fn missing(
    built: &Built<'_>,
    source: &HostSource,
    launch: &Launch,
    plan: &Plan,
) -> Option<SourceError> {
    let (_, artifact) = built.iter().find(|(known, _)| *known == source)?;
    let artifact = artifact.as_ref()?;
    let mut symbols = launch.symbols(&plan.combinations).into_iter();
    let kernel = symbols.find(|kernel| !artifact.functions.contains(kernel))?;
    let has = match &artifact.functions[..] {
        [] => "none".to_string(),
        functions => functions.join(", "),
    };
    let path = &source.path;
    let message = format!("`{}` has no function `{kernel}`; it has {has}", path.display());
    Some(SourceError::new(SourceErrorKind::MissingKernel, path, message))
}
