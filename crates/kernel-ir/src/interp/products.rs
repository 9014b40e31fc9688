// SPDX-License-Identifier: Apache-2.0
//! Products that the four warps of a warpgroup make together. One is an agent beside the warps: it
//! reads shared memory, by the asynchronous proxy, at any time from where the first warp begins it
//! until a wait sees that it is done. Meanwhile that is marked in shadow memory. Behind a wait, its
//! reads are the deed of an agent that stands for the warpgroup, at the number of its group as a
//! time, and who waits learns that time of the agent.
//!
//! A warp has its rows of the sums, of which each is made of all its terms at once (`matrix.rs`),
//! when it begins: nobody looks before a wait, which is a rule of kernels (`verify/products`). A
//! wait goes on when all four warps have made the groups that it waits for.

use super::access::{Deed, Fault, Faulty, now};
use super::atomic::new_orders;
use super::bulk::{End, N_AGENTS, Touched};
use super::clock::{self, Clock, Event, Now};
use super::execute::{Execution, Machine};
use super::finding::Kind;
use super::flight::{By, Mark};
use super::marks::Rows;
use super::matrix::place_of_factor;
use super::memory::{fetch, put};
use super::shadow::Way;
use super::step::{Access, Register};
use super::sums::{Terms, sum};
use super::warp::{Block, LANES, Status, Warp};
use crate::constant::Const;
use crate::group_product::{Elements, Lies, N_ROWS, N_ROWS_OF_WARP, ROW_BYTES, TOGETHER};
use crate::intrinsic::Intrinsic;
use crate::types::{Scalar, Space};
use kernpack_machine::block::{MOST_WARPS, WARPGROUP_SIZE, WARPGROUP_WARPS};
use std::collections::VecDeque;
use std::ops::Range;

/// The most warpgroups of a block.
pub(super) const N_WARPGROUPS: u32 = MOST_WARPS / WARPGROUP_WARPS;
const N_WARPS: usize = WARPGROUP_WARPS as usize;

/// A deed about products.
#[derive(Clone, Debug)]
pub(super) enum ProductStep {
    /// Registers are not looked at before a product begins.
    Fence,
    Begin(Box<GroupMultiply>),
    Commit,
    /// Waits for all but so many groups.
    Wait(u64),
}

/// A product that begins.
#[derive(Clone, Debug)]
pub(super) struct GroupMultiply {
    pub row: &'static Intrinsic,
    pub sums: Elements,
    pub a: LeftFactor,
    /// The right factor, and how it lies.
    pub b: (Access, Lies),
    /// Whether the sums are added to.
    pub accumulate: Register,
    pub factor: Scalar,
    /// The columns.
    pub n: u32,
}

/// The left factor.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeftFactor {
    Registers(Elements),
    Shared((Access, Lies)),
}

/// The warpgroups of a block.
pub(super) type Warpgroups = [Warpgroup; N_WARPGROUPS as usize];

/// The products of a warpgroup.
#[derive(Clone, Debug, Default)]
pub(super) struct Warpgroup {
    warps: [OfWarp; N_WARPS],
    /// Those that no wait has seen, the earliest first.
    in_flight: VecDeque<InFlight>,
    /// How many are done.
    n_done: u64,
    /// The last group of which one is done.
    last_done: u64,
}

/// The deeds of a warp so far.
#[derive(Clone, Copy, Debug, Default)]
struct OfWarp {
    n_products: u64,
    n_groups: u64,
}

/// A product in flight.
#[derive(Clone, Debug)]
struct InFlight {
    /// The number of its group, from 1.
    group: u64,
    meant: Meant,
    mark: Mark,
    /// The cells of arrays that it reads.
    reads: Vec<(u32, Rows)>,
}

/// All that warps have to mean alike: where factors are, and whether the sums are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meant {
    a: Option<(u32, u64)>,
    b: (u32, u64),
    accumulate: bool,
}

impl Warpgroup {
    /// The first warp that has not made so many groups.
    fn missing(&self, n_groups: u64) -> Option<usize> {
        self.warps.iter().position(|warp| warp.n_groups < n_groups)
    }
}

