// SPDX-License-Identifier: Apache-2.0
//! Clusters of blocks on several cores, with the outcome of one core to the last bit. A block of a
//! launch without clusters is one of its own.
//!
//! Each core runs blocks on copies of its own of the memory that the launch writes, and remembers
//! by itself who touched which cell. What they did is taken only where it is as if the blocks had
//! run one after another: nothing was found, every block came to its end, and no cell that a core's
//! blocks have written was touched on another core. Then no block has read what another one wrote,
//! and none that is ordered in any way would have done anything else; so what each has written is
//! put together, and which block ran on which core is nowhere to be seen.
//!
//! Otherwise all of it is thrown away, as soon as that is known, and the blocks run in their order.
//! So findings are those of one core: whatever it finds, a core of these finds, or two of them
//! touch the same cell. Where memory for who touched what has run short, of which one core says
//! nothing, nothing is taken either.
//!
//! Not tried: kernels in which blocks may tell one another something, by atomic operations or
//! reductions on global memory or behind the grid's barrier, or that print; orders other than the
//! plain one; and launches that are over at once.

use super::execute::Machine;
use super::launch::{Cancel, Options, Outcome, Run, shadows};
use super::memory::{Memories, Memory};
use super::program::Program;
use super::shadow::Shadow;
use super::step::{BulkStep, Step};
use super::traffic::Counter;
use super::warp::LANES;
use crate::intrinsic::Level;
use crate::types::Space;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of more cores, each would have too little, and all of them too much memory.
const MOST_CORES: usize = 16;
/// How many times a core comes back for blocks, about.
const SHARES: u64 = 16;

/// Runs the blocks of a launch on several cores. Gives nothing, and has changed nothing, where that
/// does not come to the same as one core.
pub(super) fn run(run: &Run<'_>, memories: &mut Memories, options: &Options) -> Option<Outcome> {
    let n_clusters = run.n_clusters();
    let n_cores = options.n_cores.min(MOST_CORES).min(usize::try_from(n_clusters).ok()?);
    let n_warps = run.n_blocks().saturating_mul(run.n_threads.div_ceil(LANES as u32).into());
    if n_cores < 2 || options.seed != 0 || n_warps < options.least_warps || !are_apart(run.program)
    {
        return None;
    }
    let clusters = Clusters {
        n_clusters,
        share: (n_clusters / (n_cores as u64 * SHARES)).max(1),
        next: AtomicU64::new(0),
        end: Cancel::default(),
    };
    let held: &Memories = memories;
    let done = std::thread::scope(|scope| {
        let core = || core(run, held, options, &clusters);
        let others: Vec<_> = (1..n_cores).map(|_| scope.spawn(core)).collect();
        let first = core();
        let others = others.into_iter().map(|other| other.join().ok().flatten());
        [first].into_iter().chain(others).collect::<Option<Vec<Done>>>()
    })?;
    put_together(run, done, memories)
}

/// Whether blocks have no way to tell one another anything that order could depend on.
fn are_apart(program: &Program) -> bool {
    program.steps.iter().all(|step| match step {
        Step::Atomic(atomic) => atomic.access.space != Space::Global,
        Step::Bulk(BulkStep::Begin(copy)) => copy.reduction.is_none(),
        Step::Print { .. } | Step::Unsupported(_) | Step::Barrier(Level::Grid) => false,
        _ => true,
    })
}

/// The clusters that are still to be run.
struct Clusters {
    n_clusters: u64,
    /// How many a core takes at once.
    share: u64,
    next: AtomicU64,
    /// Whether what is run is not going to be taken.
    end: Cancel,
}

/// The deeds of a core.
struct Done {
    /// The memories that the launch may write, with who touched them.
    memories: Vec<Option<(Memory, Shadow)>>,
    is_exact: bool,
    thread_ops: u64,
    counter: Option<Box<Counter>>,
}

