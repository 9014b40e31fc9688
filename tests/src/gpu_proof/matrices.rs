// SPDX-License-Identifier: Apache-2.0
//! A kernel for each row about matrices: products of small integers, of which every order of adding
//! gives the same, and what is stored of what was loaded.

use super::input::Input;
use super::one_value::{BLOCK, address, ask, finish, grid_index, pointer};
use super::{Argument, Buffer, Case};
use kernpack_kernel_ir::intrinsic::{self, Accepts, Intrinsic, MATRIX_ROW_BYTES, MatrixOp, WAYS};
use kernpack_kernel_ir::kernel::{SharedArray, Size, Value};
use kernpack_kernel_ir::op::{Binary, Load, Operand, Store};
use kernpack_kernel_ir::{Builder, Const, Scalar, Type};

/// The blocks of a grid.
const N_BLOCKS: u32 = 128;
/// How many numbers there are before they come again: no multiple of what a lane has.
const N_NUMBERS: i64 = 1009;

/// All of a row.
pub fn all(row: &'static Intrinsic, op: MatrixOp) -> Vec<Case> {
    match op {
        MatrixOp::Multiply => products(row),
        MatrixOp::Load => WAYS.iter().map(|way| passed(row, way)).collect(),
        // They are tried with the loads.
        MatrixOp::Store => vec![],
    }
}

/// Products of matrices of each type.
fn products(row: &'static Intrinsic) -> Vec<Case> {
    let [Accepts::Vector(of_a, n_a), of_b, Accepts::Vector([sum], n_sums)] = row.takes else {
        unreachable!("`{}` is a product", row.name)
    };
    let mut cases = Vec::new();
    for a in *of_a {
        let (of_b, n_b) = match of_b {
            Accepts::Vector(of_b, n_b) => (of_b.to_vec(), *n_b),
            _ => (vec![*a], n_a / 2),
        };
        for b in of_b {
            let types = [(*a, *n_a), (b, n_b), (*sum, *n_sums)];
            cases.push(product(row, types.map(|(scalar, lanes)| Type::Vector(scalar, lanes))));
        }
    }
    cases
}

fn product(row: &'static Intrinsic, types: [Type; 3]) -> Case {
    let scalars = types.map(|ty| ty.scalar().unwrap_or(Scalar::F32));
    let [a, b, sum] = scalars;
    let name = format!("{}_{a}_{b}", row.name.replace('.', "_"));
    let tensors = ["a", "b", "c", "out"].into_iter().zip([a, b, sum, sum]);
    let params = tensors.map(|(name, element)| pointer(name, element, name == "out")).collect();
    let mut builder = Builder::new(&name, params);
    let index = grid_index(&mut builder);
    let mut operands = Vec::new();
    for (number, ty) in (0..).zip(types) {
        operands.push(Operand::Value(part(&mut builder, Value(number), index, ty)));
    }
    let sums = builder.call(row, operands).unwrap_or(index);
    let at = part_address(&mut builder, Value(3), index, types[2]);
    put(&mut builder, at, sums);
    let mut arguments: Vec<_> = types.into_iter().zip(scalars).map(small_integers).collect();
    arguments.push(buffer(types[2], sum, Input::Listed { bits: vec![0], each: 1 }));
    case(builder, arguments)
}

