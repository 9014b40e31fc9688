// SPDX-License-Identifier: Apache-2.0
//! Which warp of which block runs when. A warp runs until it waits, ends or has run for long
//! enough; then the next one does. Blocks begin one after another, and more of them run side by
//! side only where those that run get nowhere: they may wait for blocks that have not begun.

use super::clock;
use super::execute::{Execution, Machine, Stop};
use super::finding::{Kind, Other, index_of};
use super::launch::{Cancel, Options};
use super::memory::Memory;
use super::narrowest::Narrowest;
use super::program::Program;
use super::shadow::Shadow;
use super::step::{Pc, Register};
use super::warp::{Block, LANES, Status, Warp};

/// How many times the warps of a block are gone through before another block's turn.
const SWEEPS: u32 = 64;
/// How many bytes the blocks that run side by side take at most, where it is more than one.
const MOST_BLOCK_BYTES: usize = 512 << 20;
/// Threads that only wait are taken to wait for ever after so many rounds of all blocks, once they
/// have had the turns that the options give them.
const MOST_IDLE_ROUNDS: u64 = 1000;

/// A block that has begun.
struct Resident {
    block: Block,
    warps: Vec<Warp>,
}

/// The outcome of a block's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Ended,
    Working,
    /// All its warps wait, and some of them in a loop, for what other blocks do.
    Waiting,
}

