// SPDX-License-Identifier: Apache-2.0
//! Lowers a plan's expressions.
//!
//! An expression is emitted where it is first needed, and kept as long as that place dominates what
//! is being written: [`Known`] forgets what was emitted on one side of a branch.

use super::function::FunctionBuilder;
use super::import::call_runtime;
use kernpack_codegen::llvm::{Emitter, Operation, Predicate, Ty, V};
use kernpack_ffi_abi::{DType, Width};
use kernpack_runtime::interface::functions::{ROUND_TO_BF16, ROUND_TO_F16, TEXT_IS};
use kernpack_validators::plan::{Arith, Compare, Expr, Plan, Type, Value};

/// The values that have been emitted and may be used again.
pub struct Known<'c> {
    values: Vec<[Option<V<'c>>; 4]>,
    /// The order in which it was.
    trail: Vec<(Value, Form)>,
}

/// How a value is held.
#[derive(Clone, Copy)]
enum Form {
    /// As the plan has it: 64 bits, or a truth.
    Value,
    /// As a pointer.
    Pointer,
    /// As a pointer to memory that has been read.
    Base,
    /// As wide as the field it was read from.
    Field,
}

impl<'c> Known<'c> {
    /// Nothing yet.
    pub fn new(plan: &Plan) -> Known<'c> {
        Known { values: vec![[None; 4]; plan.exprs.len()], trail: vec![] }
    }

    /// How much there is.
    pub fn len(&self) -> usize {
        self.trail.len()
    }

    /// Forgets all but the first.
    pub fn truncate(&mut self, len: usize) {
        for (value, form) in self.trail.drain(len.min(self.trail.len())..) {
            self.values[value.0 as usize][form as usize] = None;
        }
    }

    /// Whether the value is known.
    pub fn has(&self, value: Value) -> bool {
        self.get(value, Form::Value).is_some()
    }

    /// Keeps a value.
    pub fn insert_value(&mut self, value: Value, emitted: V<'c>) {
        self.insert(value, Form::Value, emitted);
    }

    fn get(&self, value: Value, form: Form) -> Option<V<'c>> {
        self.values[value.0 as usize][form as usize]
    }

    fn insert(&mut self, value: Value, form: Form, emitted: V<'c>) {
        self.values[value.0 as usize][form as usize] = Some(emitted);
        self.trail.push((value, form));
    }
}

