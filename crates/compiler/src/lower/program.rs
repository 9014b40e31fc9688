// SPDX-License-Identifier: Apache-2.0
//! A plan's steps as a program for the runtime, which replays it on a refused call to find out what
//! to say.

use super::Faults;
use kernpack_ffi_abi::{DType, Field, Width};
use kernpack_runtime::interface::MAX_TURNS;
use kernpack_runtime::{
    LoadWidth, Narrower, Op, Program, ProgramCarried, ProgramStep, ProgramValue,
};
use kernpack_validators::fault::calling;
use kernpack_validators::plan::{
    Arith, Compare, Expr, MOST_TURNS, Plan, Repeat, Step, Value, When,
};
use std::collections::HashMap;

// A loop ends in the replay when it ends in code.
const _: () = assert!(MOST_TURNS == MAX_TURNS);

/// The program of a plan; its faults go into the table.
pub fn program(plan: &Plan, faults: &mut Faults) -> Program {
    let mut writer = Writer {
        plan,
        faults,
        calling: calling(&plan.signature),
        numbers: HashMap::new(),
        program: Program::default(),
    };
    writer.steps(&plan.steps);
    writer.program
}

/// How many steps of a program a step of the plan is.
pub fn n_steps(step: &Step) -> u32 {
    match step {
        Step::Let(..) | Step::AskDevice | Step::AskBlocks(_) => 0,
        Step::Require(..) => 1,
        Step::When(When { steps, .. }) | Step::Repeat(Repeat { steps, .. }) => {
            1 + steps.iter().map(n_steps).sum::<u32>()
        }
    }
}

struct Writer<'w> {
    plan: &'w Plan,
    faults: &'w mut Faults,
    calling: String,
    /// The number of each value that the program has so far.
    numbers: HashMap<Value, u32>,
    program: Program,
}

