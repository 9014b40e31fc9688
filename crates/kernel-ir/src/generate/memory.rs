// SPDX-License-Identifier: Apache-2.0
//! Statements that read and write memory of which no other thread writes anything.

use super::{CELLS, CHANGED, Input, Known, Maker, number};
use crate::intrinsic::{self, Level};
use crate::kernel::Value;
use crate::op::{Binary, Check, Compare, Guard, Load, Operand, Qualifier, Rounding, Store};
use crate::types::{MOST_VECTOR_BYTES, Scalar, Type};

impl Maker {
    /// A number from 0 to below `limit`, as an `int64`.
    pub(super) fn index(&mut self, limit: u64, is_uniform: bool) -> Known {
        let scalar =
            self.rng.pick(&[Scalar::I64, Scalar::I64, Scalar::I32, Scalar::U32, Scalar::I16]);
        let ty = Type::Scalar(scalar);
        let known = if is_uniform { self.uniform(ty) } else { self.operand(ty) };
        let extent = self.builder.int(scalar, limit as i64);
        let value = self.builder.binary(Binary::FloorMod, known.value, extent);
        if self.rng.percent(30) {
            let check = limit.is_multiple_of(3).then(|| Check { of: "x".to_string() });
            self.builder.in_bounds(value, extent, check);
        }
        let value = self.builder.convert(value, Scalar::I64, Rounding::NearestEven);
        Known { value, level: known.level }
    }

    /// The address of an element.
    pub(super) fn element(&mut self, pointer: Value, index: Value, bytes: u32) -> Value {
        let size = self.builder.index(i64::from(bytes));
        let offset = self.builder.binary(Binary::Mul, index, size);
        self.builder.offset(pointer, offset)
    }

