// SPDX-License-Identifier: Apache-2.0
//! Checks that wait until everything they name has a value.
//!
//! Each definition of a name is an event: the checks that it completes are made right then, in the
//! order written, dims before rules.

use super::Planner;
use crate::check;
use crate::expr::Expr;
use crate::path::Path;
use crate::plan::Value;
use crate::rule::Rule;

/// A check that waits for a value.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    needs: Vec<String>,
    guards: Vec<Value>,
    pub(super) check: PendingCheck,
}

#[derive(Clone, Debug)]
pub(super) enum PendingCheck {
    Dim { path: Path, actual: Value, expr: Expr },
    Stride { path: Path, actual: Value, free: Value, expr: Expr },
    DType { path: Path, actual: Value, var: String },
    Rule(usize),
}

impl Pending {
    /// The rules that need a value, waiting in the order written.
    pub(super) fn rules(rules: &[Rule]) -> Vec<Pending> {
        let rule = |(i, rule): (usize, &Rule)| Pending {
            needs: check::rule::needs(rule),
            guards: vec![],
            check: PendingCheck::Rule(i),
        };
        rules.iter().enumerate().map(rule).filter(|p| !p.needs.is_empty()).collect()
    }

    /// Whether both are the same check: a path is checked once for each expression.
    pub(super) fn is(&self, other: &Pending) -> bool {
        use PendingCheck::{DType, Dim, Rule, Stride};
        match (&self.check, &other.check) {
            (Dim { path: a, .. }, Dim { path: b, .. })
            | (Stride { path: a, .. }, Stride { path: b, .. })
            | (DType { path: a, .. }, DType { path: b, .. }) => a == b,
            (Rule(a), Rule(b)) => a == b,
            _ => false,
        }
    }
}

impl Planner<'_> {
    /// Makes the check of a dim now, or as soon as what it names has a value.
    pub fn check_dim(&mut self, path: &Path, actual: Value, expr: &Expr) {
        let (path, expr) = (path.clone(), expr.clone());
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        self.check(Pending {
            needs,
            guards: self.guards.clone(),
            check: PendingCheck::Dim { path, actual, expr },
        });
    }

    /// Makes the check of a stride that is an expression, now or as soon as what it names has a
    /// value.
    pub fn check_stride(&mut self, path: &Path, actual: Value, free: Value, expr: &Expr) {
        let (path, expr) = (path.clone(), expr.clone());
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        let check = PendingCheck::Stride { path, actual, free, expr };
        self.check(Pending { needs, guards: self.guards.clone(), check });
    }

    /// Makes the check of a dtype against its variable, now or as soon as the variable has a value.
    pub fn check_dtype(&mut self, path: &Path, actual: Value, var: &str) {
        let check = PendingCheck::DType { path: path.clone(), actual, var: var.to_string() };
        self.check(Pending { needs: vec![var.to_string()], guards: self.guards.clone(), check });
    }

    fn check(&mut self, pending: Pending) {
        if self.is_ready(&pending) {
            let path = Path::argument("", 0);
            self.make_unless_unbound(&pending, &path);
        } else {
            let at = self.pending.iter().position(|p| matches!(p.check, PendingCheck::Rule(_)));
            self.pending.insert(at.unwrap_or(self.pending.len()), pending);
        }
    }

    fn is_ready(&self, pending: &Pending) -> bool {
        pending.needs.iter().all(|name| {
            let settled = matches!(pending.check, PendingCheck::Rule(_)) || self.is_settled(name);
            self.names.contains_key(name) && settled
        })
    }

    /// Whether a name's value is final: a stride symbol's may still come from a later stride.
    fn is_settled(&self, name: &str) -> bool {
        let binding = self.bindings.symbols.get(name);
        let last = binding.and_then(|binding| binding.stride_uses.last());
        last.is_none_or(|last| self.names.get(name).is_some_and(|named| named.path.text == *last))
    }

    /// Makes the checks that waited for one of `names`, which got their values at `path`. Rules
    /// over a stride symbol are about that one stride, with that condition to skip them.
    pub(super) fn flush_on(
        &mut self,
        names: &[String],
        path: &Path,
        stride: Option<(Value, Value)>,
    ) {
        let mut i = 0;
        while i < self.pending.len() {
            let pending = self.pending[i].clone();
            if !pending.needs.iter().any(|need| names.contains(need)) || !self.is_ready(&pending) {
                i += 1;
                continue;
            }
            if pending.needs.iter().all(|need| self.is_settled(need)) {
                self.pending.remove(i);
            } else {
                i += 1;
            }
            match (&pending.check, stride) {
                (PendingCheck::Rule(_), Some(stride)) => {
                    self.make_on_stride(&pending, &names[0], path, stride);
                }
                _ => self.make_unless_unbound(&pending, path),
            }
        }
    }

    /// Makes a rule about one stride of a symbol, whose value it has for the moment.
    fn make_on_stride(
        &mut self,
        pending: &Pending,
        symbol: &str,
        path: &Path,
        (actual, skip): (Value, Value),
    ) {
        let named = self.names.get_mut(symbol).expect("the symbol has a value");
        let (merged, stride) = (std::mem::replace(&mut named.value, actual), named.stride.take());
        self.make(pending, path, skip);
        let named = self.names.get_mut(symbol).expect("the symbol has a value");
        (named.value, named.stride) = (merged, stride);
    }

    fn make_unless_unbound(&mut self, pending: &Pending, path: &Path) {
        let never = self.b.bool(false);
        self.make(pending, path, never);
    }

    /// Makes a check under the conditions it and its names stand under. A rule holds where `skip`
    /// does, or a stride symbol has no stride.
    fn make(&mut self, pending: &Pending, path: &Path, skip: Value) {
        let mut guards = pending.guards.clone();
        let mut skip = skip;
        for need in &pending.needs {
            let named = &self.names[need];
            guards.extend(&named.guards);
            if let (Some(stride), PendingCheck::Rule(_)) = (named.stride, &pending.check) {
                let unbound = self.b.not(stride.bound);
                skip = self.b.or(skip, unbound);
            }
        }
        guards.retain(|guard| !self.guards.contains(guard));
        guards.dedup();
        guards.iter().for_each(|_| self.b.open());
        match &pending.check {
            PendingCheck::Dim { path, actual, expr } => {
                check::dim::require_expr(self, path, *actual, expr);
            }
            PendingCheck::Stride { path, actual, free, expr } => {
                check::stride::require_expr(self, path, *actual, *free, expr);
            }
            PendingCheck::DType { path, actual, var } => {
                check::dtype::require_match(self, path, *actual, var);
            }
            PendingCheck::Rule(number) => {
                check::rule::require(self, path, &self.rules[*number], skip)
            }
        }
        for guard in guards.iter().rev() {
            self.b.close(*guard, &[]);
        }
    }
}
