// SPDX-License-Identifier: Apache-2.0
//! How names get their values: what the uses of a signature's names come to.

use super::peer::Peer;
use crate::dim::Rank;
use crate::plan::MOST_TURNS;
use crate::rule::{Known, KnownValue, Rule, RuleKind};
use kernpack_ffi_abi::DType;
use kernpack_interval::Interval;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most combinations of dtypes that one function may have kernels for.
pub const MAX_COMBINATIONS: usize = 64;

/// How a symbol gets its value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The path of the use that binds it.
    pub path: String,
    /// The factor and the constant of that use: what is there is `scale` times the symbol and
    /// `offset`.
    pub scale: i64,
    /// The constant.
    pub offset: i64,
    /// The number of that use among those of all symbols: symbols get known in this order.
    pub number: usize,
    /// The `Optional` that holds this use.
    pub optional: Option<String>,
    /// Where several uses share it, and which one binds it is known in a call only.
    pub sharing: Option<Sharing>,
}

impl Binding {
    /// The uses that share it, where some do.
    pub fn sharers(&self) -> Option<Sharers> {
        self.sharing.as_ref().map(|sharing| sharing.sharers)
    }

    /// How many uses share it.
    pub fn n_sharers(&self) -> usize {
        self.sharing.as_ref().map_or(0, |sharing| sharing.paths.len())
    }
}

/// The uses that share a symbol.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The uses.
    pub sharers: Sharers,
    /// The path of each.
    pub paths: Vec<String>,
}

/// The uses that share a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharers {
    /// Bare strides: nothing else binds it.
    Strides,
    /// Bare uses in `Optional`s: nothing else holds it, and none of them holds all its uses.
    Optionals,
}

/// How a dtype variable gets its value.
#[derive(Clone, Debug)]
pub struct DTypeBinding {
    /// The path of the tensor that binds it.
    pub path: String,
    /// The dtypes it may have.
    pub allowed: Vec<DType>,
}

/// Where a star gets its dims.
#[derive(Clone, Debug)]
pub struct StarBinding {
    /// The path of the tensor or Shape whose dims it stands for.
    pub path: String,
    /// The dims around it there.
    pub rank: Rank,
    /// The `Optional` that holds that.
    pub optional: Option<String>,
    /// A tensor with `strides=any` that has these dims: they are no single dim of its memory.
    pub strided: Option<String>,
}

/// How every name of a signature gets its value.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Symbols.
    pub symbols: HashMap<String, Binding>,
    /// Dtype variables, in the order of their first use.
    pub dtypes: BTreeMap<String, DTypeBinding>,
    /// The shared symbols whose last use stands at a path, or in the `Optional` there, in the order
    /// of these uses.
    pub settled: HashMap<String, Vec<String>>,
    /// Stars.
    pub stars: BTreeMap<String, StarBinding>,
    /// The integers among the parameters and their parts, which may be negative.
    pub int_params: HashSet<String>,
    /// The scalars that are no symbols: bool, uint64 and floats.
    pub scalars: HashMap<String, DType>,
    /// The Shapes, whose elements are not negative.
    pub(super) shapes: HashSet<String>,
    /// The tensors that are marked `peer`.
    pub(super) peers: Vec<Peer>,
}

/// The problem of a rule that says nothing, or nothing that can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vain<'r> {
    /// The part that it is about.
    pub part: &'r Rule,
    /// The name of the diagnostic.
    pub code: &'static str,
    /// The problem, to stand behind the part.
    pub message: &'static str,
    /// Why.
    pub why: &'static str,
}

impl Bindings {
    /// The shared symbols whose last use stands at a path, or in the `Optional` there.
    pub fn settled_at(&self, path: &str) -> &[String] {
        self.settled.get(path).map_or(&[], Vec::as_slice)
    }

