// SPDX-License-Identifier: Apache-2.0
//! Builds a plan: interns expressions, folds constants, keeps the open `when`s, and drops what
//! nothing uses.

use super::{
    Arith, AskBlocks, Carried, Compare, DeviceFact, Expr, Plan, Repeat, Step, Type, Value, When,
    Yielded,
};
use crate::fault::{Fault, Part, shown_text};
use kernpack_ffi_abi::{DType, Field};
use std::collections::HashMap;

/// A plan in the making.
#[derive(Debug)]
pub struct Builder {
    exprs: Vec<Expr>,
    interned: HashMap<Expr, Value>,
    /// The steps of the plan, then those of each open `when` or `repeat`, innermost last.
    blocks: Vec<Vec<Step>>,
    n_yields: u32,
    n_turns: u32,
    n_blocks_asked: usize,
}

/// A value that should leave a `when`, and what it is where the condition does not hold.
#[derive(Clone, Copy, Debug)]
pub struct Guarded {
    /// The value where the condition holds.
    pub inner: Value,
    /// The value elsewhere.
    pub otherwise: Value,
}

/// The values that an open `repeat` gives its steps.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The turn's number, counted from 0.
    pub number: Value,
    /// The values that the turn before handed on.
    pub carried: Vec<Value>,
    name: String,
    firsts: Vec<(String, Value)>,
}

impl Default for Builder {
    fn default() -> Builder {
        let (exprs, interned) = (vec![], HashMap::new());
        let blocks = vec![vec![]];
        Builder { exprs, interned, blocks, n_yields: 0, n_turns: 0, n_blocks_asked: 0 }
    }
}

impl Builder {
    fn add(&mut self, expr: Expr) -> Value {
        if let Some(value) = self.interned.get(&expr) {
            return *value;
        }
        let value = Value(self.exprs.len() as u32);
        self.exprs.push(expr.clone());
        self.interned.insert(expr, value);
        value
    }

    fn expr(&self, value: Value) -> &Expr {
        &self.exprs[value.0 as usize]
    }

    /// The integer, where the value is a constant one.
    pub fn as_int(&self, value: Value) -> Option<i64> {
        match self.expr(value) {
            Expr::Int(int) => Some(*int),
            _ => None,
        }
    }

