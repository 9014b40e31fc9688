// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together: products, of which every sum is made of all its
//! terms at once, and loads and stores, in which each lane reads or writes a row for others.
//!
//! A GPU adds in an order, and with roundings, that nobody promises. So a product is exact where
//! every order gives the same: where all terms are multiples of one power of two, and no sum of
//! their magnitudes has more bits than the type. Small integers are such numbers.

use super::execute::Execution;
use super::finding::Kind;
use super::step::{Access, Register};
use super::warp::LANES;
use crate::constant::Const;
use crate::intrinsic::{Intrinsic, N_COLUMNS, N_MATRIX_ROWS, N_OF_ROW, N_ROWS, ROW_BYTES};
use crate::types::Scalar;

/// A deed of a warp about matrices.
#[derive(Clone, Copy, Debug)]
pub(super) enum MatrixStep {
    Multiply(Product),
    Load(Matrices),
    Store(Matrices),
}

/// A product of matrices, of which each lane has a part in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub row: &'static Intrinsic,
    pub a: (Scalar, Register),
    pub b: (Scalar, Register),
    /// The sums that it is added to.
    pub c: (Scalar, Register),
    pub out: Register,
}

/// Matrices that are loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrices {
    pub row: &'static Intrinsic,
    /// The access to a row: lane `l` has the address of that of matrix `l / 8`.
    pub access: Access,
    /// The numbers of a row, in registers of its own.
    pub numbers: Register,
    /// How many matrices.
    pub count: u32,
    /// Whether each column is a row in memory.
    pub by_columns: bool,
    /// The lanes' parts.
    pub parts: Register,
}

/// The lanes that have a row, or a column.
const LANES_OF_ROW: usize = 4;
/// The bytes that a lane has of a row at once.
const BYTES_AT_ONCE: usize = 4;

/// Where the element of a matrix is: which lane has it, and which of its registers.
type At = (usize, u32);

/// Where the element of that row and place of A is. Columns of B are as rows of A above the eighth.
pub(super) fn place_of_factor(row: usize, at: usize, bytes: usize, n_rows: usize) -> At {
    let byte = at * bytes;
    let half = byte / (BYTES_AT_ONCE * LANES_OF_ROW);
    let lane = row % N_COLUMNS * LANES_OF_ROW + byte / BYTES_AT_ONCE % LANES_OF_ROW;
    let group = half * (n_rows / N_COLUMNS) + row / N_COLUMNS;
    let register = group * (BYTES_AT_ONCE / bytes) + byte % BYTES_AT_ONCE / bytes;
    (lane, register as u32)
}

/// Where the element of that row and column of a product is.
fn place_of_sum(row: usize, column: usize) -> At {
    let lane = row % N_COLUMNS * LANES_OF_ROW + column / N_OF_ROW;
    (lane, (row / N_COLUMNS * N_OF_ROW + column % N_OF_ROW) as u32)
}

impl Execution<'_, '_> {
    pub fn matrix(&mut self, step: &MatrixStep) {
        match step {
            MatrixStep::Multiply(product) => self.multiply(product),
            MatrixStep::Load(matrices) => self.load_matrices(matrices),
            MatrixStep::Store(matrices) => self.store_matrices(matrices),
        }
    }

    /// The lanes multiply two matrices, and add a third.
    fn multiply(&mut self, product: &Product) {
        self.require_warp(product.row);
        let (scalar, c) = product.c;
        let length = ROW_BYTES / product.a.0.bytes() as usize;
        let mut sums = [[0; LANES]; N_OF_ROW * (N_ROWS / N_COLUMNS)];
        for row in 0..N_ROWS {
            for column in 0..N_COLUMNS {
                let (lane, register) = place_of_sum(row, column);
                let added = self.element((scalar, c), (lane, register));
                let terms = (0..length).map(|at| {
                    let place = |(scalar, _): (Scalar, Register), row, n_rows| {
                        place_of_factor(row, at, scalar.bytes() as usize, n_rows)
                    };
                    let a = self.element(product.a, place(product.a, row, N_ROWS));
                    let b = self.element(product.b, place(product.b, column, N_COLUMNS));
                    (a, b)
                });
                let (sum, is_exact) = match scalar.is_float() {
                    true => float_sum(added, terms),
                    false => (int_sum(added, terms), true),
                };
                self.machine.is_exact &= is_exact;
                sums[register as usize][lane] = sum.bits();
            }
        }
        (product.out..).zip(sums).for_each(|(out, lanes)| self.set(out, lanes));
    }

