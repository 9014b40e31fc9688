// SPDX-License-Identifier: Apache-2.0
//! Conditions of a packed function: what is known while the package is built is a truth value, and
//! everything else a rule, which the entry point asks.

use super::expression::{Evaluator, unguarded, untyped_of};
use super::value::Evaluated;
use crate::python::tree::{CompareOp, Expr, ExprKind, LogicOp, UnaryOp};
use crate::untyped;
use kernpack_ffi_abi::DType;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::{Expr as Number, Field};
use kernpack_validators::{Branch, Comparison, FloatSide, Rule, RuleKind};
use std::cmp::Ordering;

#[cfg(test)]
mod tests;

impl Evaluator<'_> {
    /// A condition by which a side is taken: an [`Evaluated::Bool`] or an [`Evaluated::Rule`]. One
    /// that breaks does not hold, so that one that can only fail or break is false.
    pub fn truth(&mut self, expr: &Expr) -> Option<Evaluated> {
        match self.part(expr)? {
            Evaluated::Rule(rule) => Some(match self.facts.decide(&rule) {
                Some(truth) => Evaluated::Bool(truth),
                None => Evaluated::Rule(rule),
            }),
            truth => Some(truth),
        }
    }

    /// A condition that others are made of: where it may break, it is an [`Evaluated::Rule`], as
    /// the whole does not hold then.
    fn part(&mut self, expr: &Expr) -> Option<Evaluated> {
        let value = self.expr(expr)?;
        self.as_truth(value, expr.span)
    }

    fn as_truth(&mut self, value: Evaluated, span: Span) -> Option<Evaluated> {
        match value {
            Evaluated::Bool(_) | Evaluated::Rule(_) => Some(value),
            // A bool that calls pass.
            Evaluated::Dim(ref number) if self.facts.type_of(number) == Some(DType::BOOL) => {
                let kind = RuleKind::Compare(number.clone(), Comparison::Ne, Number::Int(0));
                Some(self.decided(Rule { kind, span }))
            }
            Evaluated::Int(_) | Evaluated::Dim(_) => {
                let problem = Diagnostic::new("packed-value", "an integer is no condition");
                let problem = problem.label(span, "neither true nor false");
                self.report(problem.help("compare it: `n != 0`"))
            }
            Evaluated::Optional(path, _) => {
                let message = format!("`{path}` is no condition");
                let problem = Diagnostic::new("packed-value", message);
                let problem = problem.label(span, "neither true nor false");
                self.report(problem.help(format!("write `{path} is not None`")))
            }
            value => self.expected("a condition", &value, span),
        }
    }

    /// A rule, or its answer where that is known and the rule cannot break instead.
    pub fn decided(&self, rule: Rule) -> Evaluated {
        match self.facts.decide(&rule) {
            Some(false) if self.facts.may_break(&rule) => Evaluated::Rule(rule),
            Some(truth) => Evaluated::Bool(truth),
            None => Evaluated::Rule(rule),
        }
    }

    /// `not`, `and`, `or` and comparisons.
    pub fn condition(&mut self, expr: &Expr) -> Option<Evaluated> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, of) => match self.part(of)? {
                Evaluated::Bool(truth) => Some(Evaluated::Bool(!truth)),
                Evaluated::Rule(rule) => Some(
                    self.decided(Rule { kind: RuleKind::Not(Box::new(rule)), span: expr.span }),
                ),
                _ => None,
            },
            ExprKind::Logic(op, parts) => self.logic(*op, parts, expr.span),
            ExprKind::Compare(first, rest) => self.comparisons(first, rest, expr.span),
            _ => None,
        }
    }

    /// Parts behind one that decides are not looked at, as in Python.
    fn logic(&mut self, op: LogicOp, parts: &[Expr], span: Span) -> Option<Evaluated> {
        let decisive = op == LogicOp::Or;
        let before = self.facts.clone();
        let (mut rules, mut is_known) = (Vec::new(), true);
        for part in parts {
            match self.part(part) {
                Some(Evaluated::Bool(truth)) if truth == decisive && rules.is_empty() => {
                    self.facts = before;
                    return Some(Evaluated::Bool(decisive));
                }
                Some(Evaluated::Bool(truth)) if truth == decisive => {
                    rules.push(constant_rule(decisive, part.span));
                    break;
                }
                Some(Evaluated::Bool(_)) => {}
                Some(Evaluated::Rule(rule)) => {
                    // What comes next is asked only where this one did not decide.
                    let branch = Branch { rule: rule.clone(), holds: !decisive };
                    self.facts = self.facts.on_side(&branch);
                    rules.push(rule);
                }
                _ => is_known = false,
            }
        }
        self.facts = before;
        is_known.then_some(())?;
        let kind = match (rules.len(), op) {
            (0, _) => return Some(Evaluated::Bool(!decisive)),
            (1, _) => return rules.pop().map(|rule| self.decided(rule)),
            (_, LogicOp::And) => RuleKind::And(rules),
            (_, LogicOp::Or) => RuleKind::Or(rules),
        };
        Some(self.decided(Rule { kind, span }))
    }

    fn comparisons(
        &mut self,
        first: &Expr,
        rest: &[(CompareOp, Expr)],
        span: Span,
    ) -> Option<Evaluated> {
        let mut left = (self.expr(first), first.span);
        let mut rules = Vec::new();
        let mut is_known = true;
        for (op, right) in rest {
            let right = (self.expr(right), right.span);
            let compared = match (&left.0, &right.0) {
                (Some(a), Some(b)) => {
                    let sides = [(a.clone(), left.1), (b.clone(), right.1)];
                    self.compare(*op, sides, left.1.to(right.1))
                }
                _ => None,
            };
            match compared {
                Some(Evaluated::Bool(false)) if rules.is_empty() => {
                    return Some(Evaluated::Bool(false));
                }
                Some(Evaluated::Bool(false)) => rules.push(constant_rule(false, span)),
                Some(Evaluated::Rule(rule)) => rules.push(rule),
                Some(_) => {}
                None => is_known = false,
            }
            left = right;
        }
        is_known.then(|| self.all_hold(rules, span))
    }

    /// Whether each of several rules holds.
    pub fn all_hold(&self, mut rules: Vec<Rule>, span: Span) -> Evaluated {
        match (rules.len(), rules.pop()) {
            (1, Some(rule)) => self.decided(rule),
            (_, Some(last)) => {
                rules.push(last);
                self.decided(Rule { kind: RuleKind::And(rules), span })
            }
            (_, None) => Evaluated::Bool(true),
        }
    }

    fn compare(
        &mut self,
        op: CompareOp,
        [(a, at), (b, bt)]: [(Evaluated, Span); 2],
        span: Span,
    ) -> Option<Evaluated> {
        match (op, &a, &b) {
            (CompareOp::Is | CompareOp::IsNot, _, Evaluated::None) => {
                Some(self.is_none(&a, op == CompareOp::Is, span))
            }
            (CompareOp::Is | CompareOp::IsNot, ..) => {
                let problem = Diagnostic::new("packed-value", "only None is asked for by `is`");
                self.report(problem.label(span, "compares something else").help("write `==`"))
            }
            (CompareOp::In | CompareOp::NotIn, _, Evaluated::Tuple(items)) => {
                let items: Vec<_> = items.iter().map(|(_, item)| item.clone()).collect();
                self.is_in(&a, at, &items, op == CompareOp::In, span)
            }
            (CompareOp::In | CompareOp::NotIn, ..) => self.expected("a tuple", &b, bt),
            _ => self.ordered(comparison(op)?, [(a, at), (b, bt)], span),
        }
    }

    fn is_none(&mut self, value: &Evaluated, wanted: bool, span: Span) -> Evaluated {
        match value {
            Evaluated::None => Evaluated::Bool(wanted),
            Evaluated::Optional(path, _) => {
                let given = Number::Field(path.to_string(), Field::Given, span);
                let comparison = if wanted { Comparison::Eq } else { Comparison::Ne };
                let kind = RuleKind::Compare(given, comparison, Number::Int(0));
                self.decided(Rule { kind, span })
            }
            _ => Evaluated::Bool(!wanted),
        }
    }

    /// Whether a value is one of several.
    fn is_in(
        &mut self,
        value: &Evaluated,
        at: Span,
        items: &[Evaluated],
        wanted: bool,
        span: Span,
    ) -> Option<Evaluated> {
        if items.iter().any(|item| matches!(item, Evaluated::Poison)) {
            return None;
        }
        let kind = match self.listed(value, items) {
            Some(kind) => kind,
            None => {
                let sides = items.iter().map(|item| {
                    self.ordered(Comparison::Eq, [(value.clone(), at), (item.clone(), span)], span)
                });
                let sides = sides.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
                let is_found = sides.iter().any(|side| matches!(side, Evaluated::Bool(true)));
                let rules = sides.into_iter().filter_map(|side| match side {
                    Evaluated::Rule(rule) => Some(rule),
                    _ => None,
                });
                // All items are computed before any is compared: those that break decide first.
                let (mut rules, others): (Vec<_>, Vec<_>) =
                    rules.partition(|rule| self.facts.may_break(rule));
                match is_found {
                    true => rules.push(constant_rule(true, span)),
                    false => rules.extend(others),
                }
                match (rules.len(), is_found) {
                    (0, _) | (1, true) => return Some(Evaluated::Bool(is_found == wanted)),
                    (_, _) => {}
                }
                RuleKind::Or(rules)
            }
        };
        let rule = Rule { kind, span };
        Some(self.decided(match wanted {
            true => rule,
            false => Rule { kind: RuleKind::Not(Box::new(rule)), span },
        }))
    }

    /// A rule that lists what a name may be, where constants are what it is compared with.
    fn listed(&self, value: &Evaluated, items: &[Evaluated]) -> Option<RuleKind> {
        let number = |item: &Evaluated| self.facts.canonical(&item.expr()?).as_int();
        let text = |item: &Evaluated| match item {
            Evaluated::Text(text) => Some(text.to_string()),
            _ => None,
        };
        match value {
            Evaluated::Dim(name) if name.as_symbol().is_some() => {
                let numbers = items.iter().map(number).collect::<Option<_>>()?;
                Some(RuleKind::In(name.clone(), numbers))
            }
            Evaluated::String(name) => {
                let texts = items.iter().map(text).collect::<Option<_>>()?;
                Some(RuleKind::Texts(Number::symbol(&**name), texts))
            }
            _ => None,
        }
    }

    fn ordered(
        &mut self,
        comparison: Comparison,
        [(a, at), (b, bt)]: [(Evaluated, Span); 2],
        span: Span,
    ) -> Option<Evaluated> {
        let equality = match comparison {
            Comparison::Eq => Some(true),
            Comparison::Ne => Some(false),
            _ => None,
        };
        let is_equal = match (&a, &b) {
            (Evaluated::Poison, _) | (_, Evaluated::Poison) => return None,
            (Evaluated::Optional(path, _), _) => return self.report(unguarded(path, at)),
            (_, Evaluated::Optional(path, _)) => return self.report(unguarded(path, bt)),
            (Evaluated::Text(a), Evaluated::Text(b)) => Some(a == b),
            (Evaluated::Int(a), Evaluated::Int(b)) => {
                let order = a.cmp(b) as i64;
                return Some(Evaluated::Bool(comparison.holds(order, 0)));
            }
            (Evaluated::Int(_) | Evaluated::Float(_), Evaluated::Int(_) | Evaluated::Float(_)) => {
                let order = untyped::order(&untyped_of(&a)?, &untyped_of(&b)?);
                return Some(Evaluated::Bool(holds_for_order(comparison, order)));
            }
            (a, b) if a.dtype().is_some() && b.dtype().is_some() => Some(a.dtype() == b.dtype()),
            (Evaluated::String(name), Evaluated::Text(text))
            | (Evaluated::Text(text), Evaluated::String(name)) => {
                return self.text(name, text, equality, span);
            }
            (a, b) if a.expr().is_some() && b.expr().is_some() => {
                let (a, b) = (a.expr()?, b.expr()?);
                let kind = RuleKind::Compare(a, comparison, b);
                return Some(self.decided(Rule { kind, span }));
            }
            (a, b) if float_side(a).is_some() && float_side(b).is_some() => {
                let kind = RuleKind::Floats(float_side(a)?, comparison, float_side(b)?);
                return Some(Evaluated::Rule(Rule { kind, span }));
            }
            (Evaluated::Tuple(a), Evaluated::Tuple(b)) if a.len() != b.len() => Some(false),
            (Evaluated::Tuple(left), Evaluated::Tuple(right)) if let Some(wanted) = equality => {
                let pairs = left.iter().zip(right);
                let pairs = pairs.map(|((_, left), (_, right))| (left.clone(), right.clone()));
                return self.tuples(pairs.collect(), [at, bt], wanted, span);
            }
            (Evaluated::None, Evaluated::None) => Some(true),
            _ => None,
        };
        match (is_equal, equality) {
            (Some(is_equal), Some(wanted)) => Some(Evaluated::Bool(is_equal == wanted)),
            _ => {
                let message = format!(
                    "{} and {} do not compare by `{}`",
                    a.what(),
                    b.what(),
                    comparison.text()
                );
                let problem = Diagnostic::new("packed-value", message);
                let problem = problem.label(span, "this comparison");
                self.report(match (&a, &b) {
                    (Evaluated::Scalar(_), _) | (_, Evaluated::Scalar(_)) => {
                        problem.help("compare them in the kernel")
                    }
                    _ => problem,
                })
            }
        }
    }

    /// Whether each pair of the items of two tuples is equal, or not all are.
    fn tuples(
        &mut self,
        pairs: Vec<(Evaluated, Evaluated)>,
        [at, bt]: [Span; 2],
        wanted: bool,
        span: Span,
    ) -> Option<Evaluated> {
        let mut rules = Vec::new();
        for (a, b) in pairs {
            match self.ordered(Comparison::Eq, [(a, at), (b, bt)], span)? {
                Evaluated::Rule(rule) => rules.push(rule),
                Evaluated::Bool(false) if !rules.iter().any(|rule| self.facts.may_break(rule)) => {
                    return Some(Evaluated::Bool(!wanted));
                }
                Evaluated::Bool(false) => rules.push(constant_rule(false, span)),
                _ => {}
            }
        }
        Some(match self.all_hold(rules, span) {
            Evaluated::Bool(truth) => Evaluated::Bool(truth == wanted),
            Evaluated::Rule(rule) if !wanted => {
                self.decided(Rule { kind: RuleKind::Not(Box::new(rule)), span })
            }
            rule => rule,
        })
    }

    fn text(
        &mut self,
        name: &str,
        text: &str,
        equality: Option<bool>,
        span: Span,
    ) -> Option<Evaluated> {
        let kind = RuleKind::Texts(Number::symbol(name), vec![text.to_string()]);
        let rule = Rule { kind, span };
        match equality {
            Some(true) => Some(Evaluated::Rule(rule)),
            Some(false) => {
                Some(Evaluated::Rule(Rule { kind: RuleKind::Not(Box::new(rule)), span }))
            }
            None => {
                let problem = Diagnostic::new("packed-value", "texts have no order");
                self.report(problem.label(span, "this comparison").help("write `==` or `!=`"))
            }
        }
    }
}

