// SPDX-License-Identifier: Apache-2.0
//! Graphs of kernels: how they are made, changed and launched, and what is refused.

use crate::stub::{DEVICE_0, DEVICE_1, NONE, NULL_STREAM, Stub, address, handle};
use kernpack_cuda_stub::argument::{In, InOut, Pointers};
use kernpack_cuda_stub::c_types::{
    CUDA_KERNEL_NODE_PARAMS as Params, CUcontext, CUdeviceptr, CUfunction, CUgraph,
    CUgraphEdgeData, CUgraphExec, CUgraphNode, CUkernel, CUlaunchAttribute, CUlaunchAttributeValue,
    CUlaunchConfig,
};
use kernpack_cuda_stub::capture::mode;
use kernpack_cuda_stub::status::Status;
use serde_json::{Value, json};
use std::ffi::c_void;

const OK: Status = Status::SUCCESS;
const INVALID: Status = Status::INVALID_VALUE;
const DEAD: Status = Status::INVALID_HANDLE;
const UNSAFE: Status = Status::STREAM_CAPTURE_UNSUPPORTED;

/// One block of 32 threads.
fn params(function: CUfunction, arguments: &mut [*mut c_void]) -> Params {
    Params {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared_mem_bytes: 0,
        params: Pointers(arguments.as_mut_ptr()),
        extra: NONE,
        kernel: CUkernel(0),
        context: CUcontext(0),
    }
}

impl Stub {
    fn function(&self, kernel: CUkernel) -> CUfunction {
        handle(CUfunction, |out| self.cuKernelGetFunction(out, kernel)).expect("a context")
    }

    fn graph(&self) -> CUgraph {
        handle(CUgraph, |out| self.cuGraphCreate(out, 0)).expect("graphs need nothing")
    }

    fn add(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: &Params,
    ) -> Result<CUgraphNode, Status> {
        let first = if after.is_empty() { std::ptr::null() } else { after.as_ptr() };
        handle(CUgraphNode, |out| {
            self.cuGraphAddKernelNode_v2(out, graph, In(first), after.len(), In(node))
        })
    }

    fn instantiate(&self, graph: CUgraph) -> Result<CUgraphExec, Status> {
        handle(CUgraphExec, |out| self.cuGraphInstantiateWithFlags(out, graph, 0))
    }

    /// A graph of one kernel, its node, and the same ready to be launched.
    fn one(&self, node: &Params) -> (CUgraph, CUgraphNode, CUgraphExec) {
        let graph = self.graph();
        let node = self.add(graph, &[], node).expect("a right node");
        (graph, node, self.instantiate(graph).expect("a right graph"))
    }

    fn set(&self, executable: CUgraphExec, node: CUgraphNode, params: &Params) -> Status {
        self.cuGraphExecKernelNodeSetParams_v2(executable, node, In(params))
    }

    fn floats(&self, values: [f32; 3]) -> CUdeviceptr {
        let memory = handle(CUdeviceptr, |out| self.cuMemAlloc_v2(out, 12)).expect("memory");
        *three(memory) = values;
        memory
    }
}

fn three(memory: CUdeviceptr) -> &'static mut [f32; 3] {
    // SAFETY: Memory of the stub is memory of the host; this is 12 bytes of it, which live as long
    // as the test that asks.
    unsafe { &mut *(memory.0 as *mut [f32; 3]) }
}

/// What a launch says in the log, without its stream and attributes.
fn shape(launch: &Value) -> Value {
    let config = &launch["config"];
    json!([
        launch["kernel"],
        launch["device"],
        config["grid"],
        config["block"],
        config["shared"],
        launch["arguments"]
    ])
}

#[test]
fn a_graph_does_what_launches_do() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("params 8 8 4 effect add_one");
    let (input, output, mut n) = (stub.floats([1.0, 2.0, -3.5]), stub.floats([0.0; 3]), 3i32);
    let mut arguments = [address(&input), address(&output), address(&n)];
    let node = params(stub.function(kernel), &mut arguments);
    let (_, _, executable) = stub.one(&node);
    let stream = stub.stream(1);
    stub.log();
    assert_eq!(stub.cuGraphLaunch(executable, stream), OK);
    assert_eq!(*three(output), [2.0, 3.0, -2.5]);
    let launched = CUlaunchConfig::new([1; 3], [32, 1, 1], 0, stream, &[]);
    let function = CUfunction(kernel.0);
    assert_eq!(stub.cuLaunchKernelEx(In(&launched), function, node.params, NONE), OK);
    let log = stub.log();
    assert_eq!(log[0]["launches"], json!([log[1]["launch"]]));
    assert_eq!(stub.counts()["launches"], 2);
    // The node has a copy of its arguments.
    *three(output) = [0.0; 3];
    n = 1;
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!((*three(output), n), ([2.0, 3.0, -2.5], 1));
}

