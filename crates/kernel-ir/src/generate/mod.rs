// SPDX-License-Identifier: Apache-2.0
//! Random kernels with what they are launched with: whatever runs kernels has to do the same with
//! them. The feature `generate` has them, for tests.
//!
//! A seed gives one kernel, which the verifier accepts, and which does the same in whatever order
//! its threads run:
//!
//! * Tensors that are read are not written. Each thread writes cells of its own, of one tensor for
//!   each type of number that is written. Cells that all threads change are changed with one
//!   atomic operation each, integers with one for which the order does not matter, and what that
//!   gives is not used.
//! * Shared memory is written and read in turns, with barriers between: each thread writes its own
//!   cell, or changes any with an atomic addition, or copies a piece of an input there, which it
//!   waits for before anybody reads it. Or one thread brings a part of an input, phase by phase of
//!   an mbarrier that all wait at, or sends the cells of the block from there.
//! * Where the launch is cooperative, threads first write cells and read those of others, with the
//!   grid's barrier around.
//! * Every index is brought into its bounds first, or guards the access to it.
//! * The bits of a NaN are not looked at: where a float becomes bits, a NaN has become 0 before.
//!   [`first_difference`] takes each NaN for every other.
//!
//! How often there is what: of 100 kernels 15 begin with a turn of the grid, and 15 with one of a
//! cluster. A kernel has 1 to 3 blocks of 32 to 128 threads, whole warps, in one
//! to three dimensions, 2 to 4 tensors to read, 2 to 4 to write, 2 to 4 numbers, 3 to 6 slots, and
//! 10 to 60 statements, not counting those that a loop or an `if` has beyond 4. Of 100 statements
//! 45 compute (a third of these on vectors), 1 asserts what holds, 16 read or write memory, 8 use
//! slots, 12 are an `if`, 6 a loop, 6 exchange values in a warp, 4 use shared memory (half of
//! these by copies, one in four by such of many bytes), 2 are atomic. Where threads have parted,
//! those that need all of them are replaced by computations. Types are equally frequent, but for
//! `bool`, and constants are 0, 1, the largest, small numbers, or any bits. Loops have up to 8
//! rounds and stand at most in one another; a quarter of their bounds, and half of the conditions,
//! differ among threads.

mod bulk;
mod compute;
mod control;
mod copies;
mod memory;
mod neighbours;
mod passing;
pub(crate) mod rng;
mod share;
#[cfg(test)]
mod tests;

use crate::builder::Builder;
use crate::constant::Const;
use crate::interp::{Memory, Trial};
use crate::intrinsic::{self, Level};
use crate::kernel::{Facts, Kernel, Param, ParamKind, PlaceData, Pointer, Slot, Value};
use crate::op::{Binary, Jump, OpKind, Operand};
use crate::types::{Scalar, Type};
use rng::Rng;

/// A kernel, and what it is launched with.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The kernel.
    pub kernel: Kernel,
    /// The blocks in x, y and z.
    pub grid: [u32; 3],
    /// The threads of a block.
    pub block: [u32; 3],
    /// The blocks of a cluster.
    pub cluster: [u32; 3],
    /// The argument of each parameter.
    pub arguments: Vec<Argument>,
}

/// The argument of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Scalar(Const),
    /// Memory of its own.
    Tensor(Tensor),
}

/// Memory that a kernel is passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The type of its elements.
    pub element: Scalar,
    /// Its bytes before the launch.
    pub bytes: Vec<u8>,
    /// Whether the kernel writes there.
    pub is_written: bool,
}

impl Generated {
    /// The launch of a kernel with what this one is launched with: of this one, or of what has been
    /// made of it.
    pub fn trial(&self, kernel: Kernel) -> Trial {
        let trial = Trial::of(kernel).grid(self.grid).block(self.block).cluster(self.cluster);
        self.arguments.iter().fold(trial, |trial, argument| match argument {
            Argument::Scalar(number) => trial.number(*number),
            Argument::Tensor(Tensor { element, bytes, .. }) => {
                let memory = Memory::new(trial.next_name(), *element, bytes.clone());
                trial.tensor(memory)
            }
        })
    }
}

