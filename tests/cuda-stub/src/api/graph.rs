// SPDX-License-Identifier: Apache-2.0
//! Graphs of kernels: made node by node, made into graphs that can be launched, changed there, and
//! launched.

use crate::argument::{In, Out, Value};
use crate::c_types::{
    CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphEdgeData, CUgraphExec, CUgraphNode, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchAttributeValue, CUstream, GraphFlags,
};
use crate::call::Call;
use crate::graph::{self, Executable, Graph, Node, Work};
use crate::json;
use crate::status::Status;
use std::collections::BTreeSet;

/// Flags of a graph that can be launched: free what it allocated, and heed the priorities of nodes.
const FLAGS: u64 = 1 | 8;

/// The nodes that a new node of a graph depends on: different ones of that graph.
fn dependencies(
    call: &mut Call,
    graph: CUgraph,
    given: In<CUgraphNode>,
    n: usize,
) -> Result<Vec<CUgraphNode>, Status> {
    let nodes = given.list(n)?;
    let names = nodes.iter().map(|node| node.json(&call.driver.memory));
    let names = json::list(names.collect::<Vec<_>>());
    call.note("after", names);
    let is_here = |node: &CUgraphNode| {
        call.driver.nodes.get(node.0).is_some_and(|found| found.graph == graph)
    };
    let are_different = nodes.iter().collect::<BTreeSet<_>>().len() == n;
    if are_different && nodes.iter().all(is_here) { Ok(nodes) } else { Err(Status::INVALID_VALUE) }
}

/// Refuses the call without a current context, where the driver ends the process.
fn survives(call: &mut Call) -> Result<(), Status> {
    let current = call.driver.current(call.thread);
    if current.is_err() {
        call.note("crash", json::string("the driver ends the process here"));
    }
    current.map(|_| ())
}