#[test]
fn kernels_of_a_line_run_in_order() {
    let (stub, _) = Stub::ready("");
    let function = stub.function(stub.only_kernel("params 8 8 4 effect add_one"));
    let (a, b, n) = (stub.floats([0.0; 3]), stub.floats([0.0; 3]), 3i32);
    let mut there = [address(&a), address(&b), address(&n)];
    let mut back = [address(&b), address(&a), address(&n)];
    let graph = stub.graph();
    let first = stub.add(graph, &[], &params(function, &mut there)).unwrap();
    let second = stub.add(graph, &[first], &params(function, &mut back)).unwrap();
    let third = stub.add(graph, &[first, second], &params(function, &mut there)).unwrap();
    let executable = stub.instantiate(graph).unwrap();
    stub.log();
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!((*three(a), *three(b)), ([2.0; 3], [3.0; 3]));
    assert_eq!(stub.log()[0]["launches"].as_array().unwrap().len(), 3);
    assert_eq!(stub.counts()["launches"], 3);
    // One of them does something else from now on.
    assert_eq!(stub.set(executable, second, &params(function, &mut there)), OK);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!((*three(a), *three(b)), ([2.0; 3], [3.0; 3]));
    // Where a kernel fails, those behind it do not run.
    let mut beyond = [address(&a), address(&b), address(&4i32)];
    assert_eq!(stub.set(executable, first, &params(function, &mut beyond)), OK);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), Status::ILLEGAL_ADDRESS);
    assert_eq!(stub.counts()["launches"], 7);
    let other = stub.graph();
    for wrong in [&[first][..], &[third, third], &[CUgraphNode(0)]] {
        assert_eq!(stub.add(other, wrong, &params(function, &mut there)), Err(INVALID));
    }
    let twice = stub.add(graph, &[third, third], &params(function, &mut there));
    assert_eq!(twice, Err(INVALID));
}

#[test]
fn an_update_touches_later_launches_of_one_executable() {
    let (stub, _) = Stub::ready("");
    let function = stub.function(stub.only_kernel("params 4"));
    let (mut seven, mut eight) = ([address(&7u32)], [address(&8u32)]);
    let (graph, node, executable) = stub.one(&params(function, &mut seven));
    let untouched = stub.instantiate(graph).unwrap();
    let update = Params {
        grid: [4, 2, 1],
        block: [64, 1, 1],
        shared_mem_bytes: 256,
        ..params(function, &mut eight)
    };
    stub.log();
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!(stub.set(executable, node, &update), OK);
    for launched in [executable, untouched] {
        assert_eq!(stub.cuGraphLaunch(launched, NULL_STREAM), OK);
    }
    let later = stub.instantiate(graph).unwrap();
    assert_eq!(stub.cuGraphLaunch(later, NULL_STREAM), OK);
    let log = stub.log();
    let shapes: Vec<_> =
        log.iter().filter_map(|line| Some(shape(line.get("launches")?.get(0)?))).collect();
    let before = json!(["k", 0, [1, 1, 1], [32, 1, 1], 0, [{"offset": 0, "bytes": "07000000"}]]);
    let after = json!(["k", 0, [4, 2, 1], [64, 1, 1], 256, [{"offset": 0, "bytes": "08000000"}]]);
    assert_eq!(shapes, [before.clone(), after.clone(), before.clone(), before]);
    assert_eq!(
        (shape(&log[1]["node"]), &log[1]["node"]["config"]["stream"]),
        (after, &Value::Null)
    );
}