/// What is stored of what was loaded, and the lanes' parts of it.
fn passed(load: &'static Intrinsic, way: &'static str) -> Case {
    let count = load.n_matrices();
    let store = intrinsic::find(&load.name.replace("load", "store"));
    let store = store.unwrap_or_else(|| unreachable!("what is loaded is stored"));
    let name = format!("{}_{way}", load.name.replace('.', "_"));
    let row = Type::Vector(Scalar::U16, (MATRIX_ROW_BYTES / Scalar::U16.bytes()) as u8);
    let lanes = Type::Vector(Scalar::U16, (2 * count) as u8);
    let of_u16 = |name: &str| pointer(name, Scalar::U16, name != "x");
    let mut builder = Builder::new(&name, vec![of_u16("x"), of_u16("rows"), of_u16("lanes")]);
    let index = grid_index(&mut builder);
    let array = |name: &str| SharedArray {
        name: name.to_string(),
        element: Scalar::U16,
        size: Size::Bytes(BLOCK * MATRIX_ROW_BYTES),
        align: MATRIX_ROW_BYTES,
    };
    let [from, to] = ["from", "to"].map(|name| {
        let shared = builder.shared(array(name));
        let base = builder.shared_address(shared);
        let lane = ask(&mut builder, "thread_idx.x");
        part_address(&mut builder, base, lane, row)
    });
    let x = part(&mut builder, Value(0), index, row);
    for at in [from, to] {
        put(&mut builder, at, x);
    }
    barrier(&mut builder);
    let given = builder.call(load, vec![Operand::Value(from), Operand::Word(way)]);
    let given = given.unwrap_or(index);
    let [other_way] = WAYS.iter().filter(|one| **one != way).collect::<Vec<_>>()[..] else {
        unreachable!("there are two ways")
    };
    let stored = vec![Operand::Value(to), Operand::Value(given), Operand::Word(other_way)];
    builder.call(store, stored);
    barrier(&mut builder);
    let all = builder
        .load(row, Load { pointer: to, align: MATRIX_ROW_BYTES, qualifier: None, guard: None });
    for (number, value, ty) in [(1, all, row), (2, given, lanes)] {
        let at = part_address(&mut builder, Value(number), index, ty);
        put(&mut builder, at, value);
    }
    let zeros = |ty| buffer(ty, Scalar::U16, Input::Listed { bits: vec![0], each: 1 });
    let numbers = Input::Listed { bits: (0..N_NUMBERS as u64).collect(), each: 1 };
    case(builder, vec![buffer(row, Scalar::U16, numbers), zeros(row), zeros(lanes)])
}

fn barrier(builder: &mut Builder) {
    let row = intrinsic::find("barrier.warp");
    builder.call(row.unwrap_or_else(|| unreachable!("warps have barriers")), vec![]);
}

/// The address of what a thread has of a tensor.
fn part_address(builder: &mut Builder, tensor: Value, index: Value, ty: Type) -> Value {
    let scalar = ty.scalar().unwrap_or(Scalar::F32);
    let lanes = builder.index(ty.lanes().into());
    let first = builder.binary(Binary::Mul, index, lanes);
    address(builder, tensor, first, scalar)
}

fn part(builder: &mut Builder, tensor: Value, index: Value, ty: Type) -> Value {
    let pointer = part_address(builder, tensor, index, ty);
    let align = ty.scalar().map_or(1, Scalar::bytes);
    builder.load(ty, Load { pointer, align, qualifier: None, guard: None })
}

fn put(builder: &mut Builder, pointer: Value, value: Value) {
    let align = builder.ty(value).scalar().map_or(1, Scalar::bytes);
    builder.store(Store { pointer, value, align, qualifier: None, condition: None });
}

/// A tensor of which each thread has so many elements.
fn buffer(ty: Type, element: Scalar, input: Input) -> Argument {
    let count = (N_BLOCKS * BLOCK) as usize * usize::from(ty.lanes());
    Argument::Buffer(Buffer { element, count, input })
}

fn small_integers((ty, scalar): (Type, Scalar)) -> Argument {
    let number = |i: i64| (7 * i * i + 3 * i) % 17 - if scalar == Scalar::U8 { 0 } else { 8 };
    let bits = (0..N_NUMBERS).map(|i| Const::int(scalar, number(i)).bits()).collect();
    buffer(ty, scalar, Input::Listed { bits, each: 1 })
}

fn case(mut builder: Builder, arguments: Vec<Argument>) -> Case {
    builder.kernel_mut().block = [Some(BLOCK), Some(1), Some(1)];
    let kernel = finish(builder).unwrap_or_else(|| unreachable!("it keeps the rules"));
    let origin = kernel.name.replace('_', " ");
    let block = [BLOCK, 1, 1];
    Case { origin, kernel, grid: [N_BLOCKS, 1, 1], block, cluster: [1; 3], arguments }
}
