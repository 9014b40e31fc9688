// SPDX-License-Identifier: Apache-2.0
//! Copies of many bytes, of which each is an agent beside the warps: it reads and writes at any
//! time from where it begins until a wait sees that it is done. Meanwhile it is marked in shadow
//! memory.
//!
//! One into shared memory is done when the phase of its mbarrier is complete, for those who have
//! waited for that phase, and for no others: not even for the thread that began it. So what it did
//! is written down as the deed of an agent that stands for the mbarrier, at the phase as a time,
//! and who waits learns that time of the agent. Its bytes move when the first one waits.
//!
//! One out of shared memory is done when its thread has waited for its group.

use super::access::{Deed, Fault, Faulty, now, touch};
use super::clock::{Event, Now, in_grid};
use super::execute::{Execution, Machine};
use super::finding::{Kind, Thread};
use super::flight::{By, Mark, mistake};
use super::marks::{Rows, joined};
use super::mbarrier::At;
use super::memory::{Memory, fetch, put};
use super::shadow::{Shadow, Way};
use super::step::{Access, Amount, BulkCopy, BulkStep, Register};
use super::warp::{Block, Cluster, LANES, Warp, lanes_of};
use crate::eval;
use crate::intrinsic::BULK_ALIGN;
use crate::op::Binary;
use crate::types::{Scalar, Space};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How many agents a block has. Mbarriers beyond share them.
pub(super) const N_AGENTS: u32 = 64;

/// One end of a copy: the allocation of global or shared memory, and the byte in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub is_global: bool,
    pub id: u32,
    pub offset: u64,
}

/// Bytes in a row that a copy moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where they go, in the memory of that end.
    pub to: u64,
    /// Where they come from; nothing where they become zeros.
    pub from: Option<u64>,
    pub bytes: u32,
}

/// Bytes of one end that are touched, all in one way.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub end: End,
    /// Where they begin, and how many there are in a row.
    pub spans: Vec<(u64, u32)>,
    pub way: Way,
    /// Who touches them.
    pub by: By,
}

/// A copy that has begun.
#[derive(Clone, Debug)]
pub(super) struct Bulk {
    to: End,
    from: End,
    pieces: Arc<[Piece]>,
    /// The operation that combines each element with what is there, and the type of elements.
    reduction: Option<(Binary, Scalar)>,
    /// Its mark where it reads.
    mark: Mark,
}

/// The copies of a thread out of shared memory that are in flight.
#[derive(Debug, Default)]
struct OfThread {
    /// Those in no group yet.
    open: Vec<Bulk>,
    /// The groups, the earliest first, each with whether its copies have read.
    groups: VecDeque<(Vec<Bulk>, bool)>,
}

/// The copies of a block out of shared memory that are in flight, by thread.
#[derive(Debug, Default)]
pub(super) struct BulkStores(HashMap<usize, OfThread>);

impl BulkStores {
    fn of(&mut self, warp: u32, lane: usize) -> &mut OfThread {
        self.0.entry(warp as usize * LANES + lane).or_default()
    }

    /// Those of a thread that ends.
    fn take(&mut self, warp: u32, lane: usize) -> Option<OfThread> {
        self.0.remove(&(warp as usize * LANES + lane))
    }
}

/// The threads that began copies, by the agent and the place.
pub(super) type Issuers = HashMap<(u64, u32, u32), Event>;

impl Machine<'_> {
    /// The number by which the agents of a block go: no block has it.
    pub fn agents_of(&self, block: u64) -> u64 {
        self.n_blocks + block
    }

    /// Whether agents go by that number.
    pub fn is_agents(&self, block: u64) -> bool {
        in_grid(block) >= self.n_blocks
    }

    /// The thread that did something there, or had an agent do it.
    pub fn doer(&self, event: Event, site: u32) -> Thread {
        let issuer = self.issuers.get(&(event.block, event.warp, site));
        let Event { block, warp, lane, .. } = *issuer.unwrap_or(&event);
        self.thread(block, warp, lane)
    }
}

