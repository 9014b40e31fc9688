// SPDX-License-Identifier: Apache-2.0
//! What is known of the numbers of a call where a launch runs: bounds, divisors, constants. It
//! follows from the kinds of the parameters, from the rules of the signature, and from the
//! conditions of the launch, all of which the entry point checks.
//!
//! A name that has an expression in others is written as that: `x.shape[1]` as `n`, where `n` is
//! what the signature says. Facts hold for the values that the entry point computes, which are 64
//! bits wide and do not overflow.

mod learn;
pub(super) mod names;

#[cfg(test)]
mod tests;

use crate::argument::Dim;
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::kernel;
use kernpack_layout::{Facts, Int, Op as LayoutOp, gcd};
use kernpack_validators::declare::Bindings;
use kernpack_validators::expr::{Expr, Field, Op};
use kernpack_validators::{
    Branch, Known, KnownValue, Outcomes, Rule, RuleKind, Signature, Workspace,
};
use names::Names;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The dtypes of the dtype variables: one combination of those that a signature allows.
pub type Row = BTreeMap<String, DType>;

/// What is known of a call that got to some place.
#[derive(Clone, Debug)]
pub struct CallFacts {
    names: Rc<Names>,
    row: Rc<Row>,
    /// What has been learned of expressions, by their text.
    numbers: HashMap<String, Facts>,
    /// What the addresses of tensors are known to be multiples of, in bytes, by path.
    aligned: BTreeMap<String, u32>,
    /// The pairs of tensors that share no memory.
    apart: BTreeSet<(String, String)>,
    /// Whether no call gets there.
    is_impossible: bool,
}

impl CallFacts {
    /// What is known of every accepted call of a signature with these dtypes.
    pub fn of(
        signature: &Signature,
        bindings: &Bindings,
        workspaces: &[Workspace],
        row: Row,
    ) -> CallFacts {
        let names = Rc::new(Names::of(signature, bindings, workspaces));
        let (numbers, aligned) = (HashMap::new(), BTreeMap::new());
        let apart = BTreeSet::new();
        let mut facts =
            CallFacts { names, row: Rc::new(row), numbers, aligned, apart, is_impossible: false };
        // What one rule says may tell more of another.
        for _ in 0..2 {
            signature.rules.iter().for_each(|rule| facts.learn_checked(rule));
        }
        facts
    }

    /// The dtypes.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Whether no call gets there.
    pub fn is_impossible(&self) -> bool {
        self.is_impossible
    }

    /// What the address of a tensor is a multiple of, as far as rules say.
    pub fn alignment(&self, path: &str) -> u32 {
        self.aligned.get(path).copied().unwrap_or(1)
    }

    /// Whether two tensors are known to share no memory: a rule says so, or a call allocates one.
    pub fn are_apart(&self, a: &str, b: &str) -> bool {
        self.names.is_allocated(a) || self.names.is_allocated(b) || self.apart.contains(&pair(a, b))
    }

    /// What is known behind an `if`, on one of its sides.
    pub fn on_side(&self, branch: &Branch) -> CallFacts {
        let mut facts = self.clone();
        // A rule that breaks does not hold, and then nothing is known of its parts.
        let breaks = branch.rule.outcomes(&Known { values: &|_| None }).breaks;
        if branch.holds || !breaks {
            for _ in 0..2 {
                facts.learn(&branch.rule, branch.holds);
            }
        }
        facts
    }

