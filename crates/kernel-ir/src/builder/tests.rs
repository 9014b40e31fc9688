// SPDX-License-Identifier: Apache-2.0
//! Folding of constants, sharing of values, and where values are known.

use crate::builder::Builder;
use crate::constant::Const;
use crate::kernel::{Slot, Value};
use crate::op::{Binary, Region, Rounding};
use crate::types::{Scalar, Type};

/// A kernel in the making, and a number that no constant is.
fn begin() -> (Builder, Slot, Value) {
    let mut b = Builder::new("k", vec![]);
    let slot = b.slot("n", Scalar::I64.into());
    let number = b.get(slot);
    (b, slot, number)
}

fn double(b: &mut Builder, number: Value) -> Value {
    let two = b.index(2);
    b.binary(Binary::Mul, number, two)
}

#[test]
fn what_is_computed_twice_is_computed_once() {
    let (mut b, _, number) = begin();
    assert_eq!(double(&mut b, number), double(&mut b, number));
    assert_eq!(b.finish().body.0.len(), 3, "a number, a constant, a product");
}

#[test]
fn regions_within_know_it() {
    let (mut b, _, number) = begin();
    let doubled = double(&mut b, number);
    b.open();
    b.open();
    assert_eq!(double(&mut b, number), doubled);
}

#[test]
fn a_region_forgets_when_it_closes() {
    let (mut b, _, number) = begin();
    b.open();
    let doubled = double(&mut b, number);
    b.close();
    b.open();
    assert_ne!(double(&mut b, number), doubled, "of a region beside it");
    b.close();
    b.append(Region::default());
    assert_ne!(double(&mut b, number), doubled, "of a region within");
}

#[test]
fn what_is_appended_or_reopened_is_known_there() {
    let (mut b, _, number) = begin();
    b.open();
    b.open();
    let doubled = double(&mut b, number);
    let inner = b.close();
    b.append(inner);
    assert_eq!(double(&mut b, number), doubled);
    let again = double(&mut b, doubled);
    let outer = b.close();
    b.open();
    b.append(outer);
    assert_eq!((double(&mut b, number), double(&mut b, doubled)), (doubled, again));
    let both = b.close();
    assert_ne!(double(&mut b, number), doubled, "it is nowhere now");
    b.reopen(both);
    let found = double(&mut b, doubled);
    assert_eq!(found, again, "nobody computed that since");
    b.close();
    assert_ne!(double(&mut b, doubled), again);
}

#[test]
fn what_may_have_changed_is_another_value() {
    let (mut b, slot, number) = begin();
    assert_ne!(b.get(slot), number);
}

#[test]
fn types_and_bits_tell_expressions_apart() {
    let (mut b, _, number) = begin();
    let narrow = b.convert(number, Scalar::I32, Rounding::NearestEven);
    assert_ne!(b.convert(number, Scalar::I16, Rounding::NearestEven), narrow);
    let zero = b.constant(Const::float(Scalar::F32, 0.0));
    assert_ne!(b.constant(Const::float(Scalar::F32, -0.0)), zero);
    let nan = b.constant(Const::float(Scalar::F32, f64::NAN));
    assert_eq!(b.constant(Const::float(Scalar::F32, f64::NAN)), nan);
}

#[test]
fn all_lanes_of_a_vector_are_that_vector() {
    let mut b = Builder::new("k", vec![]);
    let slot = b.slot("v", Type::Vector(Scalar::F32, 4));
    let vector = b.get(slot);
    let lanes: Vec<_> = (0..4).map(|lane| b.extract(vector, lane)).collect();
    assert_eq!(b.vector(lanes.clone()), vector);
    let other_order = vec![lanes[1], lanes[0], lanes[2], lanes[3]];
    assert_ne!(b.vector(other_order), vector);
    let half = b.vector(lanes[..2].to_vec());
    assert_eq!(b.ty(half), Type::Vector(Scalar::F32, 2));
    let another = b.get(slot);
    let of_another = b.extract(another, 3);
    assert_ne!(b.vector(vec![lanes[0], lanes[1], lanes[2], of_another]), vector);
}

#[test]
fn a_product_of_a_product_with_constants_is_one_product() {
    let (mut b, slot, number) = begin();
    let [three, five] = [3, 5].map(|factor| b.index(factor));
    let product = b.binary(Binary::Mul, number, three);
    let fifteen = b.index(15);
    let at_once = b.binary(Binary::Mul, number, fifteen);
    assert_eq!(b.binary(Binary::Mul, product, five), at_once);
    assert_eq!(b.binary(Binary::Mul, five, product), at_once);
    let other = b.get(slot);
    assert_ne!(b.binary(Binary::Mul, other, fifteen), at_once);
    assert_ne!(b.binary(Binary::Mul, product, other), b.binary(Binary::Mul, number, other));
}

#[test]
fn products_of_floats_are_rounded_each() {
    let mut b = Builder::new("k", vec![]);
    let slot = b.slot("f", Scalar::F32.into());
    let number = b.get(slot);
    let third = b.constant(Const::float(Scalar::F32, 1.0 / 3.0));
    let product = b.binary(Binary::Mul, number, third);
    let again = b.binary(Binary::Mul, product, third);
    b.binary(Binary::Mul, again, third);
    assert_eq!(b.finish().body.0.len(), 5, "a number, a constant, three products");
}
