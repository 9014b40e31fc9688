// SPDX-License-Identifier: Apache-2.0
//! Facts about a call where a launch runs: bounds, divisors and values of its numbers, where
//! tensors lie. Kernels are compiled for it, so that it has to be so in every call that gets there.
//!
//! Each [`Fact`] names what establishes it ([`Because`]): a check that every accepted call has
//! passed, a condition that holds where this launch runs, or what the entry point allocates. Only a
//! `Learner`, which has one, writes any down.
//!
//! A check establishes no more than it asks. What is left out of a rule where an Optional is absent
//! tells of what it names that it is as the rule says, or 0; a rule over a stride that no step
//! takes tells nothing of others, and that the stride is as the rule says, or the one of a compact
//! tensor (`strides`); and a tensor without elements is anywhere.
//!
//! A name that has an expression in others is written as that: `x.shape[1]` as `n`, where `n` is
//! what the signature says. Facts hold for the values that the entry point computes, which are 64
//! bits wide; where an expression has none, the call is refused or the launch does not run.

mod fact;
mod learn;
pub(super) mod names;
mod strides;

#[cfg(test)]
mod tests;

pub use fact::{Because, Claim, Fact};

use crate::argument::Dim;
use crate::extents::Relations;
use kernpack_ffi_abi::DType;
use kernpack_interval::Interval;
use kernpack_kernel_ir::kernel;
use kernpack_layout::{Facts, Int, Op as LayoutOp};
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

/// The facts about a call that got to some place.
#[derive(Clone, Debug)]
pub struct CallFacts {
    names: Rc<Names>,
    row: Rc<Row>,
    /// The rules of the signature.
    rules: Rc<Vec<Rule>>,
    /// The facts about expressions, by their text.
    numbers: HashMap<String, Learned<Number>>,
    /// How many nodes the largest of these expressions has; 0 where there is none.
    most_nodes: usize,
    /// The alignments of tensors' addresses, in bytes, by path.
    aligned: BTreeMap<String, Learned<u32>>,
    /// The pairs of tensors that share no memory.
    apart: BTreeMap<(String, String), Reasons>,
    /// The sides of `if`s, and of what else is asked, that this place is on.
    sides: Rc<Vec<Branch>>,
    /// The conditions of this place.
    conditions: Reasons,
    /// The symbol of strides of which one is taken to be one that steps take.
    taken: Option<String>,
    /// Whether no call gets there.
    is_impossible: bool,
    /// The numbers that the signature, its rules and the conditions of this place relate.
    relations: Relations,
}

/// The reasons that establish something, all of them together.
type Reasons = Rc<BTreeSet<Because>>;

/// The facts about an expression.
#[derive(Clone, Debug)]
struct Number {
    expr: Expr,
    facts: Facts,
}

/// Something that is known, and why.
#[derive(Clone, Debug)]
struct Learned<T> {
    what: T,
    because: Reasons,
}

impl CallFacts {
    /// The facts about every accepted call of a signature with these dtypes.
    pub fn of(
        signature: &Signature,
        bindings: &Bindings,
        workspaces: &[Workspace],
        row: Row,
    ) -> CallFacts {
        let names = Rc::new(Names::of(signature, bindings, workspaces));
        let mut relations = names.relations();
        signature.rules.iter().for_each(|rule| relations.relate_rule(rule));
        let mut facts = CallFacts {
            names,
            row: Rc::new(row),
            rules: Rc::new(signature.rules.clone()),
            numbers: HashMap::new(),
            most_nodes: 0,
            aligned: BTreeMap::new(),
            apart: BTreeMap::new(),
            sides: Rc::default(),
            conditions: Reasons::default(),
            taken: None,
            is_impossible: false,
            relations,
        };
        facts.learn_addresses();
        facts.learn_signature();
        facts
    }

    /// The sides that this place is on, the outermost first.
    pub fn sides(&self) -> &[Branch] {
        &self.sides
    }

    /// Learns from a rule that the signature is to have.
    pub fn demand(&mut self, rule: &Rule) {
        Rc::make_mut(&mut self.rules).push(rule.clone());
        self.learn_signature();
    }

    /// Learns what the rules say, and what strides are.
    fn learn_signature(&mut self) {
        let rules = self.rules.clone();
        // What one rule says may tell more of another.
        for _ in 0..2 {
            self.learn_strides();
            rules.iter().for_each(|rule| self.learn_rule(rule));
        }
        self.learn_strides();
    }