impl Execution<'_, '_> {
    /// Each lane that runs does something about copies of many bytes.
    pub fn bulk(&mut self, step: &BulkStep) {
        match step {
            BulkStep::Begin(copy) => self.begin_bulk(copy),
            BulkStep::Prefetch => {}
            BulkStep::Commit => self.commit_bulk(),
            BulkStep::Wait { n_left, only_reads } => self.wait_for_bulk(*n_left, *only_reads),
            BulkStep::Fence { is_of_shared } => self.fence_proxy(*is_of_shared),
        }
    }

    fn begin_bulk(&mut self, copy: &BulkCopy) {
        self.warp.outside.access(self.place(), self.warp.active);
        self.machine.is_exact &= !copy.reduction.is_some_and(|(_, element)| element.is_float());
        for lane in lanes_of(self.warp.active) {
            match copy.blocks {
                Some(mask) => self.begin_in_blocks(copy, mask, lane),
                None => self.begin_one(copy, None, lane),
            }
        }
        self.pass_time();
    }

    /// A lane copies to the same place of several blocks of the cluster.
    fn begin_in_blocks(&mut self, copy: &BulkCopy, mask: Register, lane: usize) {
        let (mask, n_blocks) = (self.warp.file[mask as usize][lane], self.cluster.blocks.len());
        for rank in (0..u64::BITS).filter(|rank| mask >> rank & 1 == 1) {
            if (rank as usize) < n_blocks {
                self.begin_one(copy, Some(rank), lane);
            } else {
                let message =
                    format!("block {rank} of the cluster is out of bounds: it has {n_blocks}");
                self.find(Kind::IndexOutOfBounds, lane, None, message);
            }
        }
    }

    /// A lane copies, to where its addresses say, or to the same place of another block.
    fn begin_one(&mut self, copy: &BulkCopy, rank: Option<u32>, lane: usize) {
        let Some(bulk) = self.started(copy, rank, lane) else { return };
        match &copy.barrier {
            Some(barrier) => {
                let at = self.at_of(barrier, lane);
                let at = (self.in_block(at.0, rank), at.1);
                self.bring_to_mbarrier((&of_block(*barrier, rank), at), bulk, lane);
            }
            None => {
                self.mark(&bulk);
                self.block.bulk_stores.of(self.warp.index, lane).open.push(bulk);
            }
        }
    }

    /// An array, or the one like it of another block.
    fn in_block(&self, array: u32, rank: Option<u32>) -> u32 {
        let n_arrays = self.cluster.n_arrays.max(1);
        rank.map_or(array, |rank| rank * n_arrays + array % n_arrays)
    }

    /// The copy of a lane, where it can be made; finds why not, and what is wrong with it.
    fn started(&mut self, step: &BulkCopy, rank: Option<u32>, lane: usize) -> Option<Bulk> {
        let [mut to, from] = [&step.to, &step.from].map(|access| self.end(access, lane));
        to.id = self.in_block(to.id, rank);
        let pieces = match &step.amount {
            Amount::Bytes(bytes) => vec![self.piece_in_a_row(*bytes, [to, from], lane)?],
            Amount::Box(of) => self.pieces_of_box(of, [to, from], lane),
        };
        let event = now!(self.warp, self.block, self.cluster).event(lane as u32);
        let by = if step.reduction.is_some() { By::Reduction } else { By::Bulk };
        let mark = Mark { writes: false, event, site: step.to.site, by };
        let bulk = Bulk { to, from, pieces: pieces.into(), reduction: step.reduction, mark };
        let reads = self.check_end(&step.from, &bulk.touched(false), lane);
        let writes = self.check_end(&of_block(step.to, rank), &bulk.touched(true), lane);
        (reads && writes).then_some(bulk)
    }

    /// The bytes of a lane that copies some in a row; finds how many cannot be copied.
    fn piece_in_a_row(
        &mut self,
        bytes: Register,
        [to, from]: [End; 2],
        lane: usize,
    ) -> Option<Piece> {
        let bytes = self.warp.file[bytes as usize][lane] as u32 as i32;
        if bytes < 0 || !(bytes as u32).is_multiple_of(BULK_ALIGN) {
            let message = format!("copies {bytes} bytes, which are no multiple of {BULK_ALIGN}");
            self.find(Kind::MisalignedAccess, lane, None, message);
            return None;
        }
        let (to, from) = (to.offset, Some(from.offset));
        (bytes > 0).then_some(Piece { to, from, bytes: bytes as u32 })
    }

