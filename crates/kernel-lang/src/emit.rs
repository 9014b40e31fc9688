// SPDX-License-Identifier: Apache-2.0
//! Operations with what is known of their results: bounds and divisors of integers, from which
//! follow how wide an access may be and which index is in bounds.
//!
//! It is also the context in which the layout algebra computes: what a layout does not know becomes
//! operations of the kernel.

use crate::elaborate::{Instance, Request};
use crate::extents::{self, Accesses, Finished};
use crate::number::LiteralChoice;
use crate::parameter::Parameters;
use crate::value::{Elaborated, Leaf};
use kernpack_interval::Interval;
use kernpack_kernel_ir::kernel::{self, Shared};
use kernpack_kernel_ir::op::{Binary, Compare, Operand, Rounding};
use kernpack_kernel_ir::{Builder, Scalar, Type, intrinsic, ranges};
use kernpack_layout::{Arith, Facts, Int, Op};
use kernpack_syntax::Diagnostics;
use kernpack_validators::{Expr, MapSpec};
use rustc_hash::FxHashMap;

/// The operations of a kernel in the making.
pub(crate) struct Emission {
    /// The kernel, operation by operation.
    pub b: Builder,
    /// The parameters of the kernel, as far as it asked for any.
    parameters: Parameters,
    /// The facts about integers that threads compute.
    facts: FxHashMap<kernel::Value, Facts>,
    /// How integers were computed, for layouts that want to know products.
    products: FxHashMap<kernel::Value, [Int<Leaf>; 2]>,
    /// The arrays of the block, by their addresses.
    arrays: FxHashMap<kernel::Value, Shared>,
    /// The same of sums.
    sums: FxHashMap<kernel::Value, [Int<Leaf>; 2]>,
    /// The pointers behind which the kernel writes.
    written: Vec<kernel::Value>,
    /// The register tensors, by their addresses.
    locals: FxHashMap<kernel::Value, kernel::Local>,
    /// Numbers that are choices between literals, and have the type of what they meet.
    literals: FxHashMap<kernel::Value, LiteralChoice>,
    /// The indices that are stated to be in bounds of what a call passes.
    pub accesses: Accesses,
    /// Whether the running kernel checks what is stated.
    pub is_checked: bool,
}

impl Emission {
    /// That of a kernel of this symbol.
    pub fn new(symbol: &str, is_checked: bool) -> Emission {
        Emission {
            b: Builder::new(symbol, Vec::new()),
            parameters: Parameters::default(),
            facts: FxHashMap::default(),
            products: FxHashMap::default(),
            arrays: FxHashMap::default(),
            sums: FxHashMap::default(),
            written: Vec::new(),
            locals: FxHashMap::default(),
            literals: FxHashMap::default(),
            accesses: Accesses::default(),
            is_checked,
        }
    }

    /// The outcome of a kernel, with its warnings.
    pub fn finish(self, request: &Request<'_>, warnings: Diagnostics) -> Instance {
        let written = self.written();
        let Emission { b, parameters, facts, accesses, .. } = self;
        let mut kernel = b.finish();
        kernel.block = request.block;
        let unrelated = request.surroundings.map(|surroundings| {
            let finished = Finished {
                kernel: &kernel,
                given: parameters.given(),
                facts: &facts,
                accesses: &accesses,
                written: &|value| parameters.expr(value, &kernel),
            };
            extents::unrelated(&finished, surroundings)
        });
        let (args, shared) = parameters.finish(&mut kernel);
        let unrelated = unrelated.unwrap_or_default();
        Instance { kernel, args, shared, warnings, written, unrelated }
    }

    /// A register tensor, made here, and its address.
    pub fn local(&mut self, name: &str, element: Scalar, count: u32) -> kernel::Value {
        let local = self.b.local(name, element, count);
        let pointer = self.b.local_address(local);
        self.locals.insert(pointer, local);
        pointer
    }

    /// The register tensor at an address.
    pub fn local_at(&self, pointer: kernel::Value) -> Option<kernel::Local> {
        self.locals.get(&pointer).copied()
    }

    /// Notes that the kernel writes behind a pointer.
    pub fn note_written(&mut self, pointer: kernel::Value) {
        if !self.written.contains(&pointer) {
            self.written.push(pointer);
        }
    }

    /// The names of the tensors that the kernel writes, as the call passes them.
    pub fn written(&self) -> Vec<String> {
        let named = |pointer: &kernel::Value| self.parameters.pointer_name(*pointer);
        self.written.iter().filter_map(named).collect()
    }

    /// The pointer that a call passes.
    pub fn pointer(&mut self, expr: &Expr, pointer: kernel::Pointer) -> kernel::Value {
        self.parameters.pointer(&mut self.b, expr, pointer)
    }