#[test]
fn what_cannot_be_launched_is_refused_and_changes_nothing() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("params 4");
    let mut arguments = [address(&7u32)];
    let right = params(stub.function(kernel), &mut arguments);
    let (graph, node, executable) = stub.one(&right);
    let mut missing = [std::ptr::null_mut()];
    let wrong = [
        (Params { block: [4096, 1, 1], ..right }, INVALID),
        (Params { block: [0, 1, 1], ..right }, INVALID),
        (Params { grid: [0, 1, 1], ..right }, INVALID),
        (Params { grid: [1, 65536, 1], ..right }, INVALID),
        (Params { shared_mem_bytes: 49153, ..right }, INVALID),
        (Params { params: NONE, ..right }, INVALID),
        (Params { params: Pointers(missing.as_mut_ptr()), ..right }, INVALID),
        (Params { function: CUfunction(0), ..right }, DEAD),
        (Params { function: CUfunction(kernel.0), ..right }, DEAD),
    ];
    for (index, (wrong, status)) in wrong.iter().enumerate() {
        assert_eq!(stub.set(executable, node, wrong), *status, "{index}");
        assert_eq!(stub.add(graph, &[], wrong), Err(*status), "{index}");
    }
    let none = In(std::ptr::null());
    assert_eq!(stub.cuGraphExecKernelNodeSetParams_v2(executable, node, none), INVALID);
    stub.log();
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    let expected = json!(["k", 0, [1, 1, 1], [32, 1, 1], 0, [{"offset": 0, "bytes": "07000000"}]]);
    assert_eq!(shape(&stub.log()[0]["launches"][0]), expected);
    assert_eq!(stub.cuKernelSetAttribute(8, 200_000, kernel, DEVICE_0), OK);
    assert_eq!(stub.set(executable, node, &Params { shared_mem_bytes: 200_000, ..right }), OK);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
}

#[test]
fn a_node_may_have_its_arguments_twice() {
    let (stub, _) = Stub::ready("");
    let function = stub.function(stub.only_kernel("params 4"));
    let mut seven = [address(&7u32)];
    // Packed arguments that end before they begin, which alone are refused.
    let mut nothing = [std::ptr::null_mut()];
    let twice = Params { extra: Pointers(nothing.as_mut_ptr()), ..params(function, &mut seven) };
    let (graph, node, executable) = stub.one(&twice);
    assert_eq!(stub.set(executable, node, &twice), OK);
    let packed = Params { params: NONE, ..twice };
    assert_eq!(stub.set(executable, node, &packed), INVALID);
    assert_eq!(stub.add(graph, &[], &packed), Err(INVALID));
    stub.log();
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    let expected = json!([{"offset": 0, "bytes": "07000000"}]);
    assert_eq!(stub.log()[0]["launches"][0]["arguments"], expected);
}

#[test]
fn a_node_may_name_a_kernel_and_a_context() {
    let (stub, first) = Stub::ready("");
    let second = stub.primary(DEVICE_1);
    let kernel = stub.only_kernel("");
    let named = Params { kernel, ..params(CUfunction(0), &mut []) };
    let (_, node, executable) = stub.one(&named);
    let stream = stub.stream(1);
    assert_eq!(stub.cuCtxSetCurrent(second), OK);
    let there = stub.function(kernel);
    // A kernel without a context goes where the current one is.
    for elsewhere in [named, Params { context: second, ..named }, params(there, &mut [])] {
        assert_eq!(stub.set(executable, node, &elsewhere), INVALID);
    }
    assert_eq!(stub.set(executable, node, &Params { context: first, ..named }), OK);
    stub.log();
    // The graph's kernels stay where they are, whatever is current.
    assert_eq!([stream, NULL_STREAM].map(|on| stub.cuGraphLaunch(executable, on)), [OK; 2]);
    for line in stub.log() {
        assert_eq!(line["launches"][0]["device"], 0);
    }
    let ended = Params { context: CUcontext(0x1230), ..named };
    assert_eq!(stub.set(executable, node, &ended), Status::INVALID_CONTEXT);
}

