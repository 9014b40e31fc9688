// SPDX-License-Identifier: Apache-2.0
//! Every operation on numbers, of every type, on every pair of numbers at which something happens:
//! ends of ranges, zeros of both signs, infinities, NaN, the least numbers, and what lies halfway
//! between two numbers of another type.

use kernpack_kernel_ir::builder::Builder;
use kernpack_kernel_ir::constant::Const;
use kernpack_kernel_ir::generate::{Argument, Generated, Tensor};
use kernpack_kernel_ir::intrinsic::{self, Accepts, Intrinsic, Meaning};
use kernpack_kernel_ir::kernel::{Facts, Param, ParamKind, Pointer, Value};
use kernpack_kernel_ir::math;
use kernpack_kernel_ir::op::{Binary, Compare, Load, OpKind, Operand, Rounding, Store, Unary};
use kernpack_kernel_ir::types::{Class, Scalar, Type};

/// The threads of a block.
const BLOCK: u32 = 128;
/// Cells behind which nothing is written.
const ALIGN: u32 = 16;

/// The launches: of each type one for what takes one number, and one for what takes two.
pub fn launches() -> Vec<Generated> {
    let of_one = Scalar::ALL.iter().map(|scalar| Table::new("one", *scalar, false).of_one());
    let of_two = Scalar::ALL.iter().map(|scalar| Table::new("two", *scalar, true).of_two());
    of_one.chain(of_two).collect()
}

/// A kernel that computes with each row of one or two columns.
struct Table {
    scalar: Scalar,
    n_rows: usize,
    builder: Builder,
    arguments: Vec<Argument>,
    /// What is to be written when all is computed: results are parameters.
    results: Vec<(Value, Scalar)>,
    columns: Vec<Vec<Const>>,
}

impl Table {
    fn new(name: &str, scalar: Scalar, is_pairs: bool) -> Table {
        let numbers = numbers(scalar);
        let columns = match is_pairs {
            false => vec![numbers],
            true => {
                let few = few(&numbers);
                let pairs = few.iter().flat_map(|a| few.iter().map(move |b| (*a, *b)));
                let (left, right) = pairs.unzip();
                vec![left, right]
            }
        };
        let builder = Builder::new(format!("{name}_{scalar}"), vec![]);
        let n_rows = columns[0].len();
        Table { scalar, n_rows, builder, arguments: vec![], results: vec![], columns }
    }

    /// Operations, conversions, rows of the table and the same bits, of one number.
    fn of_one(mut self) -> Generated {
        let kernel = |table: &mut Table, operands: &[Value]| {
            let (scalar, a) = (table.scalar, operands[0]);
            for op in Unary::ALL.iter().filter(|op| has_unary(**op, scalar)) {
                let result = table.builder.unary(*op, a);
                table.keep(result);
            }
            for to in Scalar::ALL.iter().filter(|to| **to != scalar) {
                let rounds = *to != Scalar::Bool && (scalar.is_float() || to.is_float());
                let has = |by: &&Rounding| rounds || **by == Rounding::NearestEven;
                for by in Rounding::ALL.iter().filter(has) {
                    let result = table.builder.convert(a, *to, *by);
                    table.keep(result);
                }
            }
            table.rows(&[a]);
        };
        self.finish(kernel)
    }

    /// Operations, comparisons and rows of the table, of two numbers.
    fn of_two(mut self) -> Generated {
        let kernel = |table: &mut Table, operands: &[Value]| {
            let (scalar, a, b) = (table.scalar, operands[0], operands[1]);
            for op in Binary::ALL.iter().filter(|op| has_binary(**op, scalar.class())) {
                let result = table.builder.binary(*op, a, b);
                table.keep(result);
            }
            for op in Compare::ALL.iter().filter(|op| has_compare(**op, scalar)) {
                let result = table.builder.compare(*op, a, b);
                table.keep(result);
            }
            table.rows(&[a, b]);
            table.rows(&[a, b, a]);
        };
        self.finish(kernel)
    }

    /// Rows of the table that compute with so many numbers of the type.
    fn rows(&mut self, operands: &[Value]) {
        let ty = Type::Scalar(self.scalar);
        for row in intrinsic::all().filter(|row| is_function(row) && takes(row, operands.len(), ty))
        {
            let operands = operands.iter().map(|value| Operand::Value(*value)).collect();
            if let Some(result) = self.builder.call(row, operands) {
                self.keep(result);
            }
        }
    }

    fn keep(&mut self, value: Value) {
        if let Type::Scalar(scalar) = self.builder.ty(value) {
            self.results.push((value, scalar));
        }
    }

