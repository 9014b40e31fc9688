// SPDX-License-Identifier: Apache-2.0
//! Which use of a name binds it: decided from the text alone, before anything is planned.
//!
//! Every kind reports its names in order ([`Declarations`]); [`Bindings`] then holds, for each symbol and dtype variable, the path of the use that gives it its
//! value. What the names as a whole must satisfy (bound somewhere, not used outside the `Optional` that binds them, no clash) is found here
//! too, as diagnostics.

use crate::count::count;
use crate::dim::Dim;
use crate::expr::{Expr, Field, Name};
use crate::param::KEYWORDS;
use crate::path::Path;
use crate::rule::{Rule, RuleKind};
use crate::spelling::{closest_field, did_you_mean};
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a use may do to a symbol, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Bare, where an argument must be.
    Bare,
    /// Bare, inside an `Optional`.
    BareOptional,
    /// `a*s + c`, where an argument must be.
    Affine,
    /// `a*s + c`, inside an `Optional`.
    AffineOptional,
    /// Bare, as a stride.
    Stride,
    /// Only a check.
    Check,
}

/// A use of a symbol or dtype variable.
#[derive(Clone, Debug)]
struct Use {
    name: String,
    span: Span,
    path: String,
    rank: Rank,
    optional: Option<String>,
}

/// The names of a signature, as its kinds report them.
#[derive(Debug, Default)]
pub struct Declarations {
    symbols: Vec<Use>,
    dtype_vars: Vec<Use>,
    tensors: Vec<(String, usize)>,
    optional: Option<String>,
    /// Where the parameter's name stands.
    param: Span,
}

impl Declarations {
    /// The names of the parameter whose own name stands there follow.
    pub fn param(&mut self, span: Span) {
        self.param = span;
    }

    /// A dim or a Shape element.
    pub fn dim(&mut self, at: &Path, dim: &Dim) {
        let Dim::Expr(expr) = dim else { return };
        let required = self.optional.is_none();
        let rank = match (expr, expr.as_affine(), required) {
            (Expr::Symbol(..), _, true) => Rank::Bare,
            (Expr::Symbol(..), _, false) => Rank::BareOptional,
            (_, Some(_), true) => Rank::Affine,
            (_, Some(_), false) => Rank::AffineOptional,
            (_, None, _) => Rank::Check,
        };
        self.uses(at, expr, rank);
    }

    /// A stride.
    pub fn stride(&mut self, at: &Path, dim: &Dim) {
        if let Dim::Expr(expr) = dim {
            let rank = if expr.as_symbol().is_some() { Rank::Stride } else { Rank::Check };
            self.uses(at, expr, rank);
        }
    }

    fn uses(&mut self, at: &Path, expr: &Expr, rank: Rank) {
        for name in expr.names() {
            let (path, optional) = (at.text.clone(), self.optional.clone());
            self.symbols.push(Use { name: name.text, span: name.span, path, rank, optional });
        }
    }

    /// An integer parameter, which is the symbol of its path.
    pub fn int_param(&mut self, at: &Path) {
        self.uses(
            at,
            &Expr::Symbol(at.text.clone(), self.param),
            match self.optional {
                None => Rank::Bare,
                Some(_) => Rank::BareOptional,
            },
        );
    }

    /// A tensor, with its rank.
    pub fn tensor(&mut self, at: &Path, rank: usize) {
        self.tensors.push((at.text.clone(), rank));
    }

    /// A tensor's dtype variable.
    pub fn dtype_var(&mut self, at: &Path, var: &str, span: Span) {
        let rank = if self.optional.is_none() { Rank::Bare } else { Rank::BareOptional };
        let (name, path, optional) = (var.to_string(), at.text.clone(), self.optional.clone());
        self.dtype_vars.push(Use { name, span, path, rank, optional });
    }

    /// What stands inside an `Optional`.
    pub fn optional(&mut self, at: &Path, inner: impl FnOnce(&mut Declarations)) {
        let outer = self.optional.clone();
        self.optional.get_or_insert_with(|| at.text.clone());
        inner(self);
        self.optional = outer;
    }

    /// The binding of every name, and what is wrong with the names.
    pub fn resolve(
        &self,
        params: &[(String, Span)],
        rules: &[Rule],
    ) -> (Bindings, Vec<Diagnostic>) {
        let int_params = self.symbols.iter().filter(|used| used.name == used.path);
        let int_params = int_params.map(|used| used.name.clone()).collect();
        let mut bindings = Bindings { int_params, ..Bindings::default() };
        let mut diagnostics = Vec::new();
        self.resolve_symbols(&mut bindings, &mut diagnostics);
        self.resolve_dtype_vars(rules, &mut bindings, &mut diagnostics);
        self.check_names(params, &bindings, &mut diagnostics);
        self.check_rules(rules, &bindings, &mut diagnostics);
        (bindings, diagnostics)
    }

