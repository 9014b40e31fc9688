// SPDX-License-Identifier: Apache-2.0
//! Launches: where they go, what is refused, what the log says of them; and occupancy.

use crate::stub::{DEVICE_0, DEVICE_1, NONE, NULL_STREAM, Stub, address, got, handle};
use kernpack_cuda_stub::argument::{In, Pointers};
use kernpack_cuda_stub::c_types::{
    CUcontext, CUdeviceptr, CUfunction, CUkernel, CUlaunchAttribute, CUlaunchConfig, CUstream,
};
use kernpack_cuda_stub::status::Status;
use serde_json::json;

const OK: Status = Status::SUCCESS;
const INVALID: Status = Status::INVALID_VALUE;

fn cluster(dims: [u32; 3]) -> CUlaunchAttribute {
    CUlaunchAttribute::new(CUlaunchAttribute::CLUSTER_DIMENSION, dims)
}

/// Launches on the NULL stream with this grid, block, shared memory.
fn shaped(stub: &Stub, kernel: CUkernel, grid: [u32; 3], block: [u32; 3], shared: u32) -> Status {
    stub.launch_with(kernel, &CUlaunchConfig::new(grid, block, shared, NULL_STREAM, &[]))
}

#[test]
fn a_kernel_goes_where_its_stream_or_the_current_context_says() {
    let (stub, first) = Stub::ready("");
    let (kernel, stream) = (stub.only_kernel(""), stub.stream(1));
    let second = stub.primary(DEVICE_1);
    let device = || stub.log().last().unwrap()["launch"]["device"].clone();
    assert_eq!((stub.launch(kernel, NULL_STREAM), device()), (OK, json!(0)));
    assert_eq!(stub.cuCtxSetCurrent(second), OK);
    for own in 0..3 {
        assert_eq!((stub.launch(kernel, CUstream(own)), device()), (OK, json!(1)));
    }
    assert_eq!((stub.launch(kernel, stream), device()), (OK, json!(0)));
    let function = handle(CUfunction, |out| stub.cuKernelGetFunction(out, kernel)).unwrap();
    let as_kernel = CUkernel(function.0);
    assert_eq!((stub.launch(as_kernel, NULL_STREAM), device()), (OK, json!(1)));
    assert_eq!(stub.launch(as_kernel, stream), Status::INVALID_HANDLE);
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), OK);
    for own in 0..3 {
        assert_eq!(stub.launch(kernel, CUstream(own)), Status::INVALID_CONTEXT);
    }
    assert_eq!((stub.launch(kernel, stream), device()), (OK, json!(0)));
    assert_eq!(stub.cuCtxSetCurrent(first), OK);
    assert_eq!(stub.launch(CUkernel(0), NULL_STREAM), Status::INVALID_HANDLE);
    assert_eq!(stub.cuStreamDestroy_v2(stream), OK);
    assert_eq!(stub.launch(kernel, stream), Status::INVALID_CONTEXT);
    assert_eq!(stub.counts()["launches"], 7);
}

#[test]
fn blocks_and_grids_have_limits() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("");
    let blocks = [
        ([0, 1, 1], INVALID),
        ([1, 0, 1], INVALID),
        ([1024, 1, 1], OK),
        ([1025, 1, 1], INVALID),
        ([32, 33, 1], INVALID),
        ([1, 1, 64], OK),
        ([1, 1, 65], INVALID),
    ];
    for (block, status) in blocks {
        assert_eq!(shaped(&stub, kernel, [1; 3], block, 0), status, "{block:?}");
    }
    let grids = [
        ([0, 1, 1], INVALID),
        ([1, 0, 1], INVALID),
        ([2_147_483_647, 1, 1], OK),
        ([2_147_483_648, 1, 1], INVALID),
        ([1, 65535, 1], OK),
        ([1, 65536, 1], INVALID),
        ([1, 1, 65536], INVALID),
    ];
    for (grid, status) in grids {
        assert_eq!(shaped(&stub, kernel, grid, [1; 3], 0), status, "{grid:?}");
    }
    let small = stub.only_kernel("threads 256");
    assert_eq!(shaped(&stub, small, [1; 3], [256, 1, 1], 0), OK);
    assert_eq!(shaped(&stub, small, [1; 3], [257, 1, 1], 0), INVALID);
}

#[test]
fn shared_memory_beyond_48_kilobytes_has_to_be_asked_for() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("");
    let with = |shared| shaped(&stub, kernel, [1; 3], [32, 1, 1], shared);
    assert_eq!([49152, 49153, 232_448].map(with), [OK, INVALID, INVALID]);
    assert_eq!(stub.cuKernelSetAttribute(8, 232_448, kernel, DEVICE_1), OK);
    assert_eq!(with(232_448), INVALID);
    assert_eq!(stub.cuKernelSetAttribute(8, 232_448, kernel, DEVICE_0), OK);
    assert_eq!([232_448, 232_449].map(with), [OK, INVALID]);
    assert_eq!(stub.cuKernelSetAttribute(8, 1024, kernel, DEVICE_0), OK);
    assert_eq!([1024, 2048].map(with), [OK, INVALID]);
}

