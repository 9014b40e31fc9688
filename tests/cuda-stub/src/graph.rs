// SPDX-License-Identifier: Apache-2.0
//! Graphs of kernels: what a node is, and what becomes of it when its graph is launched.
//!
//! A node has a copy of everything it was given. A graph that can be launched has copies of the
//! nodes, which are changed there one by one; what happens to the graph it was made from does not
//! touch it, except that its nodes are named by the handles they have there. A launch runs the
//! kernels in the order in which their nodes were added, in which each comes after those it depends
//! on.

use crate::argument::{In, Pointers};
use crate::c_types::{
    CUDA_KERNEL_NODE_PARAMS, CUcontext, CUgraph, CUgraphExec, CUgraphNode, CUkernel,
    CUlaunchAttribute, CUlaunchConfig, CUstream,
};
use crate::call::Call;
use crate::json;
use crate::launch::Task;
use crate::status::Status;
use std::collections::BTreeSet;

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Its nodes, as they were added.
    pub nodes: Vec<CUgraphNode>,
    /// Which node depends on which: the earlier one of each pair first.
    pub edges: BTreeSet<(CUgraphNode, CUgraphNode)>,
    /// Whether it is what a capture became, of which the stub keeps nothing.
    pub is_captured: bool,
}

impl Graph {
    /// What a capture became.
    pub fn captured() -> Graph {
        Graph { is_captured: true, ..Graph::default() }
    }
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// The graph it belongs to.
    pub graph: CUgraph,
    /// What it does.
    pub work: Work,
}

/// A graph that can be launched: what each node does, by the node's handle in the graph it was made
/// from.
#[derive(Debug)]
pub struct Executable {
    /// The nodes.
    pub nodes: Vec<(CUgraphNode, Work)>,
}

impl Executable {
    /// Whether something of it is of a context.
    pub fn is_of(&self, context: CUcontext) -> bool {
        self.nodes.iter().any(|(_, work)| work.context() == context)
    }
}

/// A launch without a stream.
#[derive(Clone, Debug)]
pub struct Work {
    task: Task,
    grid: [u32; 3],
    block: [u32; 3],
    shared_mem_bytes: u32,
    attributes: Vec<CUlaunchAttribute>,
}

impl Work {
    /// What a caller gives a node to do, under the attributes that the node has; notes it in the
    /// log, and refuses what the driver would refuse to launch. Where arguments are given both one
    /// by one and packed, the first are taken.
    pub fn new(
        call: &mut Call,
        params: In<CUDA_KERNEL_NODE_PARAMS>,
        attributes: Vec<CUlaunchAttribute>,
    ) -> Result<Work, Status> {
        let given = params.get()?;
        let (kernel, context) = kernel_and_context(call, &given)?;
        let no_extra = Pointers(std::ptr::null_mut());
        let extra = if given.params.0.is_null() { given.extra } else { no_extra };
        let task = Task::new(call, kernel, context, (given.params, extra))?;
        let CUDA_KERNEL_NODE_PARAMS { grid, block, shared_mem_bytes, .. } = given;
        let work = Work { task, grid, block, shared_mem_bytes, attributes };
        call.note("node", work.record(call, CUstream(0)));
        work.check(call)?;
        Ok(work)
    }

    /// The same with one more attribute, or another value of it.
    pub fn with(&self, call: &Call, attribute: CUlaunchAttribute) -> Result<Work, Status> {
        if !CUlaunchAttribute::OF_NODES.contains(&attribute.id) {
            return Err(Status::INVALID_VALUE);
        }
        let mut work = self.clone();
        work.attributes.retain(|old| old.id != attribute.id);
        work.attributes.push(attribute);
        work.check(call)?;
        Ok(work)
    }

    /// The context that it runs in.
    pub fn context(&self) -> CUcontext {
        self.task.context
    }

    /// The attributes.
    pub fn attributes(&self) -> Vec<CUlaunchAttribute> {
        self.attributes.clone()
    }

    fn config(&self, stream: CUstream) -> CUlaunchConfig {
        let Work { grid, block, shared_mem_bytes, attributes, .. } = self;
        CUlaunchConfig::new(*grid, *block, *shared_mem_bytes, stream, attributes)
    }

    fn check(&self, call: &Call) -> Result<(), Status> {
        self.task.check(call, &self.config(CUstream(0)))
    }

    fn record(&self, call: &Call, stream: CUstream) -> String {
        self.task.record(call, &self.config(stream))
    }
}

/// The kernel of a node, and the context it runs in.
fn kernel_and_context(
    call: &Call,
    given: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<(CUkernel, CUcontext), Status> {
    if given.function.0 != 0 {
        let found = call.driver.functions.get(given.function.0);
        return found.copied().ok_or(Status::INVALID_HANDLE);
    }
    if given.kernel.0 == 0 {
        return Err(Status::INVALID_HANDLE);
    }
    let is_given = given.context.0 != 0;
    let context = if is_given { given.context } else { call.driver.current(call.thread)? };
    call.driver.live_context(context)?;
    Ok((given.kernel, context))
}

/// Launches what each node does.
pub fn launch(call: &mut Call, executable: CUgraphExec, stream: CUstream) -> Result<(), Status> {
    let found = call.driver.executable(executable)?;
    let works: Vec<Work> = found.nodes.iter().map(|(_, work)| work.clone()).collect();
    for work in &works {
        call.driver.kernel(work.task.kernel)?;
    }
    call.driver.context_of(stream, call.thread)?;
    let records = works.iter().map(|work| work.record(call, stream));
    let records = json::list(records.collect::<Vec<_>>());
    call.note("launches", records);
    call.enqueue_graph(stream)?;
    works.iter().try_for_each(|work| work.task.run(call))
}