    /// The kernel, in which parameters come first: how many results there are is known when it has
    /// been made once.
    fn finish(&mut self, body: impl Fn(&mut Table, &[Value])) -> Generated {
        let name = self.builder.kernel().name.clone();
        for is_last in [false, true] {
            let params = self.params();
            self.builder = Builder::new(name.clone(), params);
            self.builder.kernel_mut().block = [Some(BLOCK), Some(1), Some(1)];
            let results = std::mem::take(&mut self.results);
            self.write(&body, if is_last { results.len() } else { 0 });
        }
        let builder = std::mem::replace(&mut self.builder, Builder::new("", vec![]));
        let arguments = std::mem::take(&mut self.arguments);
        let blocks = self.n_rows.div_ceil(BLOCK as usize) as u32;
        Generated {
            kernel: builder.finish(),
            grid: [blocks, 1, 1],
            block: [BLOCK, 1, 1],
            arguments,
        }
    }

    /// A parameter for the number of rows, one for each column, and one for each result.
    fn params(&mut self) -> Vec<Param> {
        let n_rows = self.n_rows as i64;
        let facts = Facts { min: 0, max: 1 << 20, divisor: 1 };
        self.arguments = vec![Argument::Scalar(Const::int(Scalar::I64, n_rows))];
        let mut params =
            vec![Param { name: "n".into(), kind: ParamKind::Scalar(Scalar::I64, facts) }];
        let mut tensor = |element: Scalar, bytes: Vec<u8>, is_written: bool| {
            let pointer = Pointer { element, align: ALIGN, is_written, is_alone: true };
            params.push(Param { name: "x".into(), kind: ParamKind::Pointer(pointer) });
            self.arguments.push(Argument::Tensor(Tensor { element, bytes, is_written }));
        };
        for column in &self.columns {
            tensor(
                self.scalar,
                column.iter().flat_map(|number| super::bytes_of(*number)).collect(),
                false,
            );
        }
        for (_, scalar) in &self.results {
            tensor(*scalar, vec![0; self.n_rows * scalar.bytes() as usize], true);
        }
        params
    }

    /// Each thread computes a row.
    fn write(&mut self, body: &impl Fn(&mut Table, &[Value]), n_results: usize) {
        let n = Value(0);
        let call = |builder: &mut Builder, name: &str| {
            let row = intrinsic::find(name).unwrap_or_else(|| unreachable!("`{name}` is a row"));
            builder.call(row, vec![]).unwrap_or_else(|| unreachable!("`{name}` gives a number"))
        };
        let block = call(&mut self.builder, "block_idx.x");
        let thread = call(&mut self.builder, "thread_idx.x");
        let threads = self.builder.index(BLOCK.into());
        let first = self.builder.binary(Binary::Mul, block, threads);
        let row = self.builder.binary(Binary::Add, first, thread);
        let is_beyond = self.builder.compare(Compare::Ge, row, n);
        self.builder.open();
        self.builder.effect(OpKind::Return);
        let then = self.builder.close();
        self.builder.if_else(is_beyond, then, Default::default());
        self.builder.in_bounds(row, n);
        let (scalar, n_columns) = (self.scalar, self.columns.len());
        let operands: Vec<_> = (0..n_columns)
            .map(|column| {
                let pointer = self.cell(1 + column, row, scalar);
                let load = Load { pointer, align: scalar.bytes(), guard: None };
                self.builder.load(scalar.into(), load)
            })
            .collect();
        body(self, &operands);
        for place in 0..n_results {
            let (value, scalar) = self.results[place];
            let pointer = self.cell(1 + n_columns + place, row, scalar);
            let align = scalar.bytes();
            self.builder.store(Store { pointer, value, align, condition: None });
        }
    }

    /// The address of a row in the tensor that a parameter is.
    fn cell(&mut self, param: usize, row: Value, scalar: Scalar) -> Value {
        let bytes = self.builder.index(scalar.bytes().into());
        let offset = self.builder.binary(Binary::Mul, row, bytes);
        self.builder.offset(Value(param as u32), offset)
    }
}

/// Whether a row computes, to the last bit alike everywhere.
fn is_function(row: &Intrinsic) -> bool {
    match row.meaning {
        Meaning::Pure(_) => true,
        Meaning::Expand(name) => math::find(name).is_some(),
        _ => false,
    }
}

fn takes(row: &Intrinsic, n_operands: usize, ty: Type) -> bool {
    let types = vec![Some(ty); n_operands];
    let fits = |accepts: &Accepts| accepts.takes(ty, &types);
    row.takes.len() == n_operands && row.takes.iter().all(fits)
}

fn has_unary(op: Unary, scalar: Scalar) -> bool {
    match op {
        Unary::Neg | Unary::Abs => scalar != Scalar::Bool,
        Unary::Not => !scalar.is_float(),
    }
}

