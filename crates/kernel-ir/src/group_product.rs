// SPDX-License-Identifier: Apache-2.0
//! Products of warpgroups: their operands as one value, and how matrices lie in registers and in
//! shared memory. The rows are in [`intrinsic`](crate::intrinsic).
//!
//! Warp `w` of a warpgroup has rows `16 w` to `16 w + 15` of A and of the sums. Of these its lanes
//! have parts as of the products of a warp: of the sums in pieces of 8 columns.
//!
//! In shared memory a factor is pieces of 8 rows and 16 bytes each, which is as much of a row as an
//! address goes further at once, with swizzles of up to 8 such. A factor that lies the other way
//! (`mn`) is pieces of 8 places of its rows, and of 16 bytes of what 8 rows have there.

use crate::intrinsic::{Meaning, ProductOp};
use crate::kernel::{Local, Value};
use crate::op::{Call, Operand, Region};
use crate::types::Scalar;

/// The rows of A and of the sums.
pub const N_ROWS: u32 = 64;
/// The rows that a warp has.
pub const N_ROWS_OF_WARP: u32 = 16;
/// The bytes of a row of A.
pub const ROW_BYTES: u32 = 32;
/// The bytes of A that a lane has, where A is in registers.
pub const PART_BYTES: u32 = 16;
/// The rows of a piece, and the places of rows.
const OF_PIECE: u64 = 8;
/// The bytes that lie together whatever the swizzle.
pub const TOGETHER: u32 = 16;

/// A product that a warpgroup begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupProduct {
    /// The sums that a lane has.
    pub sums: Elements,
    /// The left factor.
    pub a: Left,
    /// The right factor.
    pub b: Matrix,
    /// Whether the sums are added to.
    pub accumulate: Value,
    /// The type of the factors.
    pub factor: Scalar,
    /// The columns of B and of the sums.
    pub n: u32,
}

/// Elements of a register tensor, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Elements {
    /// The register tensor.
    pub local: Local,
    /// The first of them.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// The left factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The lanes have it.
    Registers(Elements),
    /// Shared memory has it.
    Shared(Matrix),
}

/// A factor in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Its address, without the swizzle.
    pub pointer: Value,
    /// How it lies there.
    pub lies: Lies,
}

/// How a factor lies in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lies {
    /// Whether its rows lie one behind the other.
    pub is_k_major: bool,
    /// The bytes of a row in which others take their place: 32, 64, 128, or none.
    pub swizzle: u32,
    /// The bytes from a piece to the next along rows, of what is plain; of what lies the other way
    /// and is swizzled, from a row of `swizzle` bytes to the next.
    pub leading: u32,
    /// The bytes from a piece to the next in the other direction.
    pub stride: u32,
}

/// The bytes of each swizzle, in the order of its names.
const SWIZZLES: [u32; 4] = [0, 32, 64, 128];

/// Whether a product begins in a region.
pub fn has_products(region: &Region) -> bool {
    region.any_call(|call| GroupProduct::of(call).is_some())
}

impl Elements {
    /// Whether two have one in common.
    pub fn meet(self, other: Elements) -> bool {
        let end = |one: Elements| one.first + one.count;
        self.local == other.local && self.first < end(other) && other.first < end(self)
    }

    /// Their numbers.
    pub fn numbers(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

impl Lies {
    /// The name of its swizzle.
    pub fn swizzle_name(self) -> &'static str {
        let at = SWIZZLES.iter().position(|bytes| *bytes == self.swizzle).unwrap_or(0);
        crate::intrinsic::SWIZZLES[at]
    }

    /// The name of the way it lies.
    pub const fn major_name(self) -> &'static str {
        if self.is_k_major { "k" } else { "mn" }
    }

    /// As operands of a row.
    pub fn operands(self) -> [Operand; 4] {
        [
            Operand::Word(self.major_name()),
            Operand::Word(self.swizzle_name()),
            Operand::Constant(self.leading.into()),
            Operand::Constant(self.stride.into()),
        ]
    }

