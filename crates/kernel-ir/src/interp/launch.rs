// SPDX-License-Identifier: Apache-2.0
//! Launches, and their outcomes.

use super::bulk::N_AGENTS;
use super::execute::Machine;
use super::finding::{self, Finding, Findings, Kind};
use super::memory::{Memories, Memory, MemoryId};
use super::narrowest::Narrowest;
use super::parallel;
use super::products::N_WARPGROUPS;
use super::program::Program;
use super::schedule::Schedule;
use super::sequence::Dependence;
use super::shadow::{Packing, Shadow};
use super::step::Register;
use super::touched::Touched;
use super::traffic::{Counter, Traffic, Widths};
use crate::constant::Const;
use crate::kernel::{Facts, Kernel, Param, ParamKind, Place, Size, TensorMap, Value};
use crate::shared;
use kernpack_machine::block::{MOST_CLUSTER_BLOCKS, MOST_THREADS, MOST_THREADS_ALONG, WARP_SIZE};
use kernpack_machine::shared::MOST_BYTES;
use kernpack_machine::tensor_map::{MOST_RANK, UNIT_BYTES};
use kernpack_syntax::Span;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A kernel, with what it is launched with.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The kernel: verified, and with calls of functions expanded.
    pub kernel: &'a Kernel,
    /// The blocks in x, y and z. Where one is 0, nothing runs.
    pub grid: [u32; 3],
    /// The threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The blocks of a cluster in x, y and z: 1 each where there are no clusters.
    pub cluster: [u32; 3],
    /// The argument of each parameter.
    pub arguments: Vec<Argument>,
}

/// The argument of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A number or a truth value.
    Scalar(Const),
    /// The address of a tensor.
    Tensor {
        /// The allocation that it lies in.
        memory: MemoryId,
        /// From where on, in bytes.
        offset: u64,
    },
    /// The map of a tensor.
    Map(MappedTensor),
}

/// A tensor as its map has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedTensor {
    /// The allocation that it lies in.
    pub memory: MemoryId,
    /// From where on, in bytes.
    pub offset: u64,
    /// Its extents, the innermost first; 1 beyond its rank.
    pub extents: [u64; MOST_RANK],
    /// The strides of all dims but the innermost, in bytes; 0 beyond.
    pub strides: [u64; MOST_RANK - 1],
}

/// How a launch is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many different findings end a run.
    pub most_findings: usize,
    /// How many turns of loops one warp may run.
    pub most_turns: u64,
    /// How many turns of loops warps may wait in while nothing else happens.
    pub most_idle_turns: u64,
    /// How many lines are kept of those that a kernel prints.
    pub most_printed: usize,
    /// How many blocks the device holds at once, where that is known: the others begin once one of
    /// these has ended.
    pub most_blocks: Option<u64>,
    /// In which order warps and blocks run: 0 is the plain one. Kernels without races give the same
    /// with each.
    pub seed: u64,
    /// How many threads of the machine may run blocks, 1 at least. What comes of a run is the same
    /// with any number of them.
    pub n_cores: usize,
    /// Launches of fewer warps are run by one thread in any case, as they are over at once.
    pub least_warps: u64,
    /// The wish of another thread that the run end.
    pub cancel: Cancel,
    /// How wide accesses become, where they are to be counted.
    pub count: Option<Arc<Widths>>,
}

/// How many threads the machine runs at once.
fn machine_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
}

/// A wish that a run end, which whoever shares it may have. What it has done by then stays.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Has the run end soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            most_findings: 32,
            most_turns: 1 << 25,
            most_idle_turns: 1 << 20,
            most_printed: 10_000,
            most_blocks: None,
            seed: 0,
            n_cores: machine_cores(),
            least_warps: 32,
            cancel: Cancel::default(),
            count: None,
        }
    }
}

/// The outcome of a launch. Memories hold what it wrote.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The mistakes, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// The lines that were printed.
    pub printed: Vec<String>,
    /// Whether a GPU gives the same bits: no approximate function and no atomic sum of floats was
    /// run.
    pub is_exact: bool,
    /// Whether every thread ran to its end.
    pub is_complete: bool,
    /// How many operations threads have run.
    pub thread_ops: u64,
    /// How many bytes it took to know who has touched and written global memory. Each core has some
    /// of its own.
    pub bookkeeping_bytes: u64,
    /// How many threads of the machine have run it.
    pub n_cores: usize,
    /// How much accesses have asked of memory, line by line, where that was counted.
    pub traffic: Option<Vec<Traffic>>,
}

