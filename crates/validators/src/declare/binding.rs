// SPDX-License-Identifier: Apache-2.0
//! How names get their values: what the uses of a signature's names come to.

use super::peer::Peer;
use crate::plan::MOST_TURNS;
use crate::rule::{Rule, RuleKind};
use kernpack_ffi_abi::DType;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most combinations of dtypes that one function may have kernels for.
pub const MAX_COMBINATIONS: usize = 64;

/// How a symbol gets its value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The path of the use that binds it.
    pub path: String,
    /// The `Optional` that holds this use.
    pub optional: Option<String>,
    /// How many uses may bind it, where these share a symbol: bare strides, if only strides do.
    pub n_shared: usize,
}

impl Binding {
    /// Whether several uses may bind the symbol, and which one does is known in a call only.
    pub fn is_shared(&self) -> bool {
        self.n_shared > 0
    }
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
    /// The tensors that are marked `peer`.
    pub(super) peers: Vec<Peer>,
}

/// What is wrong with a rule that says nothing, or nothing that can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vain {
    /// The name of the diagnostic.
    pub code: &'static str,
    /// What is wrong, to stand behind the rule.
    pub message: &'static str,
    /// Why.
    pub why: &'static str,
}

impl Bindings {
    /// The shared symbols whose last use stands at a path, or in the `Optional` there.
    pub fn settled_at(&self, path: &str) -> &[String] {
        self.settled.get(path).map_or(&[], Vec::as_slice)
    }

    /// What is wrong with a rule all by itself.
    pub(crate) fn vain(&self, rule: &Rule) -> Vec<Vain> {
        let bounds = |name: &str| self.bounds_of(name);
        let can_hold = match &rule.kind {
            RuleKind::Compare(a, comparison, b) => match (a.bounds(&bounds), b.bounds(&bounds)) {
                (Some(a), Some(b)) => comparison.is_possible(a, b),
                _ => false,
            },
            RuleKind::In(e, values) => e
                .bounds(&bounds)
                .is_some_and(|(low, high)| values.iter().any(|value| (low..=high).contains(value))),
            RuleKind::DTypes(..) | RuleKind::NoAlias(..) => return vec![],
        };
        let constant = Vain { code: "constant-rule", message: "names nothing", why: "constant" };
        let impossible = Vain {
            code: "impossible-rule",
            message: "can never hold",
            why: "no call can satisfy this",
        };
        let found = [(rule.names().is_empty(), constant), (!can_hold, impossible)];
        found.into_iter().filter(|(is_so, _)| *is_so).map(|(_, vain)| vain).collect()
    }

    /// What is known of a name's value: what counts something is not negative. Launches have names
    /// that are not bound here.
    fn bounds_of(&self, name: &str) -> (i64, i64) {
        let is_extent = name.contains(".shape[") || name.ends_with(".numel");
        let is_symbol = self.symbols.contains_key(name) && !self.int_params.contains(name);
        match () {
            () if name.ends_with(".given") => (0, 1),
            () if name.ends_with(".ndim") => (0, MOST_TURNS),
            () if is_extent || is_symbol => (0, i64::MAX),
            () => (i64::MIN, i64::MAX),
        }
    }

    /// Whether the rule allows some combination of dtypes that `rules` allow.
    pub(crate) fn allow_some(&self, rule: &Rule, rules: &[Rule]) -> bool {
        let vars: Vec<_> = self.dtypes.keys().map(String::as_str).collect();
        self.combinations(rules).iter().any(|row| allows(rule, &vars, row))
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

/// Whether a rule allows these dtypes for these variables; a rule over others too is not asked yet.
fn allows(rule: &Rule, vars: &[&str], row: &[DType]) -> bool {
    let RuleKind::DTypes(rule_vars, rows) = &rule.kind else { return true };
    let places: Option<Vec<_>> =
        rule_vars.iter().map(|var| vars.iter().position(|known| known == var)).collect();
    places.is_none_or(|places| {
        rows.iter().any(|allowed| places.iter().zip(allowed).all(|(i, dtype)| row[*i] == *dtype))
    })
}

/// The dtypes that every rule on `var` allows, in the order of the first; `None` where there is no
/// rule.
pub(super) fn allowed_dtypes(var: &str, rules: &[Rule]) -> Option<Vec<DType>> {
    let mut allowed: Option<Vec<DType>> = None;
    for rule in rules {
        let RuleKind::DTypes(vars, rows) = &rule.kind else { continue };
        let Some(place) = vars.iter().position(|v| v == var) else { continue };
        let mut column: Vec<DType> = Vec::new();
        for row in rows {
            if !column.contains(&row[place]) {
                column.push(row[place]);
            }
        }
        allowed = Some(match allowed {
            None => column,
            Some(before) => before.into_iter().filter(|dtype| column.contains(dtype)).collect(),
        });
    }
    allowed
}