    fn end(&self, access: &Access, lane: usize) -> End {
        let at = |register: Register| self.warp.file[register as usize][lane];
        let is_global = access.space == Space::Global;
        End { is_global, id: at(access.pointer) as u32, offset: at(access.pointer + 1) }
    }

    /// Whether the bytes of one end are there; finds what is wrong with them.
    pub fn check_end(&mut self, access: &Access, touched: &Touched, lane: usize) -> bool {
        let Touched { end, spans, way, .. } = touched;
        let (end, way) = (*end, *way);
        let (deed, plain) = match (way, way.writes()) {
            (Way::AsyncUpdate, _) => (Deed::Updates, Way::AtomicWrite),
            (_, true) => (Deed::Writes, Way::Write),
            (_, false) => (Deed::Reads, Way::Read),
        };
        self.check_presence(access, end.id, deed, 1 << lane);
        self.check_plain(access, end.id, deed, 1 << lane);
        let now = now!(self.warp, self.block, self.cluster);
        let (memory, shadow) = split_end(self.machine, self.cluster, end);
        let mistaken = |span| mistake(memory, shadow, span, 1, way, lane, &now);
        let is_aligned = memory.is_aligned(end.offset, access.align);
        // Spans that lie together are looked at together, where nothing is wrong.
        let is_fine = is_aligned && in_rows(spans).iter().all(|span| mistaken(*span).is_none());
        let first = (end.offset, access.align);
        let mut wrong = (!is_fine).then(|| wrong_span(memory, spans, first, mistaken)).flatten();
        if wrong.is_none() && way.writes() && shadow.is_none() {
            wrong = spans.first().map(|span| (*span, Fault::ReadOnly));
        }
        let there = spans.iter().filter(|(offset, bytes)| memory.has(*offset, *bytes));
        let there: Vec<_> = there.copied().collect();
        for bytes in there {
            let key = self.machine.packing.pack(plain, &now, access.site);
            touch!(self, access.space, end.id, bytes, key, lane, &now);
        }
        if wrong.is_none() {
            self.check_fences(touched, lane);
        }
        let (offset, bytes) = wrong.map_or((end.offset, 0), |(span, _)| span);
        let (access, fault) = (access.of_bytes(bytes), wrong.map(|(_, fault)| fault));
        self.tell(&access, end.id, deed, Faulty::new(lane, offset, fault))
    }

    /// Finds what threads have written, and no fence has the copy see.
    fn check_fences(&mut self, touched: &Touched, lane: usize) {
        let Touched { end, spans, way, by } = touched;
        let now = now!(self.warp, self.block, self.cluster);
        let (memory, shadow) = split_end(self.machine, self.cluster, *end);
        let Some(shadow) = shadow else { return };
        let mut fenced = self.machine.proxy_fences.seen(&now, lane as u32, end.is_global);
        let cells = spans.iter().flat_map(|(offset, bytes)| shadow.cells(*offset, *bytes));
        let unseen = shadow.unlike(cells).find_map(|cell| {
            let unseen = shadow.written_by_threads(cell).find(|seen| !fenced.has(seen.event))?;
            Some((memory.element_at(shadow.byte_of(cell)), unseen))
        });
        if let Some((element, seen)) = unseen {
            let deed = if way.writes() { Deed::Writes } else { Deed::Reads };
            let (who, does) = (by.text(), deed.text());
            let message = format!(
                "a {who} {does} `{element}`, which a thread has written, and no proxy fence stands between"
            );
            let other = self.other(seen);
            self.find(Kind::MissingProxyFence, lane, Some(other), message);
        }
    }

    /// A copy is in flight, and the phase of its mbarrier that goes on counts its bytes.
    fn bring_to_mbarrier(&mut self, (barrier, at): (&Access, At), bulk: Bulk, lane: usize) {
        if !self.is_mbarrier(barrier, at, true, lane) {
            return;
        }
        self.touch_mbarrier(barrier, at, lane, Way::AsyncWrite);
        if self.cluster.rank_of(at.0) != self.cluster.rank_of(bulk.to.id) {
            let message =
                format!("copies into another block's memory than that of {}", self.told_at(at));
            return self.find(Kind::MisusedBarrier, lane, None, message);
        }
        self.mark(&bulk);
        self.count_bytes(at, bulk, lane);
    }

