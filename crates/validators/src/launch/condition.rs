// SPDX-License-Identifier: Apache-2.0
//! `when`: the condition under which a launch runs.

use super::{Branch, Join, LaunchSpec, When};
use crate::check::{self, alignment};
use crate::expr::{Expr, Field};
use crate::param::TensorDType;
use crate::plan::Value;
use crate::planner::NamedKind;
use crate::rule::{FloatSide, Rule, RuleKind};
use kernpack_syntax::Diagnostic;

impl Join<'_, '_> {
    /// Whether each launch runs; `None` where it always does, or its condition is no good.
    pub(super) fn conditions(&mut self, launches: &[LaunchSpec]) -> Vec<Option<Value>> {
        let (mut conds, mut group) = (Vec::new(), Vec::new());
        for (number, launch) in launches.iter().enumerate() {
            let place = launch.when.span().unwrap_or_default();
            conds.push(self.at(place, |join| join.condition(number, &launch.when, &mut group)));
        }
        conds
    }

    /// `group` has the conditions since the last `otherwise` or launch without `when`, good or not.
    fn condition(
        &mut self,
        number: usize,
        when: &When,
        group: &mut Vec<Option<Value>>,
    ) -> Option<Value> {
        let place = format!("the `when` of launch {number}");
        match when {
            When::Always => {
                group.clear();
                None
            }
            When::Rules(rules) => {
                let cond = self.all_hold(rules, &place);
                let is_possible = cond.is_none() || self.may_run(number);
                if !is_possible {
                    let message = format!("{place} holds with no combination of dtypes");
                    let problem = Diagnostic::new("impossible-rule", message);
                    let help = "write a condition that some calls satisfy, or none where all do";
                    self.diagnostics.push(problem.help(help));
                }
                group.push(cond);
                cond
            }
            When::Branches(branches) => {
                let cond = self.way_through(branches, &place);
                group.push(cond);
                cond
            }
            When::Otherwise(_) => {
                let above = std::mem::take(group);
                self.check_otherwise(number, above.is_empty());
                let mut any = self.cx.b.bool(false);
                for cond in above.into_iter().flatten() {
                    any = self.cx.b.or(any, cond);
                }
                Some(self.cx.b.not(any))
            }
        }
    }

    /// Reports an `otherwise` that says nothing.
    fn check_otherwise(&mut self, number: usize, is_alone: bool) {
        if is_alone {
            let message = format!("nothing stands above the `otherwise` of launch {number}");
            let help = "write it behind a launch with another `when`, or leave `when` out";
            self.diagnostics.push(Diagnostic::new("otherwise", message).help(help));
        } else if !self.may_run(number) {
            let message = format!("the `otherwise` of launch {number} can never hold");
            let help = "leave the launch out: those above take every combination of dtypes";
            self.diagnostics.push(Diagnostic::new("otherwise", message).help(help));
        }
    }

    /// Whether a launch may run with some combination of dtypes.
    fn may_run(&self, number: usize) -> bool {
        self.cx.bindings().dtypes.is_empty() || !self.runnable[number].is_empty()
    }

    fn all_hold(&mut self, rules: &[Rule], place: &str) -> Option<Value> {
        let bad: Vec<_> = rules.iter().filter(|rule| !self.check_rule(rule, place)).collect();
        if !bad.is_empty() {
            return None;
        }
        let mut all = self.cx.b.bool(true);
        for rule in rules {
            let holds = check::rule::condition(self.cx, rule);
            all = self.cx.b.and(all, holds);
        }
        Some(all)
    }

    /// Whether a call takes these sides of `if`s, where nothing is wrong with what they ask.
    fn way_through(&mut self, branches: &[Branch], place: &str) -> Option<Value> {
        let bad: Vec<_> =
            branches.iter().filter(|branch| !self.check_parts(&branch.rule, place)).collect();
        if !bad.is_empty() {
            return None;
        }
        let mut all = self.cx.b.bool(true);
        for Branch { rule, holds } in branches {
            let asked = check::rule::condition(self.cx, rule);
            let taken = if *holds { asked } else { self.cx.b.not(asked) };
            all = self.cx.b.and(all, taken);
        }
        Some(all)
    }

    /// Reports what is wrong with a rule of a condition; whether nothing is.
    fn check_rule(&mut self, rule: &Rule, place: &str) -> bool {
        self.check_parts(rule, place) && self.check_sense(rule, place)
    }

    fn check_parts(&mut self, rule: &Rule, place: &str) -> bool {
        let parts = rule.parts();
        let bad: Vec<_> = parts.into_iter().filter(|part| !self.check_part(part, place)).collect();
        bad.is_empty()
    }

