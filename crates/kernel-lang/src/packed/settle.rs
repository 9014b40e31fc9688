// SPDX-License-Identifier: Apache-2.0
//! From packed launches to launches that plans are made of: kernels are elaborated, get their
//! symbols, and what combinations of dtypes have in common becomes one launch.
//!
//! Two launches that need the same kernel share it, whatever they are of. A kernel that is another
//! one for each combination of dtypes has these in its symbol.

mod alternative;
mod apart;
mod sides;
#[cfg(test)]
mod tests;

use super::told::Told;
use super::unrelated::{Beyond, Unrelated};
use super::{PackedLaunch, PackedRow, Row};
use crate::elaborate::Instance;
use crate::file::KernelFiles;
use alternative::Alternative;
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Kernel;
use kernpack_machine::Arch;
use kernpack_machine::block::{MOST_THREADS, MOST_THREADS_ALONG};
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Severity, Span};
use kernpack_validators::expr::{Expr, Op};
use kernpack_validators::{
    Branch, Geometry, KernelArg, KernelName, Rule, RuleKind, When, parse_kernel_name,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A launch of which all is known.
#[derive(Clone, Debug)]
pub struct SettledLaunch {
    /// The sides of `if`s on which it runs, and the combinations of dtypes.
    pub branches: Vec<Branch>,
    /// The symbol of its kernel.
    pub kernel: Placed<KernelName>,
    /// The arguments of the kernel.
    pub args: Vec<KernelArg>,
    /// How it is laid out.
    pub geometry: Geometry,
    /// The architectures that it and its alternatives are for; those of the file where it has no
    /// alternatives and is for none by name.
    pub archs: Vec<Placed<Arch>>,
}

impl SettledLaunch {
    /// When it runs.
    pub fn when(&self) -> When {
        match &self.branches[..] {
            [] => When::Always,
            branches => When::Branches(branches.to_vec()),
        }
    }
}

/// Kernels, each under its symbol.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    /// Them, in order.
    pub kernels: Vec<Arc<Kernel>>,
    /// The architectures that each of them is compiled for, as launches have them.
    sets: Vec<Vec<Arch>>,
    /// Whether they check their indices as they run.
    is_checked: bool,
    /// Possible mistakes, and what is printed while compiling.
    pub warnings: Diagnostics,
}

/// Launches of several combinations of dtypes that are one, and the kernel of each.
struct Group {
    span: Span,
    /// The kernel's own name.
    name: Arc<str>,
    branches: Vec<Branch>,
    args: Vec<KernelArg>,
    geometry: Geometry,
    archs: Vec<Placed<Arch>>,
    /// The kernels, by the numbers of the combinations.
    members: Vec<(usize, Kernel)>,
}

impl Kernels {
    /// None so far, of a build that is checked or not.
    pub fn new(is_checked: bool) -> Kernels {
        Kernels { is_checked, ..Kernels::default() }
    }

    /// Elaborates the kernels of a function's launches. `rows` are all combinations of dtypes under
    /// which the function is called.
    ///
    /// # Errors
    /// The problems of any kernel; among them indices that the extent of another tensor alone
    /// bounds, where they are refused.
    pub fn settle(
        &mut self,
        files: &KernelFiles,
        rows: &[PackedRow],
        unrelated: Unrelated,
    ) -> Result<Vec<SettledLaunch>, Diagnostics> {
        let (mut told, mut problems) = (Told::default(), Diagnostics::default());
        let mut beyond = Beyond::new(unrelated);
        let mut groups: Vec<Group> = Vec::new();
        for (number, PackedRow { row, launches, notes }) in rows.iter().enumerate() {
            self.warnings.extend_new(notes.clone());
            let mut place = 0;
            let instances = launches.iter().flat_map(|launch| {
                apart::instances(files, row, launch, (unrelated, self.is_checked))
            });
            let (launches, instances): (Vec<_>, Vec<_>) = instances.unzip();
            let (alternatives, untaken) = alternative::of(&launches);
            problems.extend_new(untaken);
            for ((launch, instance), alternative) in
                launches.iter().zip(instances).zip(alternatives)
            {
                match instance {
                    Ok(instance) => {
                        beyond.add(&instance.unrelated, launch);
                        self.warnings.extend_new(instance.warnings.clone());
                        let group = Group::of(number, launch, alternative, instance);
                        place = group.join(&mut groups, place) + 1;
                    }
                    Err(found) => {
                        let is_note = |one: &Diagnostic| one.severity == Severity::Note;
                        let (notes, found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_note);
                        self.warnings.extend_new(notes);
                        told.add(Diagnostics(found), (number, row), (launch.span, "launched here"));
                    }
                }
            }
        }
        problems.extend(told.finish());
        match beyond.into_warnings() {
            Ok(warnings) => self.warnings.extend_new(warnings),
            Err(found) => problems.extend(found),
        }
        problems.into_result()?;
        sides::join(&mut groups);
        Ok(groups.into_iter().map(|group| self.launch(group, rows)).collect())
    }

