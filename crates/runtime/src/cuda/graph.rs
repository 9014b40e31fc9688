// SPDX-License-Identifier: Apache-2.0
//! An executable graph of the launches of a batch: made, given what the next batch passes,
//! launched, destroyed. Kernels follow one another in a line: each begins when the one in front of
//! it has ended, or, where its launch may begin before, when that one lets it, by a programmatic
//! edge. One that may not waits for all that began so before it.
//!
//! Not here: whether a graph may be launched ([`submit`](super::submit)), and where graphs are kept
//! ([`kept`](super::kept)).
//!
//! The rules come from CUDA's manual, and were tried on the driver. Parameters that are set count
//! for later launches only. What the driver refuses leaves an executable as it was. A node belongs
//! to the graph that it was added to, which therefore stays. Without a current context, setting
//! parameters ends the process.

use core::array;
use core::ffi::c_void;
use core::ops::Range;
use core::ptr;

use super::driver::{self, EdgeCalls, EdgeData, Exec, GraphCalls, NodeParams, Status, Stream};
use crate::interface::layout::{AttributeId, Batch, KernelLaunch, LaunchAttribute, launch_config};

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The most attributes of a launch that a node can be: a cluster's dims, that it is cooperative,
/// and that it may begin before the one in front of it has ended. Their values lie in their first
/// two words.
const MAX_ATTRIBUTES: usize = 3;

/// An executable graph. Its nodes lie behind it, and behind those what each was given.
#[repr(C)]
pub(super) struct Executable {
    exec: Exec,
    pub(super) stream: Stream,
    /// Which stream that was, or which context where it means the current one's: others come under
    /// the same handles.
    pub(super) id: u64,
    /// The prepared call that it was made for, or NULL.
    pub(super) owner: *mut c_void,
    /// How many kernels it has launched.
    pub(super) n_launched: u64,
    pub(super) device: i32,
    n_nodes: u32,
    /// The number of the function whose batches it is for.
    pub(super) function: u32,
    /// Which context it was made in: one that was reset has another.
    pub(super) context_id: u64,
    graph: driver::Graph,
}

/// A kernel in it.
#[repr(C)]
struct Node {
    handle: driver::Node,
    function: driver::Function,
    kernel: u32,
    n_attributes: u32,
    /// The size and the arguments that it was given, one behind the other.
    given: *mut u8,
    /// How many arguments its launch has, and how many bytes: the compiler's list.
    sizes: *const u32,
    /// Whether that is what it has.
    is_known: bool,
    /// How often in a row it was given something new.
    n_changes: u32,
    attributes: [LaunchAttribute; MAX_ATTRIBUTES],
}

/// So often in a row what a node is given is kept, to be compared with what comes next. After that
/// only one in so many is: what has kept changing is likely to change again.
const KEPT_IN_A_ROW: u32 = 4;
const KEPT_OF: u32 = 16;

impl Batch {
    /// Whether a launch may begin before the one in front of it has ended, and a node can do that.
    /// Blocks of one that is cooperative all run at once, which others beside it may prevent.
    fn overlaps(&self, at: usize) -> bool {
        let Some([before, launch]) =
            at.checked_sub(1).and_then(|one| self.launches().get(one..=at))
        else {
            return false;
        };
        let is_cooperative = |one: &KernelLaunch| one.has(AttributeId::COOPERATIVE);
        launch.has(AttributeId::DEPENDENT) && !is_cooperative(launch) && !is_cooperative(before)
    }
}

impl KernelLaunch {
    fn has(&self, id: AttributeId) -> bool {
        self.config.attributes().iter().any(|attribute| attribute.id == id)
    }

    /// How large it is: the start of its configuration.
    fn size(&self) -> *const u8 {
        ptr::from_ref(&self.config).cast()
    }

    /// The parts that a node can be given anew.
    #[inline(always)]
    fn parts(&self) -> Parts<'_> {
        Parts { launch: self, number: 0 }
    }

    /// How many bytes the parts have.
    fn n_bytes(&self) -> usize {
        // SAFETY: the compiler writes how many the arguments have.
        SIZE_BYTES + unsafe { self.sizes.wrapping_add(1).read() } as usize
    }

    /// Whether the parts are those that lie one behind the other.
    #[inline(never)]
    fn is(&self, mut given: *const u8) -> bool {
        for (part, bytes) in self.parts() {
            // SAFETY: both have that many bytes.
            if unsafe { !is_same(part, given, bytes) } {
                return false;
            }
            given = given.wrapping_add(bytes);
        }
        true
    }

    /// Writes the parts one behind the other.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline(never)]
    unsafe fn copy_to(&self, mut to: *mut u8) {
        for (part, bytes) in self.parts() {
            // SAFETY: the part has that many bytes, and there is room.
            unsafe { copy(part, to, bytes) };
            to = to.wrapping_add(bytes);
        }
    }

    /// The parameters that a node is to get; its arguments are read at the call. The numbers of its
    /// size are read one by one, as they have just been written: the processor would have to wait
    /// for a wider read until they are in its cache.
    #[inline(always)]
    fn params(&self, function: driver::Function) -> NodeParams {
        let size: *const u32 = self.size().cast();
        NodeParams {
            function,
            // SAFETY: it has as many numbers.
            size: array::from_fn(|i| unsafe { size.wrapping_add(i).read_volatile() }),
            args: self.args,
            extra: ptr::null_mut(),
            kernel: ptr::null_mut(),
            context: ptr::null_mut(),
        }
    }
}

