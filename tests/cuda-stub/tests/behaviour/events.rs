// SPDX-License-Identifier: Apache-2.0
//! Events, and copies between host and device in a stream's turn.

use crate::stub::{DEVICE_1, NULL_STREAM, Stub, handle};
use kernpack_cuda_stub::argument::{Destination, Out, Source};
use kernpack_cuda_stub::c_types::{CUcontext, CUdeviceptr, CUevent, CUstream};
use kernpack_cuda_stub::capture::mode;
use kernpack_cuda_stub::status::Status;
use std::time::Duration;

fn event(stub: &Stub, flags: u32) -> Result<CUevent, Status> {
    handle(CUevent, |out| stub.cuEventCreate(out, flags))
}

#[test]
fn an_event_has_some_flags_and_a_context() {
    let (stub, _) = Stub::ready("");
    let accepted: Vec<_> = (0..10).filter(|flags| event(&stub, *flags).is_ok()).collect();
    assert_eq!(accepted, [0, 1, 2, 3, 6, 7]);
    let nowhere = stub.cuEventCreate(Out(std::ptr::null_mut()), 0);
    assert_eq!(nowhere, Status::INVALID_VALUE);
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    assert_eq!(event(&stub, 2), Err(Status::INVALID_CONTEXT));
}

#[test]
fn streams_wait_for_events_of_any_context_and_record_their_own() {
    let (stub, _) = Stub::ready("");
    let (own, stream) = (event(&stub, 2).unwrap(), stub.stream(1));
    for on in [NULL_STREAM, CUstream(1), CUstream(2), stream] {
        assert_eq!(stub.cuEventRecord(own, on), Status::SUCCESS);
        let waited = [0, 1, 2].map(|flags| stub.cuStreamWaitEvent(on, own, flags));
        assert_eq!(waited, [Status::SUCCESS, Status::ILLEGAL_STATE, Status::INVALID_VALUE]);
    }
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    let (other, foreign) = (event(&stub, 2).unwrap(), stub.stream(1));
    let recorded = [(own, foreign), (other, stream), (own, NULL_STREAM)];
    let recorded = recorded.map(|(event, on)| stub.cuEventRecord(event, on));
    assert_eq!(recorded, [Status::INVALID_HANDLE; 3]);
    assert_eq!(stub.cuStreamWaitEvent(foreign, own, 0), Status::SUCCESS);
    assert_eq!(stub.cuEventDestroy_v2(own), Status::SUCCESS);
    for gone in [own, CUevent(0)] {
        assert_eq!(stub.cuEventDestroy_v2(gone), Status::INVALID_HANDLE);
        assert_eq!(stub.cuEventRecord(gone, foreign), Status::INVALID_HANDLE);
        assert_eq!(stub.cuStreamWaitEvent(foreign, gone, 0), Status::INVALID_HANDLE);
    }
}

#[test]
fn events_say_how_long_what_is_between_them_took() {
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(1);
    let [start, end, never] = [(); 3].map(|()| event(&stub, 0).unwrap());
    let untimed = event(&stub, 2).unwrap();
    assert_eq!(stub.cuEventRecord(start, stream), Status::SUCCESS);
    std::thread::sleep(Duration::from_millis(5));
    for event in [end, untimed] {
        assert_eq!(stub.cuEventRecord(event, stream), Status::SUCCESS);
    }
    let between = |start, end| handle(|ms: f32| ms, |out| stub.cuEventElapsedTime(out, start, end));
    let took = between(start, end).unwrap();
    assert!((5.0..5000.0).contains(&took), "{took} ms");
    assert_eq!(between(end, start), Ok(-took));
    for (start, end) in [(start, never), (never, end), (start, untimed), (CUevent(0), end)] {
        assert_eq!(between(start, end), Err(Status::INVALID_HANDLE));
    }
}

#[test]
fn a_capture_waits_for_nothing_from_before_it() {
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(1);
    let [new, old, own] = [(); 3].map(|()| event(&stub, 2).unwrap());
    assert_eq!(stub.cuEventRecord(old, stream), Status::SUCCESS);

    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
    assert_eq!(stub.cuStreamWaitEvent(stream, new, 0), Status::SUCCESS);
    assert_eq!(stub.cuEventRecord(own, stream), Status::SUCCESS);
    assert_eq!(stub.cuStreamWaitEvent(stream, own, 0), Status::SUCCESS);
    stub.end_capture(stream).unwrap();
    assert_eq!(stub.cuStreamWaitEvent(stream, own, 0), Status::INVALID_VALUE);
    assert_eq!(stub.cuEventRecord(own, stream), Status::SUCCESS);
    assert_eq!(stub.cuStreamWaitEvent(stream, own, 0), Status::SUCCESS);

    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
    let isolated = stub.cuStreamWaitEvent(stream, old, 0);
    assert_eq!(isolated, Status::STREAM_CAPTURE_ISOLATION);
    assert_eq!(stub.end_capture(stream), Err(Status::STREAM_CAPTURE_INVALIDATED));
}

#[test]
fn a_null_stream_records_nothing_while_it_would_wait_for_a_capture() {
    let (stub, _) = Stub::ready("");
    let (stream, event) = (stub.stream(0), event(&stub, 2).unwrap());
    let calls: [&dyn Fn() -> Status; 2] = [&|| stub.cuEventRecord(event, NULL_STREAM), &|| {
        stub.cuStreamWaitEvent(NULL_STREAM, event, 0)
    }];
    for call in calls {
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
        assert_eq!(call(), Status::STREAM_CAPTURE_IMPLICIT);
        assert_eq!(stub.end_capture(stream), Err(Status::STREAM_CAPTURE_INVALIDATED));
    }
}

#[test]
fn work_in_a_streams_turn_is_done_unless_it_is_captured() {
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(1);
    let memory = handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, 8)).unwrap();
    let (given, mut back) = ([7u8; 8], [0u8; 8]);
    let (source, place) = (Source(given.as_ptr().cast()), Destination(back.as_mut_ptr().cast()));
    let copy = || {
        [
            stub.cuMemcpyHtoDAsync_v2(memory, source, 8, stream),
            stub.cuMemcpyDtoHAsync_v2(place, memory, 8, stream),
        ]
    };
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::RELAXED), Status::SUCCESS);
    assert_eq!(copy(), [Status::SUCCESS; 2]);
    stub.end_capture(stream).unwrap();
    assert_eq!(back, [0; 8]);
    assert_eq!(copy(), [Status::SUCCESS; 2]);
    assert_eq!(back, given);
    assert_eq!(stub.cuMemsetD8Async(memory, 9, 4, stream), Status::SUCCESS);
    assert_eq!(stub.cuMemcpyDtoHAsync_v2(place, memory, 8, stream), Status::SUCCESS);
    assert_eq!(back, [9, 9, 9, 9, 7, 7, 7, 7]);
    let (nothing, nowhere) = (Source(std::ptr::null()), Destination(std::ptr::null_mut()));
    let into = stub.cuMemcpyHtoDAsync_v2(memory, nothing, 8, stream);
    let out_of = stub.cuMemcpyDtoHAsync_v2(nowhere, memory, 8, stream);
    assert_eq!([into, out_of], [Status::INVALID_VALUE; 2]);
}