    /// The dtypes.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The numbers that are related here.
    pub fn relations(&self) -> &Relations {
        &self.relations
    }

    /// Whether no call gets there.
    pub fn is_impossible(&self) -> bool {
        self.is_impossible
    }

    /// The alignment of a tensor's address: it has no elements otherwise.
    pub fn alignment(&self, path: &str) -> u32 {
        self.aligned.get(path).map_or(1, |aligned| aligned.what)
    }

    /// Whether two tensors are known to share no memory: a rule says so, or a call allocates one.
    pub fn are_apart(&self, a: &str, b: &str) -> bool {
        self.apart.contains_key(&pair(a, b))
    }

    /// The facts that have been learned, each with what establishes it.
    pub fn facts_here(&self) -> Vec<Fact> {
        let numbers = self.numbers.values().map(|Learned { what, because }| {
            let Facts { min, max, divisor } = what.facts;
            let divisor = divisor.max(1);
            (Claim::Number(what.expr.clone(), kernel::Facts { min, max, divisor }), because)
        });
        let aligned = self.aligned.iter();
        let aligned = aligned.map(|(path, Learned { what, because })| {
            (Claim::Aligned(path.clone(), *what), because)
        });
        let apart = self.apart.iter();
        let apart = apart.map(|((a, b), because)| (Claim::Apart(a.clone(), b.clone()), because));
        let all = numbers.chain(aligned).chain(apart);
        let mut facts: Vec<_> =
            all.map(|(claim, because)| Fact { claim, because: (**because).clone() }).collect();
        facts.sort_by_key(Fact::to_string);
        facts
    }

    /// The facts behind an `if`, on one of its sides.
    pub fn on_side(&self, branch: &Branch) -> CallFacts {
        let mut facts = self.clone();
        Rc::make_mut(&mut facts.sides).push(branch.clone());
        facts.relations.relate_rule(&branch.rule);
        // A rule that breaks does not hold, and then nothing is known of its parts.
        let breaks = branch.rule.outcomes(&Known { values: &|_| None }).breaks;
        if branch.holds || !breaks {
            let because = Because::when(branch);
            Rc::make_mut(&mut facts.conditions).insert(because.clone());
            for _ in 0..2 {
                facts.because(because.clone()).learn(&branch.rule, branch.holds);
            }
            // Rules may say more here: of what is given, of strides that steps take, and where a
            // part of them is known.
            if self.names.may_leave_out() || self.rules.iter().any(Rule::is_joined) {
                facts.learn_signature();
            }
        }
        facts
    }

    /// Whether a rule holds in every call, or in none; nothing where that depends on the call.
    pub fn decide(&self, rule: &Rule) -> Option<bool> {
        if let Some(holds) = self.sides.iter().find_map(|side| answer(side, rule)) {
            return Some(holds);
        }
        if self.rules.contains(rule) && self.is_always_asked(rule) {
            return Some(true);
        }
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
                let (of_a, of_b) = (Interval::from(of_a), Interval::from(of_b));
                let breaks = rule.outcomes(&Known { values: &|_| None }).breaks;
                match () {
                    () if self.names.is_of_others(rule) => None,
                    () if !comparison.is_possible(of_a, of_b) => Some(false),
                    () if breaks => None,
                    () if a == b => Some(comparison.holds(0, 0)),
                    () if !comparison.opposite().is_possible(of_a, of_b) => Some(true),
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
                let of = Interval::from(self.facts(&self.canonical(e)));
                let may_be = values.iter().any(|value| of.contains((*value).into()));
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
            Some(at) => {
                let is_true = decided[at] == Some(true)
                    && !rules[..at].iter().any(|rule| self.may_break(rule));
                is_true.then_some(true)
            }
        }
    }

    /// Whether a rule may have no answer here, as something in it divides by 0 or overflows.
    pub fn may_break(&self, rule: &Rule) -> bool {
        rule.parts().into_iter().any(|part| match &part.kind {
            RuleKind::Compare(a, _, b) => self.may_lack_value(a) || self.may_lack_value(b),
            RuleKind::NoAlias(..) => true,
            RuleKind::Floats(..)
            | RuleKind::In(..)
            | RuleKind::Texts(..)
            | RuleKind::DTypes(..)
            | RuleKind::Aligned(..)
            | RuleKind::Not(_)
            | RuleKind::And(_)
            | RuleKind::Or(_) => false,
        })
    }