/// Whether it is the deed of an agent that stands for a warpgroup.
pub(super) fn is_of_warpgroup(event: Event) -> bool {
    event.warp >= N_AGENTS
}

/// The warpgroup of a warp, and which one of it that is.
fn place_of(warp: u32) -> (usize, usize) {
    ((warp / WARPGROUP_WARPS) as usize, (warp % WARPGROUP_WARPS) as usize)
}

impl Execution<'_, '_> {
    /// The warp does something about products.
    pub fn product(&mut self, step: &ProductStep) {
        match step {
            ProductStep::Fence => {}
            ProductStep::Begin(product) => self.begin_product(product),
            ProductStep::Commit => self.own_products().n_groups += 1,
            ProductStep::Wait(n_left) => return self.wait_for_products(*n_left),
        }
        self.warp.pc += 1;
    }

    fn own_products(&mut self) -> &mut OfWarp {
        let (group, warp) = place_of(self.warp.index);
        &mut self.block.warpgroups[group].warps[warp]
    }

    /// The next group of products that the warp makes, as a deed of the agent of its warpgroup.
    pub fn next_group(&self) -> Event {
        let (group, warp) = place_of(self.warp.index);
        let block = self.machine.agents_of(self.block.number);
        let time = self.block.warpgroups[group].warps[warp].n_groups + 1;
        Event { block, warp: N_AGENTS + group as u32, lane: 0, time }
    }

    fn begin_product(&mut self, product: &GroupMultiply) {
        self.require_warpgroup(product.row);
        self.warp.outside.access(self.place(), self.warp.active);
        let first_lane = self.first_lane();
        let at = |(access, _): &(Access, Lies)| {
            let [id, offset] =
                [0, 1].map(|i| self.warp.file[access.pointer as usize + i][first_lane]);
            (id as u32, offset)
        };
        let a = match &product.a {
            LeftFactor::Registers(_) => None,
            LeftFactor::Shared(a) => Some(at(a)),
        };
        let accumulate = self.warp.file[product.accumulate as usize][first_lane] & 1 == 1;
        let meant = Meant { a, b: at(&product.b), accumulate };
        self.join_product(product, meant);
        let n_rows = N_ROWS_OF_WARP;
        let left = match &product.a {
            LeftFactor::Registers(elements) => self.part_of_a(product, *elements),
            LeftFactor::Shared(a) => {
                let first = place_of(self.warp.index).1 as u32 * n_rows;
                self.read_factor(a, meant.a.unwrap_or_default(), first..first + n_rows, product)
            }
        };
        let right = self.read_factor(&product.b, meant.b, 0..product.n, product);
        self.make_sums(product, accumulate, [&left, &right]);
        self.pass_time();
    }

    /// The warpgroup has four whole warps. That all of their lanes come is verified.
    fn require_warpgroup(&mut self, row: &'static Intrinsic) {
        let end = (self.warp.index / WARPGROUP_WARPS + 1) * WARPGROUP_SIZE;
        if end > self.machine.n_threads {
            let message = format!(
                "`{}` takes a whole warpgroup, and a block of {} threads ends in this one",
                row.name, self.machine.n_threads
            );
            self.find(Kind::DivergentExchange, self.first_lane(), None, message);
        }
    }