impl Outcome {
    /// That of a launch that nothing runs.
    pub fn refused(message: String) -> Outcome {
        let (kind, place) = (Kind::BadLaunch, Place::NOWHERE);
        let (thread, other, earlier) = (None, None, None);
        let finding = Finding { kind, place, thread, message, other, earlier, count: 1 };
        Outcome { findings: vec![finding], is_exact: true, ..Outcome::default() }
    }
}

/// Runs a launch. It is ordered behind everything that was run with these memories before.
///
/// # Panics
/// Where the kernel is not verified, or a memory is not one of these.
pub fn run(launch: &Launch, memories: &mut Memories, options: &Options) -> Outcome {
    let program = Program::of(launch.kernel);
    let run = match Run::of(launch, &program, memories) {
        Ok(run) => run,
        Err(message) => return Outcome::refused(message),
    };
    let apart = parallel::run(&run, memories, options);
    apart.unwrap_or_else(|| {
        let mut machine = run.whole(memories, options);
        run.in_order(&mut machine, memories, options)
    })
}

/// Runs a launch that other launches may meet. Gives the places of its accesses, too: in a text,
/// and in words where they are in none.
pub(super) fn run_depending(
    launch: &Launch,
    dependence: &mut Dependence,
    may_be_met: bool,
    memories: &mut Memories,
    options: &Options,
) -> (Outcome, Vec<(Span, String)>) {
    let program = Program::of(launch.kernel);
    let run = match Run::of(launch, &program, memories) {
        Ok(run) => run,
        Err(message) => return (Outcome::refused(message), Vec::new()),
    };
    dependence.touched = may_be_met.then(|| Touched::new(launch, memories, run.packing));
    let mut machine = run.whole(memories, options);
    machine.dependence = Some(std::mem::take(dependence));
    let outcome = run.in_order(&mut machine, memories, options);
    *dependence = machine.dependence.unwrap_or_default();
    (outcome, run.sites())
}

/// A launch that can be run, by one rank or more.
pub(super) struct Run<'r> {
    pub launch: &'r Launch<'r>,
    /// That of each rank, which differ in their arguments alone.
    ranks: &'r [Launch<'r>],
    pub program: &'r Program<'r>,
    pub packing: Packing,
    pub most_time: u64,
    /// The threads of a block.
    pub n_threads: u32,
    /// The shared arrays' bytes.
    pub shared_bytes: Vec<usize>,
}