#[test]
fn nodes_have_attributes() {
    let (stub, _) = Stub::ready("");
    let function = stub.function(stub.only_kernel(""));
    let wide = Params { grid: [4, 1, 1], ..params(function, &mut []) };
    let graph = stub.graph();
    let node = stub.add(graph, &[], &wide).unwrap();
    let plain = stub.instantiate(graph).unwrap();
    let set = |attribute, value| {
        let value = CUlaunchAttribute::new(attribute, value).value;
        stub.cuGraphKernelNodeSetAttribute(node, attribute, In(&value))
    };
    assert_eq!(set(CUlaunchAttribute::CLUSTER_DIMENSION, [4, 1, 1]), OK);
    assert_eq!(set(CUlaunchAttribute::CLUSTER_DIMENSION, [2, 1, 1]), OK);
    assert_eq!(set(CUlaunchAttribute::PRIORITY, [0xffff_fffb, 0, 0]), OK);
    assert_eq!(set(CUlaunchAttribute::COOPERATIVE, [1, 0, 0]), OK);
    assert_eq!(set(CUlaunchAttribute::CLUSTER_DIMENSION, [3, 1, 1]), Status::INVALID_CLUSTER_SIZE);
    // One for launches only, and one that there is not.
    let programmatic = CUlaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION;
    assert_eq!([set(programmatic, [1, 0, 0]), set(99, [1, 0, 0])], [INVALID; 2]);
    let none: *const CUlaunchAttributeValue = std::ptr::null();
    assert_eq!(stub.cuGraphKernelNodeSetAttribute(node, 4, In(none)), INVALID);
    let executable =
        handle(CUgraphExec, |out| stub.cuGraphInstantiateWithFlags(out, graph, 8)).unwrap();
    stub.log();
    assert_eq!(stub.set(executable, node, &Params { grid: [6, 1, 1], ..wide }), OK);
    let refused = stub.set(executable, node, &Params { grid: [5, 1, 1], ..wide });
    assert_eq!(refused, Status::INVALID_CLUSTER_SIZE);
    let refused = stub.set(executable, node, &Params { grid: [100_000, 1, 1], ..wide });
    assert_eq!(refused, Status::COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_eq!(
        [executable, plain].map(|launched| stub.cuGraphLaunch(launched, NULL_STREAM)),
        [OK; 2]
    );
    let log = stub.log();
    let expected = json!([
        {"id": 4, "name": "cluster", "value": [2, 1, 1]},
        {"id": 8, "name": "priority", "value": -5},
        {"id": 2, "name": "cooperative", "value": 1},
    ]);
    let launched = &log[3]["launches"][0]["config"];
    assert_eq!((&launched["attributes"], &launched["grid"]), (&expected, &json!([6, 1, 1])));
    assert_eq!(log[4]["launches"][0]["config"]["attributes"], json!([]));
}

#[test]
fn handles_are_followed_to_what_lives() {
    let (stub, context) = Stub::ready("");
    let library = stub.load("KPSTUB sm_90\nkernel k").unwrap();
    let kernel = stub.kernel(library, "k").unwrap();
    let node_params = params(stub.function(kernel), &mut []);
    let (graph, node, executable) = stub.one(&node_params);
    let other = stub.one(&node_params);
    assert_eq!(stub.set(executable, other.1, &node_params), INVALID);
    let counts =
        |stub: &Stub| [stub.counts()["graphs"].clone(), stub.counts()["executables"].clone()];
    assert_eq!(counts(&stub), [2, 2]);
    // The executable lives on without the graph, but no longer knows the node.
    assert_eq!(stub.cuGraphDestroy(graph), OK);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!(stub.set(executable, node, &node_params), INVALID);
    assert_eq!(stub.instantiate(graph), Err(INVALID));
    assert_eq!(stub.add(graph, &[], &node_params), Err(INVALID));
    let value = CUlaunchAttributeValue::default();
    assert_eq!(stub.cuGraphKernelNodeSetAttribute(node, 8, In(&value)), INVALID);
    assert_eq!(stub.cuGraphExecDestroy(executable), OK);
    assert_eq!(counts(&stub), [1, 1]);
    assert_eq!(stub.cuGraphExecDestroy(executable), DEAD);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), DEAD);
    assert_eq!(stub.set(executable, node, &node_params), DEAD);
    assert_eq!(stub.cuGraphLaunch(CUgraphExec(0), NULL_STREAM), INVALID);
    // A library takes its kernels with it, a context all that runs in it.
    assert_eq!(stub.cuLibraryUnload(library), OK);
    assert_eq!(stub.cuGraphLaunch(other.2, NULL_STREAM), DEAD);
    assert_eq!(stub.set(other.2, other.1, &node_params), DEAD);
    let new = stub.one(&params(stub.function(stub.only_kernel("")), &mut []));
    assert_eq!(stub.cuDevicePrimaryCtxReset_v2(DEVICE_0), OK);
    assert_eq!(counts(&stub), [2, 0]);
    assert_eq!(stub.primary(DEVICE_0), context);
    assert_eq!(stub.cuGraphLaunch(new.2, NULL_STREAM), DEAD);
    assert_eq!(stub.instantiate(new.0), Err(DEAD));
    assert_eq!([new.0, other.0].map(|graph| stub.cuGraphDestroy(graph)), [OK; 2]);
}

