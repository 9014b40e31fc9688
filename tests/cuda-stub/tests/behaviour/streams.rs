// SPDX-License-Identifier: Apache-2.0
//! Streams and captures.

use crate::stub::{DEVICE_1, NULL_STREAM, Stub, got, handle};
use kernpack_cuda_stub::api::stream_work::CUhostFn;
use kernpack_cuda_stub::argument::{Address, Destination, In, InOut, Out, Source};
use kernpack_cuda_stub::c_types::{
    CUcontext, CUdeviceptr, CUgreenCtx, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig,
    CUstream, CUstreamCaptureStatus, StreamId,
};
use kernpack_cuda_stub::capture::mode;
use kernpack_cuda_stub::status::Status;
use std::ffi::c_void;

const LEGACY: CUstream = CUstream(1);
const PER_THREAD: CUstream = CUstream(2);

fn context(stub: &Stub, stream: CUstream) -> Result<CUcontext, Status> {
    let new = handle(CUcontext, |out| stub.cuStreamGetCtx_v2(stream, out, Out(&mut CUgreenCtx(1))));
    assert_eq!(new, handle(CUcontext, |out| stub.cuStreamGetCtx(stream, out)));
    new
}

fn allocate(stub: &Stub) -> Status {
    stub.cuMemAlloc_v2(Out(&mut CUdeviceptr(0)), 16)
}

#[test]
fn a_stream_belongs_to_a_context() {
    let (stub, first) = Stub::ready("");
    let stream = stub.stream(1);
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    assert_eq!(context(&stub, stream), Ok(first));
    for stream in [NULL_STREAM, LEGACY, PER_THREAD] {
        assert_eq!(context(&stub, stream), Ok(stub.primary(DEVICE_1)));
        assert_eq!(stub.cuStreamQuery(stream), Status::SUCCESS);
    }
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    for stream in [NULL_STREAM, LEGACY, PER_THREAD] {
        assert_eq!(context(&stub, stream), Err(Status::INVALID_CONTEXT));
        assert_eq!(stub.cuStreamSynchronize(stream), Status::INVALID_CONTEXT);
    }
    assert_eq!(stub.cuStreamSynchronize(stream), Status::SUCCESS);
    assert_eq!(stub.cuStreamCreate(Out(&mut CUstream(0)), 1), Status::INVALID_CONTEXT);
}

#[test]
fn work_on_a_stream_is_done_at_once_unless_it_is_captured() {
    extern "C" fn count(times: *mut c_void) {
        let times = times.cast::<u64>();
        let seen = In(times.cast_const()).get().unwrap();
        Out(times).put(seen + 1).unwrap();
    }
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(1);
    let mut memory = [CUdeviceptr(0); 2];
    memory.fill_with(|| handle(CUdeviceptr, |out| stub.cuMemAlloc_v2(out, 8)).unwrap());
    let (given, mut times, mut back) = ([7u8; 8], 0u64, [0u8; 8]);
    let counted = Address((&raw mut times).cast());
    let source = Source(given.as_ptr().cast());
    assert_eq!(stub.cuMemcpyHtoD_v2(memory[0], source, 8), Status::SUCCESS);

    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::RELAXED), Status::SUCCESS);
    assert_eq!(stub.cuMemcpyDtoDAsync_v2(memory[1], memory[0], 8, stream), Status::SUCCESS);
    assert_eq!(stub.cuLaunchHostFunc(stream, CUhostFn(Some(count)), counted), Status::SUCCESS);
    stub.end_capture(stream).unwrap();
    let mut read = || {
        let place = Destination(back.as_mut_ptr().cast());
        assert_eq!(stub.cuMemcpyDtoH_v2(place, memory[1], 8), Status::SUCCESS);
        back
    };
    assert_ne!(read(), given);
    assert_eq!(In(&raw const times).get(), Ok(0));

    assert_eq!(stub.cuMemcpyDtoDAsync_v2(memory[1], memory[0], 8, stream), Status::SUCCESS);
    assert_eq!(stub.cuLaunchHostFunc(stream, CUhostFn(Some(count)), counted), Status::SUCCESS);
    assert_eq!(read(), given);
    assert_eq!(In(&raw const times).get(), Ok(1));
    let none = CUhostFn(None);
    assert_eq!(stub.cuLaunchHostFunc(stream, none, counted), Status::INVALID_VALUE);
    assert_eq!(stub.cuStreamDestroy_v2(stream), Status::SUCCESS);
    let gone = stub.cuMemcpyDtoDAsync_v2(memory[1], memory[0], 8, stream);
    assert_eq!(gone, Status::INVALID_CONTEXT);
}