#[test]
fn clusters_divide_the_grid_and_are_not_too_large() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("");
    let with = |grid, dims| {
        stub.launch_with(
            kernel,
            &CUlaunchConfig::new([grid, 1, 1], [32, 1, 1], 0, NULL_STREAM, &[cluster(dims)]),
        )
    };
    let refused = Status::INVALID_CLUSTER_SIZE;
    assert_eq!([with(2, [2, 1, 1]), with(8, [8, 1, 1]), with(6, [3, 1, 1])], [OK; 3]);
    assert_eq!([with(16, [16, 1, 1]), with(3, [2, 1, 1]), with(1, [0, 1, 1])], [refused; 3]);
    assert_eq!(with(8, [4, 2, 1]), refused);
    assert_eq!(with(0, [2, 1, 1]), INVALID);
    // As if there were no attribute.
    assert_eq!(with(3, [0; 3]), OK);
    assert_eq!(stub.cuKernelSetAttribute(14, 1, kernel, DEVICE_0), OK);
    assert_eq!([with(16, [16, 1, 1]), with(17, [17, 1, 1])], [OK, refused]);
}

#[test]
fn cooperative_grids_fit_on_the_device() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("");
    let cooperative = CUlaunchAttribute::new(CUlaunchAttribute::COOPERATIVE, [1, 0, 0]);
    let not = CUlaunchAttribute::new(CUlaunchAttribute::COOPERATIVE, [0; 3]);
    let with = |grid, attribute| {
        let attributes = [attribute];
        let config = CUlaunchConfig::new([grid, 1, 1], [1024, 1, 1], 0, NULL_STREAM, &attributes);
        stub.launch_with(kernel, &config)
    };
    let function = CUfunction(kernel.0);
    let plain = |grid| {
        stub.cuLaunchCooperativeKernel(function, grid, 1, 1, 1024, 1, 1, 0, NULL_STREAM, NONE)
    };
    assert_eq!([with(264, cooperative), with(265, not), plain(264)], [OK; 3]);
    let refused = Status::COOPERATIVE_LAUNCH_TOO_LARGE;
    assert_eq!([with(265, cooperative), plain(265)], [refused; 2]);
}

#[test]
fn attributes_that_do_not_exist_are_refused() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("");
    let with = |id| {
        let attribute = CUlaunchAttribute::new(id, [1, 0, 0]);
        stub.launch_with(
            kernel,
            &CUlaunchConfig::new([1; 3], [32, 1, 1], 0, NULL_STREAM, &[attribute]),
        )
    };
    assert_eq!([0, 1, 6, 8].map(with), [OK; 4]);
    assert_eq!([99, 255].map(with), [INVALID; 2]);
}

#[test]
fn the_log_has_every_argument() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("params 8 2 4 3");
    let memory = handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, 64)).unwrap();
    let inside = CUdeviceptr(memory.0 + 16);
    let (short, number, bytes) = (0x1234u16, -2i32, [7u8, 8, 9]);
    let mut params = [address(&inside), address(&short), address(&number), address(&bytes)];
    let attributes = [
        cluster([2, 1, 1]),
        CUlaunchAttribute::new(CUlaunchAttribute::PRIORITY, [0xffff_fffe, 0, 0]),
        CUlaunchAttribute::new(CUlaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION, [1, 0, 0]),
    ];
    let config = CUlaunchConfig::new([4, 2, 1], [32, 1, 1], 256, CUstream(2), &attributes);
    let params = Pointers(params.as_mut_ptr());
    stub.log();
    let function = CUfunction(kernel.0);
    assert_eq!(stub.cuLaunchKernelEx(In(&config), function, params, NONE), OK);
    let log = stub.log();
    assert_eq!(log[0]["call"], "cuLaunchKernelEx");
    assert_eq!(log[0]["args"]["function"], "kernel1");
    let expected = json!({
        "kernel": "k", "device": 0, "context": "context1",
        "config": {
            "grid": [4, 2, 1], "block": [32, 1, 1], "shared": 256, "stream": "per-thread",
            "attributes": [
                {"id": 4, "name": "cluster", "value": [2, 1, 1]},
                {"id": 8, "name": "priority", "value": -2},
                {"id": 6, "name": "programmatic", "value": 1},
            ],
        },
        "arguments": [
            {"offset": 0, "bytes": log[0]["launch"]["arguments"][0]["bytes"], "address": "memory1+16"},
            {"offset": 8, "bytes": "3412"},
            {"offset": 12, "bytes": "feffffff"},
            {"offset": 16, "bytes": "070809"},
        ],
    });
    assert_eq!(log[0]["launch"], expected);
    assert_eq!(log[0]["args"]["config"], expected["config"]);
}

