// SPDX-License-Identifier: Apache-2.0
//! Memory of results and workspaces on a GPU: it comes and goes in the order of a call's stream, on
//! a driver that needs no GPU.

use crate::cuda_host::{GLOBAL, RELAXED, THREAD_LOCAL};
use crate::gpu::{Gpu, view, view_mut};
use expect_test::expect;
use kernpack::{RawStream, Stream, Tensor};
use serde_json::Value;

impl Gpu {
    /// A call that has a workspace, and returns a result.
    fn results<S: Stream>(&self, stream: &S) -> kernpack::Result<Tensor<f32>> {
        self.package.results(stream, view(0x1_0000, &[4])).call()
    }

    /// What the driver did with memory since the log was last taken.
    fn memory_log(&self) -> String {
        let log = self.stub.take_log();
        let done = log.iter().filter(|line| line["result"] == "CUDA_SUCCESS");
        done.filter_map(of_memory).collect::<Vec<_>>().join("; ")
    }
}

/// A call of the log, if it is about memory.
fn of_memory(line: &Value) -> Option<String> {
    let (name, args) = (line["call"].as_str()?, &line["args"]);
    let what = match name {
        "cuMemAlloc_v2" | "cuMemAllocAsync" => &line["out"]["address"],
        "cuMemFree_v2" | "cuMemFreeAsync" => &args["address"],
        "cuCtxSynchronize" => return Some(name.to_string()),
        _ => return None,
    };
    let stream = args["stream"].as_str().map_or(String::new(), |stream| format!(" on {stream}"));
    Some(format!("{name} {}{stream}", what.as_str()?))
}

#[test]
fn memory_comes_and_goes_in_the_order_of_the_stream() {
    let gpu = Gpu::new();
    let (first, second) = (gpu.stream(), gpu.stream());
    let result = gpu.results(&first).unwrap();
    expect!["cuMemAllocAsync memory1 on stream1; cuMemAllocAsync memory2 on stream1; cuMemFreeAsync memory2 on stream1"].assert_eq(&gpu.memory_log());
    drop(result);
    // Only on its own stream is it known to be of no use any more.
    expect![""].assert_eq(&gpu.memory_log());
    let other = gpu.results(&second).unwrap();
    expect!["cuMemAllocAsync memory3 on stream2; cuMemAllocAsync memory4 on stream2; cuMemFreeAsync memory4 on stream2"].assert_eq(&gpu.memory_log());
    drop(gpu.results(&first).unwrap());
    expect!["cuMemFreeAsync memory1 on stream1; cuMemAllocAsync memory5 on stream1; cuMemAllocAsync memory6 on stream1; cuMemFreeAsync memory6 on stream1"].assert_eq(&gpu.memory_log());
    drop(other);
}

#[test]
fn memory_that_no_stream_is_known_of_is_freed_with_a_wait() {
    let gpu = Gpu::new();
    drop(gpu.results(&RawStream::null(0)).unwrap());
    expect![
        "cuMemAlloc_v2 memory1; cuMemAlloc_v2 memory2; cuMemFree_v2 memory2; cuMemFree_v2 memory1"
    ]
    .assert_eq(&gpu.memory_log());
}

#[test]
fn a_device_without_a_pool_has_memory_too() {
    let gpu = Gpu::new();
    gpu.stub.fail("cuMemAllocAsync", 0, 801);
    drop(gpu.results(&gpu.stream()).unwrap());
    expect![
        "cuMemAlloc_v2 memory1; cuMemAlloc_v2 memory2; cuMemFree_v2 memory2; cuMemFree_v2 memory1"
    ]
    .assert_eq(&gpu.memory_log());
}

