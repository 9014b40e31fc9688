// SPDX-License-Identifier: Apache-2.0
//! Which use of a name binds it: decided from the text alone, before anything is planned.
//!
//! Every kind reports its names in order ([`Declarations`]); [`Bindings`] then holds, for each
//! symbol and dtype variable, the path of the use that gives it its value. What is wrong with the
//! names as a whole is found here too: a name that nothing binds, or that is used outside the
//! `Optional` that binds it (here), one that means two things (`names`), a rule over what there is
//! not (`rules`).

mod binding;
mod names;
mod peer;
mod rules;
mod stars;
mod texts;

pub use binding::{
    Binding, Bindings, DTypeBinding, MAX_COMBINATIONS, Sharers, Sharing, StarBinding,
};

use crate::count::count;
use crate::dim::{Dim, Rank, Star};
use crate::expr::{Affine, Expr, Field, Name};
use crate::parse::READS_NO_DATA;
use crate::path::Path;
use crate::rule::Rule;
use binding::allowed_dtypes;
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use peer::Peer;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The effect that a use may have on a symbol, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// A dtype parameter, which is the dtype variable of its name.
    Param,
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
    strength: Strength,
    /// The `Optional`s around it, from the outside in.
    optionals: Rc<[String]>,
}

/// The names of a signature, as its kinds report them.
#[derive(Debug, Default)]
pub struct Declarations {
    symbols: Vec<Use>,
    /// The factor and the constant of each dim that is `a*s + c`, by its path.
    affine: HashMap<String, (i64, i64)>,
    dtype_vars: Vec<Use>,
    /// The rank of each tensor.
    tensors: HashMap<String, Rank>,
    stars: Vec<Use>,
    /// Stars whose dims lie in memory in any way, each with the tensor.
    strided_stars: Vec<(String, String)>,
    /// The fields of stars that dims and strides name.
    star_fields: Vec<(Name, Rc<[String]>)>,
    peers: Vec<Peer>,
    /// The scalars that are no symbols.
    scalars: HashMap<String, DType>,
    /// The Strings.
    texts: HashSet<String>,
    /// The rank of each Shape.
    shapes: HashMap<String, Rank>,
    /// The paths of all `Optional`s.
    optional_paths: HashSet<String>,
    /// The named elements of tuples: their own names, their paths, and where their parameters
    /// stand.
    elements: Vec<(String, String, Span)>,
    optionals: Rc<[String]>,
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
        let required = self.optionals.is_empty();
        let affine = expr.as_affine();
        if let Some(Affine { scale, offset, .. }) = &affine {
            self.affine.insert(at.text.clone(), (*scale, *offset));
        }
        let strength = match (expr, affine, required) {
            (Expr::Symbol(..), _, true) => Strength::Bare,
            (Expr::Symbol(..), _, false) => Strength::BareOptional,
            (_, Some(_), true) => Strength::Affine,
            (_, Some(_), false) => Strength::AffineOptional,
            (_, None, _) => Strength::Check,
        };
        self.uses(at, expr, strength);
    }

    /// A stride.
    pub fn stride(&mut self, at: &Path, dim: &Dim) {
        if let Dim::Expr(expr) = dim {
            let strength =
                if expr.as_symbol().is_some() { Strength::Stride } else { Strength::Check };
            self.uses(at, expr, strength);
        }
    }

    fn uses(&mut self, at: &Path, expr: &Expr, strength: Strength) {
        for name in expr.names() {
            if matches!(name.field, Some(Field::Numel | Field::Ndim)) {
                self.star_fields.push((name, self.optionals.clone()));
                continue;
            }
            let (path, optionals) = (at.text.clone(), self.optionals.clone());
            self.symbols.push(Use { name: name.text, span: name.span, path, strength, optionals });
        }
    }

    /// An integer parameter, which is the symbol of its path.
    pub fn int_param(&mut self, at: &Path) {
        self.uses(at, &Expr::Symbol(at.text.clone(), self.param), self.bare());
    }

    /// A scalar parameter that is no symbol.
    pub fn scalar(&mut self, at: &Path, dtype: DType) {
        self.scalars.insert(at.text.clone(), dtype);
    }

    /// A String.
    pub fn text(&mut self, at: &Path) {
        self.texts.insert(at.text.clone());
    }

    /// A Shape with these elements.
    pub fn shape(&mut self, at: &Path, dims: &[Dim]) {
        self.shapes.insert(at.text.clone(), Rank::of(dims));
    }

    /// A tensor with these dims.
    pub fn tensor(&mut self, at: &Path, dims: &[Dim]) {
        self.tensors.insert(at.text.clone(), Rank::of(dims));
    }

    /// A star of the tensor or Shape there, which may lie in memory in any way or not.
    pub fn star(&mut self, at: &Path, star: &Star, in_any_way: bool) {
        let Some(name) = star.name.clone() else { return };
        if in_any_way {
            self.strided_stars.push((name.clone(), at.text.clone()));
        }
        let strength = self.bare();
        let (path, optionals) = (at.text.clone(), self.optionals.clone());
        self.stars.push(Use { name, span: star.span, path, strength, optionals });
    }

    /// The strength of a bare use here.
    fn bare(&self) -> Strength {
        if self.optionals.is_empty() { Strength::Bare } else { Strength::BareOptional }
    }

    /// An element of a tuple that has a name.
    pub fn element(&mut self, at: &Path, name: &str) {
        self.elements.push((name.to_string(), at.text.clone(), self.param));
    }

    /// A tensor's dtype variable.
    pub fn dtype_var(&mut self, at: &Path, var: &str, span: Span) {
        let strength = self.bare();
        let (name, path, optionals) = (var.to_string(), at.text.clone(), self.optionals.clone());
        self.dtype_vars.push(Use { name, span, path, strength, optionals });
    }

    /// A parameter that is the dtype variable of its path.
    pub fn dtype_param(&mut self, at: &Path) {
        let (name, span, path) = (at.text.clone(), self.param, at.text.clone());
        let (strength, optionals) = (Strength::Param, self.optionals.clone());
        self.dtype_vars.push(Use { name, span, path, strength, optionals });
    }

    /// Declares the parts inside an `Optional`.
    pub fn optional(&mut self, at: &Path, inner: impl FnOnce(&mut Declarations)) {
        self.optional_paths.insert(at.text.clone());
        let outer = self.optionals.clone();
        self.optionals = outer.iter().chain([&at.text]).cloned().collect();
        inner(self);
        self.optionals = outer;
    }

    /// The binding of every name, and what is wrong with the names.
    pub fn resolve(
        &self,
        params: &[(String, Span)],
        rules: &[Rule],
    ) -> (Bindings, Vec<Diagnostic>) {
        let int_params = self.symbols.iter().filter(|used| used.name == used.path);
        let int_params = int_params.map(|used| used.name.clone()).collect();
        let peers = self.peers.clone();
        let shapes = self.shapes.keys().cloned().collect();
        let scalars = self.scalars.clone();
        let mut bindings = Bindings { int_params, peers, shapes, scalars, ..Bindings::default() };
        let mut diagnostics = bindings.check_peers(None);
        self.resolve_symbols(&mut bindings, &mut diagnostics);
        self.resolve_stars(&mut bindings, &mut diagnostics);
        self.resolve_dtype_vars(rules, &mut bindings, &mut diagnostics);
        self.check_names(params, &bindings, &mut diagnostics);
        self.check_rules(rules, &bindings, &mut diagnostics);
        (bindings, joined(diagnostics))
    }

    fn resolve_symbols(&self, bindings: &mut Bindings, diagnostics: &mut Vec<Diagnostic>) {
        for (symbol, uses) in by_name(&self.symbols) {
            let best = uses.iter().min_by_key(|u| u.strength).expect("a name has a use");
            let is_part = symbol.contains(['.', '[']);
            if is_part && !uses.iter().any(|used| used.name == used.path) {
                diagnostics.push(self.no_symbol(best));
                continue;
            }
            if best.strength == Strength::Check {
                diagnostics.push(unbound(best));
                continue;
            }
            let shared = |sharers| {
                let sharing = uses.iter().filter(|used| used.strength == best.strength);
                let paths = sharing.map(|used| used.path.clone()).collect();
                Some(Sharing { sharers, paths })
            };
            let (best, sharing) = match best.strength {
                Strength::BareOptional => match holder(&uses, best.strength) {
                    Some(used) => (used, None),
                    None => (best, shared(Sharers::Optionals)),
                },
                Strength::AffineOptional => (holder(&uses, best.strength).unwrap_or(best), None),
                Strength::Stride => (best, shared(Sharers::Strides)),
                _ => (best, None),
            };
            let problem = match sharing.as_ref().map(|sharing| sharing.sharers) {
                None => first_outside(&uses, [*best]).map(|used| optional_only(used, best, true)),
                Some(Sharers::Optionals) => {
                    let bare = uses.iter().filter(|used| used.strength == best.strength).copied();
                    first_outside(&uses, bare).map(|used| optional_only(used, best, true))
                }
                Some(Sharers::Strides) => {
                    let is_dim =
                        |u: &&&Use| u.strength == Strength::Check && !u.path.contains(".strides[");
                    uses.iter().find(is_dim).map(|used| stride_in_dim(used))
                }
            };
            diagnostics.extend(problem);
            bindings.symbols.insert(symbol.to_string(), self.binding(best, sharing));
        }
        self.resolve_settled(bindings);
    }

    /// A dim or stride that is written like a part of an argument, and no integer parameter.
    fn no_symbol(&self, used: &Use) -> Diagnostic {
        let name = &used.name;
        let problem = Diagnostic::new("unbound-symbol", format!("`{name}` is no symbol"));
        let help = match self.tensor_element(name) {
            Some((tensor, number)) => {
                format!("{READS_NO_DATA}; a dim is `{tensor}.shape[{number}]`, in rules")
            }
            None => "name the dim where it stands, and use that name here".to_string(),
        };
        problem.label(used.span, "dims are made of symbols and integers").help(help)
    }

    /// The binding that a use makes of a symbol.
    fn binding(&self, used: &Use, sharing: Option<Sharing>) -> Binding {
        let number = self.symbols.iter().position(|other| std::ptr::eq(other, used));
        let number = number.expect("a symbol's use is among those of all");
        let (scale, offset) = self.affine.get(&used.path).copied().unwrap_or((1, 0));
        let (path, optional) = (used.path.clone(), used.optionals.last().cloned());
        Binding { path, scale, offset, number, optional, sharing }
    }

    /// Where shared symbols have their values in the end.
    fn resolve_settled(&self, bindings: &mut Bindings) {
        let mut seen = HashSet::new();
        for used in self.symbols.iter().rev() {
            let sharers = bindings.symbols.get(&used.name).and_then(Binding::sharers);
            let strength = sharers.map(|sharers| match sharers {
                Sharers::Strides => Strength::Stride,
                Sharers::Optionals => Strength::BareOptional,
            });
            if strength == Some(used.strength) && seen.insert(&used.name) {
                let path = used.optionals.first().unwrap_or(&used.path);
                bindings.settled.entry(path.clone()).or_default().push(used.name.clone());
            }
        }
        bindings.settled.values_mut().for_each(|symbols| symbols.reverse());
    }

    fn resolve_dtype_vars(
        &self,
        rules: &[Rule],
        bindings: &mut Bindings,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let vars = by_name(&self.dtype_vars);
        for (var, uses) in &vars {
            let best = uses.iter().min_by_key(|u| u.strength).expect("a name has a use");
            let allowed = allowed_dtypes(var, rules);
            if let Some(optional) = best.optionals.first() {
                diagnostics.push(dtype_optional(best, optional));
            } else if let Some(allowed) = allowed {
                bindings
                    .dtypes
                    .insert(var.to_string(), DTypeBinding { path: best.path.clone(), allowed });
            } else {
                let has_rule = rules.iter().any(|rule| rule.dtype_vars().contains(var));
                diagnostics.push(dtype_unbounded(best, has_rule));
            }
        }
        match bindings.combinations(rules) {
            rows if rows.is_empty() && !bindings.dtypes.is_empty() => {
                let mut problem =
                    Diagnostic::new("dtype-rules", "no combination of dtypes satisfies the rules")
                        .help("make the sets of the dtype variables overlap");
                for rule in rules.iter().filter(|rule| !rule.dtype_vars().is_empty()) {
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
                for (var, uses) in &vars {
                    let allowed = bindings.dtypes.get(*var).map_or(0, |var| var.allowed.len());
                    problem = problem.label(uses[0].span, count(allowed, "dtype"));
                }
                diagnostics.push(problem);
            }
            _ => {}
        }
    }
}

