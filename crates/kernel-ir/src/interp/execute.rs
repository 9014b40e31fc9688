// SPDX-License-Identifier: Apache-2.0
//! Runs the steps of a warp until it waits, ends, or has run for long enough. What only computes is
//! computed for all 32 lanes, whichever run: what the others get is never read. What has an effect
//! is done for those that run.

use super::bulk::Issuers;
use super::clock::{Event, Releases};
use super::finding::{Earlier, Finding, Findings, Kind, Other, Thread, With, index_of};
use super::memory::Memory;
use super::program::Program;
use super::proxy::ProxyFences;
use super::ranks::Together;
use super::sequence::Dependence;
use super::shadow::{Packing, Shadow};
use super::step::{Assert, InBounds, Register, Step, width};
use super::traffic::Counter;
use super::warp::{Block, Cluster, Frame, LANES, Lanes, Status, Warp, lanes_of};
use crate::constant::Const;
use crate::eval;
use crate::intrinsic::Geometry;
use crate::kernel::Place;
use crate::op::{Binary, Compare};
use crate::types::{Scalar, Type};
use kernpack_machine::block::WARPGROUP_WARPS;
use std::borrow::Cow;

/// The state that the warps of a launch share.
pub(super) struct Machine<'a> {
    pub program: &'a Program<'a>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub n_threads: u32,
    /// The allocations: those of its own, and those that it only reads of others.
    pub memories: Vec<Cow<'a, Memory>>,
    /// The cells of each allocation that the launch may write, with who touched them.
    pub shadows: Vec<Option<Shadow>>,
    pub packing: Packing,
    pub most_time: u64,
    pub releases: Releases,
    /// The blocks of a grid.
    pub n_blocks: u64,
    /// The fences in front of copies of many bytes, and who began those that are done.
    pub proxy_fences: ProxyFences,
    pub issuers: Issuers,
    /// The launches in front of this one and behind it, where some may run at its time.
    pub dependence: Option<Dependence>,
    /// The ranks that have launched it.
    pub n_ranks: usize,
    /// The knowledge of ranks of one another, where there are several.
    pub together: Option<Together>,
    /// The counts of accesses, where they are wanted.
    pub counter: Option<Box<Counter>>,
    pub findings: Findings,
    pub printed: Vec<String>,
    pub most_printed: usize,
    pub most_turns: u64,
    pub most_idle_turns: u64,
    pub is_exact: bool,
    /// Whether nothing more is run.
    pub is_over: bool,
    pub thread_ops: u64,
    /// How often memory was changed.
    pub changes: u64,
}

/// Why a warp has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has run long enough.
    Turn,
    /// It may be waiting for what others do.
    Wait,
    /// It is at a barrier, or has ended.
    Blocked,
}

/// A warp that runs.
pub(super) struct Execution<'a, 'p> {
    pub machine: &'a mut Machine<'p>,
    pub cluster: &'a mut Cluster,
    pub block: &'a mut Block,
    pub warp: &'a mut Warp,
    /// Whether it stops behind this step.
    pub stop: Option<Stop>,
}

/// How many steps a warp runs in a row.
const STEPS_IN_A_ROW: u32 = 1 << 14;

