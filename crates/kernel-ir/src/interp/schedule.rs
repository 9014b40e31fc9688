// SPDX-License-Identifier: Apache-2.0
//! Which warp of which block runs when. A warp runs until it waits, ends or has run for long
//! enough; then the next one does. Clusters begin one after another, each with all its blocks, and
//! more of them run side by side only where those that run get nowhere: they may wait for blocks
//! that have not begun. A block of a launch without clusters is one of its own.

use super::atomic::new_orders;
use super::clock::{self, of_grid};
use super::cluster::{blocks_of, end_block};
use super::execute::{Execution, Machine, Stop};
use super::finding::{Kind, Other};
use super::grid;
use super::launch::{Cancel, Options, product};
use super::mbarrier::pass_mbarriers;
use super::memory::Memory;
use super::named::pass_named_barriers;
use super::narrowest::Narrowest;
use super::products::{missing_products, pass_products};
use super::program::Program;
use super::shadow::Shadow;
use super::step::{Pc, Register, Step};
use super::warp::{Block, Cluster, LANES, Meeting, Status, Warp};
use crate::intrinsic::Level;

/// How many times the warps of a cluster are gone through before another one's turn.
const SWEEPS: u32 = 64;
/// How many bytes the blocks that run side by side take at most, where it is more than one.
const MOST_BLOCK_BYTES: usize = 512 << 20;
/// Threads that only wait are taken to wait for ever after so many rounds of all blocks, once they
/// have had the turns that the options give them.
const MOST_IDLE_ROUNDS: u64 = 1000;

/// A cluster that has begun.
struct Resident {
    /// The rank whose it is.
    rank: usize,
    cluster: Cluster,
    crews: Vec<Crew>,
}

/// A block with its warps.
struct Crew {
    block: Block,
    warps: Vec<Warp>,
}

impl Crew {
    fn has_ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.status == Status::Ended)
    }
}

impl Resident {
    fn warps(&self) -> impl Iterator<Item = &Warp> {
        self.crews.iter().flat_map(|crew| &crew.warps)
    }
}

/// The outcome of a cluster's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Ended,
    Working,
    /// All its warps wait, and some of them in a loop, for what others do.
    Waiting,
}

/// The order in which a launch is run.
pub(super) struct Schedule<'a, 'p> {
    machine: &'a mut Machine<'p>,
    /// The registers of parameters, with the arguments of each rank.
    arguments: Vec<Vec<(Register, u64)>>,
    /// The shared arrays' bytes.
    shared_bytes: Vec<usize>,
    random: Option<Random>,
    /// That of the clusters of each rank. One of each begins in turn.
    orders: Vec<Order>,
    /// The rank whose cluster is the first to begin.
    first_rank: u64,
    n_begun: u64,
    /// How many all ranks have.
    n_clusters: u64,
    /// The first block to end.
    ended: Option<u64>,
    /// Whether blocks wait for the whole grid.
    is_cooperative: bool,
    /// How many blocks the device holds at once.
    most_blocks: Option<u64>,
    cancel: Vec<Cancel>,
    resident: Vec<Resident>,
    spare: Vec<Resident>,
    /// How many times a warp has waited, and how many times one has gone on.
    n_waits: u64,
    n_advances: u64,
}

impl<'a, 'p> Schedule<'a, 'p> {
    pub fn new(
        machine: &'a mut Machine<'p>,
        arguments: Vec<Vec<(Register, u64)>>,
        shared_bytes: Vec<usize>,
        n_clusters_of_rank: u64,
        options: &Options,
    ) -> Schedule<'a, 'p> {
        let mut random = (options.seed != 0).then_some(Random(options.seed));
        let n_ranks = arguments.len() as u64;
        let orders = arguments.iter().map(|_| Order::new(n_clusters_of_rank, random.as_mut()));
        let orders = orders.collect();
        let first_rank = random.as_mut().map_or(0, |random| random.below(n_ranks));
        let is_of_grid = |step: &Step| matches!(step, Step::Barrier(Level::Grid));
        let is_cooperative = machine.program.steps.iter().any(is_of_grid);
        Schedule {
            machine,
            arguments,
            shared_bytes,
            random,
            orders,
            first_rank,
            n_begun: 0,
            n_clusters: n_clusters_of_rank * n_ranks,
            ended: None,
            is_cooperative,
            most_blocks: options.most_blocks,
            cancel: vec![options.cancel.clone()],
            resident: Vec::new(),
            spare: Vec::new(),
            n_waits: 0,
            n_advances: 0,
        }
    }