/// The uses of each name, in order of the first.
fn by_name(uses: &[Use]) -> Vec<(&str, Vec<&Use>)> {
    let mut place: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<(&str, Vec<&Use>)> = Vec::new();
    for used in uses {
        let place = *place.entry(&used.name).or_insert(names.len());
        if place == names.len() {
            names.push((&used.name, vec![]));
        }
        names[place].1.push(used);
    }
    names
}

/// The first use of that strength in an `Optional` that is around all uses.
fn holder<'u>(uses: &'u [&'u Use], strength: Strength) -> Option<&'u &'u Use> {
    let around = uses.iter().map(|used| &used.optionals[..]).reduce(|a, b| {
        let n_common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        &a[..n_common]
    })?;
    let holds = |used: &&&Use| used.optionals.len() <= around.len();
    uses.iter().filter(|used| used.strength == strength).find(holds)
}

/// The first use that may be given where none of `binding` is.
fn first_outside<'u>(
    uses: &[&'u Use],
    binding: impl IntoIterator<Item = &'u Use>,
) -> Option<&'u Use> {
    let held: HashSet<&[String]> = binding.into_iter().map(|used| &used.optionals[..]).collect();
    let is_held = |used: &Use| {
        let mut around = (0..=used.optionals.len()).map(|n| &used.optionals[..n]);
        around.any(|optionals| held.contains(optionals))
    };
    uses.iter().copied().find(|used| !is_held(used))
}

