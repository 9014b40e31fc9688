// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together, each a few elements: their products, and how
//! they come from shared memory and go there.
//!
//! A product is of 16 rows and 8 columns, D = A B + C, each of which a lane has some elements of.
//! Lane `l` is number `l / 4` of a group of eight, `g`, and `t = l % 4`. Of A, whose rows are as
//! long as B's columns, it has the elements of rows `g` and `g + 8`, of B those of column `g`, each
//! 4 bytes at once: from `4 t` bytes in, and from 16 bytes behind that. Of C and D it has columns
//! `2 t` and `2 t + 1` of both rows.

use super::{Accepts, Completes, Gives, Intrinsic, Level, MatrixOp, Meaning, Spread, Touches};
use crate::types::{Scalar, Space};

/// The rows of A and of a product.
pub const N_ROWS: usize = 16;
/// The columns of B and of a product.
pub const N_COLUMNS: usize = 8;
/// The bytes of a row of A.
pub const ROW_BYTES: usize = 32;
/// The rows of a matrix that is loaded or stored.
pub const N_MATRIX_ROWS: usize = 8;
/// The bytes of each.
pub const MATRIX_ROW_BYTES: u32 = 16;

/// The numbers of a row of each, or of a product, that a lane has.
pub const N_OF_ROW: usize = 2;

/// How a matrix lies in shared memory: a row of it is one there, or a column is.
pub const WAYS: &[&str] = &["rows", "columns"];

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    gives: Gives,
    op: MatrixOp,
) -> Intrinsic {
    let touches = match op {
        MatrixOp::Multiply => Touches::Nothing,
        MatrixOp::Load => Touches::Read,
        MatrixOp::Store => Touches::Write,
    };
    Intrinsic {
        name,
        doc,
        takes,
        gives,
        together: Level::Warp,
        uniform: Level::Warp,
        touches,
        completes: Completes::AtOnce,
        result: Spread::Varies,
        meaning: Meaning::Matrix(op),
    }
}

const SHARED: Accepts = Accepts::Pointer(&[Space::Shared]);
const WAY: Accepts = Accepts::Word(WAYS);

const fn load(name: &'static str, doc: &'static str, lanes: u8) -> Intrinsic {
    row(name, doc, &[SHARED, WAY], Gives::Vector(Scalar::U16, lanes), MatrixOp::Load)
}

const fn store(name: &'static str, doc: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    row(name, doc, takes, Gives::Nothing, MatrixOp::Store)
}

const SUMS: Accepts = Accepts::Vector(&[Scalar::F32], 4);
const BYTES: &[Scalar] = &[Scalar::I8, Scalar::U8];

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "mma.m16n8k16",
        "The sums of a 16x8 matrix, and the products of a 16x16 and a 16x8 one. The products are exact, and added in any order.",
        &[Accepts::Vector(&[Scalar::F16, Scalar::BF16], 8), Accepts::VectorLike(0, 4), SUMS],
        Gives::Like(2),
        MatrixOp::Multiply,
    ),
    row(
        "mma.m16n8k8",
        "The sums of a 16x8 matrix, and the products of a 16x8 and an 8x8 one, whose elements are rounded to 10 bits of mantissa, ties away from 0. The products are exact, and added in any order.",
        &[Accepts::Vector(&[Scalar::F32], 4), Accepts::Vector(&[Scalar::F32], 2), SUMS],
        Gives::Like(2),
        MatrixOp::Multiply,
    ),
    row(
        "mma.m16n8k32",
        "The sums of a 16x8 matrix, and the products of a 16x32 and a 32x8 one. They wrap around.",
        &[
            Accepts::Vector(BYTES, 16),
            Accepts::Vector(BYTES, 8),
            Accepts::Vector(&[Scalar::I32], 4),
        ],
        Gives::Like(2),
        MatrixOp::Multiply,
    ),
    load(
        "matrix.load1",
        "An 8x8 matrix of 16 bits each, of which lane `l` gets two of row `l / 4`, from `l % 4 * 2` on. The first eight lanes have the addresses of its rows, or of its columns, each of 16 bytes.",
        2,
    ),
    load(
        "matrix.load2",
        "Two 8x8 matrices of 16 bits each, one behind the other. The first sixteen lanes have the addresses.",
        4,
    ),
    load(
        "matrix.load4",
        "Four 8x8 matrices of 16 bits each, one behind the other. All lanes have the addresses.",
        8,
    ),
    store(
        "matrix.store1",
        "Puts an 8x8 matrix where loading it would find it.",
        &[SHARED, Accepts::Vector(&[Scalar::U16], 2), WAY],
    ),
    store(
        "matrix.store2",
        "Puts two 8x8 matrices where loading them would find them.",
        &[SHARED, Accepts::Vector(&[Scalar::U16], 4), WAY],
    ),
    store(
        "matrix.store4",
        "Puts four 8x8 matrices where loading them would find them.",
        &[SHARED, Accepts::Vector(&[Scalar::U16], 8), WAY],
    ),
];