    fn of(operands: &[Operand]) -> Option<Lies> {
        let [
            Operand::Word(major),
            Operand::Word(swizzle),
            Operand::Constant(leading),
            Operand::Constant(stride),
        ] = operands
        else {
            return None;
        };
        let swizzle = crate::intrinsic::SWIZZLES.iter().position(|name| name == swizzle)?;
        let bytes = |number: &i64| u32::try_from(*number).ok();
        Some(Lies {
            is_k_major: *major == "k",
            swizzle: SWIZZLES[swizzle],
            leading: bytes(leading)?,
            stride: bytes(stride)?,
        })
    }

    /// The alignment of memory that has a matrix, in bytes: a swizzle asks for what an address is a
    /// multiple of.
    pub const fn align(self) -> u32 {
        match self.swizzle {
            0 => TOGETHER,
            bytes => bytes * OF_PIECE as u32,
        }
    }

    /// The bytes from a matrix's address to the element at that row and place, of so many bytes,
    /// before any swizzle.
    pub const fn offset(self, row: u64, place: u64, bytes: u64) -> u64 {
        let (leading, stride) = (self.leading as u64, self.stride as u64);
        let (swizzle, together) = (self.swizzle as u64, TOGETHER as u64);
        if self.is_k_major {
            let (pitch, further) =
                if swizzle == 0 { (together, leading) } else { (swizzle, together) };
            let byte = place * bytes;
            let in_row = byte / together * further + byte % together;
            return row % OF_PIECE * pitch + row / OF_PIECE * stride + in_row;
        }
        let each = together / bytes;
        let (piece, in_piece) = (row / each, row % each * bytes);
        if swizzle == 0 {
            return in_piece
                + piece * stride
                + place % OF_PIECE * together
                + place / OF_PIECE * leading;
        }
        let n_pieces = swizzle / together;
        in_piece
            + piece % n_pieces * together
            + piece / n_pieces * leading
            + place % OF_PIECE * swizzle
            + place / OF_PIECE * stride
    }

    /// Where a byte is that the swizzle moves.
    pub const fn swizzled(self, address: u64) -> u64 {
        match self.swizzle {
            0 => address,
            bytes => address ^ (address >> 7 & (bytes / TOGETHER - 1) as u64) << 4,
        }
    }

    /// Whether a matrix may begin there: at the first row of those that a swizzle is one of.
    pub fn begins_right(self, address: u64) -> bool {
        self.swizzle == 0 || address % u64::from(self.align()) < u64::from(self.swizzle)
    }

    /// The bits of a descriptor about it, beside the address.
    pub const fn descriptor(self) -> u64 {
        let mode = match self.swizzle {
            128 => 1_u64,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        mode << 62 | (self.stride as u64 >> 4) << 32 | (self.leading as u64 >> 4) << 16
    }
}

impl GroupProduct {
    /// The product of a call; nothing where it is a call of another kind, or has not the operands
    /// of its row.
    pub fn of(call: &Call) -> Option<GroupProduct> {
        let Meaning::Product(ProductOp::Multiply) = call.intrinsic.meaning else { return None };
        let [Operand::Local(sums), Operand::Constant(first), rest @ ..] = &call.operands[..] else {
            return None;
        };
        let at = |first: &i64| u32::try_from(*first).ok();
        match rest {
            [
                Operand::Value(a),
                Operand::Value(b),
                Operand::Value(accumulate),
                Operand::Word(factor),
                Operand::Constant(n),
                lies @ ..,
            ] => {
                let (of_a, of_b) = lies.split_at_checked(4)?;
                let a = Left::Shared(Matrix { pointer: *a, lies: Lies::of(of_a)? });
                let b = Matrix { pointer: *b, lies: Lies::of(of_b)? };
                GroupProduct::new((*sums, at(first)?), a, b, *accumulate, factor, *n)
            }
            [
                Operand::Local(a),
                Operand::Constant(of_a),
                Operand::Value(b),
                Operand::Value(accumulate),
                Operand::Word(factor),
                Operand::Constant(n),
                lies @ ..,
            ] => {
                let count = PART_BYTES / Scalar::parse(factor)?.bytes();
                let a = Left::Registers(Elements { local: *a, first: at(of_a)?, count });
                let b = Matrix { pointer: *b, lies: Lies::of(lies)? };
                GroupProduct::new((*sums, at(first)?), a, b, *accumulate, factor, *n)
            }
            _ => None,
        }
    }