    /// The element that a lane has in one of several registers.
    fn element(&self, (scalar, first): (Scalar, Register), (lane, register): At) -> Const {
        Const::from_bits(scalar, self.warp.file[(first + register) as usize][lane])
    }

    /// Lanes read rows of matrices, and get their parts.
    fn load_matrices(&mut self, matrices: &Matrices) {
        self.require_warp(matrices.row);
        self.load_for(&matrices.access, matrices.numbers, matrices.readers());
        for (part, whole) in matrices.parts_and_wholes() {
            let value = self.warp.file[whole.1 as usize][whole.0];
            self.warp.file[part.1 as usize][part.0] = value;
        }
    }

    /// Lanes give their parts of matrices, and write rows.
    fn store_matrices(&mut self, matrices: &Matrices) {
        self.require_warp(matrices.row);
        for (part, whole) in matrices.parts_and_wholes() {
            let value = self.warp.file[part.1 as usize][part.0];
            self.warp.file[whole.1 as usize][whole.0] = value;
        }
        self.store_for(&matrices.access, matrices.numbers, matrices.readers());
    }

    /// All lanes come, and none of the warp is missing.
    pub fn require_warp(&mut self, row: &Intrinsic) {
        let name = format!("`{}`", row.name);
        if self.require_all(Kind::DivergentExchange, &name) && self.warp.lanes != u32::MAX {
            let n_lanes = self.warp.lanes.count_ones();
            let message = format!("{name} takes a whole warp, and this one has {n_lanes} threads");
            self.find(Kind::DivergentExchange, self.first_lane(), None, message);
        }
    }
}

impl Matrices {
    /// The lanes whose addresses count.
    fn readers(&self) -> u32 {
        u32::MAX >> (LANES as u32 - self.count * N_MATRIX_ROWS as u32)
    }

    /// Each number of each matrix: where a lane has it as its part, and where the lane has it that
    /// has the row's address.
    fn parts_and_wholes(&self) -> impl Iterator<Item = (At, At)> + use<> {
        let Matrices { numbers, count, by_columns, parts, .. } = *self;
        (0..count).flat_map(move |matrix| {
            (0..LANES * N_OF_ROW).map(move |number| {
                let (lane, which) = (number / N_OF_ROW, number % N_OF_ROW);
                let part = (lane, parts + matrix * N_OF_ROW as u32 + which as u32);
                let [row, column] = [lane / LANES_OF_ROW, lane % LANES_OF_ROW * N_OF_ROW + which];
                let [row, column] = if by_columns { [column, row] } else { [row, column] };
                let reader = matrix as usize * N_MATRIX_ROWS + row;
                (part, (reader, numbers + column as u32))
            })
        })
    }
}

/// The sum of integers, which wraps around.
pub(super) fn int_sum(added: Const, terms: impl Iterator<Item = (Const, Const)>) -> Const {
    let number = |one: Const| one.as_int().unwrap_or_default();
    let sum = terms.fold(number(added), |sum, (a, b)| sum.wrapping_add(number(a) * number(b)));
    Const::int(added.scalar(), sum)
}

/// The sum of floats, and whether every order of adding gives the same.
pub(super) fn float_sum(
    added: Const,
    terms: impl Iterator<Item = (Const, Const)>,
) -> (Const, bool) {
    let mut sum = number(added);
    let (mut magnitude, mut unit) = (sum.abs(), unit_of(sum));
    for (a, b) in terms {
        let product = factor(a) * factor(b);
        sum += product;
        magnitude += product.abs();
        unit = unit.min(unit_of(product));
    }
    let most = unit * f64::from(1_u32 << f32::MANTISSA_DIGITS);
    let is_exact = magnitude <= most && unit >= f64::from(f32::MIN_POSITIVE);
    (Const::float(added.scalar(), sum), is_exact && magnitude <= f64::from(f32::MAX))
}