/// Runs clusters until there are no more. Gives nothing where they cannot be taken.
fn core(run: &Run<'_>, held: &Memories, options: &Options, clusters: &Clusters) -> Option<Done> {
    let shadows = shadows(std::slice::from_ref(run.launch), held, run.packing);
    let own = held.0.iter().zip(&shadows).map(|(memory, shadow)| match shadow {
        Some(_) => Cow::Owned(memory.clone()),
        None => Cow::Borrowed(memory),
    });
    let mut machine = run.machine(own.collect(), shadows, options);
    let is_whole = run_clusters(run, &mut machine, options, clusters);
    let knows_all = machine.shadows.iter().flatten().all(Shadow::knows_all);
    if !is_whole || !knows_all || !machine.findings.all.is_empty() {
        clusters.end.cancel();
        return None;
    }
    machine.shadows.iter_mut().flatten().for_each(Shadow::end_rows);
    let memories = machine.memories.into_iter().zip(machine.shadows);
    let memories = memories.map(|(memory, shadow)| {
        let shadow = shadow?;
        Some((memory.into_owned(), shadow))
    });
    let Machine { is_exact, thread_ops, counter, .. } = machine;
    Some(Done { memories: memories.collect(), is_exact, thread_ops, counter })
}

/// Whether all that this core has run came to their end, and nothing was found so far.
fn run_clusters(
    run: &Run<'_>,
    machine: &mut Machine<'_>,
    options: &Options,
    clusters: &Clusters,
) -> bool {
    let mut schedule = run.schedule(machine, options);
    schedule.ends_with(clusters.end.clone());
    loop {
        let first = clusters.next.fetch_add(clusters.share, Ordering::Relaxed);
        if first >= clusters.n_clusters {
            return true;
        }
        let behind = first.saturating_add(clusters.share).min(clusters.n_clusters);
        for number in first..behind {
            if !schedule.run_alone(number) || schedule.has_findings() {
                return false;
            }
        }
    }
}

/// Puts together what cores have written; nothing, and nothing is changed, where a cell that one of
/// them has written was touched by another one.
fn put_together(run: &Run<'_>, mut done: Vec<Done>, memories: &mut Memories) -> Option<Outcome> {
    for at in 0..memories.0.len() {
        let copies: Vec<_> = done.iter().filter_map(|done| done.memories[at].as_ref()).collect();
        if !are_cells_apart(&copies) {
            return None;
        }
    }
    for (at, memory) in memories.0.iter_mut().enumerate() {
        for (copy, shadow) in done.iter().filter_map(|done| done.memories[at].as_ref()) {
            take_written(memory, copy, shadow);
        }
    }
    let kept = done.iter().flat_map(|done| done.memories.iter().flatten());
    let shadows = kept.map(|(memory, shadow)| memory.written_bytes() + shadow.bytes());
    let bookkeeping_bytes = shadows.sum();
    let counters = done.iter_mut().filter_map(|done| done.counter.take());
    let counter = counters.reduce(|mut all, one| {
        all.add(*one);
        all
    });
    let held: Vec<_> = memories.0.iter().map(Cow::Borrowed).collect();
    Some(Outcome {
        is_exact: done.iter().all(|done| done.is_exact),
        is_complete: true,
        thread_ops: done.iter().map(|done| done.thread_ops).sum(),
        bookkeeping_bytes,
        traffic: run.traffic(counter, &held),
        n_cores: done.len(),
        ..Outcome::default()
    })
}

/// Whether no core has touched a cell that another one has written.
fn are_cells_apart(copies: &[&(Memory, Shadow)]) -> bool {
    let n_cells = copies.iter().map(|(_, shadow)| shadow.n_cells()).min().unwrap_or_default();
    (0..n_cells).all(|cell| {
        let n_touching = copies.iter().filter(|(_, shadow)| shadow.is_touched(cell)).count();
        n_touching < 2 || !copies.iter().any(|(_, shadow)| shadow.is_written(cell))
    })
}

/// Takes the cells that a core has written.
fn take_written(memory: &mut Memory, copy: &Memory, shadow: &Shadow) {
    let (n_bytes, size) = (memory.bytes.len(), shadow.cell_bytes());
    for cell in (0..shadow.n_cells()).filter(|cell| shadow.is_written(*cell)) {
        let bytes = cell * size..((cell + 1) * size).min(n_bytes);
        if let (Some(to), Some(from)) = (memory.bytes.get_mut(bytes.clone()), copy.bytes.get(bytes))
        {
            to.copy_from_slice(from);
        }
    }
    if let (Some(own), Some(copied)) = (&mut memory.written, &copy.written) {
        own.unite(copied);
    }
}