    /// The first warp that comes has the product in flight. The others mean the same.
    fn join_product(&mut self, product: &GroupMultiply, meant: Meant) {
        let (group, warp) = place_of(self.warp.index);
        let own = self.block.warpgroups[group].warps[warp];
        self.own_products().n_products += 1;
        let warpgroup = &self.block.warpgroups[group];
        let number = own.n_products.saturating_sub(warpgroup.n_done) as usize;
        if let Some(begun) = warpgroup.in_flight.get(number) {
            if begun.meant != meant {
                let message = "the warps of a warpgroup begin different products".to_owned();
                self.find(Kind::DivergentExchange, self.first_lane(), None, message);
            }
            return;
        }
        let event = now!(self.warp, self.block, self.cluster).event(self.first_lane() as u32);
        let mark = Mark { writes: false, event, site: product.b.0.site, by: By::Product };
        let mut reads = Vec::new();
        if let (LeftFactor::Shared((_, lies)), Some(at)) = (&product.a, meant.a) {
            reads.push((at.0, self.cells_of(at, *lies, N_ROWS, product.factor)));
        }
        let of_b = self.cells_of(meant.b, product.b.1, product.n, product.factor);
        reads.push((meant.b.0, of_b));
        for (id, rows) in &reads {
            self.cluster.shared[*id as usize].1.marks.add_rows(rows.clone(), mark);
        }
        let in_flight = InFlight { group: own.n_groups + 1, meant, mark, reads };
        self.block.warpgroups[group].in_flight.push_back(in_flight);
    }

    /// The cells of a factor, as far as there are such.
    fn cells_of(&self, (id, first): (u32, u64), lies: Lies, n_rows: u32, factor: Scalar) -> Rows {
        let (memory, shadow) = &self.cluster.shared[id as usize];
        let offsets = pieces(lies, first, 0..n_rows, factor);
        let inside = offsets.filter(|offset| memory.has(*offset, TOGETHER));
        Rows::new(inside.map(|offset| shadow.cells(offset, TOGETHER)))
    }

    /// Why a machine swizzles the addresses of a factor otherwise, if it does.
    fn misplaced(&self, lies: Lies, (id, first): (u32, u64)) -> Option<String> {
        let memory = &self.cluster.shared[id as usize].0;
        let (name, swizzle, align) = (&memory.name, lies.swizzle, lies.align());
        if !memory.is_aligned(0, align) {
            let found = memory.align;
            return Some(format!(
                "`{name}` is aligned to {found} bytes, and a swizzle of {swizzle} asks for {align}"
            ));
        }
        (!lies.begins_right(first)).then(|| {
            format!(
                "a factor with a swizzle of {swizzle} begins at byte {first} of `{name}`, in no first one of 8 rows"
            )
        })
    }

    /// Rows of a factor in shared memory, one behind the other.
    fn read_factor(
        &mut self,
        (access, lies): &(Access, Lies),
        (id, first): (u32, u64),
        rows: Range<u32>,
        product: &GroupMultiply,
    ) -> Vec<Const> {
        let lane = self.first_lane();
        if let Some(message) = self.misplaced(*lies, (id, first)) {
            self.find(Kind::MisalignedAccess, lane, None, message);
        }
        let piece = Access { count: TOGETHER, align: TOGETHER, ..*access };
        let spans: Vec<_> = pieces(*lies, first, rows.clone(), product.factor)
            .map(|offset| (offset, TOGETHER))
            .collect();
        let offset = spans.first().map_or(first, |span| span.0);
        let (end, way) = (End { is_global: false, id, offset }, Way::AsyncRead);
        self.check_end(&piece, &Touched { end, spans, way, by: By::Product }, lane);
        let (memory, bytes) = (&self.cluster.shared[id as usize].0, product.factor.bytes());
        let (mut read, mut is_exact) = (Vec::new(), true);
        for row in rows {
            for place in 0..ROW_BYTES / bytes {
                let at = lies.offset(row.into(), place.into(), bytes.into());
                let at = lies.swizzled(first.wrapping_add(at));
                let bits = match memory.has(at, bytes) {
                    true => fetch(&memory.bytes, at as usize, product.factor),
                    false => 0,
                };
                read.push(factor_of(product.factor, bits, &mut is_exact));
            }
        }
        self.machine.is_exact &= is_exact;
        read
    }

    /// The warp's rows of a left factor in registers, one behind the other.
    fn part_of_a(&mut self, product: &GroupMultiply, elements: Elements) -> Vec<Const> {
        let bytes = product.factor.bytes();
        let (mut read, mut is_exact) = (Vec::new(), true);
        for row in 0..N_ROWS_OF_WARP as usize {
            for place in 0..(ROW_BYTES / bytes) as usize {
                let (lane, register) =
                    place_of_factor(row, place, bytes as usize, N_ROWS_OF_WARP as usize);
                let bits = self.register(product, elements, (lane, register), true);
                read.push(factor_of(product.factor, bits, &mut is_exact));
            }
        }
        self.machine.is_exact &= is_exact;
        read
    }