    fn launch(&mut self, group: Group, rows: &[PackedRow]) -> SettledLaunch {
        let Group { span, name, mut branches, args, geometry, archs, members } = group;
        if members.len() < rows.len() {
            let own = members.iter().map(|(number, _)| &rows[*number].row);
            branches.insert(0, Branch { rule: rows_rule(own, span), holds: true });
        }
        let members = members.into_iter().map(|(number, kernel)| (&rows[number].row, kernel));
        let set: Vec<Arch> = archs.iter().map(|arch| arch.value).collect();
        let kernel = Placed::new(self.named(&name, members.collect(), &set), span);
        SettledLaunch { branches, kernel, args, geometry, archs }
    }

    /// The architectures that kernels are compiled for together.
    pub fn sets(&self) -> Vec<Vec<Arch>> {
        let mut sets: Vec<Vec<Arch>> = Vec::new();
        for set in &self.sets {
            if !sets.contains(set) {
                sets.push(set.clone());
            }
        }
        sets
    }

    /// The kernels that are compiled for these architectures: for those of the file where there
    /// are none.
    pub fn compiled_for(&self, archs: &[Arch]) -> Vec<Arc<Kernel>> {
        let own = self.kernels.iter().zip(&self.sets).filter(|(_, set)| *set == archs);
        own.map(|(kernel, _)| kernel.clone()).collect()
    }

    /// The name of a launch's kernels, which are kept under their symbols.
    fn named(&mut self, base: &str, members: Vec<(&Row, Kernel)>, set: &[Arch]) -> KernelName {
        let vars = telling(&members);
        let pieces: String = vars.iter().map(|var| format!("_{{{var}}}")).collect();
        let mut number = 1;
        loop {
            let stem = if number == 1 { base.to_string() } else { format!("{base}_{number}") };
            let symbol = |row: &Row| {
                let dtypes = vars.iter().map(|var| format!("_{}", row[var]));
                stem.clone() + &dtypes.collect::<String>()
            };
            let is_free = |(row, kernel): &(&Row, Kernel)| self.takes(&symbol(row), kernel, set);
            if members.iter().all(is_free) {
                for (row, kernel) in members {
                    self.keep(symbol(row), kernel, set);
                }
                let name = format!("{stem}{pieces}");
                return parse_kernel_name(&name).unwrap_or_else(|_| KernelName::plain(name));
            }
            number += 1;
        }
    }

    /// Whether a symbol can be that of a kernel: no other kernel has it, nor the same one where it
    /// is compiled for others.
    fn takes(&self, symbol: &str, kernel: &Kernel, set: &[Arch]) -> bool {
        let known = self.kernels.iter().zip(&self.sets).find(|(known, _)| known.name == symbol);
        known.is_none_or(|(known, of)| of == set && is_same(known, kernel))
    }

    fn keep(&mut self, symbol: String, kernel: Kernel, set: &[Arch]) {
        if !self.kernels.iter().any(|known| known.name == symbol) {
            self.kernels.push(Arc::new(Kernel { name: symbol, ..kernel }));
            self.sets.push(set.to_vec());
        }
    }
}

/// The names of the tensors that the kernels of launches write; nothing where something is wrong
/// with one of them.
pub(super) fn written(files: &KernelFiles, rows: &[PackedRow]) -> Option<BTreeSet<String>> {
    let mut written = BTreeSet::new();
    for PackedRow { row, launches, .. } in rows {
        for launch in launches {
            for (_, instance) in apart::instances(files, row, launch, (Unrelated::Ignore, false)) {
                written.extend(instance.ok()?.written);
            }
        }
    }
    Some(written)
}