/// A rule that holds in every call, or in none: where what comes before it could have no value, it
/// is asked all the same.
pub(super) fn constant_rule(holds: bool, span: Span) -> Rule {
    let kind = RuleKind::Compare(Number::Int(i64::from(holds)), Comparison::Eq, Number::Int(1));
    Rule { kind, span }
}

fn float_side(value: &Evaluated) -> Option<FloatSide> {
    match value {
        Evaluated::Scalar(scalar) if scalar.scalar.is_float() => {
            Some(FloatSide::Name(scalar.expr.clone()))
        }
        constant => constant_float(constant).map(FloatSide::Value),
    }
}

/// A constant as Python compares it with a float.
fn constant_float(value: &Evaluated) -> Option<f64> {
    match value {
        Evaluated::Float(value) => Some(*value),
        Evaluated::Int(value) => value.nearest(),
        _ => None,
    }
}

/// Whether numbers compare so that have that order: nan has none.
fn holds_for_order(comparison: Comparison, order: Option<Ordering>) -> bool {
    match order {
        Some(order) => comparison.holds(order as i64, 0),
        None => comparison == Comparison::Ne,
    }
}

fn comparison(op: CompareOp) -> Option<Comparison> {
    match op {
        CompareOp::Eq => Some(Comparison::Eq),
        CompareOp::Ne => Some(Comparison::Ne),
        CompareOp::Lt => Some(Comparison::Lt),
        CompareOp::Le => Some(Comparison::Le),
        CompareOp::Gt => Some(Comparison::Gt),
        CompareOp::Ge => Some(Comparison::Ge),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => None,
    }
}
