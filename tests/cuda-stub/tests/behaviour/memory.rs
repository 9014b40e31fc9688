// SPDX-License-Identifier: Apache-2.0
//! Memory, and tensor maps.

use crate::stub::{NULL_STREAM, Stub, address, handle};
use kernpack_cuda_stub::argument::{Address, Destination, In, Out, Source};
use kernpack_cuda_stub::c_types::{CUcontext, CUdeviceptr, CUstream, CUtensorMap};
use kernpack_cuda_stub::status::Status;

fn allocate(stub: &Stub, size: usize) -> Result<CUdeviceptr, Status> {
    handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, size))
}

#[test]
fn bytes_go_there_and_back() {
    let (stub, _) = Stub::ready("");
    let (first, second) = (allocate(&stub, 8).unwrap(), allocate(&stub, 8).unwrap());
    let given = [1u8, 2, 3, 4];
    let mut back = [0u8; 5];
    let inside = CUdeviceptr(first.0 + 4);
    let source = Source(given.as_ptr().cast());
    assert_eq!(stub.cuMemcpyHtoD_v2(inside, source, 4), Status::SUCCESS);
    assert_eq!(stub.cuMemcpyDtoD_v2(second, first, 8), Status::SUCCESS);
    let place = Destination(back.as_mut_ptr().cast());
    let from = CUdeviceptr(second.0 + 3);
    assert_eq!(stub.cuMemcpyDtoH_v2(place, from, 5), Status::SUCCESS);
    assert_eq!(back, [0, 1, 2, 3, 4]);
    let log = stub.log();
    assert_eq!(log[log.len() - 1]["data"], "0001020304");
    assert_eq!(log[log.len() - 1]["args"]["from"], "memory2+3");
    assert_eq!(stub.cuMemcpyHtoD_v2(inside, source, 5), Status::INVALID_VALUE);
    assert_eq!(stub.cuMemcpyDtoH_v2(place, from, 6), Status::INVALID_VALUE);
    let nothing = Source(std::ptr::null());
    assert_eq!(stub.cuMemcpyHtoD_v2(inside, nothing, 4), Status::INVALID_VALUE);
    let nowhere = Destination(std::ptr::null_mut());
    assert_eq!(stub.cuMemcpyDtoH_v2(nowhere, from, 1), Status::INVALID_VALUE);
}

#[test]
fn memory_is_freed_once() {
    let (stub, _) = Stub::ready("");
    assert_eq!(allocate(&stub, 0), Err(Status::INVALID_VALUE));
    assert_eq!(allocate(&stub, 1 << 50), Err(Status::OUT_OF_MEMORY));
    let memory = allocate(&stub, 64).unwrap();
    assert_eq!(memory.0 % 512, 0);
    assert_eq!(stub.counts()["allocations"], 1);
    assert_eq!(stub.cuMemFree_v2(CUdeviceptr(memory.0 + 8)), Status::INVALID_VALUE);
    assert_eq!(stub.cuMemFree_v2(memory), Status::SUCCESS);
    assert_eq!(stub.cuMemFree_v2(memory), Status::INVALID_VALUE);
    assert_eq!(stub.cuMemFree_v2(CUdeviceptr(0)), Status::SUCCESS);
    assert_eq!(stub.counts()["allocations"], 0);
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    assert_eq!(allocate(&stub, 16), Err(Status::INVALID_CONTEXT));
    assert_eq!(stub.cuStreamQuery(NULL_STREAM), Status::INVALID_CONTEXT);
}