#[test]
fn flags_that_do_not_exist_are_refused() {
    let (stub, _) = Stub::ready("");
    assert_eq!(handle(CUgraph, |out| stub.cuGraphCreate(out, 1)), Err(INVALID));
    let empty = stub.graph();
    let with =
        |flags| handle(CUgraphExec, |out| stub.cuGraphInstantiateWithFlags(out, empty, flags));
    assert_eq!([2, 16].map(with), [Err(INVALID); 2]);
    let executable = with(1).unwrap();
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), OK);
    assert_eq!(stub.counts()["launches"], 0);
    // What was captured is not kept.
    let stream = stub.stream(1);
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), OK);
    let captured = stub.end_capture(stream).unwrap();
    assert_eq!(stub.instantiate(captured), Err(Status::NOT_SUPPORTED));
}

#[test]
fn without_a_context_a_graph_is_launched_into_streams_that_have_one() {
    let (stub, _) = Stub::ready("");
    let node_params = params(stub.function(stub.only_kernel("")), &mut []);
    let (graph, node, executable) = stub.one(&node_params);
    let stream = stub.stream(1);
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), OK);
    assert_eq!(stub.cuGraphLaunch(executable, stream), OK);
    let missing = Status::INVALID_CONTEXT;
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), missing);
    assert_eq!(stub.add(graph, &[], &node_params), Err(missing));
    // The real driver ends the process.
    stub.log();
    assert_eq!(stub.set(executable, node, &node_params), missing);
    assert!(stub.log()[0]["crash"].is_string());
    assert_eq!(stub.cuStreamDestroy_v2(stream), OK);
    assert_eq!(stub.cuGraphLaunch(executable, stream), missing);
    assert_eq!(stub.cuGraphExecDestroy(executable), OK);
}

#[test]
fn a_graph_spoils_the_capture_of_its_stream_and_of_no_other() {
    let (stub, _) = Stub::ready("");
    let node_params = params(stub.function(stub.only_kernel("")), &mut []);
    let (_, node, executable) = stub.one(&node_params);
    let (stream, other, blocking) = (stub.stream(1), stub.stream(1), stub.stream(0));
    let begin = |stream| assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), OK);
    begin(stream);
    assert_eq!(stub.set(executable, node, &node_params), OK);
    let elsewhere = [other, NULL_STREAM, blocking].map(|on| stub.cuGraphLaunch(executable, on));
    assert_eq!((elsewhere, stub.capturing(stream)), ([OK; 3], 1));
    assert_eq!(stub.cuGraphLaunch(executable, stream), UNSAFE);
    assert_eq!(stub.capturing(stream), 2);
    let invalidated = Status::STREAM_CAPTURE_INVALIDATED;
    assert_eq!(stub.cuGraphLaunch(executable, stream), invalidated);
    assert_eq!(stub.end_capture(stream), Err(invalidated));
    assert_eq!(stub.counts()["launches"], 3);
    begin(blocking);
    assert_eq!(stub.cuGraphLaunch(executable, NULL_STREAM), Status::STREAM_CAPTURE_IMPLICIT);
    assert_eq!(stub.end_capture(blocking), Err(invalidated));
}

#[test]
fn executables_are_not_made_or_ended_under_a_capture() {
    let (stub, context) = Stub::ready("");
    let function = stub.function(stub.only_kernel(""));
    let (graph, _, executable) = stub.one(&params(function, &mut []));
    let stream = stub.stream(1);
    // Graphs are.
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), OK);
    let meanwhile = stub.graph();
    assert!(stub.add(meanwhile, &[], &params(function, &mut [])).is_ok());
    assert_eq!(stub.cuGraphDestroy(meanwhile), OK);
    assert!(stub.end_capture(stream).is_ok());
    let calls: [&(dyn Fn() -> Status + Sync); 2] =
        [&|| stub.instantiate(graph).err().unwrap_or(OK), &|| stub.cuGraphExecDestroy(executable)];
    for call in calls {
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), OK);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(stub.cuCtxSetCurrent(context), OK);
                assert_eq!(call(), UNSAFE);
            });
        });
        assert_eq!(stub.end_capture(stream), Err(Status::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), OK);
        let mut own = mode::RELAXED;
        assert_eq!(stub.cuThreadExchangeStreamCaptureMode(InOut(&mut own)), OK);
        assert_eq!(call(), OK);
        assert_eq!(stub.cuThreadExchangeStreamCaptureMode(InOut(&mut own)), OK);
        assert!(stub.end_capture(stream).is_ok());
    }
}