/// The number of the first element in which two tensors of the same size differ, if they do. Any
/// NaN is like any other.
pub fn first_difference(element: Scalar, left: &[u8], right: &[u8]) -> Option<usize> {
    let size = element.bytes() as usize;
    let read = |bytes: &[u8]| {
        let number = bytes.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        Const::from_bits(element, number)
    };
    let is_nan = |number: Const| number.as_float().is_some_and(f64::is_nan);
    let mut pairs = left.chunks(size).zip(right.chunks(size));
    pairs.position(|(left, right)| {
        let (left, right) = (read(left), read(right));
        left != right && !(is_nan(left) && is_nan(right))
    })
}

/// The kernel of a seed.
pub fn generate(seed: u64) -> Generated {
    let mut rng = Rng::new(seed);
    let block = block(&mut rng);
    let has_neighbours = rng.percent(15);
    let cluster = if has_neighbours { [rng.pick(&[1, 2, 4]), 1, 1] } else { [1; 3] };
    let grid = [rng.within(1, 3) as u32 * cluster[0], 1, 1];
    let n_threads = u64::from(block.iter().product::<u32>() * grid[0]);
    let mut head = Head { rng, params: Vec::new(), arguments: Vec::new() };
    let inputs = head.inputs();
    let outputs = head.outputs(n_threads);
    let cells = head.cells();
    head.numbers();
    let Head { rng, params, arguments } = head;
    let mut builder = Builder::new(format!("generated_{seed}"), params);
    builder.kernel_mut().files.push("generated.py".to_string());
    let mut maker = Maker {
        rng,
        builder,
        block,
        known: Vec::new(),
        inputs,
        outputs,
        cells,
        slots: Vec::new(),
        control: Level::Block,
        loops: Vec::new(),
        line: 0,
        is_shown: false,
    };
    maker.is_shown = maker.rng.percent(70);
    if maker.is_shown {
        maker.builder.kernel_mut().block = block.map(Some);
    }
    let passes_on = maker.rng.percent(15).then_some(n_threads);
    maker.body(has_neighbours, passes_on);
    Generated { kernel: maker.builder.finish(), grid, block, cluster, arguments }
}

fn block(rng: &mut Rng) -> [u32; 3] {
    let shapes =
        [[32, 1, 1], [64, 1, 1], [96, 1, 1], [128, 1, 1], [16, 4, 1], [32, 4, 1], [4, 4, 4]];
    rng.pick(&shapes)
}

/// Numbers of every type but `bool`.
fn number(rng: &mut Rng) -> Scalar {
    rng.pick(&Scalar::ALL[1..])
}

/// The bits of a number: often one at which something happens.
fn bits(rng: &mut Rng, scalar: Scalar) -> u64 {
    let any = rng.bits() & scalar.mask();
    let small = rng.within(0, 20) as i64 - 10;
    let top = 1_u64 << (scalar.bits() - 1);
    match rng.below(8) {
        0 => 0,
        1 => Const::int(scalar, 1).bits(),
        2 => scalar.mask(),
        3 => top,
        4 => top - 1,
        5 | 6 => Const::int(scalar, small).bits(),
        _ => any,
    }
}

/// A tensor that is read.
#[derive(Clone, Copy)]
struct Input {
    pointer: Value,
    element: Scalar,
    count: u64,
}

/// A tensor of which each thread has some cells.
#[derive(Clone, Copy)]
struct Output {
    pointer: Value,
    element: Scalar,
}

/// How many cells of each output a thread has.
const CELLS: u64 = 4;

/// Cells that all threads change, in one way.
#[derive(Clone, Copy)]
struct Cells {
    pointer: Value,
    element: Scalar,
    op: Binary,
}

/// How many of these there are.
const CHANGED: u64 = 8;