#[test]
fn memory_comes_and_goes_in_the_order_of_a_stream() {
    let (stub, context) = Stub::ready("");
    let stream = handle(CUstream, |out| stub.cuStreamCreate(out, 1)).unwrap();
    let allocate =
        |size, stream| handle(CUdeviceptr, |out| stub.cuMemAllocAsync(out, size, stream));
    assert_eq!(allocate(0, stream), Ok(CUdeviceptr(0)));
    assert_eq!(stub.cuMemFreeAsync(CUdeviceptr(0), stream), Status::SUCCESS);
    assert_eq!(allocate(1 << 50, stream), Err(Status::OUT_OF_MEMORY));
    let memory = allocate(64, stream).unwrap();
    assert_eq!(stub.counts()["allocations"], 1);
    assert_eq!(stub.cuMemFreeAsync(CUdeviceptr(memory.0 + 8), stream), Status::INVALID_VALUE);
    assert_eq!(stub.cuMemFreeAsync(memory, NULL_STREAM), Status::SUCCESS);
    assert_eq!(stub.cuMemFreeAsync(memory, stream), Status::INVALID_VALUE);
    assert_eq!(stub.counts()["allocations"], 0);
    // No context needs to be current, unless the stream is that of whatever is.
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    let memory = allocate(64, stream).unwrap();
    assert_eq!(allocate(64, NULL_STREAM), Err(Status::INVALID_CONTEXT));
    assert_eq!(stub.cuMemFree_v2(memory), Status::SUCCESS);
    assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
    // What is captured frees nothing when it is captured.
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, 0), Status::SUCCESS);
    let memory = allocate(64, stream).unwrap();
    assert_eq!(stub.cuMemFreeAsync(memory, stream), Status::SUCCESS);
    assert_eq!(stub.counts()["allocations"], 1);
}

#[test]
fn an_address_says_what_it_is_of() {
    let (stub, context) = Stub::ready("");
    let memory = allocate(&stub, 64).unwrap();
    let ask = |attribute, address| {
        let mut answer = [0xeeeu64, 0];
        let place = Destination(answer.as_mut_ptr().cast());
        (stub.cuPointerGetAttribute(place, attribute, CUdeviceptr(address)), answer[0])
    };
    let number = |(status, word): (Status, u64)| (status, word & 0xffff_ffff);
    let inside = memory.0 + 63;
    assert_eq!(ask(1, inside), (Status::SUCCESS, context.0 as u64));
    assert_eq!(number(ask(2, inside)), (Status::SUCCESS, 2));
    assert_eq!(ask(3, inside), (Status::SUCCESS, inside));
    assert_eq!(number(ask(9, inside)), (Status::SUCCESS, 0));
    assert_eq!(ask(11, inside), (Status::SUCCESS, memory.0));
    assert_eq!(ask(12, inside), (Status::SUCCESS, 64));
    assert_eq!(ask(4, inside), (Status::INVALID_VALUE, 0xeee));
    assert_eq!(ask(99, inside), (Status::INVALID_VALUE, 0xeee));
    assert_eq!(ask(2, memory.0 + 64), (Status::INVALID_VALUE, 0xeee));
    assert_eq!(ask(2, 0), (Status::INVALID_VALUE, 0xeee));
}

#[test]
fn tensor_maps_are_encoded() {
    let stub = Stub::fresh("");
    assert_eq!(stub.cuInit(0), Status::SUCCESS);
    let (dims, strides) = ([64u64, 8], [256u64]);
    let (boxes, steps) = ([32u32, 8], [1u32, 1]);
    let mut maps = [CUtensorMap([0; 16]); 2];
    let encode = |map: *mut CUtensorMap, rank, swizzle| {
        let data = Address(0x1000 as *mut _);
        let arrays =
            (In(dims.as_ptr()), In(strides.as_ptr()), In(boxes.as_ptr()), In(steps.as_ptr()));
        let (dims, strides, boxes, steps) = arrays;
        stub.cuTensorMapEncodeTiled(
            Out(map),
            7,
            rank,
            data,
            dims,
            strides,
            boxes,
            steps,
            0,
            swizzle,
            0,
            0,
        )
    };
    assert_eq!(encode(&mut maps[0], 2, 3), Status::SUCCESS);
    assert_eq!(encode(&mut maps[0], 2, 2), Status::INVALID_VALUE);
    assert_eq!(encode(&mut maps[0], 0, 3), Status::INVALID_VALUE);
    assert_eq!(encode(&mut maps[0], 6, 3), Status::INVALID_VALUE);
    let askew = (address(&maps[0]) as usize + 32) as *mut CUtensorMap;
    assert_eq!(encode(askew, 2, 3), Status::INVALID_VALUE);
    assert_eq!(maps[0].0[2..6], [0x1000, 64, 8, 256]);
    let log = stub.log();
    let tensor = serde_json::json!({
        "dims": [64, 8], "strides": [256], "box": [32, 8], "steps": [1, 1],
    });
    assert_eq!(log[1]["tensor"], tensor);
    assert!(log[1]["out"]["map"].as_str().unwrap().starts_with("4b5053545542"));
}