    /// The parameter that a pointer is: its name, and what is known of it.
    pub fn pointer_param(&self, pointer: kernel::Value) -> Option<(String, kernel::Pointer)> {
        self.parameters.pointer_param(pointer)
    }

    /// The map that a launch makes.
    pub fn map(&mut self, spec: MapSpec, map: kernel::TensorMap) -> kernel::Value {
        self.parameters.map(&mut self.b, spec, map)
    }

    /// The address of an array of the block.
    pub fn address_of_array(&mut self, array: Shared) -> kernel::Value {
        let address = self.b.shared_address(array);
        self.arrays.insert(address, array);
        address
    }

    /// Has an array of the block lie at a multiple of so many bytes. Says whether the address is
    /// that of one.
    pub fn align_array(&mut self, address: kernel::Value, align: u32) -> bool {
        let array = self.arrays.get(&address).copied();
        array.inspect(|array| self.b.align_shared(*array, align)).is_some()
    }

    /// A number that a call has.
    pub fn number(&mut self, expr: &Expr, scalar: Scalar, facts: kernel::Facts) -> kernel::Value {
        self.parameters.number(&mut self.b, expr, scalar, facts)
    }

    /// A number in terms of a call, where that can be said.
    pub fn expr_of(&self, value: kernel::Value) -> Option<Expr> {
        self.parameters.expr(value, self.b.kernel())
    }

    /// The literals that a number is a choice between, if it is one.
    pub fn literal_choice(&self, value: kernel::Value) -> Option<&LiteralChoice> {
        self.literals.get(&value)
    }

    /// Remembers that a number is a choice between literals.
    pub fn remember_choice(&mut self, value: kernel::Value, choice: LiteralChoice) {
        self.literals.insert(value, choice);
    }
}

impl Emission {
    /// Computes with two `int64`, or two numbers of any other one type.
    pub fn compute_binary(
        &mut self,
        op: Binary,
        a: kernel::Value,
        b: kernel::Value,
    ) -> kernel::Value {
        let result = self.b.binary(op, a, b);
        let Type::Scalar(scalar) = self.b.ty(result) else { return result };
        if scalar == Scalar::Bool {
            self.know_both(op, result, a, b);
        }
        if !scalar.is_int() || result == a || result == b {
            return result;
        }
        let [of_a, of_b] = [a, b].map(|value| integers(self.facts_of_value(value), scalar));
        self.know(result, facts(ranges::binary(op, of_a, of_b, scalar), scalar));
        if scalar != Scalar::I64 {
            return result;
        }
        self.parameters.combine(op, result, a, b, &self.b);
        let operands = [self.leaf(a), self.leaf(b)];
        let made = match op {
            Binary::Mul => &mut self.products,
            Binary::Add => &mut self.sums,
            _ => return result,
        };
        made.insert(result, operands);
        result
    }

    /// The two terms that a number is the sum of, so many times each; or it itself, where it is so
    /// many times a number that is known.
    pub fn terms_of(&self, value: kernel::Value, times: i64) -> Option<Vec<(Int<Leaf>, i64)>> {
        if let Some([a, b]) = self.sums.get(&value) {
            return Some(vec![(*a, times), (*b, times)]);
        }
        let (factor, known) = match self.products.get(&value)? {
            [Int::Known(known), other] | [other, Int::Known(known)] => (*other, *known),
            _ => return None,
        };
        Some(vec![(factor, times.checked_mul(known)?)])
    }

    /// Learns of two truth values together.
    fn know_both(&mut self, op: Binary, result: kernel::Value, a: kernel::Value, b: kernel::Value) {
        let truths = [self.known_truth(a), self.known_truth(b)];
        let truth = match op {
            Binary::And if truths.contains(&Some(false)) => Some(false),
            Binary::And if truths == [Some(true); 2] => Some(true),
            Binary::Or if truths.contains(&Some(true)) => Some(true),
            Binary::Or if truths == [Some(false); 2] => Some(false),
            _ => None,
        };
        if let Some(truth) = truth {
            self.know_truth(result, truth);
        }
    }

    /// Compares two numbers of one type.
    pub fn compute_compare(
        &mut self,
        op: Compare,
        a: kernel::Value,
        b: kernel::Value,
    ) -> kernel::Value {
        let result = self.b.compare(op, a, b);
        let is_int = |value| matches!(self.b.ty(value), Type::Scalar(scalar) if scalar.is_int());
        if is_int(a) {
            let (of_a, of_b) = (self.facts_of_value(a), self.facts_of_value(b));
            if let Some(truth) = compared(op, of_a, of_b) {
                self.know_truth(result, truth);
            }
        }
        result
    }

    /// The value of a truth value that a thread computes, where that is known of all threads. It
    /// decides nothing while compiling: names have the types that they have in every launch.
    pub fn known_truth(&self, value: kernel::Value) -> Option<bool> {
        let facts = self.facts.get(&value).filter(|_| self.is_truth(value))?;
        (facts.min == facts.max).then_some(facts.min != 0)
    }