    /// Whether a rule holds in every call, or in none; nothing where that depends on the call.
    pub fn decide(&self, rule: &Rule) -> Option<bool> {
        let values = |name: &str| self.known_value(name);
        match rule.outcomes(&Known { values: &values }) {
            Outcomes { holds: false, .. } => return Some(false),
            Outcomes { holds: true, fails: false, breaks: false } => return Some(true),
            Outcomes { .. } => {}
        }
        match &rule.kind {
            RuleKind::Compare(a, comparison, b) => {
                let (a, b) = (self.canonical(a), self.canonical(b));
                let (of_a, of_b) = (self.facts(&a), self.facts(&b));
                let (bounds_a, bounds_b) = ((of_a.min, of_a.max), (of_b.min, of_b.max));
                let breaks = rule.outcomes(&Known { values: &|_| None }).breaks;
                match () {
                    () if self.names.is_of_others(rule) => None,
                    () if !comparison.is_possible(bounds_a, bounds_b) => Some(false),
                    () if breaks => None,
                    () if a == b => Some(comparison.is_possible((0, 0), (0, 0))),
                    () if !comparison.opposite().is_possible(bounds_a, bounds_b) => Some(true),
                    () => None,
                }
            }
            RuleKind::Not(rule) => self.decide(rule).map(|holds| !holds).filter(|holds| {
                // What breaks does not hold, with `not` in front neither.
                !holds || !rule.outcomes(&Known { values: &|_| None }).breaks
            }),
            RuleKind::And(rules) => self.decide_all(rules),
            RuleKind::Or(rules) => self.decide_any(rules),
            RuleKind::Aligned(tensor, bytes) => {
                self.alignment(tensor).is_multiple_of(*bytes).then_some(true)
            }
            RuleKind::In(e, values) => {
                let of = self.facts(&self.canonical(e));
                let may_be = values.iter().any(|value| {
                    let is_multiple = of.divisor <= 1 || value % of.divisor == 0;
                    is_multiple && (of.min..=of.max).contains(value)
                });
                (!may_be).then_some(false)
            }
            RuleKind::Floats(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::NoAlias(..) => None,
        }
    }

    fn decide_all(&self, rules: &[Rule]) -> Option<bool> {
        let decided: Vec<_> = rules.iter().map(|rule| self.decide(rule)).collect();
        let fails = decided.contains(&Some(false));
        let holds = decided.iter().all(|one| *one == Some(true));
        if fails { Some(false) } else { holds.then_some(true) }
    }

    fn decide_any(&self, rules: &[Rule]) -> Option<bool> {
        let decided: Vec<_> = rules.iter().map(|rule| self.decide(rule)).collect();
        match decided.iter().position(|one| *one != Some(false)) {
            None => Some(false),
            // What comes before could break.
            Some(at) => (decided[at] == Some(true)).then_some(true),
        }
    }

    fn known_value(&self, name: &str) -> Option<KnownValue> {
        if let Some(dtype) = self.row.get(name) {
            return Some(KnownValue::DType(*dtype));
        }
        if self.names.is_other(name) {
            return None;
        }
        let value = self.numbers.get(name).copied().and_then(|facts| facts.known());
        value.map(KnownValue::Int)
    }

    /// An expression with its constants folded, and its names as far as possible in terms of
    /// others.
    pub fn canonical(&self, expr: &Expr) -> Expr {
        let expr = match expr {
            Expr::Int(_) => return expr.clone(),
            Expr::Symbol(name, _) => match self.names.value_of(name) {
                Some(value) => self.canonical(value),
                None => expr.clone(),
            },
            Expr::Field(path, field, _) => match self.names.value_of_field(path, *field) {
                Some(value) => self.canonical(value),
                None => expr.clone(),
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.canonical(a), self.canonical(b));
                self.folded(*op, a, b)
            }
        };
        match self.facts(&expr).known() {
            Some(value) if self.has_value(&expr) => Expr::Int(value),
            Some(_) | None => expr,
        }
    }