    /// An element of a register tensor of a lane.
    fn register(
        &mut self,
        product: &GroupMultiply,
        elements: Elements,
        (lane, register): (usize, u32),
        is_read: bool,
    ) -> u64 {
        let id = elements.local.0;
        let scalar = self.machine.program.kernel.locals[elements.local.index()].element;
        let local = &self.warp.locals[id as usize];
        let offset = ((elements.first + register) * scalar.bytes()) as usize;
        let at = lane * local.size + offset;
        let bits = fetch(&local.bytes, at, scalar);
        if is_read && !local.written.has_all(at, scalar.bytes()) {
            let access = Access {
                space: Space::Local,
                pointer: product.accumulate,
                scalar,
                count: 1,
                align: scalar.bytes(),
                site: product.b.0.site,
            };
            let faulty = Faulty { lane, offset: offset as u64, fault: Fault::Unwritten };
            self.report(&access, id, Deed::Reads, &[faulty]);
        }
        bits
    }

    /// The warp's rows of the sums.
    fn make_sums(&mut self, product: &GroupMultiply, accumulate: bool, factors: [&[Const]; 2]) {
        let sums = product.sums;
        let k = (ROW_BYTES / product.factor.bytes()) as usize;
        let scalar = self.machine.program.kernel.locals[sums.local.index()].element;
        let terms = |row: &[Const]| Terms::of(row.iter().copied());
        let [left, right] = factors.map(|rows| rows.chunks(k).map(terms).collect::<Vec<_>>());
        let mut is_exact = self.machine.is_exact;
        for (row, a) in left.iter().enumerate() {
            for (column, b) in right.iter().enumerate() {
                let at = place_of_sum(row, column);
                let bits = match accumulate {
                    true => self.register(product, sums, at, true),
                    false => 0,
                };
                let sum = sum(Const::from_bits(scalar, bits), a, b, &mut is_exact);
                let local = &mut self.warp.locals[sums.local.index()];
                let offset = ((sums.first + at.1) * scalar.bytes()) as usize;
                let at = at.0 * local.size + offset;
                put(&mut local.bytes, at, scalar, sum.bits());
                local.written.set(at, scalar.bytes());
            }
        }
        self.machine.is_exact = is_exact;
    }

    /// Waits for all but the last groups of the warp. While others have yet to make those that it
    /// waits for, the step is run again later.
    fn wait_for_products(&mut self, n_left: u64) {
        let n_groups = self.own_products().n_groups.saturating_sub(n_left);
        let (group, _) = place_of(self.warp.index);
        if self.block.warpgroups[group].missing(n_groups).is_some() {
            return self.block_on(Status::Products { pc: self.warp.pc, n_groups });
        }
        self.land_products(group, n_groups);
        let agents = self.machine.agents_of(self.block.number);
        let mut clock = Clock::default();
        // Groups without products are done at once, whoever has made them.
        let seen = n_groups.min(self.block.warpgroups[group].last_done);
        clock.learn_agent(agents, N_AGENTS + group as u32, seen + 1);
        clock::teach(self.warp.orders.get_or_insert_with(new_orders), &clock);
        self.warp.pc += 1;
    }

    /// Products of the first groups are done.
    fn land_products(&mut self, group: usize, n_groups: u64) {
        let agents = self.machine.agents_of(self.block.number);
        let warpgroup = &mut self.block.warpgroups[group];
        let n_done = warpgroup.in_flight.partition_point(|one| one.group <= n_groups);
        warpgroup.n_done += n_done as u64;
        for done in warpgroup.in_flight.drain(..n_done) {
            let (time, warp) = (done.group, N_AGENTS + group as u32);
            warpgroup.last_done = time;
            let (block_known, warp_known, orders) = (0, 0, None);
            let agent =
                Now { block: agents, warp, time, block_known, warp_known, orders, peers: &[] };
            let key = self.machine.packing.pack(Way::AsyncRead, &agent, done.mark.site);
            self.machine.issuers.insert((agents, warp, done.mark.site), done.mark.event);
            for (id, rows) in done.reads {
                let shadow = &mut self.cluster.shared[id as usize].1;
                shadow.marks.remove_rows(done.mark);
                for cell in rows.iter().flatten() {
                    shadow.read(cell, key, 0, &agent);
                }
            }
        }
    }
}

