// SPDX-License-Identifier: Apache-2.0
//! Kernels with an array of each thread, of each type and filled in several ways, in which an
//! element is overwritten that only the run tells, and an element is read that only the run tells.
//!
//! Assemblers make values of such arrays, and one of NVIDIA's takes -1 and 1.0 for one number
//! there.

use super::Case;
use super::input::Drawn;
use super::one_value::{BLOCK, OneValue, ask, load, store};
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::{Binary, OpKind, Rounding, Store};
use kernpack_kernel_ir::{Builder, Const, Scalar, Type};

/// The elements of an array.
const COUNT: i64 = 3;

/// Writes what the array at an address of elements of a type holds first, and gives what is stored
/// over that. A number is given.
type Fill = fn(&mut Builder, Value, Scalar, Value) -> Value;

/// By their names.
const FILLS: [(&str, Fill); 6] = [
    ("set", set),
    ("given", given),
    ("vector", vector),
    ("counted", counted),
    ("one_over_set", one_over_set),
    ("set_over_one", set_over_one),
];

/// All of them.
pub fn all() -> Vec<Case> {
    let each = FILLS.iter().flat_map(|fill| Scalar::ALL.iter().map(move |of| (fill, *of)));
    each.filter_map(|((name, fill), scalar)| case(name, *fill, scalar)).collect()
}

fn case(name: &str, fill: Fill, scalar: Scalar) -> Option<Case> {
    let inputs = &[scalar];
    let one = OneValue { name: format!("array_{scalar}_{name}"), inputs, output: scalar };
    let kernel = one.kernel(|builder, x| {
        let array = builder.local("array", scalar, COUNT as u32);
        let array = builder.local_address(array);
        let value = fill(builder, array, scalar, x[0]);
        let [written, read] = ["block_idx.x", "thread_idx.x"].map(|name| index(builder, name));
        store(builder, array, written, value);
        load(builder, array, read, scalar)
    });
    Some(one.on_drawn(kernel?, Drawn::Small, 8 * BLOCK as usize))
}

/// An index into the array, of what a row of geometry gives: where indices are loaded, assemblers
/// leave arrays in memory.
fn index(builder: &mut Builder, name: &str) -> Value {
    let (number, count) = (ask(builder, name), builder.index(COUNT));
    builder.binary(Binary::FloorMod, number, count)
}

/// All bits set: -1, or a NaN.
fn all_set(builder: &mut Builder, scalar: Scalar) -> Value {
    builder.constant(Const::from_bits(scalar, scalar.mask()))
}

/// The bits of the float32 1.0, as many as there are.
fn bits_of_one(builder: &mut Builder, scalar: Scalar) -> Value {
    let bits = u64::from(1f32.to_bits()) & scalar.mask();
    builder.constant(Const::from_bits(scalar, bits))
}

/// The same everywhere, by one store for each element.
fn everywhere(builder: &mut Builder, array: Value, value: Value) {
    for place in 0..COUNT {
        let place = builder.index(place);
        store(builder, array, place, value);
    }
}

fn set(builder: &mut Builder, array: Value, scalar: Scalar, given: Value) -> Value {
    let all_set = all_set(builder, scalar);
    everywhere(builder, array, all_set);
    given
}

/// What is given, but in one place.
fn given(builder: &mut Builder, array: Value, scalar: Scalar, given: Value) -> Value {
    everywhere(builder, array, given);
    let (place, value) = (builder.index(1), all_set(builder, scalar));
    store(builder, array, place, value);
    bits_of_one(builder, scalar)
}

/// Two elements at once, one of which is given.
fn vector(builder: &mut Builder, array: Value, scalar: Scalar, given: Value) -> Value {
    everywhere(builder, array, given);
    let all_set = all_set(builder, scalar);
    let value = builder.vector(vec![given, all_set]);
    let align = 2 * scalar.bytes();
    builder.store(Store { pointer: array, value, align, qualifier: None, condition: None });
    bits_of_one(builder, scalar)
}

/// In a loop: -1, 0, 1.
fn counted(builder: &mut Builder, array: Value, scalar: Scalar, given: Value) -> Value {
    let [first, end, step] = [0, COUNT, 1].map(|bound| builder.index(bound));
    let turn = builder.loop_index(Type::Scalar(Scalar::I64));
    builder.open();
    let number = builder.binary(Binary::Sub, turn, step);
    let value = builder.convert(number, scalar, Rounding::NearestEven);
    store(builder, array, turn, value);
    let body = builder.close();
    builder.effect(OpKind::For { index: turn, first, end, step, body });
    given
}

fn one_over_set(builder: &mut Builder, array: Value, scalar: Scalar, given: Value) -> Value {
    set(builder, array, scalar, given);
    bits_of_one(builder, scalar)
}

fn set_over_one(builder: &mut Builder, array: Value, scalar: Scalar, _: Value) -> Value {
    let one = bits_of_one(builder, scalar);
    everywhere(builder, array, one);
    all_set(builder, scalar)
}