    /// Runs all clusters.
    pub fn run(&mut self) {
        let most = self.most_resident();
        let (mut target, mut idle) = (1, Idle::default());
        while !self.machine.is_over {
            while self.resident.len() < target && self.n_begun < self.n_clusters {
                self.begin_next();
            }
            if self.resident.is_empty() {
                return;
            }
            let round = self.round();
            let is_stuck = !round.has_ended;
            if is_stuck {
                target = target.saturating_mul(2).min(most);
            }
            let can_grow = self.resident.len() < most && self.n_begun < self.n_clusters;
            if round.is_waiting && !can_grow && self.all_are_blocked() {
                self.pass_grid_barrier();
                continue;
            }
            let happened = self.machine.changes + self.n_advances;
            if round.is_waiting
                && !can_grow
                && idle.is_for_ever(happened, self.n_waits, self.machine.most_idle_turns)
            {
                self.find_deadlock();
            }
        }
    }

    /// Whether no warp can go on before the grid's barrier is passed.
    fn all_are_blocked(&self) -> bool {
        let mut warps = self.resident.iter().flat_map(Resident::warps);
        self.is_cooperative && warps.all(|warp| warp.status != Status::Ready)
    }

    /// All go on at the grid's barrier, where all have come to it; else none ever does.
    fn pass_grid_barrier(&mut self) {
        let all_run = self.ended.is_none() && self.n_begun == self.n_clusters;
        if !all_run || !self.resident.iter().flat_map(Resident::warps).all(grid::is_there) {
            return self.find_all_stuck();
        }
        let crews = self.resident.iter_mut().flat_map(|resident| &mut resident.crews);
        grid::pass(crews.map(|Crew { block, warps }| (block, &mut warps[..])));
        self.n_advances += 1;
        let latest = self.resident.iter().flat_map(|resident| &resident.crews);
        let latest = latest.map(|crew| crew.block.time).max().unwrap_or_default();
        if latest > self.machine.most_time {
            find_too_many(self.machine, crate::kernel::Place::NOWHERE);
        }
    }

    /// Each place where a warp waits for ever is told.
    fn find_all_stuck(&mut self) {
        let missing = self.missing_at_grid();
        self.resident.iter().for_each(|resident| find_stuck(self.machine, resident, &missing));
    }

    /// Who does not come to the grid's barrier, in words.
    fn missing_at_grid(&self) -> String {
        if let Some(block) = self.ended {
            let [x, y, z] = self.machine.index_of(block);
            return format!("block ({x}, {y}, {z}), which has ended");
        }
        let crews = self.resident.iter().flat_map(|resident| &resident.crews);
        let absent = crews.into_iter().find_map(|Crew { block, warps }| {
            let warp = warps.iter().find(|warp| !grid::is_there(warp))?;
            Some(self.machine.thread(block.number, warp.index, warp.lanes.trailing_zeros()))
        });
        match absent {
            Some(thread) => thread.to_string(),
            None => {
                let n_left = (self.n_clusters - self.n_begun) * self.n_blocks_of_cluster();
                format!("{n_left} blocks that cannot begin before one of these ends")
            }
        }
    }

    /// Ends the run where that one is cancelled, too.
    pub fn ends_with(&mut self, cancel: Cancel) {
        self.cancel.push(cancel);
    }

    /// Runs a cluster to its end, with no other one beside it. Says whether it came there, and was
    /// not the one to wait for others.
    pub fn run_alone(&mut self, number: u64) -> bool {
        self.begin(0, number);
        loop {
            match self.turn(0) {
                Progress::Working if !self.machine.is_over => {}
                Progress::Working | Progress::Waiting => return false,
                Progress::Ended => break,
            }
        }
        self.spare.extend(self.resident.pop());
        !self.machine.is_over
    }

    /// Whether anything was found so far.
    pub fn has_findings(&self) -> bool {
        !self.machine.findings.all.is_empty()
    }

