// SPDX-License-Identifier: Apache-2.0
//! Which launches of a call may begin before those in front of them have ended. In front of one is
//! what was launched last on the same stream: launches on others are taken to be ordered.

use crate::package::{Launch, Site};
use kernpack_kernel_ir::interp::{Argument, Early, MemoryId, Sequence, Turn};
use kernpack_validators::plan::LaidOut;
use kernpack_validators::{Geometry, LaunchFlag};
use std::collections::BTreeMap;

/// The launches of a call, by stream: the environment's has no name.
#[derive(Debug, Default)]
pub(super) struct Streams(BTreeMap<Option<String>, Sequence>);

/// A launch of a call, with how it is laid out.
pub(super) type InCall<'l> = (&'l Launch, Option<LaidOut>);

impl Streams {
    /// Those that went to a launch's stream.
    pub fn of(&mut self, launch: &Launch) -> &mut Sequence {
        self.0.entry(stream(launch)).or_default()
    }
}

/// How a launch takes its turn, with what it is passed, where these follow it.
pub(super) fn turn(launch: &Launch, arguments: &[Argument], behind: &[InCall<'_>]) -> Turn {
    let early = is_early(launch).then(|| Early {
        span: launch.kernel.span,
        unwritten: unwritten(launch, arguments).collect(),
    });
    Turn { early, may_be_met: may_be_met(launch, behind) }
}

/// How many launches may still run when another one begins.
pub(super) fn n_met(launches: &[InCall<'_>]) -> usize {
    let places = launches.iter().enumerate();
    places.filter(|(place, (launch, _))| may_be_met(launch, &launches[place + 1..])).count()
}

fn may_be_met(launch: &Launch, behind: &[InCall<'_>]) -> bool {
    let has_blocks = |layout: &LaidOut| !layout.grid.contains(&0);
    let mut behind = behind.iter().filter(|(_, layout)| layout.as_ref().is_some_and(has_blocks));
    let next = behind.find(|(next, _)| stream(next) == stream(launch));
    next.is_some_and(|(next, _)| is_early(next))
}

/// The memory of the tensors that a launch says nothing in front of it has written.
fn unwritten<'l>(
    launch: &'l Launch,
    arguments: &'l [Argument],
) -> impl Iterator<Item = MemoryId> + 'l {
    let names = geometry(launch).map_or(&[][..], |geometry| &geometry.unwritten);
    let args = launch.args.iter().map(|arg| arg.to_string()).zip(arguments);
    args.filter_map(|(name, argument)| match argument {
        Argument::Tensor { memory, .. } if names.iter().any(|one| one.value == name) => {
            Some(*memory)
        }
        Argument::Tensor { .. } | Argument::Map(_) | Argument::Scalar(_) => None,
    })
}

/// Whether a launch may begin before what is in front of it has ended.
pub(super) fn is_early(launch: &Launch) -> bool {
    geometry(launch).is_some_and(|geometry| geometry.flags.has(LaunchFlag::Dependent))
}

fn stream(launch: &Launch) -> Option<String> {
    geometry(launch)?.stream.as_ref().map(|stream| stream.value.clone())
}

fn geometry(launch: &Launch) -> Option<&Geometry> {
    match &launch.site {
        Site::Gpu { launch, .. } => Some(&launch.geometry),
        Site::Host { .. } => None,
    }
}
