// SPDX-License-Identifier: Apache-2.0
//! Launches that are for some architectures. Those that follow each other, on the same sides of
//! `if`s, are alternatives; one that names an architecture again begins the next ones.
//!
//! They are compiled together, for the architectures of all: so a device takes one image, and of
//! the launches the one that names this image's architecture. Which it is follows from the device's
//! compute capability, and is asked as an `if` asks: by `device.cc`. The first is launched where no
//! other is. So on a device that none is for it is launched too, and the driver is found to have no
//! image, which is told with the architectures of all.

use super::super::PackedLaunch;
use kernpack_machine::{Arch, best_arch};
use kernpack_syntax::{Diagnostic, Placed};
use kernpack_validators::expr::Expr;
use kernpack_validators::plan::DeviceFact;
use kernpack_validators::rule::Comparison;
use kernpack_validators::{Branch, Rule, RuleKind};

/// A launch among its alternatives.
pub(super) struct Alternative {
    /// The side on which a device takes it, where it has others.
    pub branch: Option<Branch>,
    /// The architectures of it and its alternatives: none where it names none.
    pub archs: Vec<Placed<Arch>>,
}

/// Each launch among its alternatives, and those that no device takes.
pub(super) fn of(launches: &[PackedLaunch]) -> (Vec<Alternative>, Vec<Diagnostic>) {
    let (mut all, mut untaken, mut rest) = (Vec::new(), Vec::new(), launches);
    while let Some(first) = rest.first() {
        let n_together = n_alternatives(first, rest);
        let (together, behind) = rest.split_at(n_together);
        let archs: Vec<_> = together.iter().flat_map(|launch| launch.archs.clone()).collect();
        let taken =
            |launch: &PackedLaunch| capabilities(&archs, |arch| launch.archs.contains(&arch));
        for launch in together.iter().filter(|launch| !launch.archs.is_empty()) {
            if taken(launch).is_empty() {
                untaken.push(no_device(launch));
            }
        }
        for (number, launch) in together.iter().enumerate() {
            let branch = (n_together > 1).then(|| match number {
                0 => {
                    let taken = capabilities(&archs, |arch| !first.archs.contains(&arch));
                    Branch { rule: rule(&taken, launch), holds: false }
                }
                _ => Branch { rule: rule(&taken(launch), launch), holds: true },
            });
            all.push(Alternative { branch, archs: archs.clone() });
        }
        rest = behind;
    }
    (all, untaken)
}

/// How many launches from the first one on are alternatives.
fn n_alternatives(first: &PackedLaunch, launches: &[PackedLaunch]) -> usize {
    let mut named: Vec<Arch> = Vec::new();
    let is_another = |launch: &&PackedLaunch| {
        let archs = launch.archs.iter().map(|arch| arch.value);
        let is_new = !launch.archs.is_empty()
            && launch.branches == first.branches
            && archs.clone().all(|arch| !named.contains(&arch));
        named.extend(archs);
        is_new
    };
    launches.iter().take_while(is_another).count().max(1)
}

/// Compute capabilities from the first to the last; without a last one where every later one is
/// among them.
type Range = (u32, Option<u32>);

/// The compute capabilities of devices that take such an architecture of all.
fn capabilities(archs: &[Placed<Arch>], is_such: impl Fn(Placed<Arch>) -> bool) -> Vec<Range> {
    let newest = archs.iter().map(|arch| arch.number).max().unwrap_or_default();
    // Beyond the major version of the newest, all take the same.
    let (end, mut ranges) = ((newest / 10 + 1) * 10, Vec::<Range>::new());
    for number in 0..=end {
        let codes = archs.iter().map(|arch| (arch.code(), *arch));
        let takes = best_arch(codes, (number / 10, number % 10)).is_some_and(&is_such);
        let last = if number == end { None } else { Some(number) };
        match ranges.last_mut() {
            Some(range) if takes && range.1 == number.checked_sub(1) => range.1 = last,
            _ if takes => ranges.push((number, last)),
            _ => {}
        }
    }
    ranges
}

/// That the device is one of these.
fn rule(ranges: &[Range], launch: &PackedLaunch) -> Rule {
    let span = launch.archs.first().map_or(launch.span, |arch| arch.span);
    let compare = |comparison, number: u32| {
        let capability = Expr::symbol(DeviceFact::Cc.name());
        let kind = RuleKind::Compare(capability, comparison, Expr::Int(number.into()));
        Rule { kind, span }
    };
    let of_range = |(first, last): &Range| match last {
        Some(last) if first == last => compare(Comparison::Eq, *first),
        Some(last) => {
            let bounds = [compare(Comparison::Ge, *first), compare(Comparison::Le, *last)];
            Rule { kind: RuleKind::And(bounds.into()), span }
        }
        None => compare(Comparison::Ge, *first),
    };
    let mut rules: Vec<_> = ranges.iter().map(of_range).collect();
    match rules.len() {
        1 => rules.remove(0),
        _ => Rule { kind: RuleKind::Or(rules), span },
    }
}

fn no_device(launch: &PackedLaunch) -> Diagnostic {
    let names: Vec<_> = launch.archs.iter().map(|arch| format!("`{arch}`")).collect();
    let message = format!("no device takes this launch, for {}", names.join(", "));
    let span = launch.archs.first().map_or(launch.span, |arch| arch.span);
    let problem = Diagnostic::new("launch-argument", message).label(span, "all take another one");
    problem.help("leave it out, or name an architecture of which devices take the code")
}