    /// Every cluster that has begun has a turn.
    fn round(&mut self) -> Round {
        let mut round = Round { has_ended: false, is_waiting: true };
        let mut place = 0;
        if let Some(random) = &mut self.random {
            random.shuffle(&mut self.resident);
        }
        while place < self.resident.len() && !self.machine.is_over {
            match self.turn(place) {
                Progress::Ended => {
                    let ended = self.resident.remove(place);
                    self.ended = self.ended.or(ended.cluster.blocks.first().copied());
                    self.spare.push(ended);
                    round = Round { has_ended: true, is_waiting: false };
                }
                Progress::Working => {
                    round.is_waiting = false;
                    place += 1;
                }
                Progress::Waiting => place += 1,
            }
        }
        round
    }

    /// How many clusters may run side by side.
    fn most_resident(&self) -> usize {
        let program = self.machine.program;
        let locals = program.kernel.locals.iter();
        let locals: usize =
            locals.map(|local| (local.count * local.element.bytes()) as usize).sum();
        let warp = (program.n_registers as usize * 8 + locals) * LANES;
        let n_warps = self.machine.n_threads.div_ceil(LANES as u32) as usize;
        // Shadow memory has 20 bytes for each cell.
        let shared: usize = self.shared_bytes.iter().map(|bytes| bytes * 8).sum();
        let n_blocks = self.n_blocks_of_cluster();
        let cluster = (warp * n_warps + shared) * n_blocks as usize;
        let most = match self.is_cooperative {
            true => usize::try_from(self.n_clusters).unwrap_or(usize::MAX),
            false => (MOST_BLOCK_BYTES / cluster.max(1)).clamp(1, 1 << 16),
        };
        let on_device = (self.most_blocks.unwrap_or(u64::MAX) / n_blocks).max(1);
        let on_device = on_device.saturating_mul(self.orders.len() as u64);
        most.min(usize::try_from(on_device).unwrap_or(most))
    }

    fn n_blocks_of_cluster(&self) -> u64 {
        product(self.machine.cluster)
    }

    /// Has the next cluster begin.
    fn begin_next(&mut self) {
        let n_ranks = self.orders.len() as u64;
        let rank = ((self.first_rank + self.n_begun) % n_ranks) as usize;
        self.begin(rank, self.orders[rank].at(self.n_begun / n_ranks));
    }

    /// Has a cluster of a rank begin.
    fn begin(&mut self, rank: usize, number: u64) {
        self.n_begun += 1;
        let of_rank = self.spare.iter().rposition(|spare| spare.rank == rank);
        let spare = of_rank.map(|place| self.spare.swap_remove(place));
        let mut resident = spare.unwrap_or_else(|| self.new_resident(rank));
        let grid = self.machine.packing.first_grid + rank as u64;
        let blocks = blocks_of(number, self.machine.grid, self.machine.cluster);
        let blocks: Vec<_> = blocks.into_iter().map(|block| of_grid(grid, block)).collect();
        for (crew, number) in resident.crews.iter_mut().zip(&blocks) {
            let block = &mut crew.block;
            block.number = *number;
            block.index = self.machine.index_of(*number);
            (block.time, block.known) = (1, 1);
            block.flights.clear();
            block.named = Default::default();
            block.warpgroups = Default::default();
            (block.has_waited, block.lets_early) = (false, false);
            for warp in &mut crew.warps {
                warp.begin(self.machine.n_threads);
                warp.orders = self.machine.known_at_begin(rank);
            }
        }
        resident.cluster.begin(blocks);
        self.resident.push(resident);
    }

    fn new_resident(&self, of_rank: usize) -> Resident {
        let ranks = 0..self.n_blocks_of_cluster() as u32;
        let shared = ranks.clone().flat_map(|_| self.new_arrays()).collect();
        let n_arrays = self.shared_bytes.len() as u32;
        let arguments = &self.arguments[of_rank];
        let crews = ranks.map(|rank| self.new_crew(rank, arguments)).collect();
        Resident { rank: of_rank, cluster: Cluster::new(shared, n_arrays), crews }
    }