    /// Whether an expression may have no value here, by the bounds of what it is made of.
    fn may_lack_value(&self, expr: &Expr) -> bool {
        let Expr::Binary(op, a, b) = expr else {
            return matches!(expr, Expr::Field(_, Field::Numel, _));
        };
        let (of_a, of_b) = (Interval::from(self.facts(a)), Interval::from(self.facts(b)));
        let has_value = match op {
            Op::Add => (of_a + of_b).is_within(Interval::I64),
            Op::Sub => (of_a - of_b).is_within(Interval::I64),
            Op::Mul => (of_a * of_b).is_within(Interval::I64),
            Op::FloorDiv | Op::Mod | Op::CeilDiv => of_b.min > 0,
            Op::Min | Op::Max => true,
        };
        !has_value || self.may_lack_value(a) || self.may_lack_value(b)
    }

    fn known_value(&self, name: &str) -> Option<KnownValue> {
        if let Some(dtype) = self.row.get(name) {
            return Some(KnownValue::DType(*dtype));
        }
        if self.names.is_other(name) {
            return None;
        }
        let value = self.numbers.get(name).and_then(|learned| learned.what.facts.known());
        value.map(KnownValue::Int)
    }

    /// An expression with its constants folded, and its names as far as possible in terms of
    /// others.
    pub fn canonical(&self, expr: &Expr) -> Expr {
        self.fold(expr).expr
    }

    /// Folds an expression from its names up, each part once.
    fn fold(&self, expr: &Expr) -> Folded {
        let folded = match expr {
            Expr::Int(value) => return Folded::int(*value),
            Expr::Symbol(name, _) => match self.names.value_of(name) {
                Some(value) => return self.fold(value),
                None => self.fold_name(expr, true),
            },
            Expr::Field(path, field, span) => match self.names.value_of_field(path, *field) {
                Some(value) => return self.fold(value),
                None => {
                    let forward = self.names.forward(path, *field);
                    let name = Expr::Field(path.clone(), forward, *span);
                    self.fold_name(&name, *field != Field::Numel)
                }
            },
            Expr::Binary(op, a, b) => self.fold_binary(*op, self.fold(a), self.fold(b)),
        };
        match folded.facts.known() {
            Some(value) if folded.has_value => Folded::int(value),
            Some(_) | None => folded,
        }
    }

    fn fold_name(&self, name: &Expr, has_value: bool) -> Folded {
        let facts = self.with_learned(self.names.facts_of(name), name, 1);
        Folded { expr: name.clone(), facts, has_value, n_nodes: 1 }
    }

    fn fold_binary(&self, op: Op, a: Folded, b: Folded) -> Folded {
        if let (Expr::Int(a), Expr::Int(b)) = (&a.expr, &b.expr)
            && let Some(value) = op.apply(*a, *b)
        {
            return Folded::int(value);
        }
        match (op, a.constant(), b.constant()) {
            (Op::Add | Op::Sub, _, Some(0))
            | (Op::Mul | Op::FloorDiv | Op::CeilDiv, _, Some(1)) => a,
            (Op::Add, Some(0), _) | (Op::Mul, Some(1), _) => b,
            (Op::Mod, _, Some(by)) if a.facts.is_multiple_of(by) && a.has_value => Folded::int(0),
            (Op::CeilDiv, _, Some(by)) if a.facts.is_multiple_of(by) => {
                self.operation(Op::FloorDiv, a, b)
            }
            (Op::Min, ..) if a.facts.max <= b.facts.min && b.has_value => a,
            (Op::Min, ..) if b.facts.max <= a.facts.min && a.has_value => b,
            (Op::Max, ..) if a.facts.min >= b.facts.max && b.has_value => a,
            (Op::Max, ..) if b.facts.min >= a.facts.max && a.has_value => b,
            _ => self.operation(op, a, b),
        }
    }

