// SPDX-License-Identifier: Apache-2.0
//! Random expressions.

use super::Generator;
use super::call::{BLOCK_WORDS, N_LINKS, POINTER, TEXTS};
use kernpack_ffi_abi::layout::{any, dl_tensor};
use kernpack_ffi_abi::{DType, Field, Width};
use kernpack_validators::plan::{Arith, Compare, DeviceFact, Expr, Type, Value};

const ARITH: [Arith; 6] =
    [Arith::Add, Arith::Sub, Arith::Mul, Arith::FloorDiv, Arith::Mod, Arith::BitAnd];
const COMPARE: [Compare; 4] = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le];
/// What floats are rounded to.
const NARROWER: [DType; 3] = [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32];
/// Fields that are read of blocks, of every width.
const FIELDS: [Field; 8] = [
    dl_tensor::DEVICE_TYPE,
    dl_tensor::NDIM,
    dl_tensor::DTYPE,
    dl_tensor::SHAPE,
    dl_tensor::BYTE_OFFSET,
    field("byte", 41, Width::U8),
    field("half", 50, Width::U16),
    field("word", 60, Width::U32),
];

const fn field(name: &'static str, offset: u32, width: Width) -> Field {
    Field { owner: "Block", name, c_path: name, offset, width }
}

impl Generator<'_> {
    /// A value of a type, of so many operations in a row at most.
    pub fn value(&mut self, ty: Type, depth: usize) -> Value {
        match ty {
            Type::Int => self.int(depth),
            Type::Bool => self.truth(depth),
            Type::Text => self.text(depth),
        }
    }

    pub fn constant(&mut self, int: i64) -> Value {
        self.add(Expr::Int(int))
    }

    /// A value that was kept, or else a new one.
    pub fn kept(&mut self, ty: Type) -> Value {
        let kept = match ty {
            Type::Int => &self.scope.ints,
            Type::Bool => &self.scope.bools,
            Type::Text => &self.scope.texts,
        };
        match kept.is_empty() {
            true => self.value(ty, 2),
            false => self.rng.pick(kept),
        }
    }

    /// An integer.
    pub fn int(&mut self, depth: usize) -> Value {
        if depth == 0 || self.rng.sixteenths(4) {
            return match self.scope.ints.is_empty() || self.rng.sixteenths(6) {
                true => {
                    let int = self.rng.int();
                    self.constant(int)
                }
                false => self.rng.pick(&self.scope.ints),
            };
        }
        let value = self.new_int(depth - 1);
        if self.rng.sixteenths(8) {
            self.scope.ints.push(value);
        }
        value
    }

    fn new_int(&mut self, depth: usize) -> Value {
        match self.rng.below(13) {
            0 => self.add(Expr::NumArgs),
            1 | 2 => self.of_argument(),
            3..=5 => self.of_block(depth),
            6..=8 => {
                let (op, a, b) = (self.rng.pick(&ARITH), self.int(depth), self.int(depth));
                self.add(Expr::Arith(op, a, b))
            }
            9 => self.small(depth),
            10 => {
                let (cond, a, b) = (self.truth(depth), self.int(depth), self.int(depth));
                self.add(Expr::Select(cond, a, b))
            }
            11 => {
                let a = self.int(depth);
                self.add(Expr::FloatBits(a))
            }
            _ => {
                let (a, dtype) = (self.int(depth), self.rng.pick(&NARROWER));
                self.add(Expr::Rounded(a, dtype))
            }
        }
    }

    /// An integer of few values.
    pub fn small(&mut self, depth: usize) -> Value {
        let (a, mask) = (self.int(depth), self.rng.pick(&[1, 3, 7]));
        let mask = self.constant(mask);
        self.add(Expr::Arith(Arith::BitAnd, a, mask))
    }

    /// Where an argument is.
    fn argument(&mut self, number: usize) -> Value {
        let args = self.add(Expr::Args);
        if number == 0 {
            return args;
        }
        let offset = self.constant(16 * number as i64);
        self.add(Expr::Arith(Arith::Add, args, offset))
    }

    fn of_argument(&mut self) -> Value {
        if self.n_args == 0 {
            return self.constant(0);
        }
        let number = self.rng.below(self.n_args);
        let argument = self.argument(number);
        let field = self.rng.pick(&[any::TYPE_INDEX, any::PADDING, any::PAYLOAD]);
        self.add(Expr::Load(argument, field))
    }

    /// Something of a block, or of the device.
    pub fn of_block(&mut self, depth: usize) -> Value {
        if self.has_asked && self.rng.sixteenths(4) {
            let device = self.add(Expr::Device);
            let fact = self.rng.below(DeviceFact::ALL.len()) as u32;
            return self.add(Expr::Element(device, fact));
        }
        if self.scope.blocks.is_empty() {
            return self.of_argument();
        }
        let block = self.rng.pick(&self.scope.blocks);
        match self.rng.below(3) {
            0 => {
                let field = self.rng.pick(&FIELDS);
                self.add(Expr::Load(block, field))
            }
            1 => {
                let element = self.rng.below(BLOCK_WORDS) as u32;
                self.add(Expr::Element(block, element))
            }
            _ => self.dynamic_element(block, depth),
        }
    }

    /// An element whose number is known in a call only.
    fn dynamic_element(&mut self, block: Value, depth: usize) -> Value {
        let (index, mask) = (self.int(depth), self.constant(BLOCK_WORDS as i64 - 1));
        let index = self.add(Expr::Arith(Arith::BitAnd, index, mask));
        let eight = self.constant(8);
        let offset = self.add(Expr::Arith(Arith::Mul, index, eight));
        let address = self.add(Expr::Arith(Arith::Add, block, offset));
        self.add(Expr::Element(address, 0))
    }

    /// A truth.
    pub fn truth(&mut self, depth: usize) -> Value {
        if depth == 0 || self.rng.sixteenths(2) {
            return match self.scope.bools.is_empty() || self.rng.sixteenths(2) {
                true => {
                    let truth = self.rng.sixteenths(8);
                    self.add(Expr::Bool(truth))
                }
                false => self.rng.pick(&self.scope.bools),
            };
        }
        let value = self.new_truth(depth - 1);
        if self.rng.sixteenths(6) {
            self.scope.bools.push(value);
        }
        value
    }

    fn new_truth(&mut self, depth: usize) -> Value {
        match self.rng.below(14) {
            0..=2 => {
                let (op, a, b) = (self.rng.pick(&COMPARE), self.int(depth), self.int(depth));
                self.add(Expr::Compare(op, a, b))
            }
            3 => {
                let (op, a, b) = (self.rng.below(3), self.int(depth), self.int(depth));
                self.add(Expr::Overflows(ARITH[op], a, b))
            }
            4 => {
                let (a, b) = (self.truth(depth), self.truth(depth));
                self.add(Expr::And(a, b))
            }
            5 => {
                let (a, b) = (self.truth(depth), self.truth(depth));
                self.add(Expr::Or(a, b))
            }
            6 => {
                let a = self.truth(depth);
                self.add(Expr::Not(a))
            }
            7 => {
                let (cond, a, b) = (self.truth(depth), self.truth(depth), self.truth(depth));
                self.add(Expr::Select(cond, a, b))
            }
            8 => {
                let (value, constants) = (self.int(depth), self.constants());
                self.is_any(value, &constants)
            }
            9 => self.is_between(depth),
            10 | 11 => {
                let (text, constant) = (self.text(depth), self.rng.pick(&TEXTS));
                self.add(Expr::TextIs(text, constant.into()))
            }
            _ => self.guarded(depth),
        }
    }

    /// A text: of an argument, a constant, or one of two others.
    pub fn text(&mut self, depth: usize) -> Value {
        if !self.scope.texts.is_empty() && self.rng.sixteenths(6) {
            return self.rng.pick(&self.scope.texts);
        }
        let text = match self.rng.below(4) {
            0 | 1 if self.n_args > 0 => {
                let number = self.rng.below(self.n_args);
                let argument = self.argument(number);
                self.add(Expr::TextAt(argument))
            }
            2 if depth > 0 => {
                let cond = self.truth(depth - 1);
                let (a, b) = (self.text(depth - 1), self.text(depth - 1));
                self.add(Expr::Select(cond, a, b))
            }
            _ => {
                let constant = self.rng.pick(&TEXTS);
                self.add(Expr::Text(constant.into()))
            }
        };
        self.scope.texts.push(text);
        text
    }

    pub fn constants(&mut self) -> Vec<i64> {
        (0..2 + self.rng.below(3)).map(|_| self.rng.int()).collect()
    }

    /// Whether a value is one of some constants.
    pub fn is_any(&mut self, value: Value, constants: &[i64]) -> Value {
        let equal = |generator: &mut Self, constant: i64| {
            let constant = generator.constant(constant);
            generator.add(Expr::Compare(Compare::Eq, value, constant))
        };
        let mut any = equal(self, constants[0]);
        for constant in &constants[1..] {
            let next = equal(self, *constant);
            any = self.add(Expr::Or(any, next));
        }
        any
    }

    fn is_between(&mut self, depth: usize) -> Value {
        let (value, low, high) = (self.int(depth), self.rng.int(), self.rng.int());
        let (low, high) = (self.constant(low.min(high)), self.constant(low.max(high)));
        let low = self.add(Expr::Compare(Compare::Le, low, value));
        let high = self.add(Expr::Compare(Compare::Le, value, high));
        self.add(Expr::And(low, high))
    }

    /// A connective whose second operand reads what only the first makes safe.
    fn guarded(&mut self, depth: usize) -> Value {
        let Some((cond, block)) = self.guard() else { return self.truth(depth) };
        let mark = self.mark();
        self.scope.blocks.push(block);
        let second = self.truth(depth + 1);
        self.forget(mark);
        match self.rng.sixteenths(8) {
            true => self.add(Expr::And(cond, second)),
            false => {
                let not = self.add(Expr::Not(cond));
                self.add(Expr::Or(not, second))
            }
        }
    }

    /// A condition, and the address of a block where it holds.
    pub fn guard(&mut self) -> Option<(Value, Value)> {
        let zero = self.constant(0);
        let of_block = !self.scope.blocks.is_empty() && self.rng.sixteenths(10);
        if of_block {
            let (block, link) = (self.rng.pick(&self.scope.blocks), self.rng.below(N_LINKS));
            let next = self.add(Expr::Element(block, link as u32));
            return Some((self.add(Expr::Compare(Compare::Ne, next, zero)), next));
        }
        if self.n_args == 0 {
            return None;
        }
        let number = self.rng.below(self.n_args);
        let argument = self.argument(number);
        let type_index = self.add(Expr::Load(argument, any::TYPE_INDEX));
        let payload = self.add(Expr::Load(argument, any::PAYLOAD));
        let pointer = self.constant(POINTER.0.into());
        let is_pointer = self.add(Expr::Compare(Compare::Eq, type_index, pointer));
        let is_given = self.add(Expr::Compare(Compare::Ne, payload, zero));
        Some((self.add(Expr::And(is_pointer, is_given)), payload))
    }
}