    /// The shared arrays of a block.
    fn new_arrays(&self) -> Vec<(Memory, Shadow)> {
        let program: &Program = self.machine.program;
        let narrowest = Narrowest::of(program.kernel);
        let shared = program.kernel.shared.iter().zip(&self.shared_bytes).enumerate();
        let shared = shared.map(|(number, (array, bytes))| {
            let memory = Memory::fresh(array.name.clone(), array.element, *bytes);
            let cell_bytes = narrowest.of_shared(number, array.element);
            let shadow = Shadow::new(*bytes, cell_bytes, self.machine.packing);
            (Memory { align: array.align, ..memory }, shadow)
        });
        shared.collect()
    }

    fn new_crew(&self, rank: u32, arguments: &[(Register, u64)]) -> Crew {
        let block = Block {
            number: 0,
            index: [0; 3],
            rank,
            time: 1,
            known: 1,
            flights: Default::default(),
            bulk_stores: Default::default(),
            named: Default::default(),
            warpgroups: Default::default(),
            has_waited: false,
            lets_early: false,
        };
        let n_warps = self.machine.n_threads.div_ceil(LANES as u32);
        let warps = (0..n_warps).map(|index| {
            let mut warp = Warp::new(self.machine.program, index);
            for (register, bits) in arguments {
                warp.file[*register as usize] = [*bits; LANES];
            }
            warp
        });
        Crew { block, warps: warps.collect() }
    }

    /// Runs a cluster's warps, until all end, all only wait, or it has had its turn.
    fn turn(&mut self, place: usize) -> Progress {
        for _ in 0..SWEEPS {
            let mut is_moving = false;
            for crew in 0..self.resident[place].crews.len() {
                is_moving |= self.sweep(place, crew);
                if self.machine.is_over {
                    return Progress::Working;
                }
            }
            let resident = &mut self.resident[place];
            if pass_barriers(self.machine, resident) {
                self.n_advances += 1;
            } else if resident.crews.iter().all(Crew::has_ended) {
                return Progress::Ended;
            } else if resident.warps().all(|warp| warp.status != Status::Ready) {
                if resident.warps().any(grid::is_there) {
                    return Progress::Waiting;
                }
                find_stuck(self.machine, &self.resident[place], "");
                return Progress::Working;
            } else if !is_moving {
                return Progress::Waiting;
            }
        }
        Progress::Working
    }

    /// Runs each warp of a block that can go on. Says whether any did more than wait.
    fn sweep(&mut self, place: usize, crew: usize) -> bool {
        let Resident { rank, cluster, crews } = &mut self.resident[place];
        let Crew { block, warps } = &mut crews[crew];
        let (n_warps, mut is_moving) = (warps.len(), false);
        let first = self.random.as_mut().map_or(0, |random| random.below(n_warps as u64) as usize);
        for i in 0..n_warps {
            let warp = &mut warps[(first + i) % n_warps];
            if warp.status != Status::Ready {
                continue;
            }
            let n_steps = match &mut self.random {
                Some(random) => 1 + random.below(256) as u32,
                None => u32::MAX,
            };
            let mut execution =
                Execution { machine: self.machine, cluster, block, warp, stop: None };
            match execution.run(n_steps) {
                Stop::Wait => self.n_waits += 1,
                Stop::Turn => is_moving = true,
                Stop::Blocked => {
                    self.n_advances += 1;
                    is_moving = true;
                }
            }
            self.machine.is_over |= self.cancel.iter().any(Cancel::is_cancelled);
            if self.machine.is_over {
                return is_moving;
            }
        }
        if !cluster.has_ended[crew] && warps.iter().all(|warp| warp.status == Status::Ended) {
            end_block(self.machine, cluster, block, warps);
            self.machine.let_next_begin(block);
            self.machine.learn_at_end(*rank, warps);
        }
        is_moving
    }

    fn find_deadlock(&mut self) {
        self.machine.is_over = true;
        (0..self.orders.len()).for_each(|rank| self.find_waiting(rank));
        self.find_all_stuck();
    }

    /// The first thread of a rank that waits in a loop is told.
    fn find_waiting(&mut self, rank: usize) {
        let of_rank = self.resident.iter().filter(|resident| resident.rank == rank);
        let waiting = of_rank.flat_map(|resident| &resident.crews).find_map(|crew| {
            let warp = crew.warps.iter().find(|warp| warp.status == Status::Ready)?;
            Some((crew.block.number, warp))
        });
        let Some((block, warp)) = waiting else { return };
        let lane = warp.active.trailing_zeros() % LANES as u32;
        let thread = self.machine.thread(block, warp.index, lane);
        let place = self.machine.program.places[warp.last_turn as usize];
        let n_of_cluster = self.n_blocks_of_cluster();
        let n_running = self.resident.len() as u64 * n_of_cluster;
        let n_left = (self.n_clusters - self.n_begun) * n_of_cluster;
        let mut message =
            format!("deadlock: {n_running} blocks run, and all wait for what never happens");
        if n_left > 0 {
            message += &format!("; {n_left} more cannot begin before one of these ends");
        }
        self.machine.findings.add(Kind::Deadlock, place, None, || (Some(thread), message));
    }
}