api! {
    /// A graph without nodes. There are no flags.
    fn cuGraphCreate(call, graph: Out<CUgraph>, flags: u32) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        graph.put(CUgraph(call.driver.graphs.add(Graph::default())))
    }

    /// Adds a kernel to a graph, behind the nodes that it depends on.
    fn cuGraphAddKernelNode_v2(
        call,
        node: Out<CUgraphNode>,
        graph: CUgraph,
        dependencies_of: In<CUgraphNode>,
        n_dependencies: usize,
        node_params: In<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        call.driver.graphs.get(graph.0).ok_or(Status::INVALID_VALUE)?;
        let before = dependencies(call, graph, dependencies_of, n_dependencies)?;
        call.driver.current(call.thread)?;
        let work = Work::new(call, node_params, Vec::new())?;
        let new = CUgraphNode(call.driver.nodes.add(Node { graph, work }));
        if let Some(found) = call.driver.graphs.get_mut(graph.0) {
            found.nodes.push(new);
            found.edges.extend(before.into_iter().map(|earlier| (earlier, new)));
        }
        node.put(new)
    }

    /// Has nodes of a graph depend on others, in ways of their own. The stub knows kernels alone,
    /// and refuses a node that depends on one that was added behind it, which the driver does where
    /// that makes a circle.
    fn cuGraphAddDependencies_v2(
        call,
        graph: CUgraph,
        from: In<CUgraphNode>,
        to: In<CUgraphNode>,
        edge_data: In<CUgraphEdgeData>,
        n_dependencies: usize,
    ) {
        call.driver.graphs.get(graph.0).ok_or(Status::INVALID_VALUE)?;
        let ends = from.list(n_dependencies)?.into_iter().zip(to.list(n_dependencies)?);
        let ways = match edge_data.0.is_null() {
            true => vec![CUgraphEdgeData::default(); n_dependencies],
            false => edge_data.list(n_dependencies)?,
        };
        let new: Vec<_> = ends.zip(ways).collect();
        let told = new.iter().map(|((from, to), way)| {
            let memory = &call.driver.memory;
            let ends = [("from", from.json(memory)), ("to", to.json(memory))];
            json::object(ends.into_iter().chain([("way", way.json(memory))]))
        });
        let told = json::list(told.collect::<Vec<_>>());
        call.note("edges", told);
        let found = call.driver.graphs.get_mut(graph.0).ok_or(Status::INVALID_VALUE)?;
        let at = |node: &CUgraphNode| found.nodes.iter().position(|known| known == node);
        let are_new = new.iter().all(|((from, to), way)| {
            let are_in_order = matches!((at(from), at(to)), (Some(from), Some(to)) if from < to);
            are_in_order && way.is_of_kernels() && !found.edges.contains(&(*from, *to))
        });
        if !are_new {
            return Err(Status::INVALID_VALUE);
        }
        found.edges.extend(new.into_iter().map(|(ends, _)| ends));
        Ok(())
    }

    /// Sets an attribute of a node.
    fn cuGraphKernelNodeSetAttribute(
        call,
        node: CUgraphNode,
        attribute: CUlaunchAttributeID,
        value: In<CUlaunchAttributeValue>,
    ) {
        let found = call.driver.nodes.get(node.0).ok_or(Status::INVALID_VALUE)?;
        let new = CUlaunchAttribute { id: attribute.0, pad: [0; 4], value: value.get()? };
        let work = found.work.with(call, new);
        call.note("attribute", new.json(&call.driver.memory));
        if let Some(found) = call.driver.nodes.get_mut(node.0) {
            found.work = work?;
        }
        Ok(())
    }

    /// Makes a graph into one that can be launched.
    fn cuGraphInstantiateWithFlags(
        call,
        made: Out<CUgraphExec>,
        graph: CUgraph,
        flags: GraphFlags,
    ) {
        let found = call.driver.graphs.get(graph.0).ok_or(Status::INVALID_VALUE)?;
        if flags.0 & !FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if found.is_captured {
            return Err(Status::NOT_SUPPORTED);
        }
        let copy = |node: &CUgraphNode| {
            let found = call.driver.nodes.get(node.0).ok_or(Status::INVALID_HANDLE)?;
            Ok((*node, found.work.clone()))
        };
        let nodes = found.nodes.iter().map(copy).collect::<Result<_, _>>()?;
        call.potentially_unsafe()?;
        made.put(CUgraphExec(call.driver.executables.add(Executable { nodes })))
    }

    /// Changes what a node does in later launches: everything but the context.
    fn cuGraphExecKernelNodeSetParams_v2(
        call,
        executable: CUgraphExec,
        node: CUgraphNode,
        node_params: In<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        survives(call)?;
        let found = call.driver.executable(executable)?;
        // A node is known as long as the graph is that it was added to.
        call.driver.nodes.get(node.0).ok_or(Status::INVALID_VALUE)?;
        let index = found.nodes.iter().position(|(known, _)| *known == node);
        let index = index.ok_or(Status::INVALID_VALUE)?;
        let former = &found.nodes[index].1;
        let (attributes, context) = (former.attributes(), former.context());
        let work = Work::new(call, node_params, attributes)?;
        if work.context() != context {
            return Err(Status::INVALID_VALUE);
        }
        if let Some(found) = call.driver.executables.get_mut(executable.0) {
            found.nodes[index].1 = work;
        }
        Ok(())
    }

    /// Launches a graph in a stream's turn.
    fn cuGraphLaunch(call, executable: CUgraphExec, stream: CUstream) {
        graph::launch(call, executable, stream)
    }

    /// Ends a graph that can be launched; what it has launched goes on.
    fn cuGraphExecDestroy(call, executable: CUgraphExec) {
        call.driver.executable(executable)?;
        call.potentially_unsafe()?;
        call.driver.executables.remove(executable.0);
        Ok(())
    }

    /// Ends a graph, with its nodes.
    fn cuGraphDestroy(call, graph: CUgraph) {
        call.driver.graphs.remove(graph.0).ok_or(Status::INVALID_VALUE)?;
        call.driver.nodes.retain(|node| node.graph != graph);
        Ok(())
    }
}