#[test]
fn what_is_no_stream_is_refused() {
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(0);
    assert_eq!(stub.cuStreamCreate(Out(&mut CUstream(0)), 2), Status::INVALID_VALUE);
    assert_eq!(stub.cuStreamDestroy_v2(NULL_STREAM), Status::INVALID_HANDLE);
    assert_eq!(stub.counts()["streams"], 1);
    assert_eq!(stub.cuStreamDestroy_v2(stream), Status::SUCCESS);
    assert_eq!(stub.counts()["streams"], 0);
    assert_eq!(stub.cuStreamDestroy_v2(stream), Status::INVALID_CONTEXT);
    assert_eq!(context(&stub, stream), Err(Status::INVALID_CONTEXT));
    // The real driver follows such a handle.
    assert_eq!(context(&stub, CUstream(0x1230)), Err(Status::INVALID_HANDLE));
}

#[test]
fn a_capture_becomes_a_graph() {
    let (stub, _) = Stub::ready("");
    let (stream, kernel) = (stub.stream(1), stub.only_kernel(""));
    assert_eq!(stub.end_capture(stream), Err(Status::ILLEGAL_STATE));
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, 3), Status::INVALID_VALUE);
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::ILLEGAL_STATE);
    assert_eq!((stub.capturing(stream), stub.capturing(NULL_STREAM)), (1, 0));
    stub.log();
    assert_eq!(stub.launch(kernel, stream), Status::SUCCESS);
    assert_eq!(stub.launch(kernel, NULL_STREAM), Status::SUCCESS);
    let captured: Vec<_> = stub.log().iter().map(|line| line["captured"].clone()).collect();
    assert_eq!(captured, [true, false]);
    let graph = stub.end_capture(stream).unwrap();
    assert_eq!((stub.capturing(stream), &stub.counts()["graphs"]), (0, &1.into()));
    assert_eq!(stub.cuGraphDestroy(graph), Status::SUCCESS);
    assert_eq!(stub.cuGraphDestroy(graph), Status::INVALID_VALUE);
    for stream in [NULL_STREAM, LEGACY] {
        let refused = stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL);
        assert_eq!(refused, Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    assert_eq!(stub.cuStreamBeginCapture_v2(PER_THREAD, mode::GLOBAL), Status::SUCCESS);
}

#[test]
fn what_a_capture_forbids_spoils_it() {
    let (stub, _) = Stub::ready("");
    let (stream, kernel) = (stub.stream(1), stub.only_kernel(""));
    let library = stub.load("KPSTUB sm_90").unwrap();
    let forbidden: &[&dyn Fn() -> Status] = &[
        &|| allocate(&stub),
        &|| stub.cuStreamSynchronize(stream),
        &|| stub.cuStreamQuery(stream),
        &|| stub.cuStreamSynchronize(NULL_STREAM),
        &|| stub.cuCtxSynchronize(),
        &|| stub.cuLibraryUnload(library),
        &|| stub.load("KPSTUB sm_90").err().unwrap_or(Status::SUCCESS),
    ];
    for (index, call) in forbidden.iter().enumerate() {
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
        assert_eq!(call(), Status::STREAM_CAPTURE_UNSUPPORTED, "call {index}");
        assert_eq!(stub.capturing(stream), 2, "call {index}");
        assert_eq!(stub.launch(kernel, stream), Status::STREAM_CAPTURE_INVALIDATED);
        assert_eq!(stub.end_capture(stream), Err(Status::STREAM_CAPTURE_INVALIDATED));
    }
    assert_eq!(stub.cuStreamSynchronize(stream), Status::SUCCESS);
}

#[test]
fn work_on_the_null_stream_would_wait_for_a_blocking_stream() {
    let (stub, _) = Stub::ready("");
    let (stream, kernel) = (stub.stream(0), stub.only_kernel(""));
    assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::RELAXED), Status::SUCCESS);
    for null in [NULL_STREAM, LEGACY] {
        let asked = stub.cuStreamIsCapturing(null, Out(&mut CUstreamCaptureStatus(9)));
        assert_eq!(asked, Status::STREAM_CAPTURE_IMPLICIT);
        assert_eq!(stub.capturing(stream), 1, "to ask spoils nothing");
    }
    assert_eq!(stub.launch(kernel, NULL_STREAM), Status::STREAM_CAPTURE_IMPLICIT);
    assert_eq!(stub.capturing(stream), 2);
}