/// The parts that a node can be given anew, each with its bytes: the size, then the arguments.
struct Parts<'l> {
    launch: &'l KernelLaunch,
    number: usize,
}

impl Iterator for Parts<'_> {
    type Item = (*const u8, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(*const u8, usize)> {
        let &KernelLaunch { args, sizes, .. } = self.launch;
        let number = self.number;
        self.number += 1;
        if number == 0 {
            return Some((self.launch.size(), SIZE_BYTES));
        }
        // SAFETY: the compiler writes how many arguments there are.
        if number > unsafe { sizes.read() } as usize {
            return None;
        }
        // SAFETY: there are as many.
        let address = unsafe { args.wrapping_add(number - 1).read() };
        // SAFETY: behind two numbers, a size follows for each.
        let bytes = unsafe { sizes.wrapping_add(1 + number).read() };
        Some((address.cast_const().cast(), bytes as usize))
    }
}

/// How many bytes a configuration begins with: grid, block, shared memory.
const SIZE_BYTES: usize = size_of::<[u32; 7]>();
const _: () =
    assert!(launch_config::GRID == 0 && launch_config::SHARED_BYTES == SIZE_BYTES as u32 - 4);

/// Whether two values of that many bytes are the same. Most have 4 or 8.
///
/// # Safety
///
/// Both may be read.
#[inline(always)]
unsafe fn is_same(one: *const u8, other: *const u8, bytes: usize) -> bool {
    let mut at = 0;
    while bytes - at >= 4 {
        // SAFETY: as the caller says.
        if unsafe { differ_at::<u32>(one, other, at) } {
            return false;
        }
        at += 4;
    }
    while at < bytes {
        // SAFETY: as the caller says.
        if unsafe { differ_at::<u8>(one, other, at) } {
            return false;
        }
        at += 1;
    }
    true
}

/// # Safety
///
/// Both may be read there.
#[inline(always)]
unsafe fn differ_at<T: Eq>(one: *const u8, other: *const u8, at: usize) -> bool {
    // SAFETY: as the caller says.
    let one = unsafe { one.wrapping_add(at).cast::<T>().read_unaligned() };
    // SAFETY: as the caller says.
    one != unsafe { other.wrapping_add(at).cast::<T>().read_unaligned() }
}

/// Copies a value of that many bytes. Most have 4 or 8.
///
/// # Safety
///
/// The one may be read, the other written.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    match bytes {
        // SAFETY: as the caller says.
        4 => unsafe { ptr::copy_nonoverlapping(from, to, 4) },
        // SAFETY: as the caller says.
        8 => unsafe { ptr::copy_nonoverlapping(from, to, 8) },
        // SAFETY: as the caller says.
        _ => unsafe { ptr::copy_nonoverlapping(from, to, bytes) },
    }
}

impl Node {
    /// Whether it is of that launch's kernel, with its attributes, and takes what it passes.
    #[inline(always)]
    fn is_of(&self, launch: &KernelLaunch) -> bool {
        let n = launch.config.n_attributes;
        self.kernel == launch.kernel
            && self.sizes == launch.sizes
            && self.n_attributes == n
            && (n == 0 || self.carries(launch))
    }

    fn carries(&self, launch: &KernelLaunch) -> bool {
        launch.config.attributes().iter().zip(&self.attributes).all(|(given, own)| {
            let ([a, b, ..], [c, d, ..]) = (given.value, own.value);
            given.id == own.id && a == c && b == d
        })
    }

    /// Whether it has all that a launch passes.
    #[inline(always)]
    fn has(&mut self, launch: &KernelLaunch) -> bool {
        let is_same = self.is_known && launch.is(self.given);
        if is_same {
            self.n_changes = 0;
        }
        is_same
    }