    fn resolve_symbols(&self, bindings: &mut Bindings, diagnostics: &mut Vec<Diagnostic>) {
        for symbol in names(&self.symbols) {
            let uses: Vec<_> = self.symbols.iter().filter(|u| u.name == symbol).collect();
            let best = uses.iter().min_by_key(|u| u.rank).expect("a name has a use");
            if best.rank == Rank::Check {
                diagnostics.push(unbound(best));
                continue;
            }
            let is_stride = best.rank == Rank::Stride;
            if let Some(optional) = &best.optional
                && let Some(outside) = uses.iter().find(|u| u.optional.as_ref() != Some(optional))
                && !is_stride
            {
                diagnostics.push(optional_only(outside, optional));
            }
            let stride_uses = uses.iter().filter(|u| is_stride && u.rank == Rank::Stride);
            bindings.symbols.insert(
                symbol,
                Binding {
                    path: best.path.clone(),
                    optional: best.optional.clone(),
                    stride_uses: stride_uses.map(|u| u.path.clone()).collect(),
                },
            );
            if let Some(dim) = uses
                .iter()
                .find(|u| is_stride && u.rank == Rank::Check && !u.path.contains(".strides["))
            {
                diagnostics.push(stride_in_dim(dim));
            }
        }
    }

    fn resolve_dtype_vars(
        &self,
        rules: &[Rule],
        bindings: &mut Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for var in names(&self.dtype_vars) {
            let uses = self.dtype_vars.iter().filter(|u| u.name == var);
            let best = uses.min_by_key(|u| u.rank).expect("a name has a use");
            let allowed = allowed_dtypes(&var, rules);
            if let Some(optional) = &best.optional {
                diagnostics.push(dtype_optional(best, optional));
            } else if let Some(allowed) = allowed {
                bindings.dtypes.insert(var, DTypeBinding { path: best.path.clone(), allowed });
            } else {
                diagnostics.push(dtype_unbounded(best));
            }
        }
        match bindings.combinations(rules) {
            rows if rows.is_empty() && !bindings.dtypes.is_empty() => {
                let mut problem =
                    Diagnostic::new("dtype-rules", "no combination of dtypes satisfies the rules")
                        .help("make the sets of the dtype variables overlap");
                for rule in rules.iter().filter(|rule| matches!(rule.kind, RuleKind::DTypes(..))) {
                    problem = problem.label(rule.span, "must hold");
                }
                diagnostics.push(problem);
            }
            rows if rows.len() > MAX_COMBINATIONS => {
                let message = format!(
                    "the dtype variables have {}, at most {MAX_COMBINATIONS} are allowed",
                    count(rows.len(), "combination")
                );
                let mut problem = Diagnostic::new("too-many-dtypes", message)
                    .help("list the combinations that are needed: `(T, U) in {(…), …}`");
                for var in names(&self.dtype_vars) {
                    let first = self.dtype_vars.iter().find(|used| used.name == var);
                    let allowed = bindings.dtypes.get(&var).map_or(0, |var| var.allowed.len());
                    let span = first.map_or(Span::default(), |used| used.span);
                    problem = problem.label(span, count(allowed, "dtype"));
                }
                diagnostics.push(problem);
            }
            _ => {}
        }
    }

    fn check_names(
        &self,
        params: &[(String, Span)],
        bindings: &Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for (name, span) in params {
            if let Some(problem) = reserved(name) {
                diagnostics.push(
                    Diagnostic::new("reserved-name", format!("`{name}` {problem}"))
                        .label(*span, "used as a parameter's name")
                        .help("choose another name"),
                );
            }
            if seen.insert(name, *span).is_some() {
                diagnostics.push(clash(name, *span, "another parameter has that name"));
            }
        }
        for used in self.symbols.iter().filter(|used| used.name != used.path) {
            if reserved(&used.name).is_some() || used.name == "device" {
                diagnostics.push(
                    Diagnostic::new(
                        "reserved-name",
                        format!("`{}` is reserved and cannot be a symbol", used.name),
                    )
                    .label(used.span, "used as a symbol")
                    .help("choose another name"),
                );
            }
            let is_param = seen.contains_key(used.name.as_str());
            let is_int = bindings.symbols.get(&used.name).is_some_and(|_| {
                self.symbols.iter().any(|u| u.name == used.name && u.path == used.name)
            });
            if is_param && !is_int {
                diagnostics.push(clash(
                    &used.name,
                    used.span,
                    "the parameter of that name is no integer of at most 64 signed bits",
                ));
            }
        }
        for used in &self.dtype_vars {
            let is_symbol = bindings.symbols.contains_key(&used.name);
            if seen.contains_key(used.name.as_str()) || is_symbol {
                diagnostics.push(clash(
                    &used.name,
                    used.span,
                    "a dtype variable needs a name of its own",
                ));
            }
        }
        diagnostics.dedup();
    }