impl<'c> FunctionBuilder<'_, 'c> {
    /// The code of a value, emitted here unless it is known.
    pub fn value(&mut self, value: Value) -> V<'c> {
        self.form(value, Form::Value, |builder, value| match builder.membership(value) {
            Some(membership) => builder.is_member(membership),
            None => builder.emit(value),
        })
    }

    /// A value as wide as the field it is read from, if it is one.
    pub(super) fn field(&mut self, value: Value) -> V<'c> {
        match self.plan.expr(value) {
            Expr::Load(..) => self.form(value, Form::Field, Self::load),
            _ => self.value(value),
        }
    }

    fn form(
        &mut self,
        value: Value,
        form: Form,
        emit: impl FnOnce(&mut Self, Value) -> V<'c>,
    ) -> V<'c> {
        if let Some(known) = self.known.get(value, form) {
            return known;
        }
        let emitted = emit(self, value);
        self.known.insert(value, form, emitted);
        emitted
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Ty {
        match self.plan.type_of(value) {
            Type::Int | Type::Text => Ty::I64,
            Type::Bool => Ty::I1,
        }
    }

    fn emit(&mut self, value: Value) -> V<'c> {
        let e = self.e;
        let plan = self.plan;
        match *plan.expr(value) {
            Expr::Int(int) => e.int(Ty::I64, int),
            Expr::Bool(truth) => e.truth(truth),
            // As the runtime has them: anything but what is there is one more than a multiple of 2.
            Expr::Text(ref text) => {
                e.arith(Operation::Add, e.to_int(c_string(e, text)), e.int(Ty::I64, 1))
            }
            Expr::TextAt(base) => {
                let at = self.form(base, Form::Pointer, Self::address);
                e.to_int(at)
            }
            Expr::TextIs(text, ref constant) => {
                let text = self.value(text);
                let is_it = call_runtime(e, TEXT_IS, &[text, c_string(e, constant)]);
                e.compare(Predicate::NE, is_it, e.int(Ty::I32, 0))
            }
            Expr::Args => unreachable!("the arguments are read from, never computed with"),
            Expr::NumArgs => self.n_args,
            Expr::Device => unreachable!("the device's facts are read from, never computed with"),
            Expr::Load(_, field) => {
                let loaded = self.field(value);
                e.extend(field.width, loaded)
            }
            Expr::Element(..) => self.load(value),
            Expr::Arith(op, a, b) => self.arith(op, a, b),
            Expr::Overflows(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                e.with_overflow(intrinsic(op), a, b).1
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = self.comparands(op, a, b);
                e.compare(predicate(op), a, b)
            }
            Expr::And(a, b) => self.connective(a, b, Operation::And),
            Expr::Or(a, b) => self.connective(a, b, Operation::Or),
            Expr::Not(a) => {
                let a = self.value(a);
                e.not(a)
            }
            Expr::Select(cond, a, b) => {
                let (cond, a, b) = (self.value(cond), self.value(a), self.value(b));
                e.select(cond, a, b)
            }
            Expr::FloatBits(a) => {
                let a = self.value(a);
                e.bitcast(e.int_to_double(a), Ty::I64)
            }
            Expr::Rounded(a, dtype) => {
                let a = self.value(a);
                round(e, a, dtype)
            }
            Expr::Yield(..) | Expr::Turn(..) => {
                unreachable!("a verified plan yields before it uses")
            }
        }
    }

    /// Reads memory.
    fn load(&mut self, value: Value) -> V<'c> {
        let (base, offset, width) = match *self.plan.expr(value) {
            Expr::Load(base, field) => (base, field.offset, field.width),
            Expr::Element(base, index) => (base, 8 * index, Width::I64),
            _ => unreachable!("only these read memory"),
        };
        let base = self.form(base, Form::Base, |builder, base| {
            builder.form(base, Form::Pointer, Self::address)
        });
        self.e.load_field(base, offset, width)
    }

    /// The sides of a comparison. A field is compared with a constant at its own width where that
    /// makes no difference.
    fn comparands(&mut self, op: Compare, a: Value, b: Value) -> (V<'c>, V<'c>) {
        if let (Expr::Load(_, field), Expr::Int(int)) = (self.plan.expr(a), self.plan.expr(b))
            && matches!(op, Compare::Eq | Compare::Ne)
            && let Some(narrow) = narrow_constant(field.width, *int)
        {
            let int = self.e.int(narrow, *int);
            return (self.field(a), int);
        }
        (self.value(a), self.value(b))
    }

    /// A value as a pointer. The arguments, and what lies behind them, are pointers already.
    fn address(&mut self, base: Value) -> V<'c> {
        let e = self.e;
        match *self.plan.expr(base) {
            Expr::Args => self.args,
            Expr::Device => self.device.expect("a verified plan asks before it uses"),
            Expr::Arith(Arith::Add, a, b) if !self.known.has(base) => {
                let a = self.form(a, Form::Pointer, Self::address);
                let b = self.value(b);
                e.offset(a, b)
            }
            _ => {
                let base = self.value(base);
                e.to_pointer(base)
            }
        }
    }

    fn arith(&mut self, op: Arith, a: Value, b: Value) -> V<'c> {
        let e = self.e;
        let divisor = match *self.plan.expr(b) {
            Expr::Int(divisor) => Some(divisor),
            _ => None,
        };
        let (a, b) = (self.value(a), self.value(b));
        match op {
            Arith::Add => e.arith(Operation::Add, a, b),
            Arith::Sub => e.arith(Operation::Sub, a, b),
            Arith::Mul => e.arith(Operation::Mul, a, b),
            Arith::BitAnd => e.arith(Operation::And, a, b),
            Arith::FloorDiv | Arith::Mod => match divisor {
                Some(divisor) if divisor > 0 => divide_by_constant(e, op, a, divisor),
                _ => divide(e, op, a, b),
            },
        }
    }

    /// A connective as a value. The second operand may read memory that only the first makes safe:
    /// then it gets a block of its own.
    fn connective(&mut self, a: Value, b: Value, operation: Operation) -> V<'c> {
        let e = self.e;
        let first = self.value(a);
        if self.reads_nothing_new(b) {
            let second = self.value(b);
            return e.arith(operation, first, second);
        }
        let from = e.here();
        let (other, behind) = (self.block(), self.block());
        let (yes, no) =
            if matches!(operation, Operation::And) { (other, behind) } else { (behind, other) };
        e.branch(first, yes, no, None);
        e.at(other);
        let second = self.scoped(|builder| builder.value(b));
        let other = e.here();
        e.jump(behind);
        e.at(behind);
        e.phi(Ty::I1, &[(first, from), (second, other)])
    }

    /// Whether the value's code reads no memory but what may be read for certain: a tensor, a shape
    /// or the like may be read whole where a part of it has been.
    pub fn reads_nothing_new(&self, value: Value) -> bool {
        if self.known.has(value) {
            return true;
        }
        match self.plan.expr(value) {
            Expr::Load(base, _) | Expr::Element(base, _) => {
                self.known.get(*base, Form::Base).is_some()
            }
            Expr::TextIs(..) => false,
            expr => expr.operands().into_iter().all(|operand| self.reads_nothing_new(operand)),
        }
    }
}