/// The outcome of a round.
struct Round {
    has_ended: bool,
    is_waiting: bool,
}

/// For how long nothing has happened.
#[derive(Default)]
struct Idle {
    happened: u64,
    n_rounds: u64,
    n_waits: u64,
}

impl Idle {
    /// Whether that is long enough.
    fn is_for_ever(&mut self, happened: u64, n_waits: u64, most: u64) -> bool {
        if happened != self.happened {
            *self = Idle { happened, n_rounds: 0, n_waits };
        }
        self.n_rounds += 1;
        self.n_rounds > MOST_IDLE_ROUNDS && n_waits - self.n_waits > most
    }
}

/// Warps go on at barriers that all have come to. Says whether any does.
fn pass_barriers(machine: &mut Machine, resident: &mut Resident) -> bool {
    let Resident { cluster, crews, .. } = resident;
    let mut is_moving = false;
    for Crew { block, warps } in &mut *crews {
        let has_come = |warp: &Warp| matches!(warp.status, Status::Barrier(_) | Status::Ended);
        if warps.iter().all(has_come) && warps.iter().any(|warp| barrier_of(warp).is_some()) {
            pass_barrier(machine, block, warps);
            is_moving = true;
        }
        pass_named_barriers(block, warps);
        pass_products(block, warps);
        pass_mbarriers(cluster, warps);
    }
    pass_cluster_barrier(cluster, crews) || is_moving
}

/// The warps of a cluster go on where all have arrived at its barrier. Says whether they do.
fn pass_cluster_barrier(cluster: &mut Cluster, crews: &mut [Crew]) -> bool {
    let mut warps = crews.iter().flat_map(|crew| &crew.warps);
    let is_there = |warp: &Warp| warp.meeting == Meeting::Arrived;
    let has_come = |warp: &Warp| is_there(warp) || warp.status == Status::Ended;
    if !warps.clone().any(is_there) || !warps.all(has_come) {
        return false;
    }
    cluster.met = std::mem::take(&mut cluster.arriving);
    for warp in crews.iter_mut().flat_map(|crew| &mut crew.warps) {
        warp.meeting = Meeting::Met;
        if let Status::Cluster(_) = warp.status {
            warp.status = Status::Ready;
        }
    }
    true
}

/// No warp of a cluster can go on. Each place where one waits at a barrier is told; at that of the
/// grid, for what is missing there.
fn find_stuck(machine: &mut Machine, resident: &Resident, missing_at_grid: &str) {
    machine.is_over = true;
    for Crew { block, warps } in &resident.crews {
        for warp in warps {
            let absent = || resident.absent(warp, block.number, machine);
            let (pc, waits) = match warp.status {
                Status::Barrier(pc) => (pc, format!("its block's barrier for {}", absent())),
                Status::Cluster(pc) => (pc, format!("its cluster's barrier for {}", absent())),
                Status::Grid(pc) => (pc, format!("the grid's barrier for {missing_at_grid}")),
                Status::Named { pc, number, .. } => {
                    let missing = block.named[number].n_missing();
                    (pc, format!("barrier {number} for {missing} more threads"))
                }
                Status::Products { pc, n_groups } => {
                    (pc, missing_products(block, warp.index, n_groups))
                }
                Status::Mbarrier { pc, at, phase } => (pc, resident.cluster.missing(at, phase)),
                Status::Ready | Status::Ended => continue,
            };
            let thread = machine.thread(block.number, warp.index, warp.lanes.trailing_zeros());
            let message = format!("deadlock: waits at {waits}");
            let place = machine.program.places[pc as usize];
            machine.findings.add(Kind::Deadlock, place, None, || (Some(thread), message));
        }
    }
}

