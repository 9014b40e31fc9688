// SPDX-License-Identifier: Apache-2.0
//! Launches on both sides of a condition that do the same on both: they become one, which is not
//! asked about it.
//!
//! What is known on a side may be of no use to a kernel. Its operations are the same then, also
//! once accesses are as wide as what is known allows, and only what is said of its parameters
//! differs: of that, what holds on both sides is kept.

use super::Group;
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::{Facts, Param, ParamKind, Pointer};
use kernpack_kernel_ir::widen::is_as_wide;
use kernpack_layout::gcd;
use kernpack_validators::Branch;

/// Joins launches that are on opposite sides of one condition, wherever they do the same. The order
/// of launches stays: one goes to the place of the other where none in between runs when it does.
pub(super) fn join(groups: &mut Vec<Group>) {
    let mut first = 0;
    while first < groups.len() {
        let joined = (first + 1..groups.len()).find_map(|other| {
            let joined = joined(&groups[first], &groups[other])?;
            let between = &groups[first + 1..other];
            let goes_ahead = is_apart(&groups[other], between);
            let is_possible = goes_ahead || is_apart(&groups[first], between);
            is_possible.then_some((other, joined, goes_ahead))
        });
        match joined {
            // It may have another side still.
            Some((other, joined, true)) => {
                groups[first] = joined;
                groups.remove(other);
            }
            Some((other, joined, false)) => {
                groups[other] = joined;
                groups.remove(first);
            }
            None => first += 1,
        }
    }
}

/// Whether none of these launches runs where one does.
fn is_apart(launch: &Group, others: &[Group]) -> bool {
    let are_opposite = |a: &Branch, b: &Branch| a.rule == b.rule && a.holds != b.holds;
    others.iter().all(|other| {
        let mut sides = other.branches.iter();
        sides.any(|side| launch.branches.iter().any(|own| are_opposite(side, own)))
    })
}

/// One launch in the place of two.
fn joined(one: &Group, other: &Group) -> Option<Group> {
    let is_alike = one.span == other.span
        && one.name == other.name
        && one.args == other.args
        && one.geometry == other.geometry
        && one.archs == other.archs
        && one.members.len() == other.members.len();
    let branches = is_alike.then(|| without_condition(&one.branches, &other.branches))??;
    let members = one.members.iter().zip(&other.members).map(|((row, a), (other_row, b))| {
        (row == other_row).then(|| Some((*row, of_both(a, b)?)))?
    });
    let members = members.collect::<Option<Vec<_>>>()?;
    let (name, args, geometry) = (one.name.clone(), one.args.clone(), one.geometry.clone());
    Some(Group {
        span: one.span,
        name,
        branches,
        args,
        geometry,
        archs: one.archs.clone(),
        members,
    })
}

/// The sides that two launches have in common, where they are on opposite sides of one condition.
fn without_condition(one: &[Branch], other: &[Branch]) -> Option<Vec<Branch>> {
    if one.len() != other.len() {
        return None;
    }
    let differs = |at: &usize| one[*at] != other[*at];
    let mut different = (0..one.len()).filter(differs);
    let (Some(at), None) = (different.next(), different.next()) else { return None };
    if one[at].rule != other[at].rule {
        return None;
    }
    let mut branches = one.to_vec();
    branches.remove(at);
    Some(branches)
}

/// The kernel that does what two do, of which only the same is known; nothing where they do
/// something else.
fn of_both(a: &Kernel, b: &Kernel) -> Option<Kernel> {
    if a.params.len() != b.params.len() {
        return None;
    }
    let params = a.params.iter().zip(&b.params).map(|(a, b)| param_of_both(a, b));
    let params = params.collect::<Option<Vec<_>>>()?;
    let of_both = Kernel { params, ..a.clone() };
    let is_it = |one: &Kernel| {
        let same = Kernel { params: of_both.params.clone(), ..one.clone() };
        super::is_same(&of_both, &same)
            && (one.params == of_both.params || is_as_wide(one, &of_both))
    };
    [a, b].into_iter().all(is_it).then_some(of_both)
}

fn param_of_both(a: &Param, b: &Param) -> Option<Param> {
    let kind = match (&a.kind, &b.kind) {
        (ParamKind::Pointer(a), ParamKind::Pointer(b)) => {
            let align = a.align.min(b.align);
            (Pointer { align, ..*a } == Pointer { align, ..*b })
                .then_some(ParamKind::Pointer(Pointer { align, ..*a }))?
        }
        (ParamKind::Scalar(scalar, a), ParamKind::Scalar(other, b)) if scalar == other => {
            ParamKind::Scalar(*scalar, facts_of_both(*a, *b))
        }
        (ParamKind::Map(a), ParamKind::Map(b)) if a == b => ParamKind::Map(*a),
        _ => return None,
    };
    (a.name == b.name).then(|| Param { name: a.name.clone(), kind })
}

fn facts_of_both(a: Facts, b: Facts) -> Facts {
    Facts { min: a.min.min(b.min), max: a.max.max(b.max), divisor: gcd(a.divisor, b.divisor) }
}