/// Parameters, and what they are passed.
struct Head {
    rng: Rng,
    params: Vec<Param>,
    arguments: Vec<Argument>,
}

impl Head {
    fn tensor(&mut self, name: &str, element: Scalar, count: u64, is_written: bool) -> Value {
        let size = element.bytes() as usize;
        let mut bytes = Vec::new();
        for _ in 0..count {
            let number = bits(&mut self.rng, element).to_le_bytes();
            bytes.extend_from_slice(&number[..size]);
        }
        let is_alone = self.rng.percent(70);
        let pointer = Pointer { element, align: 16, is_written, is_alone };
        let kind = ParamKind::Pointer(pointer);
        self.param(name, kind, Argument::Tensor(Tensor { element, bytes, is_written }))
    }

    fn param(&mut self, name: &str, kind: ParamKind, argument: Argument) -> Value {
        let value = Value(self.params.len() as u32);
        self.params.push(Param { name: format!("{name}{}", value.0), kind });
        self.arguments.push(argument);
        value
    }

    fn inputs(&mut self) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::new();
        for _ in 0..self.rng.within(2, 4) {
            // Two of one type are there often enough for a choice between them.
            let last = inputs.last().map(|input| input.element);
            let element = last.filter(|_| self.rng.percent(40));
            let element = element.unwrap_or_else(|| number(&mut self.rng));
            let count = self.rng.within(16, 100);
            let pointer = self.tensor("x", element, count, false);
            inputs.push(Input { pointer, element, count });
        }
        inputs
    }

    fn outputs(&mut self, n_threads: u64) -> Vec<Output> {
        let count = self.rng.within(2, 4);
        let mut output = || {
            let element = number(&mut self.rng);
            let pointer = self.tensor("y", element, n_threads * CELLS, true);
            Output { pointer, element }
        };
        (0..count).map(|_| output()).collect()
    }

    fn cells(&mut self) -> Vec<Cells> {
        let ops = [Binary::Add, Binary::Min, Binary::Max, Binary::And, Binary::Or, Binary::Xor];
        let types = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];
        let (op, element) = (self.rng.pick(&ops), self.rng.pick(&types));
        let pointer = self.tensor("count", element, CHANGED, true);
        vec![Cells { pointer, element, op }]
    }

    /// Numbers of which something is known, and others.
    fn numbers(&mut self) {
        for _ in 0..self.rng.within(2, 4) {
            let scalar = if self.rng.percent(50) { Scalar::I64 } else { number(&mut self.rng) };
            if !scalar.is_int() {
                let number = Const::from_bits(scalar, bits(&mut self.rng, scalar));
                let kind = ParamKind::Scalar(scalar, Facts::NONE);
                self.param("a", kind, Argument::Scalar(number));
                continue;
            }
            let divisor = self.rng.pick(&[1, 1, 2, 4, 8]);
            let number = divisor * self.rng.within(0, 12) as i64;
            let facts = match self.rng.below(3) {
                0 => Facts::NONE,
                1 => Facts { min: 0, max: 96, divisor },
                _ => Facts { min: 0, max: number + self.rng.below(9) as i64, divisor: 1 },
            };
            let kind = ParamKind::Scalar(scalar, facts);
            self.param("n", kind, Argument::Scalar(Const::int(scalar, number)));
        }
    }
}

/// A value that can be used, and how alike it is among threads at least.
#[derive(Clone, Copy)]
struct Known {
    value: Value,
    level: Level,
}

/// A loop that is open.
#[derive(Clone, Copy)]
struct Loop {
    /// Whether all threads of the block run it alike.
    is_uniform: bool,
}

/// A kernel in the making.
struct Maker {
    rng: Rng,
    builder: Builder,
    block: [u32; 3],
    /// The values that can be used here.
    known: Vec<Known>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    cells: Vec<Cells>,
    slots: Vec<Slot>,
    /// How alike threads get here: `Block`, or `Thread` where they have parted.
    control: Level,
    loops: Vec<Loop>,
    /// Of the statement that is made.
    line: u32,
    /// Whether the kernel knows how many threads a block has.
    is_shown: bool,
}