#[test]
fn modes_say_who_respects_which_capture() {
    let (stub, context) = Stub::ready("");
    let stream = stub.stream(1);
    let exchange = |mode| {
        let mut mode = mode;
        (stub.cuThreadExchangeStreamCaptureMode(InOut(&mut mode)), mode)
    };
    // Capture mode, own thread's mode: whether the capturing thread may allocate, and another
    // thread may.
    let cases = [
        (mode::GLOBAL, mode::GLOBAL, false, false),
        (mode::GLOBAL, mode::THREAD_LOCAL, false, true),
        (mode::GLOBAL, mode::RELAXED, true, true),
        (mode::THREAD_LOCAL, mode::GLOBAL, false, true),
        (mode::THREAD_LOCAL, mode::THREAD_LOCAL, false, true),
        (mode::THREAD_LOCAL, mode::RELAXED, true, true),
        (mode::RELAXED, mode::GLOBAL, true, true),
    ];
    let may_allocate = |own| {
        let (status, before) = exchange(own);
        assert_eq!((status, before), (Status::SUCCESS, mode::GLOBAL));
        let result = allocate(&stub) == Status::SUCCESS;
        assert_eq!(exchange(before), (Status::SUCCESS, own));
        result
    };
    for (capture, own, here, there) in cases {
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, capture), Status::SUCCESS);
        assert_eq!(may_allocate(own), here, "{capture} {own}");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
                assert_eq!(may_allocate(own), there, "{capture} {own} elsewhere");
                let expected = match (here && there, capture) {
                    (false, _) => Err(Status::STREAM_CAPTURE_INVALIDATED),
                    (true, mode::RELAXED) => Ok(()),
                    (true, _) => Err(Status::STREAM_CAPTURE_WRONG_THREAD),
                };
                assert_eq!(stub.end_capture(stream).map(|_graph| ()), expected);
            });
        });
        let _ended_there_or_here = stub.end_capture(stream);
    }
    assert_eq!(exchange(3).0, Status::INVALID_VALUE);
}

#[test]
fn libraries_load_under_a_capture_in_relaxed_mode_or_if_allowed() {
    for (config, mode, loads) in [
        ("", mode::GLOBAL, false),
        ("", mode::RELAXED, true),
        ("capture-loads allowed", mode::GLOBAL, true),
    ] {
        let (stub, _) = Stub::ready(config);
        let stream = stub.stream(1);
        assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::GLOBAL), Status::SUCCESS);
        let mut mode = mode;
        stub.cuThreadExchangeStreamCaptureMode(InOut(&mut mode));
        assert_eq!(stub.load("KPSTUB sm_90").is_ok(), loads, "{config}");
        stub.cuThreadExchangeStreamCaptureMode(InOut(&mut mode));
        assert_eq!(stub.end_capture(stream).is_ok(), loads);
    }
}

#[test]
fn what_waits_for_captured_work_spoils_it() {
    let (stub, context) = Stub::ready("");
    let (blocking, other) = (stub.stream(0), stub.stream(1));
    let kernel = stub.only_kernel("");
    let implicit = Status::STREAM_CAPTURE_IMPLICIT;
    for (stream, waits) in [(blocking, implicit), (PER_THREAD, implicit), (other, Status::SUCCESS)]
    {
        let begin =
            || assert_eq!(stub.cuStreamBeginCapture_v2(stream, mode::RELAXED), Status::SUCCESS);
        let is_spoilt =
            |status| (status, stub.capturing(stream) == 2, stub.end_capture(stream).is_err());
        let expected = (waits, waits == implicit, waits == implicit);
        begin();
        assert_eq!(is_spoilt(stub.cuStreamSynchronize(NULL_STREAM)), expected);
        begin();
        assert_eq!(is_spoilt(stub.launch(kernel, NULL_STREAM)), expected);
        begin();
        let refused = (Status::STREAM_CAPTURE_UNSUPPORTED, true, true);
        assert_eq!(is_spoilt(stub.cuCtxSynchronize()), refused);
        begin();
        let config = CUlaunchConfig::new([0; 3], [32, 1, 1], 0, stream, &[]);
        let refused = (Status::INVALID_VALUE, true, true);
        assert_eq!(is_spoilt(stub.launch_with(kernel, &config)), refused);
    }
    // A capture that another thread tries to end has ended.
    assert_eq!(stub.cuStreamBeginCapture_v2(other, mode::GLOBAL), Status::SUCCESS);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
            assert_eq!(stub.end_capture(other), Err(Status::STREAM_CAPTURE_WRONG_THREAD));
        });
    });
    assert_eq!(stub.capturing(other), 0);
    assert_eq!(stub.end_capture(other), Err(Status::ILLEGAL_STATE));
}

