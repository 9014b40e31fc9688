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

pub use binding::{Binding, Bindings, DTypeBinding, MAX_COMBINATIONS};

use crate::count::count;
use crate::dim::Dim;
use crate::expr::Expr;
use crate::path::Path;
use crate::rule::{Rule, RuleKind};
use binding::allowed_dtypes;
use kernpack_syntax::{Diagnostic, Span};
use peer::Peer;

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
    peers: Vec<Peer>,
    /// The paths of uint64 parameters, which are no symbols.
    unsigned: Vec<String>,
    /// The named elements of tuples: their own names, their paths, and where their parameters stand.
    elements: Vec<(String, String, Span)>,
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

    /// A uint64 parameter: an integer, and no symbol.
    pub fn uint64_param(&mut self, at: &Path) {
        self.unsigned.push(at.text.clone());
    }

    /// A tensor, with its rank.
    pub fn tensor(&mut self, at: &Path, rank: usize) {
        self.tensors.push((at.text.clone(), rank));
    }

    /// An element of a tuple that has a name.
    pub fn element(&mut self, at: &Path, name: &str) {
        self.elements.push((name.to_string(), at.text.clone(), self.param));
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
        let peers = self.peers.clone();
        let mut bindings = Bindings { int_params, peers, ..Bindings::default() };
        let mut diagnostics = bindings.check_peers(None);
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
