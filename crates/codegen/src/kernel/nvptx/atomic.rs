// SPDX-License-Identifier: Apache-2.0
//! Atomic operations and fences, as the instructions of PTX that say order and scope.

use super::Nvptx;
use super::scalar::row;
use crate::kernel::shared::{Lowering, bits_ty, scalar_ty};
use crate::llvm::{FloatOperation, Inline, Predicate, V};
use kernpack_kernel_ir::intrinsic::AtomicOp;
use kernpack_kernel_ir::kernel::Value;
use kernpack_kernel_ir::op::Binary;
use kernpack_kernel_ir::types::{Scalar, Space, Type};

/// The first architecture that adds bfloat16 in one step.
const WITH_BF16: u32 = 90;

/// In which order an operation is seen, and by whom, as PTX has it.
#[derive(Clone, Copy)]
struct Seen {
    order: &'static str,
    scope: &'static str,
}

impl Seen {
    fn of(words: &[&'static str]) -> Seen {
        match words {
            [order, scope] => Seen { order, scope: scope_word(scope) },
            _ => unreachable!("an atomic operation has an order and a scope"),
        }
    }
}

/// How PTX calls a scope. `cluster`, `gpu` and `sys` are its own words.
fn scope_word(scope: &'static str) -> &'static str {
    if scope == "block" { "cta" } else { scope }
}

/// Where something is done, and with what.
#[derive(Clone, Copy)]
struct At<'c> {
    address: V<'c>,
    space: &'static str,
    scalar: Scalar,
    seen: Seen,
}

impl<'c> Lowering<'c, '_, Nvptx> {
    pub(super) fn lower_fence(&self, words: &[&'static str]) {
        let [scope] = words else { unreachable!("a fence has a scope") };
        self.fence(scope_word(scope));
    }

    fn fence(&self, scope: &str) {
        let text = format!("fence.acq_rel.{scope};");
        let inline =
            Inline { text: &text, constraints: "~{memory}", result: None, has_effects: true };
        self.emitter.inline(&inline, &[]);
    }

    pub(super) fn lower_atomic(
        &mut self,
        result: Option<Value>,
        op: AtomicOp,
        values: &[Value],
        words: &[&'static str],
    ) {
        let number = values.get(1).copied().or(result);
        let scalar = number.and_then(|number| self.kernel.ty(number).scalar());
        let at = At {
            address: self.kept(values[0]),
            space: space_word(self.kernel.ty(values[0])),
            scalar: scalar.unwrap_or_else(|| unreachable!("atomic operations are on numbers")),
            seen: Seen::of(words),
        };
        let operands: Vec<_> = values[1..].iter().map(|value| self.full(*value)).collect();
        let before = match op {
            AtomicOp::Load => Some(self.atomic_load(at)),
            AtomicOp::Store => {
                self.atomic_store(at, operands[0]);
                None
            }
            AtomicOp::Exchange => Some(self.atom(at, "exch", &operands)),
            AtomicOp::CompareExchange => Some(self.atom(at, "cas", &operands)),
            AtomicOp::Update(Binary::Add) if self.is_without_add(at.scalar) => {
                Some(self.add_by_comparing(at, operands[0]))
            }
            AtomicOp::Update(update) => Some(self.atom(at, update_word(update), &operands)),
        };
        if let (Some(result), Some(before)) = (result, before) {
            self.set_number(result, before, at.scalar);
        }
    }

    fn is_without_add(&self, scalar: Scalar) -> bool {
        scalar == Scalar::BF16 && self.target.arch.number < WITH_BF16
    }

    /// One instruction that gives what was there.
    fn atom(&self, at: At<'c>, word: &str, operands: &[V<'c>]) -> V<'c> {
        let Seen { order, scope } = at.seen;
        let given: Vec<_> =
            (2..).take(operands.len()).map(|number| format!(", ${number}")).collect();
        let (ty, letter) = (type_word(word, at.scalar), row(at.scalar).letter);
        let text =
            format!("atom.{order}.{scope}.{}.{word}.{ty} $0, [$1]{};", at.space, given.concat());
        let constraints =
            format!("={letter},l{},~{{memory}}", format!(",{letter}").repeat(operands.len()));
        let operands: Vec<_> =
            operands.iter().map(|value| self.bits_of(*value, at.scalar)).collect();
        self.access(at, &text, &constraints, &operands)
    }