    fn check_part(&mut self, part: &Rule, place: &str) -> bool {
        if let Some((a, _, b)) = self.cx.as_floats(part) {
            return [a, b].iter().all(|side| self.check_float(side, place));
        }
        match &part.kind {
            RuleKind::Floats(..) => unreachable!("a comparison of floats is one"),
            RuleKind::Compare(a, _, b) => {
                let sides = [a, b].map(|side| self.check_names(side, place));
                sides.iter().all(Option::is_some)
            }
            RuleKind::In(e, _) => self.check_names(e, place).is_some(),
            RuleKind::Texts(name, _) => self.check_text(name, place),
            RuleKind::DTypes(vars, _) => {
                vars.iter().all(|var| self.dtype(place, &TensorDType::from(var.as_str())).is_some())
            }
            RuleKind::NoAlias(..) => {
                let problem =
                    Diagnostic::new("launch", format!("`{part}` cannot stand in {place}"));
                self.diagnostics.push(problem.help("make it a rule of the signature"));
                false
            }
            RuleKind::Aligned(tensor, bytes) => self.check_tensor((tensor, *bytes), part, place),
            RuleKind::Not(_) | RuleKind::And(_) | RuleKind::Or(_) => {
                unreachable!("a part is not made of others")
            }
        }
    }

    /// Whether a side of a comparison of floats is one.
    fn check_float(&mut self, side: &FloatSide, place: &str) -> bool {
        let FloatSide::Name(name) = side else { return true };
        let is_float = |name: &str| self.cx.bindings().is_float(name);
        let [other] = &name.names()[..] else { unreachable!("a side is one name") };
        if is_float(&other.text) {
            return true;
        }
        let message = format!("`{}` in {place} is no float parameter", other.text);
        let problem = Diagnostic::new("unbound-symbol", message).at(other.span);
        self.diagnostics.push(problem.help("compare integers with integers: write `1` for `1.0`"));
        false
    }

    /// Whether what is compared with texts is one.
    fn check_text(&mut self, name: &Expr, place: &str) -> bool {
        let [name] = &name.names()[..] else { unreachable!("texts are compared with a name") };
        let is_text = |kind| kind == NamedKind::Text;
        if self.cx.named(&name.text).is_some_and(|named| is_text(named.kind)) {
            return true;
        }
        let message = format!("`{}` in {place} is no String parameter", name.text);
        let problem = Diagnostic::new("text-rule", message).at(name.span);
        self.diagnostics.push(problem.help("compare numbers with numbers"));
        false
    }

    /// Whether `aligned` asks about a tensor that a call passes, or about what is so of one that it
    /// allocates.
    fn check_tensor(&mut self, (tensor, bytes): (&str, u32), part: &Rule, place: &str) -> bool {
        if alignment::is_established(self.cx, tensor, bytes) {
            return true;
        }
        let is_pointer = |kind| kind == NamedKind::Pointer;
        let is_address = self.cx.named(tensor).is_some_and(|named| is_pointer(named.kind));
        let numel = format!("{tensor}{}", Field::Numel);
        if is_address && self.cx.named(&numel).is_some() {
            return true;
        }
        let message = format!("`{tensor}` in `{part}` in {place} is no tensor parameter");
        let help = match self.allocs.contains_key(tensor) {
            true => format!("write the alignment where `{tensor}` is declared"),
            false => "name a tensor that calls pass".to_string(),
        };
        self.diagnostics.push(Diagnostic::new("unknown-tensor", message).help(help));
        false
    }

    /// Reports a condition that says nothing, or that no call can satisfy.
    fn check_sense(&mut self, rule: &Rule, place: &str) -> bool {
        let bindings = self.cx.bindings();
        let vain = bindings.vain(rule).into_iter().map(|vain| {
            let message = format!("`{}` in {place} {}", vain.part, vain.message);
            Diagnostic::new(vain.code, message).label(vain.part.span, vain.why)
        });
        let mut problems: Vec<_> = vain.collect();
        if !bindings.allow_some(rule, self.cx.rules()) {
            let message = format!("`{rule}` in {place} can never hold");
            let problem = Diagnostic::new("impossible-rule", message);
            problems
                .push(problem.label(rule.span, "the rules of the signature allow none of these"));
        }
        let makes_sense = problems.is_empty();
        for problem in problems {
            let help = "write a condition that some calls satisfy, or none where all do";
            self.diagnostics.push(problem.help(help));
        }
        makes_sense
    }
}