/// Where the bytes begin that lie together of rows of a factor at that place.
fn pieces(lies: Lies, first: u64, rows: Range<u32>, factor: Scalar) -> impl Iterator<Item = u64> {
    let bytes = factor.bytes();
    let each = (TOGETHER / bytes) as usize;
    let (of_rows, of_places) = if lies.is_k_major { (1, each) } else { (each, 1) };
    rows.step_by(of_rows).flat_map(move |row| {
        (0..ROW_BYTES / bytes).step_by(of_places).map(move |place| {
            let at = lies.offset(row.into(), place.into(), bytes.into());
            lies.swizzled(first.wrapping_add(at))
        })
    })
}

/// A factor as a product takes it: a float32 without the last 13 bits of its mantissa. What a GPU
/// makes of these nobody promises.
fn factor_of(scalar: Scalar, bits: u64, is_exact: &mut bool) -> Const {
    const DROPPED: u64 = 0x1fff;
    if scalar != Scalar::F32 {
        return Const::from_bits(scalar, bits);
    }
    *is_exact &= bits & DROPPED == 0;
    Const::from_bits(scalar, bits & !DROPPED)
}

/// Where the sum of that row of a warp and that column is: which lane has it, and which of its
/// registers.
fn place_of_sum(row: usize, column: usize) -> (usize, u32) {
    let lane = row % 8 * 4 + column % 8 / 2;
    (lane % LANES, (column / 8 * 4 + row / 8 * 2 + column % 2) as u32)
}

/// Warps look again that wait for groups which all four warps have made. Who made one last has
/// moved in the same sweep.
pub(super) fn pass_products(block: &Block, warps: &mut [Warp]) {
    for warp in warps {
        let Status::Products { n_groups, .. } = warp.status else { continue };
        if block.warpgroups[place_of(warp.index).0].missing(n_groups).is_none() {
            warp.status = Status::Ready;
        }
    }
}

/// The groups that a warp waits for, in words.
pub(super) fn missing_products(block: &Block, warp: u32, n_groups: u64) -> String {
    let (group, _) = place_of(warp);
    let missing = block.warpgroups[group].missing(n_groups).unwrap_or_default();
    let missing = group * N_WARPS + missing;
    format!("products of its warpgroup, which warp {missing} has not begun")
}

/// A block ends: finds products that no wait has seen.
pub(super) fn end_products(machine: &mut Machine, block: &mut Block) {
    let left = block.warpgroups.iter_mut().flat_map(|group| std::mem::take(&mut group.in_flight));
    for product in left {
        let Mark { event, site, .. } = product.mark;
        let place = machine.program.sites[site as usize];
        let message = "a product is in flight when its block ends".to_owned();
        let who = machine.thread(event.block, event.warp, event.lane);
        machine.find(Kind::UnawaitedCopy, place, who, None, message);
    }
}

#[cfg(test)]
mod tests {
    use super::place_of_sum;

    #[test]
    fn a_lane_has_two_sums_side_by_side_and_two_eight_rows_below() {
        let of_lane_5: Vec<_> = (0..16)
            .flat_map(|row| (0..16).map(move |column| (row, column)))
            .filter(|(row, column)| place_of_sum(*row, *column).0 == 5)
            .collect();
        let expected = [(1, 2), (1, 3), (1, 10), (1, 11), (9, 2), (9, 3), (9, 10), (9, 11)];
        assert_eq!(of_lane_5, expected);
        assert_eq!(place_of_sum(9, 11), (5, 7));
    }
}