#[test]
fn nodes_depend_on_earlier_ones_in_ways_of_their_own() {
    let (stub, _) = Stub::ready("");
    let node_params = params(stub.function(stub.only_kernel("")), &mut []);
    let (graph, other) = (stub.graph(), stub.graph());
    let mut line: Vec<CUgraphNode> = Vec::new();
    for at in 0..4 {
        let after = if at == 1 { &line[..1] } else { &[] };
        line.push(stub.add(graph, after, &node_params).expect("a right node"));
    }
    let foreign = stub.add(other, &[], &node_params).expect("a right node");
    let way =
        |from_port, to_port, kind| CUgraphEdgeData { from_port, to_port, kind, reserved: [0; 5] };
    let connect = |from: CUgraphNode, to: CUgraphNode, way: CUgraphEdgeData| {
        stub.cuGraphAddDependencies_v2(graph, In(&from), In(&to), In(&way), 1)
    };
    stub.log();
    for (from, to, way) in [(1, 2, way(1, 0, 1)), (0, 2, way(0, 0, 0)), (2, 3, way(2, 0, 1))] {
        assert_eq!(connect(line[from], line[to], way), OK);
    }
    let told = stub.log()[0]["edges"][0]["way"].clone();
    assert_eq!(told, json!({"from": 1, "to": 0, "type": 1}));
    for wrong in [way(0, 0, 1), way(1, 0, 0), way(3, 0, 1), way(1, 1, 1), way(0, 1, 0)] {
        assert_eq!(connect(line[0], line[3], wrong), INVALID, "{wrong:?}");
    }
    let plain = way(0, 0, 0);
    for [from, to] in [
        [line[0], line[1]],
        [line[1], line[2]],
        [line[2], line[1]],
        [line[1], line[1]],
        [foreign, line[1]],
    ] {
        assert_eq!(connect(from, to, plain), INVALID);
    }
    let none = std::ptr::null();
    assert_eq!(stub.cuGraphAddDependencies_v2(graph, In(&line[1]), In(&line[3]), In(none), 1), OK);
    assert_eq!(connect(line[1], line[3], plain), INVALID);
    assert!(stub.instantiate(graph).is_ok());
}

#[test]
fn graph_calls_fail_as_told() {
    let told = "fail cuGraphLaunch 2 with 719\nfail cuGraphExecKernelNodeSetParams_v2 on 0 with 2\n\
        fail cuGraphInstantiateWithFlags 2 with 2";
    let (stub, _) = Stub::ready(told);
    let node_params = params(stub.function(stub.only_kernel("")), &mut []);
    let (graph, node, executable) = stub.one(&node_params);
    assert_eq!(stub.set(executable, node, &node_params), Status::OUT_OF_MEMORY);
    assert_eq!(stub.instantiate(graph), Err(Status::OUT_OF_MEMORY));
    let launches = [(); 3].map(|()| stub.cuGraphLaunch(executable, NULL_STREAM));
    assert_eq!(launches, [OK, Status::LAUNCH_FAILED, OK]);
    assert_eq!((&stub.counts()["launches"], &stub.counts()["executables"]), (&2.into(), &1.into()));
}

#[test]
fn two_threads_on_one_executable_are_noticed() {
    let (stub, _) = Stub::ready("delay cuGraphLaunch 100");
    let node_params = params(stub.function(stub.only_kernel("")), &mut []);
    let (one, other) = (stub.one(&node_params), stub.one(&node_params));
    let stream = stub.stream(1);
    let is_noticed = |(_, node, executable): (CUgraph, CUgraphNode, CUgraphExec)| {
        stub.log();
        std::thread::scope(|scope| {
            let launch = scope.spawn(|| assert_eq!(stub.cuGraphLaunch(one.2, stream), OK));
            while !launch.is_finished() {
                assert_eq!(stub.set(executable, node, &node_params), OK);
            }
        });
        stub.log().iter().any(|line| line["overlaps"] == true)
    };
    assert!(is_noticed(one));
    assert!(!is_noticed(other));
}