impl<'r> Run<'r> {
    /// Whether it can be run: where it cannot, the reason.
    fn of(
        launch: &'r Launch<'r>,
        program: &'r Program<'r>,
        memories: &Memories,
    ) -> Result<Run<'r>, String> {
        Run::of_ranks(std::slice::from_ref(launch), 0, program, memories)
    }

    /// The same for launches of several ranks, of which there is one at least. Their grids have the
    /// numbers from that one on.
    pub fn of_ranks(
        ranks: &'r [Launch<'r>],
        first_grid: u64,
        program: &'r Program<'r>,
        memories: &Memories,
    ) -> Result<Run<'r>, String> {
        let launch = &ranks[0];
        let shared_bytes = check(launch, memories)?;
        for other in &ranks[1..] {
            if check(other, memories)? != shared_bytes {
                return Err("the ranks have shared arrays of different sizes".to_owned());
            }
        }
        let n_blocks = product(launch.grid);
        let n_threads: u32 = launch.block.iter().product();
        let n_warps = n_threads.div_ceil(WARP_SIZE);
        // Agents are numbered behind the blocks.
        let packing = match program.has_agents() {
            true => Packing::new(
                n_warps.max(N_AGENTS + N_WARPGROUPS),
                2 * n_blocks,
                program.sites.len(),
            ),
            false => Packing::new(n_warps, n_blocks, program.sites.len()),
        };
        let packing = packing.of_ranks(ranks.len(), first_grid);
        let most_time = packing.most_time().ok_or_else(|| {
            format!("a grid of {n_blocks} blocks is too large for the interpreter")
        })?;
        Ok(Run { launch, ranks, program, packing, most_time, n_threads, shared_bytes })
    }

    /// How many blocks a rank has.
    pub fn n_blocks(&self) -> u64 {
        product(self.launch.grid)
    }

    /// How many clusters a rank has.
    pub fn n_clusters(&self) -> u64 {
        self.n_blocks() / product(self.launch.cluster)
    }

    /// The places of its accesses: in a text, and in words where they are in none.
    pub fn sites(&self) -> Vec<(Span, String)> {
        let kernel = self.launch.kernel;
        let places = self.program.sites.iter().map(|site| kernel.place_of_user(*site));
        places.map(|place| (place.span, finding::spelled(kernel, place))).collect()
    }

    /// A machine that has all memories, for as long as it runs.
    pub fn whole(&self, memories: &mut Memories, options: &Options) -> Machine<'r> {
        let shadows = shadows(self.ranks, memories, self.packing);
        let held = std::mem::take(&mut memories.0).into_iter().map(Cow::Owned).collect();
        self.machine(held, shadows, options)
    }

    /// Runs the blocks in their order, and gives the memories back.
    pub fn in_order(
        &self,
        machine: &mut Machine<'_>,
        memories: &mut Memories,
        options: &Options,
    ) -> Outcome {
        if self.n_blocks() > 0 {
            self.schedule(machine, options).run();
        }
        let shadows = machine.shadows.iter().flatten().map(Shadow::bytes);
        let written = machine.memories.iter().map(|memory| memory.written_bytes());
        let bookkeeping_bytes = shadows.chain(written).sum();
        let traffic = self.traffic(machine.counter.take(), &machine.memories);
        memories.0 = machine.memories.drain(..).map(Cow::into_owned).collect();
        Outcome {
            findings: std::mem::take(&mut machine.findings.all),
            printed: std::mem::take(&mut machine.printed),
            is_exact: machine.is_exact,
            is_complete: !machine.is_over,
            thread_ops: machine.thread_ops,
            bookkeeping_bytes,
            n_cores: 1,
            traffic,
        }
    }

    /// The counts, line by line.
    pub fn traffic(
        &self,
        counter: Option<Box<Counter>>,
        memories: &[Cow<'_, Memory>],
    ) -> Option<Vec<Traffic>> {
        let sites = &self.program.sites;
        counter.map(|all| all.traffic(self.launch.kernel, sites, memories))
    }

    /// Runs blocks of it in some order.
    pub fn schedule<'m, 'p>(
        &self,
        machine: &'m mut Machine<'p>,
        options: &Options,
    ) -> Schedule<'m, 'p> {
        let arguments = self.ranks.iter().map(|launch| arguments(launch, self.program));
        let (n_clusters, shared_bytes) = (self.n_clusters(), self.shared_bytes.clone());
        Schedule::new(machine, arguments.collect(), shared_bytes, n_clusters, options)
    }

    /// A machine that has run nothing so far.
    pub fn machine<'m>(
        &self,
        memories: Vec<Cow<'m, Memory>>,
        shadows: Vec<Option<Shadow>>,
        options: &Options,
    ) -> Machine<'m>
    where
        'r: 'm,
    {
        Machine {
            program: self.program,
            grid: self.launch.grid,
            block: self.launch.block,
            cluster: self.launch.cluster,
            n_threads: self.n_threads,
            shadows,
            memories,
            packing: self.packing,
            most_time: self.most_time,
            releases: Default::default(),
            n_blocks: self.n_blocks(),
            proxy_fences: Default::default(),
            issuers: Default::default(),
            dependence: None,
            n_ranks: self.ranks.len(),
            together: None,
            counter: options.count.as_deref().map(|widths| Box::new(Counter::new(widths))),
            findings: Findings::new(options.most_findings),
            printed: Vec::new(),
            most_printed: options.most_printed,
            most_turns: options.most_turns,
            most_idle_turns: options.most_idle_turns,
            is_exact: true,
            is_over: false,
            thread_ops: 0,
            changes: 0,
        }
    }
}

/// The bytes that it takes at most to know who has touched and written an allocation that launches
/// write, besides what it holds, and but for 4 MiB where threads touch much without order. They
/// touch it in [cells](super::cell_bytes) of that size.
pub fn bookkeeping_bytes(cell_bytes: u32, n_bytes: u64) -> u64 {
    Shadow::most_bytes(n_bytes, cell_bytes).saturating_add(n_bytes.div_ceil(8))
}

/// How many there are in three dimensions; more than fit are as many as do.
pub(super) fn product(counts: [u32; 3]) -> u64 {
    counts.iter().fold(1, |all: u64, count| all.saturating_mul(u64::from(*count)))
}