    fn new(
        (local, first): (Local, u32),
        a: Left,
        b: Matrix,
        accumulate: Value,
        factor: &str,
        n: i64,
    ) -> Option<GroupProduct> {
        let n = u32::try_from(n).ok()?;
        let sums = Elements { local, first, count: n / 2 };
        Some(GroupProduct { sums, a, b, accumulate, factor: Scalar::parse(factor)?, n })
    }

    /// How many elements a row of A has.
    pub const fn k(&self) -> u32 {
        ROW_BYTES / self.factor.bytes()
    }

    /// The type of the sums.
    pub const fn sum(&self) -> Scalar {
        if self.factor.is_float() { Scalar::F32 } else { Scalar::I32 }
    }

    /// A, where it is in registers.
    pub const fn part_of_a(&self) -> Option<Elements> {
        match self.a {
            Left::Registers(elements) => Some(elements),
            Left::Shared(_) => None,
        }
    }

    /// Its factors in shared memory.
    pub fn matrices(&self) -> impl Iterator<Item = Matrix> + use<> {
        let a = match self.a {
            Left::Registers(_) => None,
            Left::Shared(matrix) => Some(matrix),
        };
        a.into_iter().chain([self.b])
    }
}

#[cfg(test)]
mod tests {
    use super::Lies;

    fn k_major(swizzle: u32, leading: u32, stride: u32) -> Lies {
        Lies { is_k_major: true, swizzle, leading, stride }
    }

    #[test]
    fn rows_of_128_bytes_lie_one_behind_the_other_and_pieces_behind_them() {
        let lies = k_major(128, 16, 1024);
        assert_eq!(lies.offset(3, 9, 2), 3 * 128 + 18);
        assert_eq!(lies.offset(17, 0, 2), 2 * 1024 + 128);
        assert_eq!(lies.swizzled(3 * 128 + 18), 3 * 128 + 34);
        assert_eq!(lies.align(), 1024);
        assert_eq!(lies.descriptor(), 1 << 62 | 64 << 32 | 1 << 16);
    }

    #[test]
    fn a_matrix_begins_in_the_first_row_of_its_swizzle() {
        let begins = |swizzle, address| k_major(swizzle, 16, 1024).begins_right(address);
        assert_eq!([0, 96, 128, 1024].map(|at| begins(128, at)), [true, true, false, true]);
        assert_eq!([0, 16, 32, 256].map(|at| begins(32, at)), [true, true, false, true]);
        assert!(begins(0, 128));
    }

    #[test]
    fn pieces_of_what_is_plain_are_anywhere() {
        let lies = k_major(0, 128, 256);
        assert_eq!(lies.offset(1, 1, 2), 18);
        assert_eq!(lies.offset(9, 8, 2), 256 + 16 + 128);
        assert_eq!(lies.swizzled(1000), 1000);
        let lies = Lies { is_k_major: false, ..lies };
        assert_eq!(lies.offset(9, 9, 2), 2 + 256 + 16 + 128);
    }

    #[test]
    fn columns_of_128_bytes_lie_one_behind_the_other() {
        let lies = Lies { is_k_major: false, swizzle: 128, leading: 8192, stride: 1024 };
        assert_eq!(lies.offset(9, 0, 2), 18);
        assert_eq!(lies.offset(65, 9, 2), 8192 + 2 + 1024 + 128);
    }
}
