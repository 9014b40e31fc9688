// SPDX-License-Identifier: Apache-2.0
//! Matrices that the lanes of a warp hold together: products, of which every sum is made of all its
//! terms at once ([`sums`](super::sums)), and loads and stores, in which each lane reads or writes
//! a row for others.

use super::execute::Execution;
use super::finding::Kind;
use super::step::{Access, Register};
use super::sums::{Terms, sum};
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
        let rows = self.factors(product.a, N_ROWS);
        let columns = self.factors(product.b, N_COLUMNS);
        let mut is_exact = self.machine.is_exact;
        let mut sums = [[0; LANES]; N_OF_ROW * (N_ROWS / N_COLUMNS)];
        for (row, a) in rows.iter().enumerate() {
            for (column, b) in columns.iter().enumerate() {
                let (lane, register) = place_of_sum(row, column);
                let added = self.element((scalar, c), (lane, register));
                sums[register as usize][lane] = sum(added, a, b, &mut is_exact).bits();
            }
        }
        self.machine.is_exact = is_exact;
        (product.out..).zip(sums).for_each(|(out, lanes)| self.set(out, lanes));
    }

    /// The rows of A, or the columns of B.
    fn factors(&self, (scalar, first): (Scalar, Register), n_rows: usize) -> Vec<Terms> {
        let bytes = scalar.bytes() as usize;
        let terms = |row| {
            let places = (0..ROW_BYTES / bytes).map(|at| place_of_factor(row, at, bytes, n_rows));
            Terms::of(places.map(|at| self.element((scalar, first), at)))
        };
        (0..n_rows).map(terms).collect()
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