    pub fn know_truth(&mut self, value: kernel::Value, truth: bool) {
        if self.is_truth(value) {
            self.know(value, Facts::of_number(truth.into()));
        }
    }

    fn is_truth(&self, value: kernel::Value) -> bool {
        matches!(self.b.ty(value), Type::Scalar(Scalar::Bool))
    }

    /// The facts about an integer that a thread computes.
    pub fn facts_of_value(&self, value: kernel::Value) -> Facts {
        match self.b.known_int(value) {
            Some(number) => Facts::of_number(number),
            None => self.facts.get(&value).copied().unwrap_or_else(|| match self.b.ty(value) {
                Type::Scalar(scalar) if scalar.is_int() => scalar.integers().into(),
                Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_) => Facts::NONE,
            }),
        }
    }

    /// Writes down what is known of a value.
    pub fn know(&mut self, value: kernel::Value, facts: Facts) {
        if facts != Facts::NONE && self.b.known(value).is_none() {
            self.facts.insert(value, facts);
        }
    }

    /// An `int64` as a number of layouts.
    pub fn leaf(&self, value: kernel::Value) -> Int<Leaf> {
        match self.b.known_int(value) {
            Some(number) => Int::Known(number),
            None => Int::Dynamic(Leaf { value, facts: self.facts_of_value(value) }),
        }
    }

    /// A number of layouts as an `int64`.
    pub fn index(&mut self, int: &Int<Leaf>) -> kernel::Value {
        match int {
            Int::Known(number) => self.b.index(*number),
            Int::Dynamic(leaf) => leaf.value,
        }
    }

    /// A number of layouts as what an expression gives.
    pub fn index_value(&self, int: &Int<Leaf>) -> Elaborated {
        match int {
            Int::Known(number) => Elaborated::index(*number),
            Int::Dynamic(leaf) => Elaborated::Typed(leaf.value),
        }
    }

    /// The same number as another type, with what is known of it.
    pub fn convert(
        &mut self,
        value: kernel::Value,
        to: Scalar,
        rounding: Rounding,
    ) -> kernel::Value {
        let from = self.b.ty(value).scalar();
        let result = self.b.convert(value, to, rounding);
        if let Some(from) = from.filter(|from| from.is_int() && to.is_int() && result != value) {
            let converted = integers(self.facts_of_value(value), from).wrapped(to.integers());
            self.know(result, facts(converted, to));
        }
        result
    }

    /// Calls a row of the table, which gives something.
    pub fn call_row(&mut self, name: &str, operands: &[kernel::Value]) -> kernel::Value {
        let operands = operands.iter().copied().map(Operand::Value).collect();
        self.call_with(name, operands).expect("the row gives a value")
    }

    /// Calls a row of the table.
    pub fn call_with(&mut self, name: &str, operands: Vec<Operand>) -> Option<kernel::Value> {
        let row =
            intrinsic::find(name).unwrap_or_else(|| unreachable!("the row `{name}` is there"));
        self.b.call(row, operands)
    }
}

/// The integers of a type of which this is known.
fn integers(Facts { divisor, min, max }: Facts, scalar: Scalar) -> Interval {
    scalar.integers().said(min, max, divisor)
}

/// The facts about integers of a type.
fn facts(integers: Interval, scalar: Scalar) -> Facts {
    // Bounds that are cut off at 64 bits with a sign say nothing.
    let says = integers.min <= Interval::I64.max;
    if says { integers.into() } else { scalar.integers().into() }
}