/// The registers of parameters, with their arguments.
fn arguments(launch: &Launch, program: &Program) -> Vec<(Register, u64)> {
    let params = program.params.iter().zip(&launch.kernel.params).zip(&launch.arguments);
    let registers = params.flat_map(|((register, param), argument)| {
        let numbers = match (argument, &param.kind) {
            (Argument::Scalar(number), _) => vec![number.bits()],
            (Argument::Tensor { memory, offset }, _) => vec![u64::from(memory.0), *offset],
            (Argument::Map(mapped), ParamKind::Map(map)) => mapped.numbers(map.rank),
            (Argument::Map(_), _) => unreachable!("arguments are checked"),
        };
        (*register..).zip(numbers)
    });
    registers.collect()
}

impl MappedTensor {
    /// Its numbers in the order in which registers have them.
    fn numbers(&self, rank: usize) -> Vec<u64> {
        let mut numbers = vec![u64::from(self.memory.0), self.offset];
        numbers.extend(&self.extents[..rank]);
        numbers.extend(&self.strides[..rank - 1]);
        numbers
    }
}

/// The cells of an allocation, as a launch touches them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub is_passed: bool,
    pub is_written: bool,
    /// The bytes of one: 8 of an allocation that is not passed.
    pub bytes: u32,
}

/// The cells of each allocation, for launches of one kernel: several parameters may lead to it.
pub(super) fn cells_of(launches: &[Launch], memories: &Memories) -> Vec<Cells> {
    let untouched = Cells { is_passed: false, is_written: false, bytes: u64::BITS / 8 };
    let mut all = vec![untouched; memories.0.len()];
    for launch in launches {
        add_cells(launch, memories, &mut all);
    }
    all
}

fn add_cells(launch: &Launch, memories: &Memories, all: &mut [Cells]) {
    let narrowest = Narrowest::of(launch.kernel);
    for (at, (param, argument)) in launch.kernel.params.iter().zip(&launch.arguments).enumerate() {
        let (memory, is_written) = match (&param.kind, argument) {
            (ParamKind::Pointer(pointer), Argument::Tensor { memory, .. }) => {
                (memory, pointer.is_written)
            }
            (ParamKind::Map(map), Argument::Map(mapped)) => (&mapped.memory, map.is_written),
            _ => continue,
        };
        let cells = &mut all[memory.0 as usize];
        cells.is_passed = true;
        cells.is_written |= is_written;
        let element = memories.get(*memory).element;
        cells.bytes = narrowest.of_param(at, element).min(cells.bytes);
    }
}

/// Shadow memory for what a launch may write: what it may only read has no races. For all that is
/// passed where there are several ranks, as one may read what another one writes a launch later.
pub(super) fn shadows(
    ranks: &[Launch],
    memories: &Memories,
    packing: Packing,
) -> Vec<Option<Shadow>> {
    let shadow = |(held, cells): (&Memory, Cells)| {
        let has_races = cells.is_written || ranks.len() > 1 && cells.is_passed;
        has_races.then(|| Shadow::new(held.bytes.len(), cells.bytes, packing))
    };
    memories.0.iter().zip(cells_of(ranks, memories)).map(shadow).collect()
}

/// Whether the kernel can be launched so, and the bytes of its shared arrays.
fn check(launch: &Launch, memories: &Memories) -> Result<Vec<usize>, String> {
    let kernel = launch.kernel;
    let (expected, found) = (kernel.params.len(), launch.arguments.len());
    if expected != found {
        return Err(format!("expected {expected} arguments, found {found}"));
    }
    check_block(kernel, launch.block)?;
    check_cluster(launch)?;
    for (param, argument) in kernel.params.iter().zip(&launch.arguments) {
        check_argument(param, argument, memories)?;
    }
    shared_bytes(launch)
}

fn check_block(kernel: &Kernel, block: [u32; 3]) -> Result<(), String> {
    let n_threads = product(block);
    if !(1..=u64::from(MOST_THREADS)).contains(&n_threads) || block[2] > MOST_THREADS_ALONG[2] {
        let most = format!("1 to {MOST_THREADS}, in z at most {}", MOST_THREADS_ALONG[2]);
        return Err(format!("a block of {block:?} threads: there are {most}"));
    }
    let expected = kernel.block.iter().zip(block).map(|(known, found)| known.unwrap_or(found));
    let expected: Vec<_> = expected.collect();
    match expected == block {
        true => Ok(()),
        false => Err(format!("a block of {block:?} threads, and the kernel is for {expected:?}")),
    }
}