/// A C string at an address that is a multiple of 2.
fn c_string<'c>(e: &Emitter<'c>, text: &str) -> V<'c> {
    e.bytes("", format!("{text}\0").as_bytes(), 2)
}

/// The type of a field of 32 bits, where the constant is one of its values with or without a sign.
fn narrow_constant(width: Width, int: i64) -> Option<Ty> {
    let fits = matches!(width, Width::I32 | Width::U32) && (0..=i64::from(i32::MAX)).contains(&int);
    fits.then_some(Ty::I32)
}

fn intrinsic(op: Arith) -> &'static str {
    match op {
        Arith::Add => "sadd",
        Arith::Sub => "ssub",
        Arith::Mul => "smul",
        Arith::FloorDiv | Arith::Mod | Arith::BitAnd => {
            unreachable!("a verified plan asks of sums and products")
        }
    }
}

fn predicate(op: Compare) -> Predicate {
    match op {
        Compare::Eq => Predicate::EQ,
        Compare::Ne => Predicate::NE,
        Compare::Lt => Predicate::SLT,
        Compare::Le => Predicate::SLE,
    }
}

/// The bits of a float64, rounded to a narrower float. Of halves the runtime takes care: the
/// compiler's own functions are not everywhere.
fn round<'c>(e: &Emitter<'c>, bits: V<'c>, dtype: DType) -> V<'c> {
    let function = match dtype {
        DType::FLOAT16 => ROUND_TO_F16,
        DType::BFLOAT16 => ROUND_TO_BF16,
        DType::FLOAT32 => {
            let float = e.double_to_float(e.bitcast(bits, Ty::Double));
            return e.bitcast(e.float_to_double(float), Ty::I64);
        }
        _ => unreachable!("a verified plan rounds to narrower floats"),
    };
    call_runtime(e, function, &[bits])
}

/// Division rounded down: a power of two shifts or masks; otherwise a quotient towards zero is
/// corrected.
fn divide_by_constant<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, divisor: i64) -> V<'c> {
    if divisor.count_ones() == 1 {
        let (shift, mask) = (i64::from(divisor.trailing_zeros()), divisor - 1);
        return match op {
            Arith::FloorDiv => e.arith(Operation::ShiftRight, a, e.int(Ty::I64, shift)),
            _ => e.arith(Operation::And, a, e.int(Ty::I64, mask)),
        };
    }
    floor(e, op, a, e.int(Ty::I64, divisor))
}

/// Division rounded down by a divisor that may not be positive: 0 then.
fn divide<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, b: V<'c>) -> V<'c> {
    let (zero, one) = (e.int(Ty::I64, 0), e.int(Ty::I64, 1));
    let positive = e.compare(Predicate::SGT, b, zero);
    let divisor = e.select(positive, b, one);
    e.select(positive, floor(e, op, a, divisor), zero)
}

fn floor<'c>(e: &Emitter<'c>, op: Arith, a: V<'c>, divisor: V<'c>) -> V<'c> {
    let rest = e.arith(Operation::Rem, a, divisor);
    let negative = e.compare(Predicate::SLT, rest, e.int(Ty::I64, 0));
    if op == Arith::Mod {
        return e.select(negative, e.arith(Operation::Add, rest, divisor), rest);
    }
    let quotient = e.arith(Operation::Div, a, divisor);
    let below = e.arith(Operation::Sub, quotient, e.int(Ty::I64, 1));
    e.select(negative, below, quotient)
}