/// The order in which a launch is run.
pub(super) struct Schedule<'a, 'p> {
    machine: &'a mut Machine<'p>,
    /// The registers of parameters, with their arguments.
    arguments: Vec<(Register, u64)>,
    /// The shared arrays' bytes.
    shared_bytes: Vec<usize>,
    random: Option<Random>,
    order: Order,
    n_begun: u64,
    n_blocks: u64,
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
        arguments: Vec<(Register, u64)>,
        shared_bytes: Vec<usize>,
        n_blocks: u64,
        options: &Options,
    ) -> Schedule<'a, 'p> {
        let mut random = (options.seed != 0).then_some(Random(options.seed));
        let order = Order::new(n_blocks, random.as_mut());
        Schedule {
            machine,
            arguments,
            shared_bytes,
            random,
            order,
            n_begun: 0,
            n_blocks,
            most_blocks: options.most_blocks,
            cancel: vec![options.cancel.clone()],
            resident: Vec::new(),
            spare: Vec::new(),
            n_waits: 0,
            n_advances: 0,
        }
    }

    /// Runs all blocks.
    pub fn run(&mut self) {
        let most = self.most_resident();
        let (mut target, mut idle) = (1, Idle::default());
        while !self.machine.is_over {
            while self.resident.len() < target && self.n_begun < self.n_blocks {
                self.begin(self.order.at(self.n_begun));
            }
            if self.resident.is_empty() {
                return;
            }
            let round = self.round();
            let is_stuck = !round.has_ended;
            if is_stuck {
                target = (target * 2).min(most);
            }
            let can_grow = self.resident.len() < most && self.n_begun < self.n_blocks;
            let happened = self.machine.changes + self.n_advances;
            if round.is_waiting
                && !can_grow
                && idle.is_for_ever(happened, self.n_waits, self.machine.most_idle_turns)
            {
                self.find_deadlock();
            }
        }
    }

    /// Ends the run where that one is cancelled, too.
    pub fn ends_with(&mut self, cancel: Cancel) {
        self.cancel.push(cancel);
    }

    /// Runs a block to its end, with no other one beside it. Says whether it came there, and was
    /// not the one to wait for others.
    pub fn run_alone(&mut self, number: u64) -> bool {
        self.begin(number);
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

    /// Every block that has begun has a turn.
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

    /// How many blocks may run side by side.
    fn most_resident(&self) -> usize {
        let program = self.machine.program;
        let locals = program.kernel.locals.iter();
        let locals: usize =
            locals.map(|local| (local.count * local.element.bytes()) as usize).sum();
        let warp = (program.n_registers as usize * 8 + locals) * LANES;
        let n_warps = self.machine.n_threads.div_ceil(LANES as u32) as usize;
        // Shadow memory has 20 bytes for each cell.
        let shared: usize = self.shared_bytes.iter().map(|bytes| bytes * 8).sum();
        let most = (MOST_BLOCK_BYTES / (warp * n_warps + shared).max(1)).clamp(1, 1 << 16);
        let on_device = self.most_blocks.unwrap_or(u64::MAX).max(1);
        most.min(usize::try_from(on_device).unwrap_or(most))
    }

    /// Has a block begin.
    fn begin(&mut self, number: u64) {
        self.n_begun += 1;
        let mut resident = self.spare.pop().unwrap_or_else(|| self.new_resident());
        let block = &mut resident.block;
        block.number = number;
        block.index = index_of(number, self.machine.grid);
        (block.time, block.known) = (1, 1);
        block.releases = Default::default();
        block.flights.clear();
        (block.has_waited, block.lets_early) = (false, false);
        for (memory, shadow) in &mut block.shared {
            shadow.clear();
            if let Some(written) = &mut memory.written {
                written.clear();
            }
        }
        for warp in &mut resident.warps {
            warp.begin(self.machine.n_threads);
        }
        self.resident.push(resident);
    }

    fn new_resident(&self) -> Resident {
        let program: &Program = self.machine.program;
        let narrowest = Narrowest::of(program.kernel);
        let shared = program.kernel.shared.iter().zip(&self.shared_bytes).enumerate();
        let shared = shared.map(|(number, (array, bytes))| {
            let memory = Memory::fresh(array.name.clone(), array.element, *bytes);
            let cell_bytes = narrowest.of_shared(number, array.element);
            let shadow = Shadow::new(*bytes, cell_bytes, self.machine.packing);
            (Memory { align: array.align, ..memory }, shadow)
        });
        let block = Block {
            number: 0,
            index: [0; 3],
            time: 1,
            known: 1,
            shared: shared.collect(),
            releases: Default::default(),
            flights: Default::default(),
            has_waited: false,
            lets_early: false,
        };
        let n_warps = self.machine.n_threads.div_ceil(LANES as u32);
        let warps = (0..n_warps).map(|index| {
            let mut warp = Warp::new(program, index);
            for (register, bits) in &self.arguments {
                warp.file[*register as usize] = [*bits; LANES];
            }
            warp
        });
        Resident { block, warps: warps.collect() }
    }

    /// Runs a block's warps, until it ends, only waits, or has had its turn.
    fn turn(&mut self, place: usize) -> Progress {
        for _ in 0..SWEEPS {
            let is_moving = self.sweep(place);
            let Resident { block, warps } = &mut self.resident[place];
            if self.machine.is_over {
                return Progress::Working;
            }
            if warps.iter().all(|warp| warp.status == Status::Ended) {
                self.machine.end_block(block);
                return Progress::Ended;
            }
            if warps.iter().all(|warp| warp.status != Status::Ready) {
                pass_barrier(self.machine, block, warps);
                self.n_advances += 1;
            } else if !is_moving {
                return Progress::Waiting;
            }
        }
        Progress::Working
    }

    /// Runs each warp that can go on. Says whether any did more than wait.
    fn sweep(&mut self, place: usize) -> bool {
        let Resident { block, warps } = &mut self.resident[place];
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
            let mut execution = Execution { machine: self.machine, block, warp, stop: None };
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
                break;
            }
        }
        is_moving
    }

    fn find_deadlock(&mut self) {
        self.machine.is_over = true;
        let waiting = self.resident.iter().find_map(|resident| {
            let warp = resident.warps.iter().find(|warp| warp.status == Status::Ready)?;
            Some((resident.block.number, warp))
        });
        let Some((block, warp)) = waiting else { return };
        let lane = warp.active.trailing_zeros() % LANES as u32;
        let thread = self.machine.thread(block, warp.index, lane);
        let place = self.machine.program.places[warp.last_turn as usize];
        let (n_running, n_left) = (self.resident.len(), self.n_blocks - self.n_begun);
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

/// All warps of a block have come to a barrier, or have ended: those that have come go on.
fn pass_barrier(machine: &mut Machine, block: &mut Block, warps: &mut [Warp]) {
    find_divergence(machine, block, warps);
    block.time += 1;
    block.known = block.time;
    if block.time > machine.most_time {
        let message = "more barriers than the interpreter can tell apart".to_owned();
        let place = first_barrier(machine, warps);
        machine.findings.add(Kind::Unsupported, place, None, || (None, message));
        machine.is_over = true;
    }
    if warps.iter().any(|warp| warp.orders.is_some()) {
        let orders = warps.iter_mut().map(|warp| {
            &mut **warp
                .orders
                .get_or_insert_with(|| Box::new(std::array::from_fn(|_| Default::default())))
        });
        clock::join(orders);
    }
    for warp in warps {
        if let Status::Barrier(_) = warp.status {
            warp.status = Status::Ready;
        }
    }
}

fn first_barrier(machine: &Machine, warps: &[Warp]) -> crate::kernel::Place {
    let pc = warps.iter().find_map(barrier_of).unwrap_or_default();
    machine.program.places[pc as usize]
}

fn barrier_of(warp: &Warp) -> Option<Pc> {
    match warp.status {
        Status::Barrier(pc) => Some(pc),
        Status::Ready | Status::Ended => None,
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
            Status::Barrier(_) | Status::Ready => continue,
        };
        let message = format!("a barrier that not all threads come to: {absent} {why}");
        machine.findings.add(Kind::DivergentBarrier, place, other, || (Some(thread), message));
    }
    machine.is_over |= machine.findings.is_full();
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

/// In which order blocks begin: block `factor * i + first` is the `i`th.
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