fn check_cluster(launch: &Launch) -> Result<(), String> {
    let (cluster, grid) = (launch.cluster, launch.grid);
    if !(1..=u64::from(MOST_CLUSTER_BLOCKS)).contains(&product(cluster)) {
        return Err(format!(
            "a cluster of {cluster:?} blocks: there are 1 to {MOST_CLUSTER_BLOCKS}"
        ));
    }
    match grid.iter().zip(cluster).all(|(blocks, of)| blocks % of == 0) {
        true => Ok(()),
        false => Err(format!("a grid of {grid:?} blocks is not whole clusters of {cluster:?}")),
    }
}

fn check_argument(param: &Param, argument: &Argument, memories: &Memories) -> Result<(), String> {
    let name = &param.name;
    match (&param.kind, argument) {
        (ParamKind::Scalar(scalar, facts), Argument::Scalar(number)) => {
            if number.scalar() != *scalar {
                return Err(format!("`{name}`: expected {scalar}, found {}", number.scalar()));
            }
            match number.as_int() {
                Some(number) if !holds(facts, number) => Err(format!(
                    "`{name}` is {number}: expected {} to {}, a multiple of {}",
                    facts.min, facts.max, facts.divisor
                )),
                Some(_) | None => Ok(()),
            }
        }
        (ParamKind::Pointer(pointer), Argument::Tensor { memory, offset }) => {
            let Some(held) = memories.0.get(memory.0 as usize) else {
                return Err(format!("`{name}` is in no memory"));
            };
            let align = pointer.align.max(1);
            if !held.is_aligned(*offset, align) {
                let offset = offset.wrapping_add(held.lead.into());
                return Err(format!(
                    "`{name}` is at byte {offset}: expected a multiple of {align}"
                ));
            }
            Ok(())
        }
        (ParamKind::Map(map), Argument::Map(mapped)) => check_map(name, map, mapped, memories),
        (expected, found) => {
            let expected = match expected {
                ParamKind::Scalar(scalar, _) => scalar.name(),
                ParamKind::Pointer(_) => "a tensor",
                ParamKind::Map(_) => "a map",
            };
            let found = match found {
                Argument::Scalar(_) => "a number",
                Argument::Tensor { .. } => "a tensor",
                Argument::Map(_) => "a map",
            };
            Err(format!("`{name}`: expected {expected}, found {found}"))
        }
    }
}

/// Whether a map can be of that tensor: what the driver demands of it.
fn check_map(
    name: &str,
    map: &TensorMap,
    mapped: &MappedTensor,
    memories: &Memories,
) -> Result<(), String> {
    let Some(held) = memories.0.get(mapped.memory.0 as usize) else {
        return Err(format!("`{name}` is in no memory"));
    };
    if !held.is_aligned(mapped.offset, UNIT_BYTES) {
        return Err(format!("`{name}` is not at a multiple of {UNIT_BYTES} bytes"));
    }
    let strides = &mapped.strides[..map.rank - 1];
    if let Some(stride) = strides.iter().find(|stride| *stride % u64::from(UNIT_BYTES) != 0) {
        let message = format!("`{name}` has a stride of {stride} bytes");
        return Err(format!("{message}: expected a multiple of {UNIT_BYTES}"));
    }
    Ok(())
}

fn holds(facts: &Facts, number: i64) -> bool {
    (facts.min..=facts.max).contains(&number) && number % facts.divisor.max(1) == 0
}

fn shared_bytes(launch: &Launch) -> Result<Vec<usize>, String> {
    let number = |value: Value| match launch.arguments.get(value.index()) {
        Some(Argument::Scalar(number)) => number.as_int().unwrap_or(-1),
        Some(Argument::Tensor { .. } | Argument::Map(_)) | None => -1,
    };
    let ends = shared::ends(launch.kernel).0;
    let mut sizes = Vec::new();
    for (array, end) in launch.kernel.shared.iter().zip(ends) {
        let bytes = match array.size {
            Size::Bytes(bytes) => i64::from(bytes),
            Size::Param(value) => number(value),
        };
        if bytes < 0 || end.eval(number) > u64::from(MOST_BYTES) {
            let message = format!("`{}`: {bytes} bytes of shared memory", array.name);
            return Err(format!("{message}, of which a block has {MOST_BYTES}"));
        }
        sizes.push(bytes as usize);
    }
    Ok(sizes)
}