#[test]
fn arguments_may_be_packed_and_must_be_there() {
    let (stub, _) = Stub::ready("");
    let kernel = CUfunction(stub.only_kernel("params 4 8").0);
    let launch = |params, extra| {
        stub.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL_STREAM, params, extra)
    };
    let packed = [5u64, 6];
    let with_size = |size: usize| {
        let words = [1, address(&packed) as usize, 2, address(&size) as usize, 0];
        let mut words = words.map(|word| word as *mut std::ffi::c_void);
        launch(NONE, Pointers(words.as_mut_ptr()))
    };
    stub.log();
    assert_eq!(with_size(16), OK);
    let arguments = stub.log()[0]["launch"]["arguments"].clone();
    let bytes: Vec<_> = arguments.as_array().unwrap().iter().map(|a| &a["bytes"]).collect();
    assert_eq!(bytes, ["05000000", "0600000000000000"]);
    assert_eq!(with_size(15), INVALID);
    assert_eq!(launch(NONE, NONE), INVALID);
    let mut missing = [address(&packed), std::ptr::null_mut()];
    assert_eq!(launch(Pointers(missing.as_mut_ptr()), NONE), INVALID);
}

#[test]
fn kernels_that_say_so_compute() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("params 8 8 4 effect add_one");
    let input = handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, 12)).unwrap();
    let output = handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, 12)).unwrap();
    let launch = |n: i32, stream| {
        let mut params = [address(&input), address(&output), address(&n)];
        let config = CUlaunchConfig::new([1; 3], [32, 1, 1], 0, stream, &[]);
        let params = Pointers(params.as_mut_ptr());
        stub.cuLaunchKernelEx(In(&config), CUfunction(kernel.0), params, NONE)
    };
    // SAFETY: Memory of the stub is memory of the host; this is 12 bytes of it.
    let values = |at: CUdeviceptr| unsafe { &mut *(at.0 as *mut [f32; 3]) };
    *values(input) = [1.0, 2.0, -3.5];
    assert_eq!(launch(3, NULL_STREAM), OK);
    assert_eq!(*values(output), [2.0, 3.0, -2.5]);
    assert_eq!(launch(4, NULL_STREAM), Status::ILLEGAL_ADDRESS);
    *values(input) = [0.0; 3];
    let stream = stub.stream(1);
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, 0), OK);
    assert_eq!(launch(3, stream), OK);
    assert_eq!(*values(output), [2.0, 3.0, -2.5]);
}

#[test]
fn occupancy_is_what_the_device_says() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("registers 4");
    let function = CUfunction(kernel.0);
    let blocks = |threads, shared| {
        got(|out| stub.cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared))
    };
    assert_eq!([blocks(32, 0), blocks(1024, 0), blocks(1025, 0)], [Ok(32), Ok(2), Ok(0)]);
    assert_eq!([blocks(32, 232_449), blocks(32, 100_000), blocks(2048, 0)], [Ok(0); 3]);
    assert_eq!(blocks(0, 0), Err(INVALID));
    assert_eq!(stub.cuKernelSetAttribute(8, 232_448, kernel, DEVICE_0), OK);
    assert_eq!(blocks(32, 100_000), Ok(2));
    let small = CUfunction(stub.only_kernel("threads 128 registers 4").0);
    let beyond = got(|out| stub.cuOccupancyMaxActiveBlocksPerMultiprocessor(out, small, 1024, 0));
    assert_eq!(beyond, Ok(2));
    let hungry = CUfunction(stub.only_kernel("registers 128").0);
    let few = got(|out| stub.cuOccupancyMaxActiveBlocksPerMultiprocessor(out, hungry, 256, 0));
    assert_eq!(few, Ok(2));
    let clusters = |n| {
        let attributes = [cluster([n, 1, 1])];
        let config = CUlaunchConfig::new([16, 1, 1], [1024, 1, 1], 0, NULL_STREAM, &attributes);
        got(|out| stub.cuOccupancyMaxActiveClusters(out, function, In(&config)))
    };
    assert_eq!([clusters(1), clusters(8)], [Ok(264), Ok(33)]);
    assert_eq!(clusters(16), Err(Status::INVALID_CLUSTER_SIZE));
    let largest = || {
        let config = CUlaunchConfig::new([16, 1, 1], [32, 1, 1], 0, NULL_STREAM, &[]);
        got(|out| stub.cuOccupancyMaxPotentialClusterSize(out, function, In(&config)))
    };
    assert_eq!(largest(), Ok(8));
    assert_eq!(stub.cuKernelSetAttribute(14, 1, kernel, DEVICE_0), OK);
    assert_eq!(largest(), Ok(16));
}