impl Maker {
    /// `passes_on` says how many threads give one another values, where they do.
    fn body(&mut self, has_neighbours: bool, passes_on: Option<u64>) {
        for (number, param) in self.builder.kernel().params.iter().enumerate() {
            if let ParamKind::Scalar(..) = param.kind {
                self.known.push(Known { value: Value(number as u32), level: Level::Grid });
            }
        }
        let bases: Vec<_> = self.outputs.iter().map(|output| output.pointer).collect();
        self.start();
        if has_neighbours {
            self.next_line();
            self.neighbours();
        }
        if let Some(n_threads) = passes_on {
            self.next_line();
            self.pass_on(&bases, n_threads);
        }
        let n_statements = self.rng.within(10, 60);
        self.statements(n_statements, 0);
        self.end();
        if self.rng.percent(20) {
            self.builder.effect(OpKind::Jump(Jump::Return));
        }
    }

    /// Where threads are, their cells, and slots.
    fn start(&mut self) {
        self.next_line();
        for name in ["thread_idx.x", "thread_idx.y", "block_idx.x", "lane_idx", "warp_idx"] {
            let level = if name == "block_idx.x" { Level::Block } else { Level::Thread };
            self.call(name, Vec::new(), level);
        }
        let thread = self.thread();
        let block = self.geometry("block_idx.x");
        let n_threads = self.builder.index(i64::from(self.block.iter().product::<u32>()));
        let first = self.builder.binary(Binary::Mul, block, n_threads);
        let thread = self.builder.binary(Binary::Add, first, thread);
        for place in 0..self.outputs.len() {
            let Output { pointer, element } = self.outputs[place];
            let stride = self.builder.index((CELLS * u64::from(element.bytes())) as i64);
            let bytes = self.builder.binary(Binary::Mul, thread, stride);
            self.outputs[place].pointer = self.builder.offset(pointer, bytes);
        }
        for number in 0..self.rng.within(3, 6) {
            let ty = self.any_type();
            let slot = self.builder.slot(format!("slot{number}"), ty);
            let first = self.operand(ty);
            self.builder.set(slot, first.value);
            self.slots.push(slot);
        }
    }

    fn geometry(&mut self, name: &str) -> Value {
        self.call(name, Vec::new(), Level::Thread).unwrap_or(Value(0))
    }

    /// The number of the thread in its block.
    fn thread(&mut self) -> Value {
        let [x, y, z] =
            ["thread_idx.x", "thread_idx.y", "thread_idx.z"].map(|it| self.geometry(it));
        let [width, height, _] = self.block.map(|extent| self.builder.index(i64::from(extent)));
        let row = self.builder.binary(Binary::Mul, z, height);
        let row = self.builder.binary(Binary::Add, row, y);
        let first = self.builder.binary(Binary::Mul, row, width);
        self.builder.binary(Binary::Add, first, x)
    }

    /// Everything that was computed last is written.
    fn end(&mut self) {
        self.next_line();
        for place in 0..self.outputs.len() {
            for cell in 0..CELLS {
                self.store_cell(place, cell);
            }
        }
    }

    /// Begins another line of the source.
    fn next_line(&mut self) {
        self.line += 1;
        let file = Some(crate::kernel::File(0));
        self.builder.at(PlaceData { file, line: self.line, column: 1, ..PlaceData::NOWHERE });
    }

    /// Calls a row, and remembers what it gives.
    fn call(&mut self, name: &str, operands: Vec<Operand>, level: Level) -> Option<Value> {
        let row = intrinsic::find(name)?;
        let value = self.builder.call(row, operands)?;
        Some(self.remember(value, level))
    }

    fn remember(&mut self, value: Value, level: Level) -> Value {
        self.known.push(Known { value, level });
        value
    }

    fn ty(&self, known: Known) -> Type {
        self.builder.ty(known.value)
    }
}