    /// A copy in flight of an mbarrier, whose phase is complete, is done.
    pub fn land_bulk(&mut self, bulk: &Bulk, agent: (u64, u32), phase: i64) {
        let as_agent = Now {
            block: agent.0,
            warp: agent.1,
            time: phase.max(0) as u64,
            block_known: 0,
            warp_known: 0,
            orders: None,
            peers: &[],
        };
        land(self.machine, self.cluster, bulk, &as_agent);
    }

    fn mark(&mut self, bulk: &Bulk) {
        for writes in [true, false] {
            let Some(shadow) = shadow_of(self.machine, self.cluster, bulk.end(writes)) else {
                continue;
            };
            let spans = bulk.spans(writes).into_iter();
            let rows = Rows::new(spans.map(|(offset, bytes)| shadow.cells(offset, bytes)));
            shadow.marks.add_rows(rows, bulk.mark_of(writes));
        }
    }

    /// The copies out of shared memory that each lane that runs has begun become a group.
    fn commit_bulk(&mut self) {
        for lane in lanes_of(self.warp.active) {
            let thread = self.block.bulk_stores.of(self.warp.index, lane);
            let group = std::mem::take(&mut thread.open);
            thread.groups.push_back((group, false));
        }
    }

    /// Each lane that runs waits for all but its last groups: until they have read, or are done.
    fn wait_for_bulk(&mut self, n_left: usize, only_reads: bool) {
        for lane in lanes_of(self.warp.active) {
            let mut groups =
                std::mem::take(&mut self.block.bulk_stores.of(self.warp.index, lane).groups);
            let n_waited = groups.len().saturating_sub(n_left);
            for (group, has_read) in groups.iter_mut().take(n_waited) {
                if !std::mem::replace(has_read, true) {
                    group.iter().for_each(|bulk| self.have_read(bulk, lane));
                }
                if !only_reads {
                    group.iter().for_each(|bulk| self.have_written(bulk, lane));
                }
            }
            if !only_reads {
                groups.drain(..n_waited);
            }
            self.block.bulk_stores.of(self.warp.index, lane).groups = groups;
        }
    }

    /// A copy out of shared memory has read, and its thread knows. Where it writes, nobody looks
    /// before it is done, so that the bytes may be there already.
    fn have_read(&mut self, bulk: &Bulk, lane: usize) {
        let now = now_alone(self.warp, self.block);
        record(self.machine, self.cluster, bulk, false, (&now, lane as u32));
        move_bytes(self.machine, self.cluster, bulk);
    }

    fn have_written(&mut self, bulk: &Bulk, lane: usize) {
        let now = now_alone(self.warp, self.block);
        record(self.machine, self.cluster, bulk, true, (&now, lane as u32));
    }

    /// Finds copies out of shared memory that may yet read it when their warp ends.
    pub fn end_bulk_stores(&mut self) {
        for lane in lanes_of(self.warp.lanes) {
            let Some(thread) = self.block.bulk_stores.take(self.warp.index, lane) else { continue };
            let reading = thread.groups.into_iter().filter(|(_, has_read)| !has_read);
            let reading = reading.flat_map(|(group, _)| group).map(|bulk| (bulk, ""));
            let open = thread.open.into_iter().map(|bulk| (bulk, ", and is in no group"));
            for (bulk, why) in reading.chain(open) {
                let place = self.machine.program.sites[bulk.mark.site as usize];
                let message =
                    format!("a copy out of shared memory is in flight when its thread ends{why}");
                self.find_at(Kind::UnawaitedCopy, place, self.thread(lane), None, message);
                self.have_read(&bulk, lane);
            }
        }
    }
}