    /// The truth, where the value is a constant one.
    pub fn as_bool(&self, value: Value) -> Option<bool> {
        match self.expr(value) {
            Expr::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// An integer constant.
    pub fn int(&mut self, value: impl Into<i64>) -> Value {
        self.add(Expr::Int(value.into()))
    }

    /// A truth constant.
    pub fn bool(&mut self, value: bool) -> Value {
        self.add(Expr::Bool(value))
    }

    /// A constant text.
    pub fn text(&mut self, text: &str) -> Value {
        self.add(Expr::Text(text.into()))
    }

    /// The text of the `TVMFFIAny` at an address.
    pub fn text_at(&mut self, address: Value) -> Value {
        self.add(Expr::TextAt(address))
    }

    /// Whether a text is one of some constants.
    pub fn text_is_any(&mut self, text: Value, all: &[String]) -> Value {
        let mut any = self.bool(false);
        for constant in all {
            let is_it = self.text_is(text, constant);
            any = self.or(any, is_it);
        }
        any
    }

    /// Whether a text is a constant.
    pub fn text_is(&mut self, text: Value, constant: &str) -> Value {
        match self.expr(text) {
            Expr::Text(known) => {
                let is_it = **known == *constant;
                self.bool(is_it)
            }
            _ => self.add(Expr::TextIs(text, constant.into())),
        }
    }

    /// The address of the arguments.
    pub fn args(&mut self) -> Value {
        self.add(Expr::Args)
    }

    /// The number of arguments.
    pub fn num_args(&mut self) -> Value {
        self.add(Expr::NumArgs)
    }

    /// A fact of the call's device, behind the step that asks.
    pub fn device_fact(&mut self, fact: DeviceFact) -> Value {
        let device = self.add(Expr::Device);
        self.element(device, fact as usize)
    }

    /// The field of the struct at `base`.
    pub fn load(&mut self, base: Value, field: Field) -> Value {
        self.add(Expr::Load(base, field))
    }

    /// The 64-bit integer `index` places behind `base`.
    pub fn element(&mut self, base: Value, index: usize) -> Value {
        self.add(Expr::Element(base, index as u32))
    }

    /// The 64-bit integer `index` places behind `base`, by a number that is known in a call only.
    pub fn element_at(&mut self, base: Value, index: Value) -> Value {
        let size = self.int(8);
        let offset = self.mul(index, size);
        let address = self.add_ints(base, offset);
        self.element(address, 0)
    }

    /// Integer arithmetic.
    pub fn arith(&mut self, op: Arith, a: Value, b: Value) -> Value {
        match (op, self.as_int(a), self.as_int(b)) {
            (_, Some(a), Some(b)) => self.int(op.apply(a, b)),
            (Arith::Add | Arith::Sub, _, Some(0)) | (Arith::Mul, _, Some(1)) => a,
            (Arith::Add, Some(0), _) | (Arith::Mul, Some(1), _) => b,
            (Arith::Mul, Some(0), _) => a,
            (Arith::Mul, _, Some(0)) => b,
            _ => self.add(Expr::Arith(op, a, b)),
        }
    }

    /// Addition that wraps around.
    pub fn add_ints(&mut self, a: Value, b: Value) -> Value {
        self.arith(Arith::Add, a, b)
    }

    /// Multiplication that wraps around.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.arith(Arith::Mul, a, b)
    }

    /// Whether an addition, subtraction or multiplication overflows.
    pub fn overflows(&mut self, op: Arith, a: Value, b: Value) -> Value {
        match (op, self.as_int(a), self.as_int(b)) {
            (_, Some(a), Some(b)) => {
                let overflows = op.overflows(a, b);
                self.bool(overflows)
            }
            (Arith::Mul, Some(0 | 1), _) | (Arith::Mul, _, Some(0 | 1)) => self.bool(false),
            (Arith::Add, Some(0), _) | (Arith::Add | Arith::Sub, _, Some(0)) => self.bool(false),
            _ => self.add(Expr::Overflows(op, a, b)),
        }
    }

    /// An integer comparison.
    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        match (self.as_int(a), self.as_int(b)) {
            (Some(a), Some(b)) => self.bool(op.apply(a, b)),
            _ if a == b => self.bool(op.apply(0, 0)),
            _ => self.add(Expr::Compare(op, a, b)),
        }
    }