impl Resident {
    /// The first thread that does not come to the barrier at which a warp waits, in words.
    fn absent(&self, waiting: &Warp, own: u64, machine: &Machine) -> String {
        let at_cluster = matches!(waiting.status, Status::Cluster(_));
        for Crew { block, warps } in &self.crews {
            if !at_cluster && block.number != own {
                continue;
            }
            let has_come = |warp: &Warp| match at_cluster {
                true => warp.status == Status::Ended || warp.meeting != Meeting::Away,
                false => matches!(warp.status, Status::Barrier(_) | Status::Ended),
            };
            if let Some(warp) = warps.iter().find(|warp| !has_come(warp)) {
                let lane = warp.lanes.trailing_zeros();
                return machine.thread(block.number, warp.index, lane).to_string();
            }
        }
        "what never happens".to_owned()
    }
}

/// All warps of a block have come to a barrier, or have ended: those that have come go on.
fn pass_barrier(machine: &mut Machine, block: &mut Block, warps: &mut [Warp]) {
    find_divergence(machine, block, warps);
    block.time += 1;
    block.known = block.time;
    if block.time > machine.most_time {
        let place = first_barrier(machine, warps);
        find_too_many(machine, place);
    }
    if warps.iter().any(|warp| warp.orders.is_some()) {
        let orders = warps.iter_mut().map(|warp| &mut **warp.orders.get_or_insert_with(new_orders));
        clock::join(orders);
    }
    for warp in warps {
        if let Status::Barrier(_) = warp.status {
            warp.status = Status::Ready;
        }
    }
}

/// Times are larger than shadow memory can keep.
fn find_too_many(machine: &mut Machine, place: crate::kernel::Place) {
    let message = "more barriers than the interpreter can tell apart".to_owned();
    machine.findings.add(Kind::Unsupported, place, None, || (None, message));
    machine.is_over = true;
}

fn first_barrier(machine: &Machine, warps: &[Warp]) -> crate::kernel::Place {
    let pc = warps.iter().find_map(barrier_of).unwrap_or_default();
    machine.program.places[pc as usize]
}

fn barrier_of(warp: &Warp) -> Option<Pc> {
    match warp.status {
        Status::Barrier(pc) => Some(pc),
        Status::Ready
        | Status::Ended
        | Status::Cluster(_)
        | Status::Grid(_)
        | Status::Named { .. }
        | Status::Products { .. }
        | Status::Mbarrier { .. } => None,
    }
}

/// Finds that warps are at different barriers, or have ended before one.
fn find_divergence(machine: &mut Machine, block: &Block, warps: &[Warp]) {
    let here = warps.iter().find_map(|warp| Some((warp, barrier_of(warp)?)));
    let Some((warp, pc)) = here else { return };
    let thread = machine.thread(block.number, warp.index, warp.lanes.trailing_zeros());
    let place = machine.program.places[pc as usize];
    for other in warps {
        let absent = machine.thread(block.number, other.index, other.lanes.trailing_zeros());
        let (other, why) = match other.status {
            Status::Barrier(there) if there != pc => {
                let place = machine.program.places[there as usize];
                let what = "is at this barrier";
                (Some(Other { place, thread: absent, what }), "is at another one")
            }
            Status::Ended => (None, "has ended"),
            Status::Barrier(_)
            | Status::Cluster(_)
            | Status::Grid(_)
            | Status::Named { .. }
            | Status::Products { .. }
            | Status::Mbarrier { .. }
            | Status::Ready => continue,
        };
        let message = format!("a barrier that not all threads come to: {absent} {why}");
        machine.find(Kind::DivergentBarrier, place, thread, other, message);
    }
}

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// In which order clusters begin: number `factor * i + first` is the `i`th.
struct Order {
    factor: u64,
    first: u64,
    count: u64,
}

impl Order {
    fn new(count: u64, random: Option<&mut Random>) -> Order {
        let Some(random) = random else { return Order { factor: 1, first: 0, count } };
        let mut factor = random.below(count).max(1);
        while common_divisor(factor, count) != 1 {
            factor -= 1;
        }
        Order { factor, first: random.below(count), count }
    }

    fn at(&self, i: u64) -> u64 {
        let at = u128::from(self.factor) * u128::from(i) + u128::from(self.first);
        (at % u128::from(self.count)) as u64
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