#[test]
fn streams_have_priorities() {
    let (stub, _) = Stub::ready("");
    let (mut least, mut greatest) = (9, 9);
    let range = stub.cuCtxGetStreamPriorityRange(Out(&mut least), Out(&mut greatest));
    assert_eq!((range, least, greatest), (Status::SUCCESS, 0, -5));
    for (wanted, given) in [(0, 0), (-1, -1), (-5, -5), (-6, -5), (7, 0)] {
        let made = handle(CUstream, |out| stub.cuStreamCreateWithPriority(out, 1, wanted)).unwrap();
        assert_eq!(got(|out| stub.cuStreamGetPriority(made, out)), Ok(given));
        let mut value = CUlaunchAttributeValue::default();
        let attribute = CUlaunchAttribute::PRIORITY;
        let status = stub.cuStreamGetAttribute(made, attribute, Out(&mut value));
        assert_eq!((status, value.0[0] as i32), (Status::SUCCESS, given));
    }
    for stream in [NULL_STREAM, LEGACY, PER_THREAD, stub.stream(1)] {
        assert_eq!(got(|out| stub.cuStreamGetPriority(stream, out)), Ok(0));
    }
    let refused = handle(CUstream, |out| stub.cuStreamCreateWithPriority(out, 2, 0));
    assert_eq!(refused, Err(Status::INVALID_VALUE));
}

#[test]
fn an_id_tells_a_stream_from_the_next_under_its_handle() {
    let (stub, first) = Stub::ready("stream-handles reused");
    let id = |stream| handle(StreamId, |out| stub.cuStreamGetId(stream, out));
    let (stream, other) = (stub.stream(1), stub.stream(1));
    let before = id(stream).unwrap();
    assert_eq!(id(stream), Ok(before));
    assert_ne!(id(other), Ok(before));
    assert_eq!(stub.cuStreamDestroy_v2(stream), Status::SUCCESS);
    assert_eq!(id(stream), Err(Status::INVALID_CONTEXT));
    assert_eq!(stub.stream(0), stream);
    assert!(id(stream).is_ok_and(|after| after != before));
    let null = id(NULL_STREAM).unwrap();
    assert_eq!(id(LEGACY), Ok(null));
    let mine = id(PER_THREAD).unwrap();
    assert_ne!(mine, null);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(stub.cuCtxSetCurrent(first), Status::SUCCESS);
            assert_eq!(id(NULL_STREAM), Ok(null));
            assert!(id(PER_THREAD).is_ok_and(|theirs| theirs != mine));
        });
    });
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    assert!(id(NULL_STREAM).is_ok_and(|elsewhere| elsewhere != null));
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    assert_eq!(id(NULL_STREAM), Err(Status::INVALID_CONTEXT));
}

#[test]
fn a_stream_has_an_access_policy_window() {
    let (stub, _) = Stub::ready("");
    let attribute = CUlaunchAttribute::ACCESS_POLICY_WINDOW;
    let window = |stream| {
        let mut value = CUlaunchAttributeValue([9; 8]);
        assert_eq!(stub.cuStreamGetAttribute(stream, attribute, Out(&mut value)), Status::SUCCESS);
        value
    };
    let none = CUlaunchAttributeValue::default();
    // The address, the bytes, the part of them that stays, and how lines that hit are kept.
    let wanted = CUlaunchAttributeValue([0x1000, 64, 0x2_3f00_0000, 0, 0, 0, 0, 0]);
    let (stream, other) = (stub.stream(1), stub.stream(1));
    for stream in [stream, NULL_STREAM] {
        assert_eq!(window(stream), none);
        let set = stub.cuStreamSetAttribute(stream, attribute, In(&wanted));
        assert_eq!((set, window(stream)), (Status::SUCCESS, wanted));
    }
    assert_eq!([window(LEGACY), window(PER_THREAD), window(other)], [wanted, none, none]);
    // As are others that the driver has, and those that it does not have.
    let mut value = none;
    let absent = stub.cuStreamGetAttribute(stream, 3, Out(&mut value));
    assert_eq!(absent, Status::NOT_SUPPORTED);
    let absent = stub.cuStreamSetAttribute(stream, 3, In(&wanted));
    assert_eq!(absent, Status::NOT_SUPPORTED);
}
