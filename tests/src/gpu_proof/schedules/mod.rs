// SPDX-License-Identifier: Apache-2.0
//! Random schedules of products of matrices, each of them right: warps with roles fill stages and
//! multiply what is in them, in whatever tiles, with whatever counts of arrivals. `text` writes
//! each as a kernel of the language. The interpreter runs it in several orders: nothing may be
//! found, and the sums of small integers are those that are added here. Of 16 schedules,
//!
//! * 8 multiply by warpgroups, of which there are 1 or 2, and the others by 1 to 4 warps;
//! * 11 have boxes copied by the device, as one thread begins them, which says before the copies
//!   or behind them how many bytes come. In the others all threads of the role store elements;
//! * 6 have an mbarrier for each factor, waited for in any order;
//! * all release stages by each thread, by one of each warp or by one of each warpgroup, at once
//!   or a step later;
//! * 6 write their tiles as boxes, by way of shared memory, and meet at a numbered barrier.
//!
//! There are 2 to 4 stages, and blocks take tile after tile. Sizes are on both sides of tiles.

mod run;
mod text;

use crate::random_plan::Rng;

pub use run::{case, read};

/// The bytes of tiles that a block has room for, beside mbarriers.
const MOST_TILE_BYTES: usize = 226 << 10;

/// A schedule, with the extents of a product.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Who multiplies.
    unit: Unit,
    /// How many units there are along rows and columns.
    atoms: [usize; 2],
    /// The rows and columns of a tile, and the numbers of a row of the factors'.
    tile: [usize; 3],
    stages: usize,
    /// The threads that fill stages. Behind them are those that multiply.
    n_producers: usize,
    n_consumers: usize,
    fill: Fill,
    /// Whether each factor has mbarriers of its own.
    is_split: bool,
    /// Which factor is copied first, and which is waited for first.
    orders: [[Factor; 2]; 2],
    release: Release,
    /// Whether a stage is released a step later.
    is_late: bool,
    /// Whether tiles are written as boxes.
    is_boxed: bool,
    /// The lanes that begin copies, make mbarriers and release stages.
    elected: [usize; 3],
    n_blocks: usize,
    /// The rows and columns of the result, and the numbers of a row of the factors.
    extents: [usize; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Warp,
    Warpgroup,
}

/// What fills stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// Copies of boxes, whose bytes are said before they begin, or behind that.
    Boxes { says_first: bool },
    /// Stores of threads.
    Stores,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    A,
    B,
}

/// Who says that a stage is empty again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    Threads,
    Warps,
    Warpgroups,
}

impl Schedule {
    /// That of a seed.
    pub fn draw(seed: u64) -> Schedule {
        let mut rng = Rng::new(seed);
        let unit = rng.pick(&[Unit::Warp, Unit::Warpgroup]);
        let (atoms, m, n) = unit.shape(&mut rng);
        let k = rng.pick(&[16, 32, 64]);
        let (n_producers, n_consumers) = match unit {
            Unit::Warp => (32 * rng.pick(&[1, 2]), 32 * atoms[0] * atoms[1]),
            Unit::Warpgroup => (128, 128 * atoms[0]),
        };
        let fill = match rng.sixteenths(11) {
            true => Fill::Boxes { says_first: rng.sixteenths(8) },
            false => Fill::Stores,
        };
        let releases = [Release::Threads, Release::Warps, Release::Warpgroups];
        let n_releases = if unit == Unit::Warp { 2 } else { 3 };
        let orders = [(); 2].map(|()| rng.pick(&[[Factor::A, Factor::B], [Factor::B, Factor::A]]));
        let extents =
            [1 + rng.below(m + m / 2), 4 * (1 + rng.below(n / 2 + 3)), 8 * (1 + rng.below(k / 2))];
        let mut schedule = Schedule {
            unit,
            atoms,
            tile: [m, n, k],
            stages: 2 + rng.below(3),
            n_producers,
            n_consumers,
            fill,
            is_split: rng.sixteenths(6),
            orders,
            release: rng.pick(&releases[..n_releases]),
            is_late: rng.sixteenths(8),
            is_boxed: rng.sixteenths(6),
            elected: [(); 3].map(|()| rng.below(32)),
            n_blocks: 1 + rng.below(3),
            extents,
        };
        while schedule.tile_bytes() > MOST_TILE_BYTES {
            schedule.stages -= 1;
        }
        schedule
    }

    /// The bytes of tiles in shared memory.
    fn tile_bytes(&self) -> usize {
        let [m, n, k] = self.tile;
        self.stages * (m + n) * k * 2 + if self.is_boxed { m * n * 4 } else { 0 }
    }

    /// The threads of a block.
    fn n_threads(&self) -> usize {
        self.n_producers + self.n_consumers
    }

    /// How many arrivals say that a stage is full, and that it is empty.
    fn n_arrivals(&self) -> [usize; 2] {
        let full = match self.fill {
            Fill::Boxes { .. } => 1,
            Fill::Stores => self.n_producers,
        };
        let each = match self.release {
            Release::Threads => 1,
            Release::Warps => 32,
            Release::Warpgroups => 128,
        };
        [full, self.n_consumers / each]
    }
}

impl Unit {
    /// How many there are along rows and columns, and the rows and columns of their tile.
    fn shape(self, rng: &mut Rng) -> ([usize; 2], usize, usize) {
        match self {
            Unit::Warp => {
                let atoms = rng.pick(&[[1, 1], [2, 1], [1, 2], [2, 2], [4, 1]]);
                let [m, n] = atoms.map(|count| 16 * count * rng.pick(&[1, 2]));
                (atoms, m, n)
            }
            Unit::Warpgroup => {
                let count = rng.pick(&[1, 2]);
                ([count, 1], 64 * count * rng.pick(&[1, 1, 2]), rng.pick(&[16, 32, 64, 128]))
            }
        }
    }
}

impl Factor {
    fn name(self) -> &'static str {
        match self {
            Factor::A => "a",
            Factor::B => "b",
        }
    }
}