    /// Gives it what a launch passes.
    #[inline(always)]
    fn set(&mut self, calls: &GraphCalls, exec: Exec, launch: &KernelLaunch) -> Result<(), Status> {
        let params = launch.params(self.function);
        self.is_known = false;
        // SAFETY: a context is current, and the handles are the driver's.
        accepted(unsafe { (calls.set_params)(exec, self.handle, &raw const params) })?;
        self.n_changes = self.n_changes.wrapping_add(1);
        if self.n_changes < KEPT_IN_A_ROW || self.n_changes.is_multiple_of(KEPT_OF) {
            // SAFETY: there is room for as much.
            unsafe { launch.copy_to(self.given) };
            self.is_known = true;
        }
        Ok(())
    }
}

/// The outcome of launching a graph.
pub(super) enum Outcome {
    Launched,
    /// It is a graph of other launches, or the driver does not take what they pass.
    Unfit,
    /// The driver does not launch it.
    Refused,
}

impl Executable {
    /// Launches it with what the batch passes.
    #[inline(always)]
    pub(super) fn launch(&mut self, calls: &GraphCalls, batch: &Batch) -> Outcome {
        let launches = batch.launches();
        let exec = self.exec;
        let is_its_own = self.stream == batch.stream
            && self.owner == batch.owner
            && self.function == batch.function;
        if !is_its_own || self.n_nodes as usize != launches.len() {
            return Outcome::Unfit;
        }
        let mut nodes = self.nodes().iter_mut();
        for launch in launches {
            let Some(node) = nodes.next().filter(|node| node.is_of(launch)) else {
                return Outcome::Unfit;
            };
            if !node.has(launch) && node.set(calls, exec, launch).is_err() {
                return Outcome::Unfit;
            }
        }
        if self.launch_again(calls) { Outcome::Launched } else { Outcome::Refused }
    }

    /// Launches it as it is. Whether the driver did.
    #[inline(always)]
    pub(super) fn launch_again(&mut self, calls: &GraphCalls) -> bool {
        // SAFETY: the handles are the driver's.
        let is_launched = unsafe { (calls.launch)(self.exec, self.stream) } == 0;
        if is_launched {
            self.n_launched += u64::from(self.n_nodes);
        }
        is_launched
    }

    /// Whether it launches several kernels.
    pub(super) fn has_several(&self) -> bool {
        self.n_nodes > 1
    }

    fn nodes(&mut self) -> &mut [Node] {
        let first: *mut Node = ptr::from_mut(self).wrapping_add(1).cast();
        // SAFETY: they lie behind it.
        unsafe { core::slice::from_raw_parts_mut(first, self.n_nodes as usize) }
    }

    /// Makes one of a batch in the current context. `functions` says which function of that context
    /// a kernel is. NULL where there is no memory, or the driver refuses. Programmatic edges alone
    /// may be refused: then there are none.
    pub(super) fn make(
        calls: &GraphCalls,
        edges: Option<&EdgeCalls>,
        batch: &Batch,
        id: u64,
        context_id: u64,
        functions: &dyn Fn(u32) -> driver::Function,
    ) -> *mut Executable {
        let edges = edges.filter(|_| (1..batch.launches().len()).any(|at| batch.overlaps(at)));
        let made = Executable::make_with(calls, edges, batch, id, context_id, functions);
        match (made.is_null(), edges) {
            (true, Some(_)) => Executable::make_with(calls, None, batch, id, context_id, functions),
            _ => made,
        }
    }

    fn make_with(
        calls: &GraphCalls,
        edges: Option<&EdgeCalls>,
        batch: &Batch,
        id: u64,
        context_id: u64,
        functions: &dyn Fn(u32) -> driver::Function,
    ) -> *mut Executable {
        let launches = batch.launches();
        let before_given = size_of::<Executable>() + size_of::<Node>() * launches.len();
        let n_bytes: usize = launches.iter().map(KernelLaunch::n_bytes).sum();
        // SAFETY: plain memory.
        let made: *mut Executable = unsafe { malloc(before_given + n_bytes) }.cast();
        if made.is_null() {
            return made;
        }
        // SAFETY: there is that much. It and its nodes are valid as zeros.
        unsafe { made.cast::<u8>().write_bytes(0, before_given) };
        // SAFETY: nobody else knows it.
        let executable = unsafe { &mut *made };
        (executable.device, executable.stream) = (batch.device, batch.stream);
        (executable.id, executable.context_id) = (id, context_id);
        (executable.owner, executable.function) = (batch.owner, batch.function);
        let given = made.cast::<u8>().wrapping_add(before_given);
        if executable.build(calls, edges, batch, given, functions).is_err() {
            // SAFETY: nobody else knows it.
            unsafe { Executable::destroy(made, Some(calls)) };
            return ptr::null_mut();
        }
        made
    }