    fn operation(&self, op: Op, a: Folded, b: Folded) -> Folded {
        let is_defined = match op {
            Op::Add | Op::Sub | Op::Mul => false,
            Op::FloorDiv | Op::Mod | Op::CeilDiv => b.constant().is_some_and(|by| by > 0),
            Op::Min | Op::Max => true,
        };
        let has_value = is_defined && a.has_value && b.has_value;
        let n_nodes = 1 + a.n_nodes + b.n_nodes;
        let own = Facts::of(layout_op(op), a.facts, b.facts);
        let expr = Expr::binary(op, a.expr, b.expr);
        let facts = self.with_learned(own, &expr, n_nodes);
        Folded { expr, facts, has_value, n_nodes }
    }

    /// An expression as a number of a layout.
    pub fn int(&self, expr: &Expr) -> Int<Dim> {
        match self.canonical(expr) {
            Expr::Int(value) => Int::Known(value),
            expr => Int::Dynamic(Dim { facts: self.kernel_facts(&expr), expr, step: 1 }),
        }
    }

    /// A number of a layout with what is known of it here.
    pub fn refreshed(&self, dim: &Dim) -> Int<Dim> {
        match self.int(&dim.expr) {
            Int::Dynamic(known) => Int::Dynamic(Dim { step: dim.step, ..known }),
            known => known,
        }
    }

    /// The facts about an expression's value, as kernels have them.
    pub fn kernel_facts(&self, expr: &Expr) -> kernel::Facts {
        let Facts { min, max, divisor } = self.facts(expr);
        kernel::Facts { min, max, divisor: divisor.max(1) }
    }

    /// The type that an integer parameter arrives as; nothing of other expressions.
    pub fn type_of(&self, expr: &Expr) -> Option<DType> {
        expr.as_symbol().and_then(|name| self.names.int_type(name))
    }

    /// The facts about an expression's value.
    pub fn facts(&self, expr: &Expr) -> Facts {
        self.measured(expr).0
    }

    /// The facts about an expression's value, and how many nodes the expression has.
    fn measured(&self, expr: &Expr) -> (Facts, usize) {
        let (own, n_nodes) = match expr {
            Expr::Int(value) => return (Facts::of_number(*value), 1),
            Expr::Symbol(..) | Expr::Field(..) => (self.names.facts_of(expr), 1),
            Expr::Binary(op, a, b) => {
                let ((of_a, n_a), (of_b, n_b)) = (self.measured(a), self.measured(b));
                (Facts::of(layout_op(*op), of_a, of_b), 1 + n_a + n_b)
            }
        };
        (self.with_learned(own, expr, n_nodes), n_nodes)
    }

    /// The facts about an expression, where its parts say `own`.
    fn with_learned(&self, own: Facts, expr: &Expr, n_nodes: usize) -> Facts {
        // The text of a large expression takes time, and most are none that was learned of.
        if n_nodes > self.most_nodes {
            return own;
        }
        match self.numbers.get(&expr.to_string()) {
            Some(learned) => own.both(learned.what.facts).unwrap_or(own),
            None => own,
        }
    }
}

/// An expression that is folded, with what follows from its parts.
struct Folded {
    expr: Expr,
    /// The facts about its value.
    facts: Facts,
    /// Whether it has a value in every call: what has none must not be folded away.
    has_value: bool,
    /// How many constants, names and operations it has.
    n_nodes: usize,
}

impl Folded {
    fn int(value: i64) -> Folded {
        let (expr, facts) = (Expr::Int(value), Facts::of_number(value));
        Folded { expr, facts, has_value: true, n_nodes: 1 }
    }

    /// The number, where it is one: what names nothing and has a value was folded to that.
    fn constant(&self) -> Option<i64> {
        match self.expr {
            Expr::Int(value) => Some(value),
            Expr::Symbol(..) | Expr::Field(..) | Expr::Binary(..) => None,
        }
    }
}

/// The answer to a rule on a side on which that was asked, or the opposite. A comparison that does
/// not hold may have no value.
fn answer(Branch { rule: asked, holds }: &Branch, rule: &Rule) -> Option<bool> {
    match (&asked.kind, &rule.kind) {
        _ if asked == rule => Some(*holds),
        (RuleKind::Compare(a, asked, b), RuleKind::Compare(c, comparison, d)) if *holds => {
            (*comparison == asked.opposite() && a == c && b == d).then_some(false)
        }
        _ => None,
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

/// The facts about a number, as layouts have them.
pub(super) fn layout_facts(kernel::Facts { min, max, divisor }: kernel::Facts) -> Facts {
    Facts { min, max, divisor }
}
