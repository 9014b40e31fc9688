// SPDX-License-Identifier: Apache-2.0
//! Writing programs into a fault table.

use std::{vec, vec::Vec};

use super::{step, value};
use crate::fault_table::{TableError, TableWriter};

/// An operation on two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Wrapping multiplication.
    Mul,
    /// Division rounded down; 0 for a divisor that is not positive.
    FloorDiv,
    /// Its remainder.
    Mod,
    /// Bitwise and.
    BitAnd,
    /// Whether an addition overflows.
    AddOverflows,
    /// Whether a subtraction overflows.
    SubOverflows,
    /// Whether a multiplication overflows.
    MulOverflows,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less, signed.
    Lt,
    /// Less or equal, signed.
    Le,
    /// Both; the second is evaluated only where the first holds.
    And,
    /// Either; the second is evaluated only where the first does not hold.
    Or,
}

/// A value of a program; operands are the numbers of earlier values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramValue {
    /// A constant.
    Int(i64),
    /// The address of the arguments.
    Args,
    /// The number of arguments.
    NumArgs,
    /// The address of what is known of the device.
    Device,
    /// The contents of memory at an address and an offset.
    Load {
        /// The address.
        base: u32,
        /// Bytes from there.
        offset: u32,
        /// How many there are, and how they extend to 64 bits.
        width: LoadWidth,
    },
    /// A value that the `repeat` of that step gives: a turn's number, or a value that turns hand
    /// on.
    Given(u32),
    /// An operation.
    Binary(Op, u32, u32),
    /// 1 for 0, 0 for anything else.
    Not(u32),
    /// The second where the first holds, else the third.
    Select(u32, u32, u32),
    /// The text at that offset of the table, from [`TableWriter::text`].
    Text(u32),
    /// The text of the argument at an address.
    TextAt(u32),
    /// Whether a text is the one at that offset of the table.
    TextIs(u32, u32),
    /// The bits of the float64 nearest to an integer.
    FloatBits(u32),
    /// The bits of the float64 that has the value of the nearest float of a narrower format.
    Rounded(Narrower, u32),
}

/// How many bytes are read, and how they extend to 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadWidth {
    /// One, with zeros.
    U8,
    /// Two, with zeros.
    U16,
    /// Four, with their sign.
    I32,
    /// Four, with zeros.
    U32,
    /// Eight.
    I64,
}

/// A float format narrower than float64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrower {
    /// IEEE binary16.
    Float16,
    /// bfloat16.
    Bfloat16,
    /// float32.
    Float32,
}

/// A step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramStep {
    /// Raises the fault at an offset of the table, with these values, unless the first holds.
    Require {
        /// The condition that must hold.
        cond: u32,
        /// The fault.
        fault: u32,
        /// The values that its parts print.
        values: Vec<u32>,
    },
    /// Goes on at the step of number `end` unless the value holds.
    When {
        /// The condition.
        cond: u32,
        /// The first step behind.
        end: u32,
    },
    /// Goes through the steps up to that of number `end` several times.
    Repeat {
        /// How many turns there are.
        count: u32,
        /// The first step behind.
        end: u32,
        /// The turn's number. What is evaluated anew in each turn are the values from this one on.
        turn: u32,
        /// The first value behind those.
        values_end: u32,
        /// The values that turns hand on.
        carried: Vec<ProgramCarried>,
    },
}

/// A value that the turns of a `repeat` hand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramCarried {
    /// The value inside a turn.
    pub inner: u32,
    /// The value in the first turn.
    pub first: u32,
    /// The value in the next turn.
    pub next: u32,
    /// The value behind the last turn, one behind those that are evaluated anew.
    pub outer: u32,
}

/// The checks of one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The values, operands first.
    pub values: Vec<ProgramValue>,
    /// The steps, in order.
    pub steps: Vec<ProgramStep>,
}

