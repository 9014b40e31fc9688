// SPDX-License-Identifier: Apache-2.0
//! `n = kp.static(x.shape[1], (64, 128))`: the number of a call as a constant. Ways part there, one
//! for each number that it may be, so that kernels behind it are compiled for that number.
//!
//! A call with another number is refused by a rule, or takes the way of `default=…`.

use super::body::{End, Rest, State, Walk};
use super::expression::Evaluator;
use super::number::Row;
use super::value::Evaluated;
use crate::call::{self, Arg};
use crate::python::tree::{Call, Expr, ExprKind};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::Expr as Number;
use kernpack_validators::{Branch, Comparison, Rule, RuleKind};

/// The function.
pub(super) const STATIC: Row = Row {
    name: "static",
    takes: &["value", "choices", "default="],
    doc: "A number of the call as a constant, where it is one of some constants: the function has a \
          way for each, and so kernels of its own. It is given a name: \
          `n = kp.static(x.shape[1], (64, 128))`. A call with another number is refused, or goes on \
          with `default=`, which is any value.",
};

/// The value of a number, as far as that is known.
enum Choice {
    /// That value.
    Known(Box<Evaluated>),
    /// One of several, each behind its condition.
    Ways(Vec<(Branch, Evaluated)>),
    /// Nothing: calls are refused.
    Nothing(Span),
}

impl Choice {
    fn known(value: Evaluated) -> Choice {
        Choice::Known(Box::new(value))
    }
}

impl Walk<'_> {
    /// `target = value`
    pub(super) fn assign(
        &mut self,
        state: State,
        targets: &[Expr],
        value: &Expr,
        behind: &Rest<'_>,
    ) -> End {
        if let Some(asked) = self.evaluator.as_allocation(value) {
            return self.assign_memory(state, targets, &asked, value.span, behind);
        }
        let choice = match self.evaluator.as_static(value) {
            Some(call) => self.evaluator.choice(call, value.span),
            None => self.evaluator.expr(value).map(Choice::known),
        };
        match choice {
            Some(Choice::Ways(ways)) => return self.choose(&state, targets, value, ways, behind),
            Some(Choice::Nothing(span)) => {
                let text = "the number is none of the choices";
                self.evaluator.assign_all(targets, &Evaluated::Poison, value.span);
                let is_somewhere = !self.evaluator.facts.sides().is_empty();
                let end = self.never(state, span, text.to_string());
                // Calls that are not asked would go on without a number.
                if is_somewhere && matches!(end, End::Behind(_)) {
                    self.evaluator.not_asked(text, span);
                }
                return end;
            }
            Some(Choice::Known(known)) => {
                self.evaluator.assign_all(targets, &known, value.span);
            }
            None => self.evaluator.assign_all(targets, &Evaluated::Poison, value.span),
        }
        End::Behind(state)
    }

    /// Goes through what is behind, for each of several values.
    fn choose(
        &mut self,
        state: &State,
        targets: &[Expr],
        value: &Expr,
        ways: Vec<(Branch, Evaluated)>,
        behind: &Rest<'_>,
    ) -> End {
        if !self.evaluator.begin(1, value.span) {
            return End::Function;
        }
        let before = self.place();
        for (number, (branch, chosen)) in ways.into_iter().enumerate() {
            if number > 0 && !self.begin_way() {
                break;
            }
            self.begin_at(&before, before.facts_on(&branch));
            self.evaluator.assign_all(targets, &chosen, value.span);
            self.block(state.on_side(Some(branch)), *behind);
        }
        self.go_back(*before);
        self.evaluator.end(1);
        End::Function
    }
}

impl Evaluator<'_> {
    /// The call of `kp.static` that an expression is.
    fn as_static<'e>(&mut self, value: &'e Expr) -> Option<&'e Call> {
        let ExprKind::Call(call) = &value.kind else { return None };
        self.is_builtin(&call.function, STATIC.name).then_some(&**call)
    }

    fn choice(&mut self, call: &Call, span: Span) -> Option<Choice> {
        let passed = call::passed(self, call)?;
        let bound = call::bind(self, &"kp.static", STATIC.takes, passed, span)?;
        let [Some(value), Some(choices), default] = &bound.values[..] else { return None };
        let number = self.number(&(value.value.clone(), value.span))?;
        let choices = self.choices(choices)?;
        if let Number::Int(known) = number {
            return Some(match (choices.contains(&known), default) {
                (true, _) => Choice::known(Evaluated::Int(known.into())),
                (false, Some(default)) => Choice::known(default.value.clone()),
                (false, None) => Choice::Nothing(value.span),
            });
        }
        let listed = one_of(&number, &choices, value.span);
        if default.is_none() {
            self.demand_always(listed.clone())?;
        }
        let mut ways = Vec::new();
        for choice in choices {
            let known = Evaluated::Int(choice.into());
            let kind = RuleKind::Compare(number.clone(), Comparison::Eq, Number::Int(choice));
            match self.decided(Rule { kind, span: value.span }) {
                Evaluated::Rule(rule) => ways.push((Branch { rule, holds: true }, known)),
                Evaluated::Bool(true) => return Some(Choice::known(known)),
                _ => {}
            }
        }
        if let Some(default) = default
            && self.facts.decide(&listed) != Some(true)
        {
            ways.push((Branch { rule: listed, holds: false }, default.value.clone()));
        }
        Some(if ways.is_empty() { Choice::Nothing(value.span) } else { Choice::Ways(ways) })
    }

    /// The numbers that may be chosen, each once.
    fn choices(&mut self, choices: &Arg<Evaluated>) -> Option<Vec<i64>> {
        let Evaluated::Tuple(items) = &choices.value else {
            self.expected("a tuple of constants", &choices.value, choices.span);
            return None;
        };
        let mut numbers = Vec::new();
        for (_, item) in items {
            match (self.folded(item.clone()), self.number(&(item.clone(), choices.span))?) {
                (_, Number::Int(number)) if numbers.contains(&number) => {}
                (_, Number::Int(number)) => numbers.push(number),
                (item, _) => {
                    self.expected("a constant integer", &item, choices.span);
                    return None;
                }
            }
        }
        if numbers.is_empty() {
            let problem = Diagnostic::new("packed-value", "`kp.static` has nothing to choose from");
            let problem = problem.label(choices.span, "no number");
            self.report(problem.help("name the numbers: `kp.static(n, (64, 128))`"));
            return None;
        }
        Some(numbers)
    }

    /// That `kp.static` stands where no way can part.
    pub(super) fn unnamed_static(&mut self, span: Span) -> Option<Evaluated> {
        let message = "`kp.static` is given a name before it is used";
        let problem = Diagnostic::new("packed-statement", message);
        let problem = problem.label(span, "in another expression");
        self.report(problem.help("write `n = kp.static(…)` by itself, in a function with launches"))
    }
}

/// That a number is one of some. A rule lists them for a name.
fn one_of(number: &Number, choices: &[i64], span: Span) -> Rule {
    let is = |choice: &i64| {
        let kind = RuleKind::Compare(number.clone(), Comparison::Eq, Number::Int(*choice));
        Rule { kind, span }
    };
    let kind = match (number, choices) {
        (Number::Symbol(..) | Number::Field(..), _) => {
            RuleKind::In(number.clone(), choices.to_vec())
        }
        (_, [choice]) => return is(choice),
        _ => RuleKind::Or(choices.iter().map(is).collect()),
    };
    Rule { kind, span }
}