fn number(of: Const) -> f64 {
    of.as_float().unwrap_or_default()
}

/// A factor as it is multiplied: of a float32 the bits of its mantissa that a product takes.
fn factor(of: Const) -> f64 {
    match of.scalar() {
        Scalar::F32 => number(Const::from_bits(Scalar::F32, round_to_tf32(of.bits()))),
        _ => number(of),
    }
}

/// The bits of a float32 whose mantissa has 10 bits, the nearest one, ties away from 0.
fn round_to_tf32(bits: u64) -> u64 {
    const DROPPED: u64 = 13;
    let is_finite = f32::from_bits(bits as u32).is_finite();
    let half = if is_finite { 1 << (DROPPED - 1) } else { 0 };
    (bits + half) >> DROPPED << DROPPED
}

/// The largest power of two that a number is a multiple of; infinity where it is 0.
fn unit_of(number: f64) -> f64 {
    if number == 0.0 {
        return f64::INFINITY;
    }
    let mantissa = number.to_bits() & ((1 << 52) - 1);
    let below = if mantissa == 0 { 52 } else { mantissa.trailing_zeros() as i32 };
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    2.0_f64.powi(exponent - 52 + below)
}

#[cfg(test)]
mod tests {
    use super::{float_sum, round_to_tf32, unit_of};
    use crate::constant::Const;
    use crate::types::Scalar;

    /// Whether a sum of float32s and of products by one is the same in every order, and the sum.
    fn sum(added: f64, terms: &[f64]) -> (f64, bool) {
        let float = |number| Const::float(Scalar::F16, number);
        let added = Const::float(Scalar::F32, added);
        let (sum, is_exact) = float_sum(added, terms.iter().map(|term| (float(*term), float(1.0))));
        (sum.as_float().unwrap_or_default(), is_exact)
    }

    #[test]
    fn sums_are_exact_where_every_order_gives_the_same() {
        let (least, most) = (2.0_f64.powi(-20), f64::from(1 << 24));
        assert_eq!(sum(0.0, &[]), (0.0, true));
        assert_eq!(sum(1.0, &[2.0, -3.0]), (0.0, true));
        assert_eq!(sum(0.25, &[8.0, -0.5]), (7.75, true));
        assert_eq!(sum(most - 1.0, &[1.0]), (most, true));
        assert_eq!(sum(most - 1.0, &[1.0, 1.0]), (most, false));
        assert_eq!(sum(1.0, &[least, 2.0]), (3.0 + least, true));
        assert_eq!(sum(16.0, &[least]), (16.0, false));
        // In another order the least is lost.
        assert_eq!(sum(16.0, &[least, -16.0]), (least, false));
        let tiny = f64::from(f32::MIN_POSITIVE);
        assert_eq!(sum(tiny, &[]), (tiny, true));
        assert_eq!(sum(tiny / 2.0, &[]), (tiny / 2.0, false));
        assert!(!sum(1.0, &[f64::INFINITY]).1);
        assert!(!sum(f64::NAN, &[]).1);
    }

    #[test]
    fn the_unit_of_a_number_is_its_lowest_bit() {
        let units = [1.0, -6.0, 0.75, 3.0 * 2.0_f64.powi(-40), 0.0].map(unit_of);
        assert_eq!(units, [1.0, 2.0, 0.25, 2.0_f64.powi(-40), f64::INFINITY]);
    }

    #[test]
    fn factors_of_32_bits_are_rounded_to_the_nearest_of_19() {
        let rounded = |bits: u32| round_to_tf32(bits.into());
        assert_eq!(rounded(0x3f80_0fff), 0x3f80_0000);
        assert_eq!(rounded(0x3f80_1000), 0x3f80_2000);
        assert_eq!(rounded(0xbf80_1000), 0xbf80_2000);
        assert_eq!(rounded(0x3f80_3000), 0x3f80_4000);
        assert_eq!(rounded(0x7f7f_ffff), 0x7f80_0000);
        assert_eq!(rounded(0x7f80_0000), 0x7f80_0000);
        assert_eq!(rounded(0x7fc0_1fff), 0x7fc0_0000);
    }
}