    fn build(
        &mut self,
        calls: &GraphCalls,
        edges: Option<&EdgeCalls>,
        batch: &Batch,
        mut given: *mut u8,
        functions: &dyn Fn(u32) -> driver::Function,
    ) -> Result<(), Status> {
        // SAFETY: the driver writes one handle.
        accepted(unsafe { (calls.create)(&raw mut self.graph, 0) })?;
        let mut waits_from = 0;
        for (at, launch) in batch.launches().iter().enumerate() {
            let overlaps = edges.filter(|_| batch.overlaps(at));
            let before = if overlaps.is_some() { ptr::null_mut() } else { self.last_node() };
            let node = self.add(calls, launch, functions(launch.kernel), given, before)?;
            given = given.wrapping_add(launch.n_bytes());
            match (overlaps, edges) {
                (Some(edges), _) => {
                    self.connect(edges, at - 1..at, node, &EdgeData::PROGRAMMATIC)?;
                }
                // Those that the last one has not waited for may run yet.
                (None, Some(edges)) => {
                    let earlier = waits_from..at.saturating_sub(1);
                    self.connect(edges, earlier, node, &EdgeData::FULL)?;
                    waits_from = at;
                }
                (None, None) => {}
            }
        }
        // SAFETY: the driver writes one handle.
        accepted(unsafe { (calls.instantiate)(&raw mut self.exec, self.graph, 0) })
    }

    /// The node that was added last, or NULL.
    fn last_node(&mut self) -> driver::Node {
        self.nodes().last().map_or(ptr::null_mut(), |node| node.handle)
    }

    /// Adds an edge from each of several nodes to a later one.
    fn connect(
        &mut self,
        edges: &EdgeCalls,
        from: Range<usize>,
        to: driver::Node,
        how: &EdgeData,
    ) -> Result<(), Status> {
        let graph = self.graph;
        for node in self.nodes().get(from).unwrap_or_default() {
            // SAFETY: the driver reads two handles, which are its own, and the edge.
            accepted(unsafe { (edges.add)(graph, &raw const node.handle, &raw const to, how, 1) })?;
        }
        Ok(())
    }

    /// Adds a node behind another, or the first.
    #[inline(always)]
    fn add(
        &mut self,
        calls: &GraphCalls,
        launch: &KernelLaunch,
        function: driver::Function,
        given: *mut u8,
        before: driver::Node,
    ) -> Result<driver::Node, Status> {
        let attributes = launch.config.attributes();
        let node: *mut Node = ptr::from_mut(self).wrapping_add(1).cast();
        // SAFETY: there are as many nodes as launches, and nobody else knows them.
        let node = unsafe { &mut *node.wrapping_add(self.n_nodes as usize) };
        if function.is_null() {
            return Err(driver::INVALID_VALUE);
        }
        let params = launch.params(function);
        let n_before = usize::from(!before.is_null());
        let handle = &raw mut node.handle;
        // SAFETY: the driver writes one handle, and reads one at most.
        accepted(unsafe {
            (calls.add_kernel)(handle, self.graph, &raw const before, n_before, &raw const params)
        })?;
        (node.function, node.kernel) = (function, launch.kernel);
        (node.given, node.sizes) = (given, launch.sizes);
        (node.n_attributes, node.is_known) = (attributes.len() as u32, true);
        for (own, given) in node.attributes.iter_mut().zip(attributes) {
            *own = *given;
            // Edges say when a node begins.
            if given.id == AttributeId::DEPENDENT {
                continue;
            }
            // SAFETY: the driver reads one value.
            accepted(unsafe { (calls.set_attribute)(node.handle, own.id, &raw const own.value) })?;
        }
        // SAFETY: there is room.
        unsafe { launch.copy_to(given) };
        self.n_nodes += 1;
        Ok(node.handle)
    }

    /// Frees it, and has the driver destroy it, unless its context has gone.
    ///
    /// # Safety
    ///
    /// It was made, and nobody uses it any more.
    pub(super) unsafe fn destroy(executable: *mut Executable, calls: Option<&GraphCalls>) {
        // SAFETY: as the caller says.
        let Executable { exec, graph, .. } = unsafe { executable.read() };
        if let Some(calls) = calls {
            if !exec.is_null() {
                // SAFETY: the driver gave it.
                unsafe { (calls.destroy_exec)(exec) };
            }
            if !graph.is_null() {
                // SAFETY: the driver gave it.
                unsafe { (calls.destroy)(graph) };
            }
        }
        // SAFETY: malloc gave it.
        unsafe { free(executable.cast()) };
    }
}

fn accepted(status: Status) -> Result<(), Status> {
    if status == 0 { Ok(()) } else { Err(status) }
}