impl Writer<'_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                // Whether the device can be asked is no check: it has been.
                Step::Let(..) | Step::AskDevice | Step::AskBlocks(_) => {}
                Step::Require(cond, fault) => {
                    let cond = self.value(*cond);
                    let values = fault.values().map(|value| self.value(value)).collect();
                    let fault = self.faults.add(fault, &self.calling);
                    self.program.steps.push(ProgramStep::Require { cond, fault, values });
                }
                Step::When(when) => self.when(when),
                Step::Repeat(repeat) => self.repeat(repeat),
            }
        }
    }

    fn when(&mut self, when: &When) {
        let cond = self.value(when.cond);
        let start = self.program.steps.len();
        self.program.steps.push(ProgramStep::When { cond, end: 0 });
        self.steps(&when.steps);
        let end = self.program.steps.len() as u32;
        self.program.steps[start] = ProgramStep::When { cond, end };
        for yielded in &when.yields {
            let (inner, otherwise) = (self.value(yielded.inner), self.value(yielded.otherwise));
            self.define(yielded.outer, ProgramValue::Select(cond, inner, otherwise));
        }
    }

    /// The program of the steps inside is numbered from the turn's number on, so that each
    /// turn evaluates it anew; nothing behind them uses it.
    fn repeat(&mut self, repeat: &Repeat) {
        let count = self.value(repeat.count);
        let firsts: Vec<_> = repeat.carried.iter().map(|it| self.value(it.first)).collect();
        let start = self.program.steps.len();
        let given = ProgramValue::Given(start as u32);
        // Its end is known behind the steps inside.
        self.program.steps.push(ProgramStep::When { cond: count, end: 0 });
        let outside = self.numbers.clone();
        let turn = self.define(repeat.turn, given);
        let inners: Vec<_> = repeat.carried.iter().map(|it| self.define(it.inner, given)).collect();
        self.steps(&repeat.steps);
        let nexts: Vec<_> = repeat.carried.iter().map(|it| self.value(it.next)).collect();
        self.numbers = outside;
        let (end, values_end) = (self.program.steps.len() as u32, self.program.values.len() as u32);
        let mut carried = Vec::new();
        for (i, handed_on) in repeat.carried.iter().enumerate() {
            let outer = self.define(handed_on.outer, given);
            let (inner, first, next) = (inners[i], firsts[i], nexts[i]);
            carried.push(ProgramCarried { inner, first, next, outer });
        }
        self.program.steps[start] = ProgramStep::Repeat { count, end, turn, values_end, carried };
    }

    /// The number of a value, behind its operands.
    fn value(&mut self, value: Value) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let row = match *self.plan.expr(value) {
            Expr::Int(int) => ProgramValue::Int(int),
            Expr::Bool(truth) => ProgramValue::Int(truth.into()),
            Expr::Text(ref text) => ProgramValue::Text(self.faults.add_text(text)),
            Expr::TextAt(base) => ProgramValue::TextAt(self.value(base)),
            Expr::TextIs(text, ref constant) => {
                ProgramValue::TextIs(self.value(text), self.faults.add_text(constant))
            }
            Expr::Args => ProgramValue::Args,
            Expr::NumArgs => ProgramValue::NumArgs,
            Expr::Device => ProgramValue::Device,
            Expr::Load(base, field) => self.load(base, field),
            Expr::Element(base, index) => {
                let base = self.value(base);
                ProgramValue::Load { base, offset: 8 * index, width: LoadWidth::I64 }
            }
            Expr::Arith(op, a, b) => self.binary(arith(op), a, b),
            Expr::Overflows(op, a, b) => self.binary(overflows(op), a, b),
            Expr::Compare(op, a, b) => self.binary(compare(op), a, b),
            Expr::And(a, b) => self.binary(Op::And, a, b),
            Expr::Or(a, b) => self.binary(Op::Or, a, b),
            Expr::Not(a) => ProgramValue::Not(self.value(a)),
            Expr::Select(cond, a, b) => {
                ProgramValue::Select(self.value(cond), self.value(a), self.value(b))
            }
            Expr::FloatBits(a) => ProgramValue::FloatBits(self.value(a)),
            Expr::Rounded(a, dtype) => ProgramValue::Rounded(narrower(dtype), self.value(a)),
            Expr::Yield(..) | Expr::Turn(..) => {
                unreachable!("a verified plan yields before it uses")
            }
        };
        self.define(value, row)
    }

    fn define(&mut self, value: Value, row: ProgramValue) -> u32 {
        let number = self.program.values.len() as u32;
        self.program.values.push(row);
        self.numbers.insert(value, number);
        number
    }

    fn binary(&mut self, op: Op, a: Value, b: Value) -> ProgramValue {
        ProgramValue::Binary(op, self.value(a), self.value(b))
    }

    fn load(&mut self, base: Value, field: Field) -> ProgramValue {
        let width = match field.width {
            Width::U8 => LoadWidth::U8,
            Width::U16 => LoadWidth::U16,
            Width::I32 => LoadWidth::I32,
            Width::U32 => LoadWidth::U32,
            Width::I64 | Width::Ptr => LoadWidth::I64,
        };
        ProgramValue::Load { base: self.value(base), offset: field.offset, width }
    }
}

fn narrower(dtype: DType) -> Narrower {
    match dtype {
        DType::FLOAT16 => Narrower::Float16,
        DType::BFLOAT16 => Narrower::Bfloat16,
        DType::FLOAT32 => Narrower::Float32,
        _ => unreachable!("a verified plan rounds to narrower floats"),
    }
}

fn arith(op: Arith) -> Op {
    match op {
        Arith::Add => Op::Add,
        Arith::Sub => Op::Sub,
        Arith::Mul => Op::Mul,
        Arith::FloorDiv => Op::FloorDiv,
        Arith::Mod => Op::Mod,
        Arith::BitAnd => Op::BitAnd,
    }
}

fn overflows(op: Arith) -> Op {
    match op {
        Arith::Add => Op::AddOverflows,
        Arith::Sub => Op::SubOverflows,
        Arith::Mul => Op::MulOverflows,
        Arith::FloorDiv | Arith::Mod | Arith::BitAnd => {
            unreachable!("a verified plan asks of sums and products")
        }
    }
}

fn compare(op: Compare) -> Op {
    match op {
        Compare::Eq => Op::Eq,
        Compare::Ne => Op::Ne,
        Compare::Lt => Op::Lt,
        Compare::Le => Op::Le,
    }
}
