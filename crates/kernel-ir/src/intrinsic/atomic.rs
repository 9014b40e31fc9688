// SPDX-License-Identifier: Apache-2.0
//! Atomic operations: what reads, computes and writes in one step. The last two operands say in
//! which order others see it, and which others.

use super::{Accepts, AtomicOp, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::op::Binary;
use crate::types::{Scalar, Space};

/// In which order an operation is seen.
pub const ORDERS: &[&str] = &["relaxed", "acquire", "release", "acq_rel"];
/// Who sees it in that order.
pub const SCOPES: &[&str] = &["block", "cluster", "gpu", "sys"];

const AT: Accepts = Accepts::Pointer(&[Space::Global, Space::Shared, Space::Cluster]);
const ORDER: Accepts = Accepts::Word(ORDERS);
const SCOPE: Accepts = Accepts::Word(SCOPES);
/// Integers that every GPU has atomic operations for.
const INT: Accepts = Accepts::OneOf(&[Scalar::I32, Scalar::I64, Scalar::U32, Scalar::U64]);
/// Numbers that can be added in one step.
const NUMBER: Accepts = Accepts::OneOf(&[
    Scalar::I32,
    Scalar::I64,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::BF16,
    Scalar::F32,
    Scalar::F64,
]);

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    gives: Gives,
    op: AtomicOp,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives,
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Atomic,
        completes: Completes::AtOnce,
        result: Spread::Varies,
        meaning: Meaning::Atomic(op),
    }
}

const fn update(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    op: Binary,
) -> Intrinsic {
    row(name, doc, takes, Gives::Like(1), AtomicOp::Update(op))
}

const ADDED: &[Accepts] = &[AT, NUMBER, ORDER, SCOPE];
const INTS: &[Accepts] = &[AT, INT, ORDER, SCOPE];

pub(super) const ROWS: &[Intrinsic] = &[
    update("atomic.add", "Adds; gives what was there.", ADDED, Binary::Add),
    update("atomic.min", "Keeps the smaller; gives what was there.", INTS, Binary::Min),
    update("atomic.max", "Keeps the larger; gives what was there.", INTS, Binary::Max),
    update("atomic.and", "Keeps common bits; gives what was there.", INTS, Binary::And),
    update("atomic.or", "Adds bits; gives what was there.", INTS, Binary::Or),
    update("atomic.xor", "Flips bits; gives what was there.", INTS, Binary::Xor),
    row(
        "atomic.exchange",
        "Writes; gives what was there.",
        INTS,
        Gives::Like(1),
        AtomicOp::Exchange,
    ),
    row(
        "atomic.cas",
        "Writes the third where the second is there; gives what was there.",
        &[AT, INT, Accepts::Like(1), ORDER, SCOPE],
        Gives::Like(1),
        AtomicOp::CompareExchange,
    ),
    row(
        "atomic.store",
        "Writes, seen by others in that order.",
        INTS,
        Gives::Nothing,
        AtomicOp::Store,
    ),
    row(
        "atomic.load.int32",
        "Reads what others have written, in that order.",
        &[AT, ORDER, SCOPE],
        Gives::Exactly(Scalar::I32),
        AtomicOp::Load,
    ),
    row(
        "atomic.load.int64",
        "Reads what others have written, in that order.",
        &[AT, ORDER, SCOPE],
        Gives::Exactly(Scalar::I64),
        AtomicOp::Load,
    ),
];