impl<'p> Execution<'_, 'p> {
    /// Runs steps until there is a reason to stop.
    pub fn run(&mut self, n_steps: u32) -> Stop {
        let program = self.machine.program;
        for _ in 0..n_steps.min(STEPS_IN_A_ROW) {
            let step = &program.steps[self.warp.pc as usize];
            self.machine.thread_ops += u64::from(self.warp.active.count_ones());
            self.step(step);
            if let Some(stop) = self.stop {
                return stop;
            }
        }
        Stop::Turn
    }

    /// Where the step that is run was written.
    pub fn place(&self) -> Place {
        self.machine.program.places[self.warp.pc as usize]
    }

    fn step(&mut self, step: &Step<'p>) {
        match step {
            Step::Unary { op, scalar, x, out, count } => {
                self.each(*count, *out, *x, |x, out| eval::unary_lanes(*op, *scalar, x, out));
            }
            Step::Binary { op, scalar, a, b, out, count } => {
                self.each_two(*count, *out, *a, *b, |a, b, out| {
                    eval::binary_lanes(*op, *scalar, a, b, out);
                });
            }
            Step::Compare { op, scalar, a, b, out } => {
                self.each_two(1, *out, *a, *b, |a, b, out| {
                    eval::compare_lanes(*op, *scalar, a, b, out);
                });
            }
            Step::Select { condition, then, otherwise, out, count } => {
                self.select(*condition, *then, *otherwise, *out, *count);
            }
            Step::Convert { from, to, how, x, out, count } => {
                self.each(*count, *out, *x, |x, out| eval::convert_lanes(*from, *to, *how, x, out));
            }
            Step::Bitcast { from, to, x, out } => self.bitcast(*from, *to, *x, *out),
            Step::Copy { from, out } => self.copy(from, *out),
            Step::Shared { array, out } => self.shared_address(*array, *out),
            Step::Local { local, out } => self.address(*local, *out),
            Step::Offset { pointer, bytes, out } => {
                self.set(*out, self.get(*pointer));
                self.each_two(1, out + 1, pointer + 1, *bytes, |a, b, out| {
                    eval::binary_lanes(Binary::Add, Scalar::I64, a, b, out);
                });
            }
            Step::Load { access, out, guard } => self.load(access, *out, *guard),
            Step::Store { access, value, condition } => self.store(access, *value, *condition),
            Step::InBounds(stated) => self.in_bounds(stated),
            Step::Set { slot, value, count } => self.set_slot(*slot, *value, *count),
            Step::Pure { meaning, operands, out } => self.pure(*meaning, operands, *out),
            Step::Approximate { meaning, operands, out } => {
                self.machine.is_exact = false;
                self.pure(*meaning, operands, *out);
            }
            Step::Geometry { geometry, out } => self.set(*out, self.geometry(*geometry)),
            Step::Exchange { op, row, value, by, out } => {
                self.exchange(*op, row, *value, *by, *out);
            }
            Step::Matrix(step) => self.matrix(step),
            Step::Product(step) => return self.product(step),
            Step::Barrier(_)
            | Step::Named { .. }
            | Step::Fence { .. }
            | Step::Arrive { .. }
            | Step::Dependent(_)
            | Step::Meet => return self.synchronise(step),
            Step::Timer { out } => self.timer(*out),
            Step::Map { pointer, rank, out } => self.map(*pointer, *rank, *out),
            Step::Prefetch(access) => self.prefetch(access),
            Step::Atomic(atomic) => self.atomic(atomic),
            Step::Mbarrier(step) => return self.mbarrier(step),
            Step::BeginCopies(copy) => self.begin_copies(copy),
            Step::CommitCopies => self.commit_copies(),
            Step::Bulk(step) => self.bulk(step),
            Step::WaitForCopies(n_left) => self.wait_for_copies(*n_left),
            Step::Print { format, values } => self.print(format, values),
            Step::Assert(assert) => self.assert(assert),
            Step::Unsupported(message) => self.unsupported(message),
            Step::Control(control) => return self.control(*control),
        }
        self.warp.pc += 1;
    }

    // Registers.

    pub fn get(&self, register: Register) -> Lanes {
        self.warp.file[register as usize]
    }

    pub fn set(&mut self, register: Register, lanes: Lanes) {
        self.warp.file[register as usize] = lanes;
    }

    /// The lanes that run and where a condition holds.
    pub fn where_true(&self, condition: Register) -> u32 {
        let lanes = &self.warp.file[condition as usize];
        let mut mask = 0;
        for (lane, bit) in lanes.iter().enumerate() {
            mask |= (*bit as u32 & 1) << lane;
        }
        mask & self.warp.active
    }

    fn each(&mut self, count: u32, out: Register, x: Register, f: impl Fn(&[u64], &mut [u64])) {
        for i in 0..count {
            let mut lanes = [0; LANES];
            f(&self.warp.file[(x + i) as usize], &mut lanes);
            self.set(out + i, lanes);
        }
    }

    fn each_two(
        &mut self,
        count: u32,
        out: Register,
        a: Register,
        b: Register,
        f: impl Fn(&[u64], &[u64], &mut [u64]),
    ) {
        for i in 0..count {
            let mut lanes = [0; LANES];
            let file = &self.warp.file;
            f(&file[(a + i) as usize], &file[(b + i) as usize], &mut lanes);
            self.set(out + i, lanes);
        }
    }

    fn select(&mut self, condition: Register, a: Register, b: Register, out: Register, count: u32) {
        let holds = self.get(condition);
        for i in 0..count {
            self.each_two(1, out + i, a + i, b + i, |a, b, out| {
                for lane in 0..LANES {
                    out[lane] = if holds[lane] & 1 == 1 { a[lane] } else { b[lane] };
                }
            });
        }
    }

    /// Waits for others, or orders what is done before and behind.
    fn synchronise(&mut self, step: &Step<'p>) {
        match *step {
            Step::Barrier(level) => return self.barrier(level),
            Step::Named { number, n_threads, waits } => {
                return self.come_to(number, n_threads, waits);
            }
            Step::Meet => return self.meet(),
            Step::Arrive { is_release } => self.arrive(is_release),
            Step::Fence { reach } => self.fence(reach),
            Step::Dependent(op) => self.dependent(op),
            _ => {}
        }
        self.warp.pc += 1;
    }

    /// Tells the time, by what was run so far.
    fn timer(&mut self, out: Register) {
        self.machine.is_exact = false;
        self.set(out, [self.machine.thread_ops; LANES]);
    }

    /// The beginning of an array of the block.
    fn shared_address(&mut self, array: u32, out: Register) {
        self.address(self.block.rank * self.cluster.n_arrays + array, out);
    }

    /// The beginning of an allocation.
    fn address(&mut self, allocation: u32, out: Register) {
        self.set(out, [u64::from(allocation); LANES]);
        self.set(out + 1, [0; LANES]);
    }

    fn copy(&mut self, from: &[Register], out: Register) {
        for (i, from) in from.iter().enumerate() {
            self.set(out + i as u32, self.get(*from));
        }
    }

    fn set_slot(&mut self, slot: Register, value: Register, count: u32) {
        let active = self.warp.active;
        for i in 0..count {
            let from = self.get(value + i);
            let to = &mut self.warp.file[(slot + i) as usize];
            if active == u32::MAX {
                *to = from;
                continue;
            }
            for lane in lanes_of(active) {
                to[lane] = from[lane];
            }
        }
    }

    /// The same bits in pieces of another size, the lowest first.
    fn bitcast(&mut self, from: Type, to: Type, x: Register, out: Register) {
        let bits = |ty: Type| ty.scalar().map_or(64, Scalar::bits);
        let (old, new) = (bits(from), bits(to));
        if old == new {
            let all: Vec<_> = (x..x + width(from)).collect();
            return self.copy(&all, out);
        }
        for i in 0..width(to) {
            let mut lanes = [0; LANES];
            for (lane, piece) in lanes.iter_mut().enumerate() {
                *piece = match old > new {
                    true => {
                        let whole = self.warp.file[(x + i * new / old) as usize][lane];
                        whole >> (i * new % old) & (u64::MAX >> (64 - new))
                    }
                    false => (0..new / old).fold(0, |all, part| {
                        let from = self.warp.file[(x + i * (new / old) + part) as usize][lane];
                        all | from << (part * old)
                    }),
                };
            }
            self.set(out + i, lanes);
        }
    }

    fn pure(&mut self, meaning: fn(&[Const]) -> Const, from: &[(Scalar, Register)], out: Register) {
        let mut operands = [Const::bool(false); 4];
        let mut lanes = [0; LANES];
        for lane in lanes_of(self.warp.active) {
            for (operand, (scalar, register)) in operands.iter_mut().zip(from) {
                *operand = Const::from_bits(*scalar, self.warp.file[*register as usize][lane]);
            }
            lanes[lane] = meaning(&operands[..from.len().min(4)]).bits();
        }
        self.set(out, lanes);
    }

    fn geometry(&self, geometry: Geometry) -> Lanes {
        let [x, y, _] = self.machine.block.map(u64::from);
        let first = u64::from(self.warp.index) * LANES as u64;
        let mut lanes = [0; LANES];
        for (lane, number) in lanes.iter_mut().enumerate() {
            let thread = first + lane as u64;
            *number = match geometry {
                Geometry::ThreadIdx(0) => thread % x,
                Geometry::ThreadIdx(1) => thread / x % y,
                Geometry::ThreadIdx(_) => thread / x / y,
                Geometry::BlockIdx(axis) => self.block.index[axis].into(),
                Geometry::BlockDim(axis) => self.machine.block[axis].into(),
                Geometry::GridDim(axis) => self.machine.grid[axis].into(),
                Geometry::BlockInCluster(axis) => {
                    (self.block.index[axis] % self.machine.cluster[axis]).into()
                }
                Geometry::BlockInClusterDim(axis) => self.machine.cluster[axis].into(),
                Geometry::ClusterIdx(axis) => {
                    (self.block.index[axis] / self.machine.cluster[axis]).into()
                }
                Geometry::ClusterDim(axis) => {
                    (self.machine.grid[axis] / self.machine.cluster[axis]).into()
                }
                Geometry::ClusterRank => self.block.rank.into(),
                Geometry::ClusterSize => self.cluster.blocks.len() as u64,
                Geometry::Lane => lane as u64,
                Geometry::Warp => self.warp.index.into(),
                Geometry::Warpgroup => (self.warp.index / WARPGROUP_WARPS).into(),
            };
        }
        lanes
    }

    // Findings.

    /// The thread of a lane.
    pub fn thread(&self, lane: usize) -> Thread {
        self.machine.thread(self.block.number, self.warp.index, lane as u32)
    }

    /// The first lane that runs.
    pub fn first_lane(&self) -> usize {
        self.warp.active.trailing_zeros() as usize % LANES
    }

    /// Adds a finding at the step that is run.
    pub fn find(
        &mut self,
        kind: Kind,
        lane: usize,
        other: Option<Other>,
        message: impl Into<String>,
    ) {
        self.find_at(kind, self.place(), self.thread(lane), other, message);
    }

    /// Finds something that a thread has begun at another place.
    pub fn find_at(
        &mut self,
        kind: Kind,
        place: Place,
        thread: Thread,
        other: Option<Other>,
        message: impl Into<String>,
    ) {
        self.machine.findings.add(kind, place, other, || (Some(thread), message.into()));
        self.stop_if_full();
    }

    /// Finds something with an earlier launch; tells of it where it is new.
    pub fn find_with_earlier(
        &mut self,
        kind: Kind,
        with: With,
        lane: usize,
        tell: impl FnOnce(&Machine<'_>) -> Option<(String, Earlier)>,
    ) {
        let place = self.place();
        if self.machine.findings.again(kind, place, with) {
            return;
        }
        let Some((message, earlier)) = tell(self.machine) else { return };
        let (thread, earlier) = (Some(self.thread(lane)), Some(earlier));
        let finding = Finding { kind, place, thread, message, other: None, earlier, count: 1 };
        self.machine.findings.add_new(finding, with);
        self.stop_if_full();
    }

    fn stop_if_full(&mut self) {
        if self.machine.findings.is_full() {
            self.machine.is_over = true;
            self.stop = Some(Stop::Blocked);
        }
    }

    pub fn unsupported(&mut self, message: &str) {
        self.find(Kind::Unsupported, self.first_lane(), None, message);
        self.machine.is_over = true;
        self.stop = Some(Stop::Blocked);
    }

    /// Finds indices outside. Accesses by them follow, unless that is checked.
    fn in_bounds(&mut self, stated: &InBounds<'_>) {
        let InBounds { scalar, index, extent, check } = *stated;
        let (indices, extents) = (self.get(index), self.get(extent));
        let mut is_below = [0; LANES];
        eval::compare_lanes(Compare::Lt, scalar, &indices, &extents, &mut is_below);
        let sign = if scalar.is_signed() { 1 << (scalar.bits() - 1) } else { 0 };
        for lane in lanes_of(self.warp.active) {
            if is_below[lane] == 1 && indices[lane] & sign == 0 {
                continue;
            }
            let [index, extent] =
                [indices[lane], extents[lane]].map(|bits| Const::from_bits(scalar, bits));
            let of = match check {
                Some(check) => format!(" of `{}`", check.of),
                None => String::new(),
            };
            if check.is_none() {
                self.warp.outside.add(self.place(), lane);
            }
            let message = format!("index {index}{of} is out of bounds: the extent is {extent}");
            self.find(Kind::IndexOutOfBounds, lane, None, message);
        }
    }

    fn assert(&mut self, assert: &Assert<'_>) {
        let failed = self.warp.active & !self.where_true(assert.condition);
        for lane in lanes_of(failed) {
            let message = self.line(assert.format, &assert.values, lane);
            self.find(Kind::FailedAssert, lane, None, message);
        }
    }

    // Lines for a person.

    fn print(&mut self, format: &str, values: &[(Type, Register)]) {
        for lane in lanes_of(self.warp.active) {
            if self.machine.printed.len() >= self.machine.most_printed {
                return;
            }
            let line = self.line(format, values, lane);
            self.machine.printed.push(line);
        }
    }

    /// A format with the values of a lane.
    fn line(&self, format: &str, values: &[(Type, Register)], lane: usize) -> String {
        let mut values = values.iter();
        let mut pieces = format.split("{}");
        let mut line = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            if let Some((ty, register)) = values.next() {
                line += &self.shown(*ty, *register, lane);
            }
            line += piece;
        }
        line
    }

    fn shown(&self, ty: Type, register: Register, lane: usize) -> String {
        let number = |i: u32| self.warp.file[(register + i) as usize][lane];
        match ty {
            Type::Scalar(scalar) => Const::from_bits(scalar, number(0)).to_string(),
            Type::Vector(scalar, lanes) => {
                let all = (0..u32::from(lanes)).map(|i| Const::from_bits(scalar, number(i)));
                let all: Vec<_> = all.map(|one| one.to_string()).collect();
                format!("({})", all.join(", "))
            }
            Type::Pointer(space) => format!("{space} {} + {}", number(0), number(1) as i64),
        }
    }

    // Waiting.

    /// Ends the warp, or what keeps it from going on.
    pub fn block_on(&mut self, status: Status) {
        self.warp.status = status;
        self.stop = Some(Stop::Blocked);
    }

    /// Counts a turn of a loop.
    pub fn turn(&mut self) {
        self.warp.turns += 1;
        self.warp.last_turn = self.warp.pc;
        if std::mem::take(&mut self.warp.may_wait) {
            self.stop = Some(Stop::Wait);
        }
        if self.warp.turns <= self.machine.most_turns {
            return;
        }
        let message =
            format!("a loop does not end: its warp has run {} turns", self.warp.turns - 1);
        self.find(Kind::EndlessLoop, self.first_lane(), None, message);
        self.machine.is_over = true;
        self.stop = Some(Stop::Blocked);
    }

    /// The innermost loop that the warp is in.
    pub fn innermost_loop(&mut self) -> Option<(&mut u32, &mut u32)> {
        self.warp.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Loop { left, continued } => Some((left, continued)),
            Frame::If { .. } => None,
        })
    }
}

impl Machine<'_> {
    /// Where a block with that number is in the grid.
    pub fn index_of(&self, number: u64) -> [u32; 3] {
        index_of(number, self.grid)
    }

    /// A thread, by the numbers of its block, warp and lane.
    pub fn thread(&self, block: u64, warp: u32, lane: u32) -> Thread {
        Thread::of(self.grid, self.block, self.n_ranks, Event { block, warp, lane, time: 0 })
    }

    /// Finds something that a thread has done, while none runs. The launch is over where no more is
    /// kept.
    pub fn find(
        &mut self,
        kind: Kind,
        place: Place,
        thread: Thread,
        other: Option<Other>,
        message: String,
    ) {
        self.findings.add(kind, place, other, || (Some(thread), message));
        self.is_over |= self.findings.is_full();
    }
}