/// The threads of a block, as far as they are known. Of more than a block has nothing is: the
/// launch is refused where it says so.
pub(super) fn block(geometry: &Geometry) -> [Option<u32>; 3] {
    let extent = |i: usize| match geometry.block.get(i) {
        Some(extent) => extent.as_int().and_then(|extent| u32::try_from(extent).ok()),
        None => Some(1),
    };
    let known = [extent(0), extent(1), extent(2)];
    let all = known.iter().flatten().try_fold(1_u32, |all, one| all.checked_mul(*one));
    let is_along =
        |(one, most): (&Option<u32>, u32)| one.is_none_or(|one| (1..=most).contains(&one));
    let fits = known.iter().zip(MOST_THREADS_ALONG).all(is_along);
    if fits && all.is_some_and(|all| all <= MOST_THREADS) { known } else { [None; 3] }
}

impl Group {
    fn of(
        number: usize,
        launch: &PackedLaunch,
        Alternative { branch, archs }: Alternative,
        instance: Instance,
    ) -> Group {
        let Instance { kernel, args, shared, .. } = instance;
        let mut geometry = launch.geometry.clone();
        if let Some(shared) = shared {
            let written = geometry.shared.clone();
            geometry.shared = match written.as_int() {
                Some(0) => Placed::new(shared, launch.span),
                _ => written.map(|written| Expr::binary(Op::Max, written, shared)),
            };
        }
        Group {
            span: launch.span,
            name: launch.kernel.name().clone(),
            branches: launch.branches.iter().cloned().chain(branch).collect(),
            args,
            geometry,
            archs,
            members: vec![(number, kernel)],
        }
    }

    /// Adds it to the one it is part of, or itself to all, from a place on; gives its place.
    fn join(self, groups: &mut Vec<Group>, from: usize) -> usize {
        let is_it = |group: &Group| {
            group.span == self.span
                && group.branches == self.branches
                && group.args == self.args
                && group.geometry == self.geometry
                && group.archs == self.archs
                && group.members.last().map(|member| member.0) != Some(self.members[0].0)
        };
        match groups[from..].iter().position(is_it) {
            Some(behind) => {
                groups[from + behind].members.extend(self.members);
                from + behind
            }
            None => {
                // In the order of the text, as far as any place will do.
                let is_before = |group: &&Group| group.span.start <= self.span.start;
                let place = from + groups[from..].iter().take_while(is_before).count();
                groups.insert(place, self);
                place
            }
        }
    }
}

/// Whether two kernels do the same, whatever they are called.
fn is_same(a: &Kernel, b: &Kernel) -> bool {
    let Kernel {
        name: _,
        params,
        block,
        demands,
        archs,
        shared,
        locals,
        slots,
        values,
        body,
        files,
        places,
    } = a;
    *params == b.params
        && *block == b.block
        && *demands == b.demands
        && *archs == b.archs
        && *body == b.body
        && *shared == b.shared
        && *locals == b.locals
        && *slots == b.slots
        && *values == b.values
        && *files == b.files
        && *places == b.places
}

/// The dtype variables that say which of several kernels it is.
fn telling(members: &[(&Row, Kernel)]) -> Vec<String> {
    let Some((first, _)) = members.first() else { return vec![] };
    let mut vars: Vec<String> = first.keys().cloned().collect();
    for var in first.keys() {
        let others: Vec<_> = vars.iter().filter(|other| *other != var).cloned().collect();
        if tell(members, &others) {
            vars = others;
        }
    }
    vars
}

/// Whether those kernels are the same for which these variables have the same dtypes.
fn tell(members: &[(&Row, Kernel)], vars: &[String]) -> bool {
    members.iter().enumerate().all(|(i, (row, kernel))| {
        let alike = members[..i]
            .iter()
            .filter(|(other, _)| vars.iter().all(|var| row.get(var) == other.get(var)));
        alike.into_iter().all(|(_, other)| is_same(kernel, other))
    })
}

/// That the dtypes are one of these combinations.
fn rows_rule<'r>(rows: impl Iterator<Item = &'r Row>, span: Span) -> Rule {
    let rows: Vec<&Row> = rows.collect();
    let vars = rows.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
    let dtypes: Vec<Vec<DType>> = rows.iter().map(|row| row.values().copied().collect()).collect();
    Rule { kind: RuleKind::DTypes(vars, dtypes), span }
}
