// SPDX-License-Identifier: Apache-2.0
//! Which numbers of a call its facts relate: a rule, a condition or a dim that names two of them.
//! How they are related is not asked: whoever wrote `m <= n` has thought of both.

use kernpack_validators::expr::{Expr, Field};
use kernpack_validators::{Rule, RuleKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The numbers of a call that are related, and where extents of tensors come from.
#[derive(Clone, Debug, Default)]
pub struct Relations {
    /// Names, in groups that have no name in common.
    groups: Arc<Vec<BTreeSet<String>>>,
    /// The names of extents that a tensor's number of elements is made of.
    numels: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// The extents of tensors that every call has, as a packed function writes them.
    extents: Arc<Vec<Extent>>,
}

/// An extent of a tensor.
#[derive(Clone, Debug)]
struct Extent {
    path: String,
    mode: i64,
    expr: Expr,
}

impl Relations {
    /// Relates numbers with each other.
    pub fn relate(&mut self, names: impl IntoIterator<Item = String>) {
        let names = self.with_extents(names.into_iter().collect());
        if names.len() < 2 || self.groups.iter().any(|group| names.is_subset(group)) {
            return;
        }
        let groups = Arc::make_mut(&mut self.groups);
        let (joined, others): (Vec<_>, Vec<_>) =
            std::mem::take(groups).into_iter().partition(|group| !group.is_disjoint(&names));
        *groups = others;
        groups.push(joined.into_iter().flatten().chain(names).collect());
    }

    /// Relates what the parts of a rule name, whether it holds or not.
    pub fn relate_rule(&mut self, rule: &Rule) {
        for part in rule.parts() {
            if matches!(part.kind, RuleKind::Compare(..)) {
                self.relate(part.names().into_iter().map(|name| name.text));
            }
        }
    }

    /// Relates an extent or another field with what it is an expression in.
    pub fn relate_field(&mut self, name: String, value: &Expr) {
        self.relate(names_of(value).into_iter().chain([name]));
    }

    /// Says which names the extents have that a number of elements is made of.
    pub fn add_numel(&mut self, numel: String, extents: BTreeSet<String>) {
        Arc::make_mut(&mut self.numels).insert(numel, extents);
    }

    /// Some names, with those of the extents that numbers of elements are made of.
    fn with_extents(&self, mut names: BTreeSet<String>) -> BTreeSet<String> {
        let extents = names.iter().filter_map(|name| self.numels.get(name));
        let extents: Vec<String> = extents.flatten().cloned().collect();
        names.extend(extents);
        names
    }

    /// Adds an extent of a tensor that every call has.
    pub fn add_extent(&mut self, path: &str, mode: i64, expr: Expr) {
        let path = path.to_string();
        Arc::make_mut(&mut self.extents).push(Extent { path, mode, expr });
    }

    /// Some names with all that are related to them.
    pub fn related_to(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let names = self.with_extents(names.clone());
        let groups = self.groups.iter().filter(|group| !group.is_disjoint(&names));
        groups.flatten().chain(&names).cloned().collect()
    }

    /// The extent of a tensor's mode, as a packed function writes it.
    pub fn written_extent(&self, path: &str, extent: &Expr) -> Option<String> {
        let is_it = |one: &&Extent| one.path == path && one.expr == *extent;
        self.extents.iter().find(is_it).map(Extent::written)
    }

    /// Whether a text is an extent of a tensor, as a packed function writes it.
    pub fn is_extent(&self, text: &str) -> bool {
        self.extents.iter().any(|one| one.written() == text)
    }

    /// An expression as a packed function writes it: symbols are extents there.
    pub fn written(&self, expr: &Expr) -> String {
        let mut text = String::new();
        let told = expr.write(&mut text, &mut |f, name| {
            let symbol = Expr::symbol(name);
            match self.extents.iter().find(|one| one.expr == symbol) {
                Some(extent) => f.write_str(&extent.written()),
                None => f.write_str(name),
            }
        });
        told.map_or_else(|_| expr.to_string(), |()| text)
    }
}

impl Extent {
    fn written(&self) -> String {
        format!("{}{}", self.path, Field::Shape(self.mode))
    }
}

/// The names of an expression.
pub(super) fn names_of(expr: &Expr) -> BTreeSet<String> {
    expr.names().into_iter().map(|name| name.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_join_into_groups() {
        let mut relations = Relations::default();
        let of =
            |names: &str| -> BTreeSet<String> { names.split(' ').map(str::to_string).collect() };
        relations.relate(of("m n"));
        relations.relate(of("k l"));
        assert_eq!(relations.related_to(&of("m")), of("m n"));
        assert_eq!(relations.related_to(&of("j")), of("j"));
        relations.relate(of("l n"));
        assert_eq!(relations.related_to(&of("k")), of("k l m n"));
        relations.add_numel("x.numel".to_string(), of("a b"));
        relations.relate(of("x.numel j"));
        assert_eq!(relations.related_to(&of("a")), of("a b j x.numel"));
    }

    #[test]
    fn expressions_are_written_by_extents() {
        let mut relations = Relations::default();
        relations.add_extent("x", 0, Expr::symbol("m"));
        relations.add_extent("y", 0, Expr::symbol("m"));
        relations.add_extent("y", 1, Expr::symbol("n"));
        let rest = Expr::symbol("m") / 4 + Expr::symbol("k");
        assert_eq!(relations.written(&rest), "x.shape[0]//4 + k");
        let m = Expr::symbol("m");
        assert_eq!(relations.written_extent("y", &m).as_deref(), Some("y.shape[0]"));
        assert_eq!(relations.written_extent("z", &m), None);
    }
}