    /// Whether an expression has a value in every call: what has none must not be folded away.
    fn has_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Symbol(..) => true,
            Expr::Field(_, field, _) => *field != Field::Numel,
            Expr::Binary(op, a, b) => {
                let is_defined = match op {
                    Op::Add | Op::Sub | Op::Mul => false,
                    Op::FloorDiv | Op::Mod | Op::CeilDiv => b.as_int().is_some_and(|by| by > 0),
                    Op::Min | Op::Max => true,
                };
                is_defined && self.has_value(a) && self.has_value(b)
            }
        }
    }

    fn folded(&self, op: Op, a: Expr, b: Expr) -> Expr {
        if let (Expr::Int(a), Expr::Int(b)) = (&a, &b)
            && let Some(value) = op.apply(*a, *b)
        {
            return Expr::Int(value);
        }
        let (of_a, of_b) = (self.facts(&a), self.facts(&b));
        match (op, a.as_int(), b.as_int()) {
            (Op::Add | Op::Sub, _, Some(0))
            | (Op::Mul | Op::FloorDiv | Op::CeilDiv, _, Some(1)) => a,
            (Op::Add, Some(0), _) | (Op::Mul, Some(1), _) => b,
            (Op::Mod, _, Some(by)) if of_a.is_multiple_of(by) && self.has_value(&a) => Expr::Int(0),
            (Op::CeilDiv, _, Some(by)) if of_a.is_multiple_of(by) => {
                Expr::binary(Op::FloorDiv, a, b)
            }
            (Op::Min, ..) if of_a.max <= of_b.min && self.has_value(&b) => a,
            (Op::Min, ..) if of_b.max <= of_a.min && self.has_value(&a) => b,
            (Op::Max, ..) if of_a.min >= of_b.max && self.has_value(&b) => a,
            (Op::Max, ..) if of_b.min >= of_a.max && self.has_value(&a) => b,
            _ => Expr::binary(op, a, b),
        }
    }

    /// An expression as a number of a layout.
    pub fn int(&self, expr: &Expr) -> Int<Dim> {
        match self.canonical(expr) {
            Expr::Int(value) => Int::Known(value),
            expr => Int::Dynamic(Dim { facts: self.kernel_facts(&expr), expr }),
        }
    }

    /// What is known of an expression's value, as kernels have it.
    pub fn kernel_facts(&self, expr: &Expr) -> kernel::Facts {
        let Facts { min, max, divisor } = self.facts(expr);
        kernel::Facts { min, max, divisor: divisor.max(1) }
    }

    /// The type that an integer parameter arrives as; nothing of other expressions.
    pub fn type_of(&self, expr: &Expr) -> Option<DType> {
        expr.as_symbol().and_then(|name| self.names.int_type(name))
    }

    /// What is known of an expression's value.
    pub fn facts(&self, expr: &Expr) -> Facts {
        let own = match expr {
            Expr::Int(value) => return Facts::of_number(*value),
            Expr::Symbol(..) | Expr::Field(..) => self.names.facts_of(expr),
            Expr::Binary(op, a, b) => Facts::of(layout_op(*op), self.facts(a), self.facts(b)),
        };
        if self.numbers.is_empty() {
            return own;
        }
        match self.numbers.get(&expr.to_string()) {
            Some(learned) => meet(own, *learned),
            None => own,
        }
    }
}

/// Two paths in one order.
fn pair(a: &str, b: &str) -> (String, String) {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    (a.to_string(), b.to_string())
}

/// The same operation of layouts.
pub fn layout_op(op: Op) -> LayoutOp {
    match op {
        Op::Add => LayoutOp::Add,
        Op::Sub => LayoutOp::Sub,
        Op::Mul => LayoutOp::Mul,
        Op::FloorDiv => LayoutOp::Div,
        Op::Mod => LayoutOp::Rem,
        Op::CeilDiv => LayoutOp::CeilDiv,
        Op::Min => LayoutOp::Min,
        Op::Max => LayoutOp::Max,
    }
}

/// What is known of a number, as layouts have it.
pub(super) fn layout_facts(kernel::Facts { min, max, divisor }: kernel::Facts) -> Facts {
    Facts { min, max, divisor }
}

/// What is known of a number of which both are known.
fn meet(a: Facts, b: Facts) -> Facts {
    let divisor = lcm(a.divisor, b.divisor);
    let (min, max) = (a.min.max(b.min), a.max.min(b.max));
    if divisor <= 1 || min > max {
        return Facts { divisor, min, max };
    }
    // The bounds are multiples too.
    let up = min.checked_add(divisor - 1).map_or(min, |up| up.div_euclid(divisor) * divisor);
    let down = max.div_euclid(divisor).checked_mul(divisor).unwrap_or(max);
    Facts { divisor, min: up, max: down }
}

/// The least common multiple, or the larger one where that does not fit.
fn lcm(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, _) | (_, 0) => 0,
        (a, b) => (a / gcd(a, b)).checked_mul(b).unwrap_or(a.max(b)),
    }
}