#[test]
fn what_is_kept_for_a_stream_is_freed_where_memory_is_short() {
    let gpu = Gpu::new();
    let (first, second) = (gpu.stream(), gpu.stream());
    drop(gpu.results(&first).unwrap());
    gpu.memory_log();
    gpu.stub.fail("cuMemAllocAsync", 1, 2);
    drop(gpu.results(&second).unwrap());
    expect!["cuCtxSynchronize; cuMemFree_v2 memory1; cuMemAllocAsync memory3 on stream2; cuMemAllocAsync memory4 on stream2; cuMemFreeAsync memory4 on stream2"].assert_eq(&gpu.memory_log());
    // Now there is nothing that is kept but what that call returned.
    gpu.stub.fail("cuMemAllocAsync", 0, 2);
    gpu.results(&first).unwrap_err();
    expect!["RuntimeError: Cannot allocate the result `b` when calling: `results(a: Tensor([n], T)) -> b: Tensor([n], T)`: cannot allocate 16 bytes on cuda:0: cuMemAllocAsync answers 2"].assert_eq(&gpu.results(&first).unwrap_err().to_string());
}

#[test]
fn what_cannot_be_freed_yet_is_kept() {
    let gpu = Gpu::new();
    let (first, second) = (gpu.stream(), gpu.stream());
    drop(gpu.results(&first).unwrap());
    gpu.memory_log();
    gpu.stub.fail("cuMemAllocAsync", 1, 2);
    gpu.stub.fail("cuCtxSynchronize", 1, 900);
    drop(gpu.results(&second).unwrap());
    assert!(!gpu.memory_log().contains("memory1"), "the device may still use it");
    drop(gpu.results(&first).unwrap());
    assert!(gpu.memory_log().starts_with("cuMemFreeAsync memory1 on stream1; "));
}

#[test]
fn a_result_that_other_streams_use_is_freed_with_a_wait() {
    let gpu = Gpu::new();
    let (first, second) = (gpu.stream(), gpu.stream());
    let shared: [fn(&Gpu, &RawStream, &mut Tensor<f32>); 3] = [
        |gpu, stream, result| {
            gpu.package.add_one(stream, &*result, view_mut(0x2_0000, &[4])).call().unwrap();
        },
        |gpu, stream, result| {
            gpu.package.add_one(stream, view(0x2_0000, &[4]), result).call().unwrap();
        },
        |_, _, result| {
            let _everybodys = result.as_view_mut();
        },
    ];
    for share in shared {
        let mut result = gpu.results(&first).unwrap();
        share(&gpu, &second, &mut result);
        gpu.memory_log();
        drop(result);
        assert_eq!(gpu.memory_log(), "cuCtxSynchronize");
    }
    // Its own stream may use it as it likes.
    let mut result = gpu.results(&first).unwrap();
    shared[0](&gpu, &first, &mut result);
    shared[1](&gpu, &first, &mut result);
    gpu.memory_log();
    drop(result);
    assert_eq!(gpu.memory_log(), "");
}

#[test]
fn memory_in_a_capture_is_the_graphs() {
    for mode in [GLOBAL, THREAD_LOCAL, RELAXED] {
        let gpu = Gpu::new();
        let stream = gpu.stream();
        drop(gpu.results(&stream).unwrap());
        gpu.memory_log();
        gpu.host.begin_capture(stream.handle() as usize, mode);
        let result = gpu.results(&stream).unwrap();
        let captured = "cuMemAllocAsync memory3 on stream1; cuMemAllocAsync memory4 on stream1; \
                        cuMemFreeAsync memory4 on stream1";
        assert_eq!(gpu.memory_log(), captured);
        assert_eq!(gpu.host.end_capture(stream.handle() as usize), 0);
        drop(result);
        assert_eq!(gpu.memory_log(), "");
        drop(gpu.results(&stream).unwrap());
        // What was returned before the capture goes now, and what the graph has never does.
        let behind = "cuMemFreeAsync memory1 on stream1; cuMemAllocAsync memory5 on stream1; \
                      cuMemAllocAsync memory6 on stream1; cuMemFreeAsync memory6 on stream1";
        assert_eq!(gpu.memory_log(), behind);
    }
}
