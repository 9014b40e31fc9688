// SPDX-License-Identifier: Apache-2.0
//! Random schedules of products of matrices, each of them right: warps with roles fill stages and
//! multiply what is in them, in whatever tiles, with whatever counts of arrivals. `text` writes
//! each as a kernel of the language: `ring` what says that stages are full and empty, `fill` who
//! fills them, `multiply` who uses them. The interpreter runs it in several orders: nothing may be
//! found, and the sums of small integers are those that are added here. Of 16 schedules,
//!
//! * 8 multiply by warpgroups, of which there are 1 or 2, and the others by 1 to 4 warps;
//! * 6 multiply bfloat16. The others multiply float16, float32, int8 or uint8;
//! * 7 have boxes copied by the device, as one thread begins them, which says before the copies
//!   or behind them how many bytes come. In 6 all threads of the role begin copies of 16 bytes,
//!   which are waited for by them or by an mbarrier, and in 3 they store elements;
//! * 8 have mbarriers and count stages themselves. The others have pipelines, whose participants
//!   count; or consumers have a state, and where they release late another one;
//! * 6 have an mbarrier or a pipeline for each factor, waited for in any order;
//! * 8 release stages a step later. Without pipelines each thread does it, one of each warp or one
//!   of each warpgroup;
//! * 6 write their tiles as boxes, by way of shared memory, and meet at a numbered barrier.
//!
//! There are 2 to 4 stages, and blocks take tile after tile. Sizes are on both sides of tiles.

mod fill;
mod multiply;
mod ring;
mod run;
mod text;

use crate::random_plan::Rng;
use kernpack_kernel_ir::Scalar;

pub use run::{case, read};

/// The bytes of tiles that a block has room for, beside mbarriers.
const MOST_TILE_BYTES: usize = 226 << 10;
/// What threads copy at once, and what rows of tensors are a multiple of that boxes are copied of.
const CHUNK_BYTES: usize = 16;

/// A schedule, with the extents of a product.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Who multiplies.
    unit: Unit,
    /// What factors consist of.
    element: Scalar,
    /// How many units there are along rows and columns.
    atoms: [usize; 2],
    /// The rows and columns of a tile, and the numbers of a row of the factors'.
    tile: [usize; 3],
    stages: usize,
    /// The threads that fill stages. Behind them are those that multiply.
    n_producers: usize,
    n_consumers: usize,
    fill: Fill,
    ring: Ring,
    /// Whether each factor has mbarriers, or a pipeline, of its own.
    is_split: bool,
    /// Which factor is copied first, and which is waited for first.
    orders: [[Factor; 2]; 2],
    release: Release,
    /// Whether a stage is released a step later.
    is_late: bool,
    /// Whether who fills the stages of a pipeline waits at the end until all are empty.
    has_tail: bool,
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
    /// Copies that threads begin. They wait until these are done, or an mbarrier does.
    Copies { waits: bool },
    /// Stores of threads.
    Stores,
}

/// What says that stages are full and empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ring {
    /// Mbarriers, and a state that each thread has.
    Mbarriers,
    /// A pipeline's participants.
    Participants,
    /// A pipeline, of which consumers have a state.
    States,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    A,
    B,
}

/// Who says that a stage is empty again, where there is no pipeline.
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
        let element = match rng.sixteenths(6) {
            true => Scalar::BF16,
            false => rng.pick(&[Scalar::F16, Scalar::F32, Scalar::I8, Scalar::U8]),
        };
        let (atoms, m, n) = unit.shape(&mut rng);
        let k = rng.pick(&[32, 64, 128]) / element.bytes() as usize;
        let (n_producers, n_consumers) = match unit {
            Unit::Warp => (32 * rng.pick(&[1, 2]), 32 * atoms[0] * atoms[1]),
            Unit::Warpgroup => (128, 128 * atoms[0]),
        };
        let releases = [Release::Threads, Release::Warps, Release::Warpgroups];
        let n_releases = if unit == Unit::Warp { 2 } else { 3 };
        let ring = rng.pick(&[Ring::Mbarriers, Ring::Mbarriers, Ring::Participants, Ring::States]);
        let mut schedule = Schedule {
            unit,
            element,
            atoms,
            tile: [m, n, k],
            stages: 2 + rng.below(3),
            n_producers,
            n_consumers,
            fill: unit.fill(&mut rng),
            ring,
            is_split: rng.sixteenths(6),
            orders: [(); 2].map(|()| rng.pick(&[[Factor::A, Factor::B], [Factor::B, Factor::A]])),
            release: rng.pick(&releases[..n_releases]),
            // What a participant has is released in the same turn of a loop.
            is_late: rng.sixteenths(8) && ring != Ring::Participants,
            has_tail: rng.sixteenths(8),
            is_boxed: rng.sixteenths(6),
            elected: [(); 3].map(|()| rng.below(32)),
            n_blocks: 1 + rng.below(3),
            extents: [0; 3],
        };
        let chunk = schedule.chunk();
        schedule.extents = [
            1 + rng.below(m + m / 2),
            4 * (1 + rng.below(n / 2 + 3)),
            chunk * (1 + rng.below(4 * k / chunk)),
        ];
        while schedule.tile_bytes() > MOST_TILE_BYTES {
            schedule.stages -= 1;
        }
        schedule
    }

    /// What the sums are.
    fn sums(&self) -> Scalar {
        if self.element.is_float() { Scalar::F32 } else { Scalar::I32 }
    }

    /// The bytes of a number of the factors.
    fn each(&self) -> usize {
        self.element.bytes() as usize
    }

    /// How many of their numbers are copied at once.
    fn chunk(&self) -> usize {
        CHUNK_BYTES / self.each()
    }

    /// The bytes of tiles in shared memory.
    fn tile_bytes(&self) -> usize {
        let [m, n, k] = self.tile;
        let boxed = if self.is_boxed { m * n * self.sums().bytes() as usize } else { 0 };
        self.stages * (m + n) * k * self.each() + boxed
    }

    /// The threads of a block.
    fn n_threads(&self) -> usize {
        self.n_producers + self.n_consumers
    }

    /// How many arrivals say that a stage is full, and that it is empty.
    fn n_arrivals(&self) -> [usize; 2] {
        let full = match self.fill {
            Fill::Boxes { .. } => 1,
            Fill::Copies { .. } | Fill::Stores => self.n_producers,
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

    /// What fills stages for it. A warpgroup reads what threads that wait have fenced.
    fn fill(self, rng: &mut Rng) -> Fill {
        if rng.sixteenths(7) {
            return Fill::Boxes { says_first: rng.sixteenths(8) };
        }
        let copies = Fill::Copies { waits: rng.sixteenths(5) || self == Unit::Warpgroup };
        rng.pick(&[copies, copies, Fill::Stores])
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