/// A block ends: finds copies into its memory, or from it, that no wait has seen.
pub(super) fn end_bulk(machine: &mut Machine, cluster: &mut Cluster, block: &Block) {
    let mut left = Vec::new();
    let (n_arrays, rank) = (cluster.n_arrays.max(1), block.rank);
    let is_here = |end: &End| !end.is_global && end.id / n_arrays == rank;
    for barrier in cluster.mbarriers.values_mut() {
        left.extend(barrier.take_copies(|bulk| is_here(&bulk.to) || is_here(&bulk.from)));
    }
    for bulk in left {
        let place = machine.program.sites[bulk.mark.site as usize];
        let way = if is_here(&bulk.to) { "into" } else { "from" };
        let message = format!("a copy {way} its block's memory is in flight when the block ends");
        let Event { block, warp, lane, .. } = bulk.mark.event;
        let who = machine.thread(block, warp, lane);
        machine.find(Kind::UnawaitedCopy, place, who, None, message);
        [true, false].into_iter().for_each(|writes| unmark(machine, cluster, &bulk, writes));
    }
}

/// Clocks of a warp and its block, for who writes down what is known to be in order.
fn now_alone<'n>(warp: &'n Warp, block: &Block) -> Now<'n> {
    let (warp_known, block_known) = (warp.known, block.known);
    let orders = warp.orders.as_deref();
    let (number, time) = (block.number, block.time);
    Now { block: number, warp: warp.index, time, block_known, warp_known, orders, peers: &[] }
}

/// The memory of one end, with who touched it.
fn split_end<'m>(
    machine: &'m Machine,
    cluster: &'m Cluster,
    end: End,
) -> (&'m Memory, Option<&'m Shadow>) {
    match end.is_global {
        true => (&machine.memories[end.id as usize], machine.shadows[end.id as usize].as_ref()),
        false => {
            let (memory, shadow) = &cluster.shared[end.id as usize];
            (memory, Some(shadow))
        }
    }
}

fn shadow_of<'m>(
    machine: &'m mut Machine,
    cluster: &'m mut Cluster,
    end: End,
) -> Option<&'m mut Shadow> {
    match end.is_global {
        true => machine.shadows[end.id as usize].as_mut(),
        false => Some(&mut cluster.shared[end.id as usize].1),
    }
}

fn unmark(machine: &mut Machine, cluster: &mut Cluster, bulk: &Bulk, writes: bool) {
    if let Some(shadow) = shadow_of(machine, cluster, bulk.end(writes)) {
        shadow.marks.remove_rows(bulk.mark_of(writes));
    }
}

/// A copy is done: it is the deed of an agent.
fn land(machine: &mut Machine, cluster: &mut Cluster, bulk: &Bulk, agent: &Now) {
    let who = (agent.block, agent.warp, bulk.mark.site);
    machine.issuers.insert(who, bulk.mark.event);
    record(machine, cluster, bulk, false, (agent, 0));
    record(machine, cluster, bulk, true, (agent, 0));
    move_bytes(machine, cluster, bulk);
}

/// From now on somebody has done what a copy did at one end. Whoever raced with that was found
/// before.
fn record(
    machine: &mut Machine,
    cluster: &mut Cluster,
    bulk: &Bulk,
    writes: bool,
    (who, lane): (&Now, u32),
) {
    unmark(machine, cluster, bulk, writes);
    let (end, spans) = (bulk.end(writes), bulk.spans(writes));
    let way = bulk.way(writes);
    let key = machine.packing.pack(way, who, bulk.mark.site);
    if writes {
        let releases = match end.is_global {
            true => &mut machine.releases,
            false => &mut cluster.releases,
        };
        if !releases.is_empty() {
            let bytes = spans.iter().flat_map(|(at, bytes)| *at..*at + u64::from(*bytes));
            bytes.for_each(|byte| releases.forget((end.id, byte)));
        }
    }
    let Some(shadow) = shadow_of(machine, cluster, end) else { return };
    for (offset, bytes) in spans {
        for cell in shadow.cells(offset, bytes) {
            match way {
                Way::AsyncUpdate => shadow.atomic(cell, key, lane, who),
                _ if writes => shadow.write(cell, key, lane, who),
                _ => shadow.read(cell, key, lane, who),
            };
        }
    }
}