    /// The problems of a rule all by itself, part by part.
    pub(crate) fn vain<'r>(&self, rule: &'r Rule) -> Vec<Vain<'r>> {
        let mut vain = Vec::new();
        self.add_vain(rule, false, &mut vain);
        vain
    }

    fn add_vain<'r>(&self, rule: &'r Rule, is_negated: bool, vain: &mut Vec<Vain<'r>>) {
        match &rule.kind {
            RuleKind::Compare(..) | RuleKind::Floats(..) | RuleKind::In(..) => {
                let names_nothing = rule.names().is_empty();
                let (code, message, why) = ("constant-rule", "names nothing", "constant");
                vain.extend(names_nothing.then_some(Vain { part: rule, code, message, why }));
                let is_impossible = !self.can_be(rule, !is_negated);
                let (message, why) = match is_negated {
                    false => ("can never hold", "no call can satisfy this"),
                    true => ("always holds", "`not` in front of this can never hold"),
                };
                let code = "impossible-rule";
                vain.extend(is_impossible.then_some(Vain { part: rule, code, message, why }));
            }
            RuleKind::Not(inner) => self.add_vain(inner, !is_negated, vain),
            RuleKind::And(rules) | RuleKind::Or(rules) => {
                rules.iter().for_each(|rule| self.add_vain(rule, is_negated, vain));
            }
            RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..)
            | RuleKind::Aligned(..) => {}
        }
    }

    /// Whether a name is that of a float parameter.
    pub(crate) fn is_float(&self, name: &str) -> bool {
        self.scalars.get(name).is_some_and(|dtype| dtype.is_float())
    }

    /// Whether a part over values may hold, or may not, as far as the bounds of names tell.
    fn can_be(&self, part: &Rule, holding: bool) -> bool {
        let of = |name: &str| self.interval_of(name);
        match &part.kind {
            RuleKind::Compare(..) if part.names().iter().any(|name| self.is_float(&name.text)) => {
                true
            }
            RuleKind::Compare(a, comparison, b) => match (a.interval(&of), b.interval(&of)) {
                (Some(a), Some(b)) if holding => comparison.is_possible(a, b),
                (Some(a), Some(b)) => comparison.opposite().is_possible(a, b),
                _ => false,
            },
            RuleKind::In(e, values) if holding => e
                .interval(&of)
                .is_some_and(|all| values.iter().any(|value| all.contains((*value).into()))),
            _ => true,
        }
    }

    /// The bounds of a name's value: what counts something is not negative. Launches have names
    /// that are not bound here.
    fn interval_of(&self, name: &str) -> Interval {
        let is_extent = name.contains(".shape[") || name.ends_with(".numel");
        let is_symbol = self.symbols.contains_key(name) && !self.int_params.contains(name);
        let is_element = name.rsplit_once('[').is_some_and(|(s, _)| self.shapes.contains(s));
        let is_bool = self.scalars.get(name) == Some(&DType::BOOL);
        match () {
            () if is_bool || name.ends_with(".given") => Interval::new(0, 1),
            () if name.ends_with(".ndim") => Interval::new(0, MOST_TURNS.into()),
            () if is_extent || is_symbol || is_element => Interval::new(0, i64::MAX.into()),
            () => Interval::I64,
        }
    }

    /// Whether the rule may hold with some combination of dtypes that `rules` allow.
    pub(crate) fn allow_some(&self, rule: &Rule, rules: &[Rule]) -> bool {
        let vars: Vec<_> = self.dtypes.keys().map(String::as_str).collect();
        rule.dtype_vars().is_empty()
            || self.combinations(rules).iter().any(|row| allows(rule, &vars, row))
    }

    /// Every combination of the dtype variables that the rules allow: one dtype a variable, in the
    /// order of [`Bindings::dtypes`].
    pub fn combinations(&self, rules: &[Rule]) -> Vec<Vec<DType>> {
        let mut rows: Vec<Vec<DType>> = vec![vec![]];
        for (n_vars, binding) in self.dtypes.values().enumerate() {
            let vars: Vec<_> = self.dtypes.keys().take(n_vars + 1).map(String::as_str).collect();
            rows = rows
                .iter()
                .flat_map(|row| {
                    binding.allowed.iter().map(|dtype| [row.as_slice(), &[*dtype]].concat())
                })
                .filter(|row| rules.iter().all(|rule| allows(rule, &vars, row)))
                .take(MAX_COMBINATIONS * MAX_COMBINATIONS)
                .collect();
        }
        if self.dtypes.is_empty() { vec![] } else { rows }
    }
}

/// Whether a rule may hold with these dtypes for these variables.
fn allows(rule: &Rule, vars: &[&str], row: &[DType]) -> bool {
    let place = |var: &str| vars.iter().position(|known| *known == var);
    let known = Known { values: &|var| place(var).map(|place| KnownValue::DType(row[place])) };
    rule.outcomes(&known).holds
}

/// The dtypes that `var` may have: those that a rule lists, in the order of the first that lists
/// any, and with which every rule may hold. `None` where no rule lists any.
pub(super) fn allowed_dtypes(var: &str, rules: &[Rule]) -> Option<Vec<DType>> {
    let mut listed = rules.iter().find_map(|rule| rule.lists(var))?;
    listed.retain(|dtype| rules.iter().all(|rule| allows(rule, &[var], &[*dtype])));
    Some(listed)
}