    pub(super) fn access(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.load(),
            4 => self.guarded_load(),
            5 => self.chosen_load(),
            6 | 7 => self.store(),
            8 => self.load_cell(),
            _ => self.registers(),
        }
    }

    fn input(&mut self) -> Input {
        let inputs = self.inputs.clone();
        self.rng.pick(&inputs)
    }

    /// Reads one element of an input, or several.
    fn load(&mut self) {
        let Input { pointer, element, count } = self.input();
        let most = u64::from(MOST_VECTOR_BYTES / element.bytes());
        let lanes: Vec<_> = [1, 1, 2, 4, 8, 16].into_iter().filter(|it| *it <= most).collect();
        let lanes = self.rng.pick(&lanes);
        let ty = Type::of_lanes(element, lanes as u8);
        let is_uniform = self.rng.percent(30);
        let index = self.index(count / lanes, is_uniform);
        let pointer = self.element(pointer, index.value, ty.bytes());
        let align = if self.rng.percent(80) { ty.bytes() } else { element.bytes() };
        let qualifier = self.qualifier(ty);
        let value = self.builder.load(ty, Load { pointer, align, qualifier, guard: None });
        self.remember(value, index.level.min(level_of(qualifier)));
    }

    /// Reads where an index is in bounds.
    fn guarded_load(&mut self) {
        let Input { pointer, element, count } = self.input();
        let index = self.index(2 * count, false);
        let bias = self.builder.index(-(count as i64) / 2);
        let index = Known { value: self.builder.binary(Binary::Add, index.value, bias), ..index };
        let [zero, extent] = [0, count as i64].map(|number| self.builder.index(number));
        let is_positive = self.builder.compare(Compare::Ge, index.value, zero);
        let is_below = self.builder.compare(Compare::Lt, index.value, extent);
        let condition = self.builder.binary(Binary::And, is_positive, is_below);
        let pointer = self.element(pointer, index.value, element.bytes());
        let otherwise = self.operand(Type::Scalar(element));
        let guard = Some(Guard { condition, otherwise: otherwise.value });
        let qualifier = self.qualifier(Type::Scalar(element));
        let load = Load { pointer, align: element.bytes(), qualifier, guard };
        let value = self.builder.load(Type::Scalar(element), load);
        self.remember(value, index.level.min(otherwise.level).min(level_of(qualifier)));
    }

    /// Reads one of two inputs of a type.
    fn chosen_load(&mut self) {
        let first = self.input();
        let alike: Vec<_> =
            self.inputs.iter().filter(|other| other.element == first.element).copied().collect();
        let second = self.rng.pick(&alike);
        let condition = self.operand(Type::Scalar(Scalar::Bool));
        let pointer = self.builder.select(condition.value, first.pointer, second.pointer);
        let index = self.index(first.count.min(second.count), false);
        let align = first.element.bytes();
        let pointer = self.element(pointer, index.value, align);
        let load = Load { pointer, align, qualifier: None, guard: None };
        let value = self.builder.load(Type::Scalar(first.element), load);
        self.remember(value, index.level.min(condition.level).min(Level::Block));
    }

    /// Writes to a cell of the thread's own.
    fn store(&mut self) {
        let place = self.rng.below(self.outputs.len() as u64) as usize;
        let output = self.outputs[place];
        let index = self.index(CELLS, false);
        let bytes = output.element.bytes();
        let pointer = self.element(output.pointer, index.value, bytes);
        let value = self.operand(Type::Scalar(output.element)).value;
        let is_guarded = self.rng.percent(25);
        let condition = is_guarded.then(|| self.condition(false).value);
        let qualifier = self.qualifier(Type::Scalar(output.element));
        self.builder.store(Store { pointer, value, align: bytes, qualifier, condition });
    }

    /// How an access of a type to global memory is made, if it is said.
    fn qualifier(&mut self, ty: Type) -> Option<Qualifier> {
        if self.rng.percent(75) {
            return None;
        }
        let one = self.rng.pick(Qualifier::ALL);
        (one.is_hint() || ty.lanes() == 1).then_some(one)
    }

    pub(super) fn store_cell(&mut self, place: usize, cell: u64) {
        let output = self.outputs[place];
        let index = self.builder.index(cell as i64);
        let align = output.element.bytes();
        let pointer = self.element(output.pointer, index, align);
        let value = self.operand(Type::Scalar(output.element)).value;
        self.builder.store(Store { pointer, value, align, qualifier: None, condition: None });
    }

    /// Reads a cell of the thread's own.
    fn load_cell(&mut self) {
        let place = self.rng.below(self.outputs.len() as u64) as usize;
        let output = self.outputs[place];
        let index = self.index(CELLS, false);
        let align = output.element.bytes();
        let pointer = self.element(output.pointer, index.value, align);
        let load = Load { pointer, align, qualifier: None, guard: None };
        let value = self.builder.load(Type::Scalar(output.element), load);
        self.remember(value, Level::Thread);
    }

    /// A register tensor, filled, changed somewhere and read somewhere.
    fn registers(&mut self) {
        let element = number(&mut self.rng);
        let (count, align) = (self.rng.within(1, 6), element.bytes());
        let local = self.builder.local(format!("local{}", self.line), element, count as u32);
        let base = self.builder.local_address(local);
        for place in 0..count {
            let index = self.builder.index(place as i64);
            self.fill(base, index, element);
        }
        for _ in 0..2 {
            let index = self.index(count, false);
            self.fill(base, index.value, element);
            let index = self.index(count, false);
            let pointer = self.element(base, index.value, align);
            let load = Load { pointer, align, qualifier: None, guard: None };
            let value = self.builder.load(Type::Scalar(element), load);
            self.remember(value, Level::Thread);
        }
    }

    /// Writes something to an element.
    pub(super) fn fill(&mut self, base: Value, index: Value, element: Scalar) {
        let pointer = self.element(base, index, element.bytes());
        let value = self.operand(Type::Scalar(element)).value;
        self.builder.store(Store {
            pointer,
            value,
            align: element.bytes(),
            qualifier: None,
            condition: None,
        });
    }

    /// Changes a cell that all threads change, or one of the thread's own, of which the result is
    /// used.
    pub(super) fn atomic(&mut self) {
        let order = self.rng.pick(intrinsic::ORDERS);
        let words = |order| [Operand::Word(order), Operand::Word("gpu")];
        let is_wide = |scalar: Scalar| scalar.is_int() && scalar.bits() >= 32;
        let own = self.outputs.iter().copied().find(|output| is_wide(output.element));
        if let Some(output) = own.filter(|_| self.rng.percent(40)) {
            let index = self.index(CELLS, false);
            let pointer = self.element(output.pointer, index.value, output.element.bytes());
            let ty = Type::Scalar(output.element);
            let mut operands =
                vec![Operand::Value(pointer), Operand::Value(self.operand(ty).value)];
            let names = ["atomic.add", "atomic.xor", "atomic.max", "atomic.exchange", "atomic.cas"];
            let name = self.rng.pick(&names);
            if name == "atomic.cas" {
                operands.push(Operand::Value(self.operand(ty).value));
            }
            operands.extend(words(order));
            self.call(name, operands, Level::Thread);
            return;
        }
        let cells = self.cells.clone();
        let cells = self.rng.pick(&cells);
        let index = self.index(CHANGED, false);
        let pointer = self.element(cells.pointer, index.value, cells.element.bytes());
        let value = self.operand(Type::Scalar(cells.element)).value;
        let mut operands = vec![Operand::Value(pointer), Operand::Value(value)];
        operands.extend(words("relaxed"));
        if let Some(row) = intrinsic::find(&format!("atomic.{}", cells.op.name())) {
            // Which thread comes first is left open, and so is what was there.
            self.builder.call(row, operands);
        }
    }
}

/// How alike threads may take what they load from one address to be.
fn level_of(qualifier: Option<Qualifier>) -> Level {
    match qualifier {
        Some(Qualifier::Volatile) => Level::Thread,
        Some(_) | None => Level::Block,
    }
}