    fn check_rules(&self, rules: &[Rule], bindings: &Bindings, diagnostics: &mut Vec<Diagnostic>) {
        for rule in rules {
            for name in rule.names() {
                if let Some(param) = name.field {
                    self.check_field(&name, param, diagnostics);
                } else {
                    match bindings.symbols.get(&name.text) {
                        None => diagnostics.push(self.unknown_symbol(&name.text, name.span)),
                        Some(Binding { optional: Some(optional), stride_uses, .. })
                            if stride_uses.is_empty() =>
                        {
                            diagnostics.push(rule_on_optional(&name.text, name.span, optional));
                        }
                        Some(_) => {}
                    }
                }
            }
            self.check_rule(rule, bindings, diagnostics);
        }
    }

    fn check_field(&self, name: &Name, field: Field, diagnostics: &mut Vec<Diagnostic>) {
        let param = name.param.as_deref().unwrap_or_default();
        let tensor = self.tensors.iter().find(|(tensor, _)| tensor == param);
        let problem = match (tensor, field) {
            (None, _) => format!("`{param}` is no tensor of this signature"),
            (Some((_, rank)), Field::Shape(i) | Field::Stride(i)) if i >= *rank => {
                format!("`{param}` has {}", count(*rank, "dim"))
            }
            (_, Field::Given) => "rules hold for every call".to_string(),
            _ => return,
        };
        let message = format!("`{}` names no tensor's field", name.text);
        diagnostics.push(Diagnostic::new("unknown-field", message).label(name.span, problem));
    }

    fn check_rule(&self, rule: &Rule, bindings: &Bindings, diagnostics: &mut Vec<Diagnostic>) {
        match &rule.kind {
            RuleKind::NoAlias(a, b) => {
                for name in [a, b] {
                    if !self.tensors.iter().any(|(tensor, _)| tensor == name) {
                        diagnostics.push(
                            Diagnostic::new("unknown-tensor", format!("`{name}` is no tensor"))
                                .label(rule.span, "`noalias` compares two tensor parameters"),
                        );
                    }
                }
                if a == b {
                    diagnostics.push(impossible(rule, "a tensor always overlaps itself"));
                }
            }
            RuleKind::DTypes(vars, _) => {
                for var in
                    vars.iter().filter(|var| !self.dtype_vars.iter().any(|u| u.name == **var))
                {
                    diagnostics.push(
                        Diagnostic::new(
                            "unused-dtype-variable",
                            format!("no tensor has the dtype variable `{var}`"),
                        )
                        .label(rule.span, "this rule says nothing"),
                    );
                }
            }
            RuleKind::Compare(..) | RuleKind::In(..) => {
                for vain in bindings.vain(rule) {
                    let message = format!("`{rule}` {}", vain.message);
                    diagnostics
                        .push(Diagnostic::new(vain.code, message).label(rule.span, vain.why));
                }
            }
        }
    }

    fn unknown_symbol(&self, name: &str, span: Span) -> Diagnostic {
        let is_tensor = |path: &str| self.tensors.iter().any(|(tensor, _)| tensor == path);
        let meant = closest_field(name).filter(|(tensor, _)| is_tensor(tensor));
        let problem =
            Diagnostic::new("unbound-symbol", format!("nothing gives the symbol `{name}` a value"))
                .label(span, "not found in any dim, Shape or integer parameter");
        let help = format!("use `{name}` in some dim, or add a parameter `{name}: int64`");
        did_you_mean(problem, meant.map(|(_, field)| field), help)
    }
}

/// The most combinations of dtypes that one function may have kernels for.
pub const MAX_COMBINATIONS: usize = 64;

/// How a symbol gets its value.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The path of the use that binds it.
    pub path: String,
    /// The `Optional` that holds this use.
    pub optional: Option<String>,
    /// For a symbol that only strides bind: the paths of its bare uses there, in order.
    pub stride_uses: Vec<String>,
}

/// How a dtype variable gets its value.
#[derive(Clone, Debug)]
pub struct DTypeBinding {
    /// The path of the tensor that binds it.
    pub path: String,
    /// The dtypes it may have.
    pub allowed: Vec<DType>,
}

