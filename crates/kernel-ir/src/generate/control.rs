// SPDX-License-Identifier: Apache-2.0
//! Statements in order, conditions, loops and jumps.

use super::{Known, Loop, Maker, number};
use crate::constant::Const;
use crate::intrinsic::Level;
use crate::kernel::Value;
use crate::op::{Assert, Binary, Compare, Jump, OpKind, Region, Rounding};
use crate::types::{Scalar, Type};

/// How deep statements stand in statements.
const MOST_DEPTH: u32 = 4;

impl Maker {
    pub(super) fn statements(&mut self, count: u64, depth: u32) {
        for _ in 0..count {
            self.next_line();
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        let is_together = self.control >= Level::Block;
        match self.rng.below(100) {
            0..=44 => self.compute(),
            45 => self.assert(),
            46..=61 => self.access(),
            62..=69 => self.slot(),
            70..=81 if depth < MOST_DEPTH => self.branch(depth),
            82..=87 if depth < MOST_DEPTH && self.loops.len() < 2 => self.repeat(depth),
            88..=93 if is_together => self.exchange(),
            94..=95 if is_together => self.share(),
            96 if is_together => self.copies(),
            97 if is_together => match self.loops.is_empty() && self.rng.percent(50) {
                true => self.phases(),
                false => self.send(),
            },
            98 => self.atomic(),
            99 if depth == 0 && self.line > 20 => self.leave(),
            _ => self.compute(),
        }
    }

    /// Reads a slot, or sets it.
    fn slot(&mut self) {
        let slots = self.slots.clone();
        let slot = self.rng.pick(&slots);
        if self.rng.percent(50) {
            let value = self.builder.get(slot);
            self.remember(value, Level::Thread);
        } else {
            let ty = self.builder.kernel().slots[slot.index()].ty;
            let value = self.operand(ty).value;
            self.builder.set(slot, value);
        }
    }

    /// States what holds: the smaller one of two numbers is not above either.
    fn assert(&mut self) {
        let ints: Vec<_> = Scalar::ALL.iter().copied().filter(|it| it.is_int()).collect();
        let ty = Type::Scalar(self.rng.pick(&ints));
        let (a, b) = (self.operand(ty).value, self.operand(ty).value);
        let least = self.builder.binary(Binary::Min, a, b);
        let condition = self.builder.compare(Compare::Le, least, a);
        let of_any = Type::Scalar(number(&mut self.rng));
        let shown = self.operand(of_any).value;
        let text = "{} of {}: {}".to_string();
        let values = vec![least, a, shown];
        self.builder.effect(OpKind::Assert(Assert { condition, text, values }));
    }

    /// A region in which threads are together, or not. What is computed there is forgotten.
    fn region(&mut self, is_uniform: bool, fill: impl FnOnce(&mut Self)) -> Region {
        let (control, n_known) = (self.control, self.known.len());
        if !is_uniform {
            self.control = Level::Thread;
        }
        self.builder.open();
        fill(self);
        self.control = control;
        self.known.truncate(n_known);
        self.builder.close()
    }

    fn branch(&mut self, depth: u32) {
        let (is_uniform, place) = (self.rng.percent(50), self.builder.here());
        let condition = self.condition(is_uniform);
        let n_then = self.rng.within(1, 4);
        // Whoever leaves a loop that all run alike leaves it with all others.
        let is_together = is_uniform && self.control >= Level::Block;
        let may_jump = self.loops.last().is_some_and(|open| is_together || !open.is_uniform);
        let jumps = self.rng.percent(25) && may_jump;
        let then = self.region(is_uniform, |maker| {
            maker.statements(n_then, depth + 1);
            if jumps {
                let jump = if maker.rng.percent(50) { Jump::Break } else { Jump::Continue };
                maker.builder.effect(OpKind::Jump(jump));
            }
        });
        let n_otherwise = if self.rng.percent(50) { self.rng.within(1, 4) } else { 0 };
        let otherwise = self.region(is_uniform, |maker| maker.statements(n_otherwise, depth + 1));
        self.builder.go_to(place);
        self.builder.if_else(condition.value, then, otherwise);
    }

    /// Some threads, or all of a block, end here.
    fn leave(&mut self) {
        let is_uniform = self.rng.percent(30);
        let condition = self.condition(is_uniform);
        let then = self.region(is_uniform, |maker| {
            maker.end();
            maker.builder.effect(OpKind::Jump(Jump::Return));
        });
        self.builder.if_else(condition.value, then, Region::default());
        if !is_uniform {
            self.control = Level::Thread;
        }
    }

    fn repeat(&mut self, depth: u32) {
        let is_uniform = self.control >= Level::Block && self.rng.percent(70);
        self.loops.push(Loop { is_uniform });
        if self.rng.percent(65) {
            self.counted(is_uniform, depth)
        } else {
            self.waiting(is_uniform, depth)
        }
        self.loops.pop();
    }

    fn counted(&mut self, is_uniform: bool, depth: u32) {
        let ints: Vec<_> = Scalar::ALL.iter().copied().filter(|it| it.is_int()).collect();
        let scalar = if self.rng.percent(50) { Scalar::I64 } else { self.rng.pick(&ints) };
        let (first, end, step) = match self.rng.percent(60) {
            true => self.constant_bounds(scalar),
            false => self.computed_bounds(scalar, is_uniform),
        };
        let (index, place) = (self.builder.loop_index(Type::Scalar(scalar)), self.builder.here());
        let count = self.rng.within(1, 4);
        let level = first.level.min(step.level);
        let body = self.region(is_uniform, |maker| {
            maker.known.push(Known { value: index, level });
            maker.statements(count, depth + 1);
        });
        let (first, end, step) = (first.value, end.value, step.value);
        self.builder.go_to(place);
        self.builder.effect(OpKind::For { index, first, end, step, body });
    }

    /// Up to 8 rounds anywhere in a type, beyond whose end a sum may lie.
    fn constant_bounds(&mut self, scalar: Scalar) -> (Known, Known, Known) {
        let step = self.rng.pick(&[1, 1, 1, 2, 3, 16, 0]);
        let rounds = self.rng.below(8);
        let largest = if scalar.is_signed() { scalar.mask() >> 1 } else { scalar.mask() };
        let first = match self.rng.below(4) {
            0 => largest - self.rng.below(8),
            1 => self.rng.below(100),
            _ => 0,
        };
        let end = first.saturating_add(rounds * step).min(largest);
        let known = |maker: &mut Maker, bits| {
            let value = maker.builder.constant(Const::from_bits(scalar, bits));
            Known { value, level: Level::Grid }
        };
        (known(self, first), known(self, end), known(self, step))
    }

    fn computed_bounds(&mut self, scalar: Scalar, is_uniform: bool) -> (Known, Known, Known) {
        let mut known = |limit| {
            let known = self.index(limit, is_uniform);
            let value = self.builder.convert(known.value, scalar, Rounding::NearestEven);
            Known { value, ..known }
        };
        let (first, end) = (known(3), known(8));
        let step = self.rng.within(1, 3) as i64;
        let step = Known { value: self.builder.int(scalar, step), level: Level::Grid };
        (first, end, step)
    }

    /// A `while` that counts its rounds, first of all.
    fn waiting(&mut self, is_uniform: bool, depth: u32) {
        let slot = self.builder.slot(format!("round{}", self.line), Type::Scalar(Scalar::I32));
        let [zero, one, most] =
            [0, 1, self.rng.below(6) as i64].map(|number| self.builder.int(Scalar::I32, number));
        self.builder.set(slot, zero);
        let (n_known, place) = (self.known.len(), self.builder.here());
        self.builder.open();
        let round = self.builder.get(slot);
        let mut condition = self.builder.compare(Compare::Lt, round, most);
        if self.rng.percent(50) {
            let other = self.condition(is_uniform);
            condition = self.builder.binary(Binary::And, condition, other.value);
        }
        let before = self.builder.close();
        let count = self.rng.within(1, 4);
        let body = self.region(is_uniform, |maker| {
            let next: Value = maker.builder.binary(Binary::Add, round, one);
            maker.builder.set(slot, next);
            maker.statements(count, depth + 1);
        });
        self.known.truncate(n_known);
        self.builder.go_to(place);
        self.builder.effect(OpKind::While { before, condition, body });
    }
}