fn has_binary(op: Binary, class: Class) -> bool {
    let is_of_bits = matches!(op, Binary::And | Binary::Or | Binary::Xor);
    let is_of_ints = matches!(
        op,
        Binary::FloorDiv | Binary::FloorMod | Binary::MulHigh | Binary::Shl | Binary::Shr
    );
    match class {
        Class::Bool => is_of_bits,
        Class::Float => !is_of_bits && !is_of_ints,
        Class::Signed | Class::Unsigned => op != Binary::Div,
    }
}

fn has_compare(op: Compare, scalar: Scalar) -> bool {
    scalar != Scalar::Bool || matches!(op, Compare::Eq | Compare::Ne)
}

/// Numbers of a type at which something happens.
fn numbers(scalar: Scalar) -> Vec<Const> {
    let mut numbers: Vec<Const> = Vec::new();
    let mut add = |bits: u64| {
        let number = Const::from_bits(scalar, bits);
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    };
    // Small numbers, powers of two, and their neighbours: of floats, also the least, the largest,
    // infinities and NaN.
    for bit in 0..scalar.bits() {
        for near in -1..=1 {
            add((1_u64 << bit).wrapping_add_signed(near));
            add((1_u64 << bit).wrapping_add_signed(near).wrapping_neg());
        }
    }
    for bits in [0, 3, 5, 7, 10, 100, u64::MAX, 0x5555_5555_5555_5555, 0x0123_4567_89ab_cdef] {
        add(bits);
        add(bits.wrapping_neg());
    }
    if scalar.is_float() {
        for value in floats() {
            let number = Const::float(scalar, value).bits();
            // Its neighbours too: what lies halfway, and on either side of that.
            for near in -1..=1 {
                add(number.wrapping_add_signed(near));
                add(Const::float(scalar, -value).bits().wrapping_add_signed(near));
            }
        }
    } else {
        for value in floats() {
            add(value as i64 as u64);
            add((value as i64 as u64).wrapping_add(1));
            add((value as i64 as u64).wrapping_sub(1));
            add((value as i64).wrapping_neg() as u64);
        }
    }
    numbers
}

/// Where numbers of one type are halfway between two of another, or at the ends of its range.
fn floats() -> Vec<f64> {
    let mut floats = vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 0.1, 10.25, f64::INFINITY, f64::NAN];
    // The precisions of the types: 1 and a half unit in the last place, and a little more or less.
    for digits in [8, 11, 24, 53] {
        let half = 0.5_f64.powi(digits);
        for scale in [1.0, 65536.0, 1e9, 2.0_f64.powi(40), 2.0_f64.powi(62), 2.0_f64.powi(-14)] {
            for near in [half, half * 3.0, half + 0.5_f64.powi(30), half - 0.5_f64.powi(30)] {
                floats.push(scale * (1.0 + near));
            }
        }
    }
    // The ends of ranges: of integers, and of floats down to the least and up to the largest.
    for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
        let power = 2.0_f64.powi(bits);
        floats.extend([power, power - 1.0, power - 0.5, power - 0.75, power + 0.5]);
    }
    floats.extend([65504.0, 65519.99, 65520.0, 65536.0, 3.389e38, 3.396e38, f64::from(f32::MAX)]);
    for power in [-149, -150, -133, -134, -126, -24, -25, -14, -1074_i32, -1022] {
        floats.extend([1.0, 1.5, 0.75].map(|part| {
            part * 2.0_f64.powi(power.max(-1022)) * 2.0_f64.powi((power + 1022).min(0))
        }));
    }
    floats
}

/// Some of the numbers: what pairs are made of.
fn few(numbers: &[Const]) -> Vec<Const> {
    let most = 90;
    let stride = numbers.len().div_ceil(most).max(1);
    let spread = numbers.iter().step_by(stride);
    let ends = numbers.iter().filter(|number| is_end(**number));
    let mut few: Vec<Const> = Vec::new();
    for number in spread.chain(ends) {
        if !few.contains(number) {
            few.push(*number);
        }
    }
    few
}

/// Zeros, ones, and the ends of ranges.
fn is_end(number: Const) -> bool {
    let scalar = number.scalar();
    let top = 1_u64 << (scalar.bits() - 1);
    let one = Const::int(scalar, 1).bits();
    let ends = [0, top, top - 1, scalar.mask(), one, one | top];
    let infinity = || Const::float(scalar, f64::INFINITY).bits();
    ends.contains(&number.bits())
        || scalar.is_float() && (number.bits() & (top - 1)).abs_diff(infinity()) <= 1
}