impl TableWriter {
    /// Appends a program; returns where it lies.
    pub fn program(&mut self, program: &Program) -> Result<u32, TableError> {
        let mut steps = Vec::new();
        for step in &program.steps {
            steps.push(match step {
                ProgramStep::Require { cond, fault, values } => {
                    [step::REQUIRE, *cond, *fault, self.list(values)?]
                }
                ProgramStep::When { cond, end } => [step::WHEN, *cond, *end, 0],
                ProgramStep::Repeat { count, end, turn, values_end, carried } => {
                    let mut list = vec![*turn, *values_end];
                    for ProgramCarried { inner, first, next, outer } in carried {
                        list.extend([inner, first, next, outer]);
                    }
                    [step::REPEAT, *count, *end, self.list(&list)?]
                }
            });
        }
        let at = self.align()?;
        self.push_u32s([program.values.len() as u32, program.steps.len() as u32]);
        let values = program.values.iter().map(|value| value.numbers());
        for [a, b, c, d] in values.chain(steps) {
            self.push_u32s([a, b]);
            self.push_u32s([c, d]);
        }
        Ok(at)
    }

    /// Appends a list of numbers; returns where it lies.
    fn list(&mut self, numbers: &[u32]) -> Result<u32, TableError> {
        let at = self.align()?;
        let mut row = vec![numbers.len() as u32];
        row.extend(numbers);
        row.resize(row.len().next_multiple_of(2), 0);
        row.chunks_exact(2).for_each(|pair| self.push_u32s([pair[0], pair[1]]));
        Ok(at)
    }
}

impl ProgramValue {
    fn numbers(self) -> [u32; 4] {
        match self {
            ProgramValue::Int(int) => [value::INT, int as u32, (int >> 32) as u32, 0],
            ProgramValue::Args => [value::ARGS, 0, 0, 0],
            ProgramValue::Device => [value::DEVICE, 0, 0, 0],
            ProgramValue::NumArgs => [value::NUM_ARGS, 0, 0, 0],
            ProgramValue::Given(step) => [value::GIVEN, step, 0, 0],
            ProgramValue::Load { base, offset, width } => [width.number(), base, offset, 0],
            ProgramValue::Binary(op, a, b) => [op.number(), a, b, 0],
            ProgramValue::Not(a) => [value::NOT, a, 0, 0],
            ProgramValue::Select(cond, a, b) => [value::SELECT, cond, a, b],
            ProgramValue::Text(offset) => [value::TEXT, offset, 0, 0],
            ProgramValue::TextAt(a) => [value::TEXT_AT, a, 0, 0],
            ProgramValue::TextIs(a, offset) => [value::TEXT_IS, a, offset, 0],
            ProgramValue::FloatBits(a) => [value::FLOAT_BITS, a, 0, 0],
            ProgramValue::Rounded(Narrower::Float16, a) => [value::ROUNDED_TO_F16, a, 0, 0],
            ProgramValue::Rounded(Narrower::Bfloat16, a) => [value::ROUNDED_TO_BF16, a, 0, 0],
            ProgramValue::Rounded(Narrower::Float32, a) => [value::ROUNDED_TO_F32, a, 0, 0],
        }
    }
}

impl LoadWidth {
    fn number(self) -> u32 {
        match self {
            LoadWidth::U8 => value::LOAD_U8,
            LoadWidth::U16 => value::LOAD_U16,
            LoadWidth::I32 => value::LOAD_I32,
            LoadWidth::U32 => value::LOAD_U32,
            LoadWidth::I64 => value::LOAD_I64,
        }
    }
}

impl Op {
    fn number(self) -> u32 {
        match self {
            Op::Add => value::ADD,
            Op::Sub => value::SUB,
            Op::Mul => value::MUL,
            Op::FloorDiv => value::FLOOR_DIV,
            Op::Mod => value::MOD,
            Op::BitAnd => value::BIT_AND,
            Op::AddOverflows => value::ADD_OVERFLOWS,
            Op::SubOverflows => value::SUB_OVERFLOWS,
            Op::MulOverflows => value::MUL_OVERFLOWS,
            Op::Eq => value::EQ,
            Op::Ne => value::NE,
            Op::Lt => value::LT,
            Op::Le => value::LE,
            Op::And => value::AND,
            Op::Or => value::OR,
        }
    }
}