/// How every name of a signature gets its value.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Symbols.
    pub symbols: HashMap<String, Binding>,
    /// Dtype variables, in the order of their first use.
    pub dtypes: BTreeMap<String, DTypeBinding>,
    /// The integers among the parameters and their parts, which may be negative.
    pub int_params: HashSet<String>,
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

    /// What is known of a name's value: what counts something is not negative. Launches have names that are not bound here.
    fn bounds_of(&self, name: &str) -> (i64, i64) {
        let is_extent = name.contains(".shape[") || name.ends_with(".numel");
        let is_symbol = self.symbols.contains_key(name) && !self.int_params.contains(name);
        match () {
            () if name.ends_with(".given") => (0, 1),
            () if is_extent || is_symbol => (0, i64::MAX),
            () => (i64::MIN, i64::MAX),
        }
    }

    /// Whether the rule allows some combination of dtypes that `rules` allow.
    pub(crate) fn allow_some(&self, rule: &Rule, rules: &[Rule]) -> bool {
        let vars: Vec<_> = self.dtypes.keys().map(String::as_str).collect();
        self.combinations(rules).iter().any(|row| allows(rule, &vars, row))
    }

    /// Every combination of the dtype variables that the rules allow: one dtype a variable, in the order of [`Bindings::dtypes`].
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

/// The dtypes that every rule on `var` allows, in the order of the first; `None` where there is no rule.
fn allowed_dtypes(var: &str, rules: &[Rule]) -> Option<Vec<DType>> {
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

/// The distinct names, in order of first use.
fn names(uses: &[Use]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for used in uses {
        if !names.contains(&used.name) {
            names.push(used.name.clone());
        }
    }
    names
}

/// Why nothing may have that name, if so.
fn reserved(name: &str) -> Option<&'static str> {
    if KEYWORDS.contains(&name) {
        Some("is a keyword")
    } else if DType::parse(name).is_some() {
        Some("is a dtype")
    } else {
        None
    }
}

fn clash(name: &str, span: Span, why: &str) -> Diagnostic {
    Diagnostic::new("name-clash", format!("`{name}` means two things"))
        .label(span, why)
        .help("parameters, symbols and dtype variables share one name space: rename one")
}

fn unbound(used: &Use) -> Diagnostic {
    Diagnostic::new("unbound-symbol", format!("nothing gives the symbol `{}` a value", used.name))
        .label(used.span, "used here, in a form that cannot be solved")
        .help(format!(
            "use `{0}` alone or as `a*{0} + c` in some dim, or add a parameter `{0}: int64`",
            used.name
        ))
}

fn optional_only(outside: &Use, optional: &str) -> Diagnostic {
    Diagnostic::new(
        "optional-symbol",
        format!("`{}` has a value only where `{optional}` is given", outside.name),
    )
    .label(outside.span, "used outside it")
    .help("use the symbol in a required parameter too, or another symbol here")
}

fn rule_on_optional(name: &str, span: Span, optional: &str) -> Diagnostic {
    Diagnostic::new("optional-symbol", format!("`{name}` has a value only where `{optional}` is given"))
        .label(span, "used in a rule, which holds for every call")
        .help(format!("write the rule over a field, such as `{optional}.shape[0]`, which is 0 where `{optional}` is absent"))
}

fn stride_in_dim(used: &Use) -> Diagnostic {
    Diagnostic::new(
        "stride-symbol",
        format!("`{}` is a stride, and may have no value of its own in a call", used.name),
    )
    .label(used.span, "used in a dim")
    .help("use the symbol in strides, rules and kernel arguments only")
}

fn dtype_optional(used: &Use, optional: &str) -> Diagnostic {
    Diagnostic::new(
        "dtype-variable",
        format!("the dtype variable `{}` is bound only inside an `Optional`", used.name),
    )
    .label(used.span, format!("has a value only where `{optional}` is given"))
    .help("use it in a required tensor too, or write a dtype")
}

fn dtype_unbounded(used: &Use) -> Diagnostic {
    let var = &used.name;
    Diagnostic::new("dtype-variable", format!("the dtype variable `{var}` has no rule"))
        .label(used.span, "no rule says which dtypes it may be")
        .help(format!("say which dtypes there are kernels for: `where {var} in {{float16, bfloat16}}`; or correct the name, if `{var}` should be a dtype"))
}

fn impossible(rule: &Rule, why: &str) -> Diagnostic {
    Diagnostic::new("impossible-rule", format!("`{rule}` can never hold")).label(rule.span, why)
}