    /// Runs an instruction with an address. Halves are bits there.
    fn access(&self, at: At<'c>, text: &str, constraints: &str, operands: &[V<'c>]) -> V<'c> {
        let ty = row(at.scalar).register;
        let inline = Inline { text, constraints, result: Some(ty), has_effects: true };
        let operands = [&[at.address], operands].concat();
        let before = self.emitter.inline(&inline, &operands);
        let before = before.unwrap_or_else(|| unreachable!("the instruction has a result"));
        self.emitter.bitcast(before, scalar_ty(at.scalar))
    }

    fn bits_of(&self, value: V<'c>, scalar: Scalar) -> V<'c> {
        self.emitter.bitcast(value, row(scalar).register)
    }

    /// A load is seen behind what comes before it where it also has to release.
    fn atomic_load(&self, at: At<'c>) -> V<'c> {
        let Seen { order, scope } = at.seen;
        let (is_acquire, is_release) = sides(order);
        if is_release {
            self.fence(scope);
        }
        let order = if is_acquire { "acquire" } else { "relaxed" };
        let bits = at.scalar.bits();
        let text = format!("ld.{order}.{scope}.{}.b{bits} $0, [$1];", at.space);
        let constraints = format!("={},l,~{{memory}}", row(at.scalar).letter);
        self.access(at, &text, &constraints, &[])
    }

    fn atomic_store(&self, at: At<'c>, value: V<'c>) {
        let Seen { order, scope } = at.seen;
        let (is_acquire, is_release) = sides(order);
        let order = if is_release { "release" } else { "relaxed" };
        let bits = at.scalar.bits();
        let text = format!("st.{order}.{scope}.{}.b{bits} [$0], $1;", at.space);
        let constraints = format!("l,{},~{{memory}}", row(at.scalar).letter);
        let inline =
            Inline { text: &text, constraints: &constraints, result: None, has_effects: true };
        self.emitter.inline(&inline, &[at.address, self.bits_of(value, at.scalar)]);
        if is_acquire {
            self.fence(scope);
        }
    }

    /// Adds by writing the sum where what was read is still there, and else by trying again.
    fn add_by_comparing(&self, at: At<'c>, value: V<'c>) -> V<'c> {
        let emitter = self.emitter;
        let bits = At { scalar: Scalar::U16, ..at };
        let relaxed = Seen { order: "relaxed", ..at.seen };
        let (again, done) = (self.block("again"), self.block("done"));
        let first = self.atomic_load(At { seen: relaxed, ..bits });
        let before = emitter.here();
        emitter.jump(again);
        emitter.at(again);
        let expected = emitter.open_phi(first, before);
        let number = emitter.bitcast(expected.value(), scalar_ty(at.scalar));
        let sum = emitter.float_arith(FloatOperation::Add, number, value);
        let sum = emitter.bitcast(sum, bits_ty(at.scalar));
        let found = self.atom(bits, "cas", &[expected.value(), sum]);
        expected.close(found, again);
        let is_other = emitter.compare(Predicate::NE, found, expected.value());
        emitter.branch(is_other, again, done, None);
        emitter.at(done);
        emitter.bitcast(found, scalar_ty(at.scalar))
    }
}

/// Whether an order keeps what comes behind there, and what came before.
fn sides(order: &str) -> (bool, bool) {
    (matches!(order, "acquire" | "acq_rel"), matches!(order, "release" | "acq_rel"))
}

fn space_word(pointer: Type) -> &'static str {
    match pointer {
        Type::Pointer(Space::Global) => "global",
        Type::Pointer(Space::Shared) => "shared",
        Type::Pointer(Space::Cluster) => "shared::cluster",
        Type::Pointer(Space::Local | Space::Map) | Type::Scalar(_) | Type::Vector(..) => {
            unreachable!("atomic operations are on memory that others see")
        }
    }
}

fn update_word(op: Binary) -> &'static str {
    match op {
        Binary::Add => "add",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::FloorDiv
        | Binary::FloorMod
        | Binary::MulHigh
        | Binary::Shl
        | Binary::Shr => unreachable!("there is no atomic `{}`", op.name()),
    }
}

/// The type in the name of an instruction.
fn type_word(word: &str, scalar: Scalar) -> String {
    let bits = scalar.bits();
    match word {
        "add" => match row(scalar).sum {
            Some(sum) => sum.to_string(),
            None => unreachable!("there is no atomic sum of {scalar}"),
        },
        "min" | "max" if scalar.is_signed() => format!("s{bits}"),
        "min" | "max" => format!("u{bits}"),
        _ => format!("b{bits}"),
    }
}
