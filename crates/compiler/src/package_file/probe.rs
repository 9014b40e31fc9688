// SPDX-License-Identifier: Apache-2.0
//! Which piece of a function is wrong, where the pieces are right each by itself but name what the others do not have.
//!
//! A plan is made of a whole function, and what it cannot make sense of it reports without a place in the file. So a function that has
//! no plan is planned again, with one workspace, condition or argument at a time: the problems of that plan are that piece's.

use super::fields::Reader;
use super::function::ReadFunction;
use crate::package::Function;
use kernpack_syntax::{Diagnostics, Span};
use kernpack_validators::{Expr, Geometry, LaunchSpec, Workspace};

/// Reports why a function has no plan, if it has none.
pub(super) fn find_problems(reader: &mut Reader<'_>, read: &ReadFunction, signature: Span) {
    let Function { workspaces, launches, .. } = &read.function;
    let specs: Vec<_> = launches.iter().map(|launch| launch.spec.clone()).collect();
    let Err(whole) = plan(&read.function, workspaces, &specs) else { return };

    let n_problems = reader.n_problems();
    for (workspace, place) in workspaces.iter().zip(&read.workspaces) {
        let alone = plan(&read.function, std::slice::from_ref(workspace), &[]);
        report(reader, alone, *place);
    }
    if reader.n_problems() == n_problems {
        for (number, places) in read.launches.iter().enumerate() {
            let spec = &specs[number];
            let mut alone = |piece: LaunchSpec, place: Span| {
                // The others stay, as empty ones, so that a problem names the launch by its number.
                let mut specs = vec![LaunchSpec::default(); specs.len()];
                specs[number] = piece;
                report(reader, plan(&read.function, workspaces, &specs), place);
            };
            alone(LaunchSpec { when: spec.when.clone(), ..LaunchSpec::default() }, places.when);
            alone(
                LaunchSpec { geometry: spec.geometry.clone(), ..LaunchSpec::default() },
                places.layout,
            );
            // A layout without problems of its own: some arguments are for kernels on a GPU, and a block says that the launch is complete.
            let one = || vec![Expr::Int(1)];
            let block = |layout: &Geometry| if layout.block.is_empty() { vec![] } else { one() };
            let plain = spec.geometry.as_ref().map(|layout| Geometry::new(one(), block(layout)));
            for (arg, place) in spec.args.iter().zip(&places.args) {
                let (args, geometry) = (vec![arg.clone()], plain.clone());
                alone(LaunchSpec { args, geometry, ..LaunchSpec::default() }, *place);
            }
        }
    }
    if reader.n_problems() == n_problems {
        report(reader, Err(whole), signature);
    }
}

fn plan(
    function: &Function,
    workspaces: &[Workspace],
    launches: &[LaunchSpec],
) -> Result<(), Diagnostics> {
    let device = function.default_device();
    function.signature.plan_function(device, workspaces, launches).map(drop)
}

fn report(reader: &mut Reader<'_>, result: Result<(), Diagnostics>, place: Span) {
    for mut problem in result.err().into_iter().flat_map(|problems| problems.0) {
        // Spans of the plan's problems are those of other texts.
        problem.labels.clear();
        reader.report_at(problem, place);
    }
}