/// Whether a comparison holds for all numbers of which this is known, or for none. A bound that is
/// the largest number of 64 bits stands for what lies beyond, too.
fn compared(op: Compare, a: Facts, b: Facts) -> Option<bool> {
    let is_below = |a: Facts, b: Facts| a.max < b.min;
    let is_not_above = |a: Facts, b: Facts| a.max < i64::MAX && a.max <= b.min;
    let less = |a: Facts, b: Facts| match (is_below(a, b), is_not_above(b, a)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    match op {
        Compare::Lt => less(a, b),
        Compare::Gt => less(b, a),
        Compare::Ge => less(a, b).map(|holds| !holds),
        Compare::Le => less(b, a).map(|holds| !holds),
        Compare::Eq => (is_below(a, b) || is_below(b, a)).then_some(false),
        Compare::Ne => (is_below(a, b) || is_below(b, a)).then_some(true),
    }
}

/// Layouts compute in the kernel. Their numbers fit 64 bits: sizes of what is in memory.
impl Arith for Emission {
    type Value = Leaf;

    fn emit(&mut self, op: Op, a: &Int<Leaf>, b: &Int<Leaf>) -> Int<Leaf> {
        let facts = Facts::of(op, self.facts_of(a), self.facts_of(b));
        let (left, right) = (self.index(a), self.index(b));
        let value = match op {
            Op::Add => self.compute_binary(Binary::Add, left, right),
            Op::Sub => self.compute_binary(Binary::Sub, left, right),
            Op::Mul => self.compute_binary(Binary::Mul, left, right),
            Op::Div => self.compute_binary(Binary::FloorDiv, left, right),
            Op::Rem => self.compute_binary(Binary::FloorMod, left, right),
            Op::Min => self.compute_binary(Binary::Min, left, right),
            Op::Max => self.compute_binary(Binary::Max, left, right),
            Op::And => self.compute_binary(Binary::And, left, right),
            Op::Xor => self.compute_binary(Binary::Xor, left, right),
            Op::Shl => self.compute_binary(Binary::Shl, left, right),
            Op::Shr => self.compute_binary(Binary::Shr, left, right),
            Op::CeilDiv => self.ceil_div_value(left, right),
        };
        // It is known of the layout's number alone: where others compute the same it may wrap.
        match self.b.known_int(value) {
            Some(number) => Int::Known(number),
            None => Int::Dynamic(Leaf { value, facts }),
        }
    }

    fn facts(&self, value: &Leaf) -> Facts {
        value.facts
    }

    fn is_product(&self, product: &Int<Leaf>, a: &Int<Leaf>, b: &Int<Leaf>) -> bool {
        let Int::Dynamic(product) = product else { return false };
        match self.products.get(&product.value) {
            Some([first, second]) => (first == a && second == b) || (first == b && second == a),
            None => false,
        }
    }
}

impl Emission {
    /// The quotient of `int64`s rounded up; 0 where the divisor is 0.
    ///
    /// It is `(a + b - 1) // b` where bounds say that the sum does not wrap, and otherwise
    /// `(a - 1) // b + 1`, or the quotient and one more where a rest is left.
    pub fn ceil_div_value(&mut self, a: kernel::Value, b: kernel::Value) -> kernel::Value {
        let (of_a, of_b) = (self.facts_of_value(a), self.facts_of_value(b));
        let facts = Facts::of(Op::CeilDiv, of_a, of_b);
        let one = self.b.index(1);
        let largest = i128::from(of_a.max) + i128::from(of_b.max) - 1;
        let is_down = of_b.min >= 0 && of_a.min > i64::MIN;
        let result = if is_down && largest <= i128::from(i64::MAX) {
            let more = self.compute_binary(Binary::Sub, b, one);
            let sum = self.compute_binary(Binary::Add, a, more);
            self.compute_binary(Binary::FloorDiv, sum, b)
        } else if is_down && of_b.min > 0 {
            let less = self.compute_binary(Binary::Sub, a, one);
            let quotient = self.compute_binary(Binary::FloorDiv, less, b);
            self.compute_binary(Binary::Add, quotient, one)
        } else {
            self.quotient_and_more(a, b)
        };
        if of_b.min > 0 {
            self.know(result, facts);
        }
        self.parameters.ceil_div(result, a, b, &self.b);
        result
    }

    /// The quotient rounded down, and one more where a rest is left and the divisor is not 0.
    fn quotient_and_more(&mut self, a: kernel::Value, b: kernel::Value) -> kernel::Value {
        let quotient = self.compute_binary(Binary::FloorDiv, a, b);
        let rest = self.compute_binary(Binary::FloorMod, a, b);
        let zero = self.b.index(0);
        let is_exact = self.b.compare(Compare::Eq, rest, zero);
        let mut one = self.b.index(1);
        let of_b = self.facts_of_value(b);
        if of_b.min <= 0 && of_b.max >= 0 {
            let is_by_zero = self.b.compare(Compare::Eq, b, zero);
            one = self.select_typed(is_by_zero, zero, one);
        }
        let more = self.select_typed(is_exact, zero, one);
        self.compute_binary(Binary::Add, quotient, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest bound stands for what lies beyond it, until that is lost.
    #[test]
    fn what_has_no_sign_may_be_beyond_int64() {
        let any = integers(Facts::NON_NEGATIVE, Scalar::U64);
        let one = Interval::exactly(1);
        let halves = ranges::binary(Binary::Shr, any, one, Scalar::U64);
        assert_eq!(facts(halves, Scalar::U64), Facts::NON_NEGATIVE);
        let quarters = ranges::binary(Binary::Shr, halves, one, Scalar::U64);
        assert_eq!(facts(quarters, Scalar::U64).max, i64::MAX >> 1);
        assert_eq!(facts(any.wrapped(Scalar::I64.integers()), Scalar::I64), Facts::NONE);
        let beyond = Interval::exactly(1 << 63);
        assert_eq!(facts(beyond, Scalar::U64), Facts::NON_NEGATIVE);
    }
}