    /// Whether two integers are equal.
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.compare(Compare::Eq, a, b)
    }

    /// Whether an integer equals a constant.
    pub fn eq_int(&mut self, a: Value, b: impl Into<i64>) -> Value {
        let b = self.int(b);
        self.eq(a, b)
    }

    /// Whether an integer equals one of some constants.
    pub fn eq_any(&mut self, a: Value, all: impl IntoIterator<Item = i64>) -> Value {
        let mut any = self.bool(false);
        for value in all {
            let eq = self.eq_int(a, value);
            any = self.or(any, eq);
        }
        any
    }

    /// Whether one of some integers is 0.
    pub fn eq_zero_any(&mut self, values: &[Value]) -> Value {
        let mut any = self.bool(false);
        for value in values {
            let eq = self.eq_int(*value, 0);
            any = self.or(any, eq);
        }
        any
    }

    /// Both; the second is evaluated only where the first holds.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => b,
            (Some(false), _) => a,
            (None, Some(true)) => a,
            (None, Some(false)) => b,
            _ => self.add(Expr::And(a, b)),
        }
    }

    /// Either; the second is evaluated only where the first does not hold.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => a,
            (Some(false), _) => b,
            (None, Some(false)) => a,
            (None, Some(true)) => b,
            _ => self.add(Expr::Or(a, b)),
        }
    }

    /// The opposite.
    pub fn not(&mut self, a: Value) -> Value {
        match *self.expr(a) {
            Expr::Bool(truth) => self.bool(!truth),
            Expr::Not(inner) => inner,
            Expr::Compare(Compare::Eq, x, y) => self.compare(Compare::Ne, x, y),
            Expr::Compare(Compare::Ne, x, y) => self.compare(Compare::Eq, x, y),
            _ => self.add(Expr::Not(a)),
        }
    }

    /// `a` where `cond` holds, else `b`; both are evaluated.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        match self.as_bool(cond) {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => match *self.expr(cond) {
                Expr::Not(opposite) => self.select(opposite, b, a),
                _ => self.add(Expr::Select(cond, a, b)),
            },
        }
    }

    /// For each place, `a` where `cond` holds, else `b`.
    pub fn select_each(&mut self, cond: &[Value], a: &[Value], b: &[Value]) -> Vec<Value> {
        (0..cond.len()).map(|i| self.select(cond[i], a[i], b[i])).collect()
    }

    /// The bits of the float64 nearest to an integer.
    pub fn float_bits(&mut self, a: Value) -> Value {
        self.add(Expr::FloatBits(a))
    }

    /// The bits of the float64 that has the value of the nearest float of `dtype`, where that is
    /// narrower.
    pub fn rounded(&mut self, bits: Value, dtype: DType) -> Value {
        match dtype {
            DType::FLOAT64 => bits,
            _ => self.add(Expr::Rounded(bits, dtype)),
        }
    }

    /// Names a value here, unless it is a constant.
    pub fn let_named(&mut self, name: impl Into<String>, value: Value) {
        let is_constant = matches!(self.expr(value), Expr::Int(_) | Expr::Bool(_) | Expr::Text(_));
        if !is_constant {
            self.push(Step::Let(name.into(), value));
        }
    }

    /// Zero, false or nothing: what a value of the same type is where a `when` does not hold.
    pub fn zero_like(&mut self, value: Value) -> Value {
        match self.type_of(value) {
            Type::Int => self.int(0),
            Type::Bool => self.bool(false),
            Type::Text => self.text(""),
        }
    }

    fn type_of(&self, value: Value) -> Type {
        super::type_of(&self.exprs, value)
    }

    /// Ends the call with `fault` unless `cond` holds. Constants in the fault become text.
    pub fn require(&mut self, cond: Value, mut fault: Fault) {
        if self.as_bool(cond) != Some(true) {
            for part in &mut fault.parts {
                if let Part::Optional(given, value, format) = part {
                    match self.as_bool(*given) {
                        Some(true) => *part = Part::Value(*value, *format),
                        Some(false) => *part = Part::Text("None".to_string()),
                        None => {}
                    }
                }
                let Part::Value(value, format) = part else { continue };
                match self.expr(*value) {
                    Expr::Int(constant) => *part = Part::Text(format.text(*constant)),
                    Expr::Text(text) => *part = Part::Text(shown_text(text.as_bytes())),
                    _ => {}
                }
            }
            self.push(Step::Require(cond, fault));
        }
    }

    /// Finds out about the call's device.
    pub fn ask_device(&mut self) {
        self.push(Step::AskDevice);
    }

    /// Finds out how many blocks of a launch the call's device holds at once, behind the step that
    /// asks for the device.
    pub fn ask_blocks(
        &mut self,
        launch: usize,
        cond: Option<Value>,
        block: [Value; 3],
        shared: Value,
    ) -> Value {
        let device = self.add(Expr::Device);
        let answer = self.element(device, DeviceFact::ALL.len() + self.n_blocks_asked);
        self.n_blocks_asked += 1;
        self.push(Step::AskBlocks(AskBlocks { launch, cond, block, shared, answer }));
        answer
    }

    /// Opens a `when`: steps go into it until it is closed.
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Closes the innermost `when` under `cond`. Returns what each of `values` is from here on.
    pub fn close(&mut self, cond: Value, values: &[Guarded]) -> Vec<Value> {
        let steps = self.blocks.pop().expect("a `when` is open");
        match self.as_bool(cond) {
            Some(true) => {
                self.blocks.last_mut().expect("the plan's own block is open").extend(steps);
                return values.iter().map(|value| value.inner).collect();
            }
            Some(false) => return values.iter().map(|value| value.otherwise).collect(),
            None => {}
        }
        let mut yields = Vec::new();
        let outer = values.iter().map(|value| self.yielded(cond, *value, &mut yields)).collect();
        self.push(Step::When(When { cond, steps, yields }));
        outer
    }

    /// The value behind a `when` that yields it, once however often it leaves. One that is true
    /// inside and false elsewhere is the condition.
    fn yielded(&mut self, cond: Value, value: Guarded, yields: &mut Vec<Yielded>) -> Value {
        let Guarded { inner, otherwise } = value;
        if (self.as_bool(inner), self.as_bool(otherwise)) == (Some(true), Some(false)) {
            return cond;
        }
        let is_same = |known: &&Yielded| (known.inner, known.otherwise) == (inner, otherwise);
        if let Some(known) = yields.iter().find(is_same) {
            return known.outer;
        }
        let outer = self.new_yield(self.type_of(otherwise));
        yields.push(Yielded { outer, inner, otherwise });
        outer
    }

    fn new_yield(&mut self, ty: Type) -> Value {
        self.n_yields += 1;
        self.add(Expr::Yield(ty, self.n_yields - 1))
    }

    /// A value that a launch has: the status of its function.
    pub fn status(&mut self) -> Value {
        self.new_yield(Type::Int)
    }

    fn new_turn(&mut self, ty: Type) -> Value {
        self.n_turns += 1;
        self.add(Expr::Turn(ty, self.n_turns - 1))
    }

    /// Opens a `repeat` whose turns are counted by `name`: steps go into it until it is closed.
    /// `firsts` are the values that are handed on from turn to turn, as they are in the first, with
    /// their names.
    pub fn open_repeat(&mut self, name: &str, firsts: &[(&str, Value)]) -> Turn {
        self.open();
        let firsts: Vec<_> =
            firsts.iter().map(|(name, first)| (name.to_string(), *first)).collect();
        Turn {
            number: self.new_turn(Type::Int),
            carried: firsts.iter().map(|(_, first)| self.new_turn(self.type_of(*first))).collect(),
            name: name.to_string(),
            firsts,
        }
    }

    /// Closes the innermost `repeat`, which has `count` turns, each of which hands on `nexts`.
    /// Returns what is left of these behind the last.
    pub fn close_repeat(&mut self, turn: Turn, count: Value, nexts: &[Value]) -> Vec<Value> {
        let steps = self.blocks.pop().expect("a `repeat` is open");
        let mut carried = Vec::new();
        for (((name, first), inner), next) in turn.firsts.into_iter().zip(turn.carried).zip(nexts) {
            let outer = self.new_yield(self.type_of(first));
            carried.push(Carried { name, inner, first, next: *next, outer });
        }
        let outer = carried.iter().map(|carried| carried.outer).collect();
        let (turn, name) = (turn.number, turn.name);
        self.push(Step::Repeat(Repeat { count, turn, name, steps, carried }));
        outer
    }

    fn push(&mut self, step: Step) {
        self.blocks.last_mut().expect("the plan's own block is open").push(step);
    }

    /// The finished steps and expressions: `plan` gets them, without what neither a check nor
    /// `used_later` needs.
    pub fn finish(mut self, plan: &mut Plan, used_later: &[Value]) {
        let steps = self.blocks.pop().expect("the plan's own block is open");
        assert!(self.blocks.is_empty(), "every `when` is closed");
        let mut used = vec![false; self.exprs.len()];
        for value in used_later {
            self.mark(&mut used, *value);
        }
        plan.steps = self.prune(steps, &mut used);
        plan.exprs = self.exprs;
    }

    /// Marks a value and all that it is made of. Values may hang together in very long chains.
    fn mark(&self, used: &mut [bool], value: Value) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !std::mem::replace(&mut used[value.0 as usize], true) {
                open.extend(self.expr(value).operands());
            }
        }
    }

    /// The steps that matter, found from the last to the first: a value's uses come after its
    /// definition.
    fn prune(&self, steps: Vec<Step>, used: &mut Vec<bool>) -> Vec<Step> {
        let mut kept = Vec::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Let(name, value) if used[value.0 as usize] => {
                    kept.push(Step::Let(name, value))
                }
                Step::Let(..) => {}
                Step::Require(cond, fault) => {
                    self.mark(used, cond);
                    fault.values().for_each(|value| self.mark(used, value));
                    kept.push(Step::Require(cond, fault));
                }
                Step::When(when) => kept.extend(self.prune_when(when, used)),
                Step::Repeat(repeat) => kept.extend(self.prune_repeat(repeat, used)),
                Step::AskDevice => kept.push(Step::AskDevice),
                Step::AskBlocks(asked) if used[asked.answer.0 as usize] => {
                    asked.values().for_each(|value| self.mark(used, value));
                    kept.push(step);
                }
                Step::AskBlocks(_) => {}
            }
        }
        kept.reverse();
        kept
    }

    fn prune_when(&self, mut when: When, used: &mut Vec<bool>) -> Option<Step> {
        when.yields.retain(|yielded| used[yielded.outer.0 as usize]);
        for yielded in &when.yields {
            self.mark(used, yielded.inner);
            self.mark(used, yielded.otherwise);
        }
        when.steps = self.prune(when.steps, used);
        let matters = !when.steps.is_empty() || !when.yields.is_empty();
        if matters {
            self.mark(used, when.cond);
        }
        matters.then_some(Step::When(when))
    }

    /// The values that one turn hands on may be needed by the next only, so uses are followed until
    /// nothing more is.
    fn prune_repeat(&self, mut repeat: Repeat, used: &mut Vec<bool>) -> Option<Step> {
        let is_used = |used: &[bool], carried: &Carried| {
            used[carried.outer.0 as usize] || used[carried.inner.0 as usize]
        };
        let mut n_used = None;
        while n_used != Some(repeat.carried.iter().filter(|it| is_used(used, it)).count()) {
            n_used = Some(repeat.carried.iter().filter(|it| is_used(used, it)).count());
            for carried in &repeat.carried {
                if is_used(used, carried) {
                    self.mark(used, carried.first);
                    self.mark(used, carried.next);
                }
            }
            self.prune(repeat.steps.clone(), used);
        }
        repeat.carried.retain(|carried| is_used(used, carried));
        repeat.steps = self.prune(repeat.steps, used);
        let matters = !repeat.steps.is_empty() || !repeat.carried.is_empty();
        if matters {
            self.mark(used, repeat.count);
        }
        matters.then_some(Step::Repeat(repeat))
    }
}

impl Arith {
    /// The value of the operation.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Arith::Add => a.wrapping_add(b),
            Arith::Sub => a.wrapping_sub(b),
            Arith::Mul => a.wrapping_mul(b),
            Arith::FloorDiv if b <= 0 => 0,
            Arith::FloorDiv => a.div_euclid(b),
            Arith::Mod if b <= 0 => 0,
            Arith::Mod => a.rem_euclid(b),
            Arith::BitAnd => a & b,
        }
    }

    /// Whether the exact result does not fit 64 bits.
    pub fn overflows(self, a: i64, b: i64) -> bool {
        match self {
            Arith::Add => a.checked_add(b).is_none(),
            Arith::Sub => a.checked_sub(b).is_none(),
            Arith::Mul => a.checked_mul(b).is_none(),
            Arith::FloorDiv | Arith::Mod | Arith::BitAnd => false,
        }
    }
}

impl Compare {
    /// The truth of the comparison.
    pub fn apply(self, a: i64, b: i64) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
        }
    }
}
