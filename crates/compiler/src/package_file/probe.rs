// SPDX-License-Identifier: Apache-2.0
//! Which piece of a function is wrong, where the pieces are right each by itself but name what the others do not have.
//!
//! A plan is made of a whole function, and what it cannot make sense of it reports without a place in the file. So a function that has
//! no plan is planned again, with one workspace, condition, number of a layout or argument at a time: the problems of that plan are that
//! piece's.

use super::fields::Reader;
use super::function::ReadFunction;
use super::launch::Places;
use super::layout;
use crate::package::{Function, Launch};
use kernpack_syntax::{Diagnostics, Span};
use kernpack_validators::{KernelName, LaunchSpec, Returns, Site, Workspace};

/// Reports why a function has no plan, if it has none.
pub(super) fn find_problems(reader: &mut Reader<'_>, read: &ReadFunction, signature: Span) {
    let Function { workspaces, launches, .. } = &read.function;
    let specs: Vec<_> = launches.iter().map(Launch::spec).collect();
    let Err(whole) = plan(&read.function, workspaces, &specs) else { return };

    let n_problems = reader.n_problems();
    for (workspace, place) in workspaces.iter().zip(&read.workspaces) {
        let alone = plan(&read.function, std::slice::from_ref(workspace), &[]);
        report(reader, alone, *place);
    }
    if reader.n_problems() == n_problems {
        for (number, places) in read.launches.iter().enumerate() {
            for (piece, place) in pieces(&specs[number], places) {
                // The others stay, so that a problem names the launch by its number, and what kernels on a GPU may name has a value.
                let mut alone: Vec<_> = specs.iter().map(plain).collect();
                alone[number] = piece;
                report(reader, plan(&read.function, workspaces, &alone), place);
            }
        }
    }
    if reader.n_problems() == n_problems {
        report(reader, Err(whole), signature);
    }
}

/// A launch with each of its pieces alone, and the place of that.
fn pieces(spec: &LaunchSpec, places: &Places) -> Vec<(LaunchSpec, Span)> {
    let plain = plain(spec);
    let mut pieces = vec![(LaunchSpec { when: spec.when.clone(), ..plain.clone() }, places.when)];
    if let (Site::Gpu(launch), Some(places)) = (&spec.site, &places.layout) {
        let layouts = places.pieces(&launch.geometry).into_iter();
        pieces.extend(layouts.map(|(layout, place)| {
            (LaunchSpec { site: Site::Gpu(layout.into()), ..plain.clone() }, place)
        }));
    }
    for (arg, place) in spec.args.iter().zip(&places.args) {
        pieces.push((LaunchSpec { args: vec![arg.clone()], ..plain.clone() }, *place));
    }
    pieces
}

/// A launch that runs where that one does, and in which nothing can be wrong.
fn plain(spec: &LaunchSpec) -> LaunchSpec {
    let site = match &spec.site {
        Site::Host(_) => Site::Host(Returns::Void),
        Site::Gpu(launch) => Site::Gpu(layout::plain(&launch.geometry).into()),
    };
    LaunchSpec { when: vec![], kernel: KernelName::plain("k"), args: vec![], site }
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
