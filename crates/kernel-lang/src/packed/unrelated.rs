// SPDX-License-Identifier: Apache-2.0
//! Words about indices that the extent of another tensor alone bounds
//! ([`extents`](crate::extents)): as a warning or an error, once for each access, whatever launches
//! and combinations of dtypes come to it.

use super::PackedLaunch;
use crate::argument::{Argument, TensorArg};
use crate::extents::{self, Relations};
use kernpack_syntax::{Diagnostic, Diagnostics, Severity};

/// The treatment of an index that the extent of another tensor alone bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unrelated {
    /// Nothing: it is not looked for.
    #[default]
    Ignore,
    /// A warning.
    Warn,
    /// An error.
    Refuse,
}

impl Unrelated {
    /// Whether it is looked for.
    pub(super) fn is_asked(self) -> bool {
        self != Unrelated::Ignore
    }
}

/// Findings about such indices.
pub(super) struct Beyond {
    unrelated: Unrelated,
    told: Diagnostics,
}

impl Beyond {
    /// Nothing yet.
    pub fn new(unrelated: Unrelated) -> Beyond {
        Beyond { unrelated, told: Diagnostics::default() }
    }

    /// Adds what was found in the kernel of a launch, unless it was told of another one.
    pub fn add(&mut self, found: &[extents::Unrelated], launch: &PackedLaunch) {
        for one in found {
            let is_told = |told: &Diagnostic| told.labels[0].span == one.access;
            if !self.told.0.iter().any(is_told) {
                let mut problem = diagnostic(one, launch);
                if self.unrelated == Unrelated::Refuse {
                    problem.severity = Severity::Error;
                }
                self.told.push(problem);
            }
        }
    }

    /// The warnings.
    ///
    /// # Errors
    /// All of it, where it is refused.
    pub fn into_warnings(self) -> Result<Diagnostics, Diagnostics> {
        if self.told.has_errors() { Err(self.told) } else { Ok(self.told) }
    }
}

fn diagnostic(found: &extents::Unrelated, launch: &PackedLaunch) -> Diagnostic {
    let relations = &launch.relations;
    let tensor = &found.tensor;
    let path = path(found, launch).unwrap_or_else(|| tensor.to_string());
    let own = relations.written_extent(&path, &found.extent);
    let extent = own.unwrap_or_else(|| relations.written(&found.extent));
    let limit = relations.written(&found.limit);
    let message = format!(
        "nothing but `{limit}` bounds index {} of `{tensor}`, and is not known to be at most \
         `{extent}`",
        found.mode
    );
    let problem = Diagnostic::warning("unrelated-extents", message)
        .label(found.access, format!("an index here may be `{limit} - 1`"))
        .mark(found.bound, "bounded here");
    let problem = match found.called {
        Some(called) => problem.mark(called, "called here"),
        None => problem,
    };
    problem.mark(launch.span, "launched here").help(help(&limit, &extent, relations))
}

/// The path of the tensor in the signature.
fn path(found: &extents::Unrelated, launch: &PackedLaunch) -> Option<String> {
    let tensors = launch.args.iter().filter_map(|arg| match arg {
        Argument::Tensor(tensor) => Some(&**tensor),
        _ => None,
    });
    let mut named = tensors.filter(|tensor: &&TensorArg| tensor.name == found.tensor);
    named.next().map(|tensor| tensor.pointer.to_string())
}

/// The missing rule: of two extents that they are equal, which one symbol says too.
fn help(limit: &str, extent: &str, relations: &Relations) -> String {
    let are_extents = [limit, extent].iter().all(|one| relations.is_extent(one));
    match are_extents {
        true => format!(
            "write `assert {limit} == {extent}` in the packed function, or the same symbol for \
             both in the signature"
        ),
        false => format!(
            "write `assert {limit} <= {extent}` in the packed function, or `where {limit} <= \
             {extent}` in the signature"
        ),
    }
}