fn move_bytes(machine: &mut Machine, cluster: &mut Cluster, bulk: &Bulk) {
    for Piece { to, from, bytes: n_bytes } in &*bulk.pieces {
        let n = *n_bytes as usize;
        let bytes = match from {
            Some(from) => {
                split_end(machine, cluster, bulk.from).0.bytes[*from as usize..][..n].to_vec()
            }
            None => vec![0; n],
        };
        let id = bulk.to.id as usize;
        let memory = match bulk.to.is_global {
            true => machine.memories[id].to_mut(),
            false => &mut cluster.shared[id].0,
        };
        let old = &mut memory.bytes[*to as usize..][..n];
        let bytes = match bulk.reduction {
            Some(reduction) => combined(reduction, old, &bytes),
            None => bytes,
        };
        let changes = u64::from(old != bytes);
        old.copy_from_slice(&bytes);
        if let Some(written) = &mut memory.written {
            written.set_row(*to as usize, *n_bytes);
        }
        machine.changes += changes;
    }
}

/// Spans that lie together as one.
fn in_rows(spans: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let rows = spans.iter().map(|(offset, bytes)| *offset..offset.saturating_add((*bytes).into()));
    let rows = joined(rows.collect()).into_iter();
    rows.map(|row| (row.start, (row.end - row.start) as u32)).collect()
}

/// Elements, each combined with one that is copied there.
fn combined((op, element): (Binary, Scalar), old: &[u8], copied: &[u8]) -> Vec<u8> {
    let mut result = old.to_vec();
    for at in (0..old.len()).step_by(element.bytes() as usize) {
        let [mine, theirs] = [old, copied].map(|bytes| fetch(bytes, at, element));
        let mut number = [0];
        eval::binary_lanes(op, element, &[mine], &[theirs], &mut number);
        put(&mut result, at, element, number[0]);
    }
    result
}

/// An access as it is where a copy goes to a block of the cluster.
fn of_block(access: Access, rank: Option<u32>) -> Access {
    let space = if rank.is_some() { Space::Cluster } else { access.space };
    Access { space, ..access }
}

/// The first span of an end that something is wrong with, and what. `mistaken` finds that of one
/// that is there.
fn wrong_span(
    memory: &Memory,
    spans: &[(u64, u32)],
    (first, align): (u64, u32),
    mistaken: impl Fn((u64, u32)) -> Option<Fault>,
) -> Option<((u64, u32), Fault)> {
    let is_outside = |(offset, bytes): &&(u64, u32)| !memory.has(*offset, *bytes);
    if let Some(span) = spans.iter().find(is_outside) {
        return Some((*span, Fault::OutOfBounds));
    }
    let span = *spans.first()?;
    if !memory.is_aligned(first, align) {
        return Some(((first, span.1), Fault::Misaligned));
    }
    spans.iter().find_map(|span| Some((*span, mistaken(*span)?)))
}

impl Bulk {
    /// How many bytes it brings.
    pub fn bytes(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// The memory that it writes, or that it reads.
    fn end(&self, writes: bool) -> End {
        if writes { self.to } else { self.from }
    }

    /// The bytes of an end, which the copy touches.
    fn touched(&self, writes: bool) -> Touched {
        let (end, spans, way) = (self.end(writes), self.spans(writes), self.way(writes));
        Touched { end, spans, way, by: self.mark.by }
    }

    /// Its mark at an end.
    fn mark_of(&self, writes: bool) -> Mark {
        Mark { writes, ..self.mark }
    }

    /// How it touches an end.
    fn way(&self, writes: bool) -> Way {
        match (writes, self.reduction) {
            (true, Some(_)) => Way::AsyncUpdate,
            (true, None) => Way::AsyncWrite,
            (false, _) => Way::AsyncRead,
        }
    }

    /// The bytes that it touches there: where they begin, and how many.
    fn spans(&self, writes: bool) -> Vec<(u64, u32)> {
        let span = |piece: &Piece| {
            let offset = if writes { Some(piece.to) } else { piece.from };
            Some((offset?, piece.bytes))
        };
        self.pieces.iter().filter_map(span).collect()
    }

    /// Its mark where it reads.
    pub fn mark(&self) -> Mark {
        self.mark
    }
}

/// The agent that stands for an mbarrier with that number of a block whose agents are these.
pub(super) fn agent_of(agents: u64, number: u32) -> (u64, u32) {
    (agents, number % N_AGENTS)
}
