// SPDX-License-Identifier: Apache-2.0
//! Products of matrices that the four warps of a warpgroup make together, and the registers that
//! warpgroups hand to one another.
//!
//! A product is of 64 rows and N columns, D = A B + D, or D = A B. It is in flight from where it is
//! issued until a wait of its warpgroup leaves no more groups than came behind it. Meanwhile the
//! sums, and A where that is in registers, may not be touched; what is in shared memory is read by
//! the asynchronous proxy. What registers hold, products see behind a fence.
//!
//! How matrices lie, in registers and in shared memory, and the operands of a call as one value:
//! [`group_product`](crate::group_product).

use super::{Accepts, Completes, Gives, Intrinsic, Level, Meaning, ProductOp, Spread, Touches};
use crate::types::{Scalar, Space};

/// How an element of a factor is called.
pub const FACTORS: &[&str] = &["float16", "bfloat16", "float32", "int8", "uint8"];
/// How a factor lies in shared memory: its rows, of which a product takes 32 bytes each, one behind
/// the other, or what they have at one place of them.
pub const MAJORS: &[&str] = &["k", "mn"];
/// Which bytes take the place of which: in rows of none, 32, 64 or 128 bytes.
pub const SWIZZLES: &[&str] = &["plain", "swizzle32", "swizzle64", "swizzle128"];
/// The most groups that a wait leaves in flight.
pub const MOST_GROUPS: i64 = 7;

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    (touches, completes): (Touches, Completes),
    meaning: Meaning,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Nothing,
        together: Level::Warpgroup,
        uniform: Level::Warpgroup,
        touches,
        completes,
        result: Spread::AsOperands,
        meaning,
    }
}

const fn product(name: &'static str, doc: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let how = (Touches::Shared, Completes::WithGroup);
    row(name, doc, takes, how, Meaning::Product(ProductOp::Multiply))
}

const fn order(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    op: ProductOp,
) -> Intrinsic {
    row(name, doc, takes, (Touches::Order, Completes::AtOnce), Meaning::Product(op))
}

const fn registers(name: &'static str, doc: &'static str, is_increase: bool) -> Intrinsic {
    let how = (Touches::Order, Completes::AtOnce);
    row(name, doc, &[Accepts::Multiple(8, 24, 256)], how, Meaning::Registers { is_increase })
}

const SHARED: Accepts = Accepts::Pointer(&[Space::Shared]);
/// The first element of a register tensor that a product takes.
const FIRST: Accepts = Accepts::Constant(0, 4095);
const SUMS: Accepts = Accepts::Registers(&[Scalar::F32, Scalar::I32]);
const PART_OF_A: Accepts =
    Accepts::Registers(&[Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::I8, Scalar::U8]);
const FACTOR: Accepts = Accepts::Word(FACTORS);
const COLUMNS: Accepts = Accepts::Multiple(8, 8, 256);
const MAJOR: Accepts = Accepts::Word(MAJORS);
const SWIZZLE: Accepts = Accepts::Word(SWIZZLES);
/// The bytes from one piece of a matrix to the next: 14 bits of 16 bytes.
const BYTES: Accepts = Accepts::Multiple(16, 0, 0x3fff * 16);

pub(super) const ROWS: &[Intrinsic] = &[
    order(
        "wgmma.fence",
        "What registers hold in front of it is seen by products behind it, which have one in front of them wherever sums or A were touched.",
        &[],
        ProductOp::Fence,
    ),
    product(
        "wgmma.shared",
        "Begins to make sums of a 64xN matrix, the elements of the register tensor from that one on, of a 64xK and a KxN matrix in shared memory, and of what they were where the operand behind the addresses holds. Behind the factors' type and N stands of each of both how it lies, and how far apart its pieces are in both directions.",
        &[
            SUMS,
            FIRST,
            SHARED,
            SHARED,
            Accepts::Bool,
            FACTOR,
            COLUMNS,
            MAJOR,
            SWIZZLE,
            BYTES,
            BYTES,
            MAJOR,
            SWIZZLE,
            BYTES,
            BYTES,
        ],
    ),
    product(
        "wgmma.registers",
        "The same, where the lanes have the 64xK matrix: the elements of the second register tensor from that one on, 16 bytes.",
        &[
            SUMS,
            FIRST,
            PART_OF_A,
            FIRST,
            SHARED,
            Accepts::Bool,
            FACTOR,
            COLUMNS,
            MAJOR,
            SWIZZLE,
            BYTES,
            BYTES,
        ],
    ),
    order(
        "wgmma.commit",
        "Makes a group of the products that this warpgroup has begun since its last group.",
        &[],
        ProductOp::Commit,
    ),
    order(
        "wgmma.wait",
        "Waits until no more than so many groups of this warpgroup are in flight, the last ones.",
        &[Accepts::Constant(0, MOST_GROUPS)],
        ProductOp::Wait,
    ),
    registers(
        "registers.increase",
        "Waits until each thread of the warpgroup can have so many registers, and has that many.",
        true,
    ),
    registers(
        "registers.decrease",
        "Each thread of the warpgroup has so many registers, and others can have the rest.",
        false,
    ),
];