/// Joins the diagnostics of one mistake, which is told once, at every place where it shows.
fn joined(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut joined: Vec<Diagnostic> = Vec::new();
    for diagnostic in diagnostics {
        let Diagnostic { code, message, help, labels, .. } = &diagnostic;
        let is_same =
            |it: &&mut Diagnostic| (it.code, &it.message, &it.help) == (*code, message, help);
        match joined.iter_mut().find(is_same) {
            Some(known) => {
                let new = labels.iter().filter(|label| !known.labels.contains(label));
                let new: Vec<_> = new.cloned().collect();
                known.labels.extend(new);
            }
            None => joined.push(diagnostic),
        }
    }
    joined
}

fn unbound(used: &Use) -> Diagnostic {
    Diagnostic::new("unbound-symbol", format!("nothing gives the symbol `{}` a value", used.name))
        .label(used.span, "used here, in a form that cannot be solved")
        .help(format!(
            "use `{0}` alone or as `a*{0} + c` in some dim, or add a parameter `{0}: int64`",
            used.name
        ))
}

/// The symbol of `outside` is bound by `best`, in an `Optional` that is not around both.
/// `may_share` says whether `Optional`s may share it.
fn optional_only(outside: &Use, best: &Use, may_share: bool) -> Diagnostic {
    let not_around = |optional: &&String| !outside.optionals.contains(*optional);
    let optional =
        best.optionals.iter().find(not_around).expect("an `Optional` around `best` only");
    let remedy = match may_share && !outside.optionals.is_empty() {
        true => "the symbol alone in this `Optional`, or ",
        false => "the symbol ",
    };
    Diagnostic::new(
        "optional-symbol",
        format!("`{}` has a value only where `{optional}` is given", outside.name),
    )
    .label(outside.span, "used outside it")
    .help(format!("use {remedy}in a required parameter too, or another symbol here"))
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

fn dtype_unbounded(used: &Use, has_rule: bool) -> Diagnostic {
    let var = &used.name;
    let message = match has_rule {
        true => format!("the rules leave open which dtypes `{var}` may be"),
        false => format!("the dtype variable `{var}` has no rule"),
    };
    let mut help =
        format!("say which dtypes there are kernels for: `where {var} in {{float16, bfloat16}}`");
    if used.strength != Strength::Param {
        help += &format!("; or correct the name, if `{var}` should be a dtype");
    }
    Diagnostic::new("dtype-variable", message)
        .label(used.span, "no rule says which dtypes it may be")
        .help(help)
}
