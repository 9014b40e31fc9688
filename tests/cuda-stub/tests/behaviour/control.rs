// SPDX-License-Identifier: Apache-2.0
//! What tests tell the stub, and what it tells them.

use crate::stub::{DEVICE_0, DEVICE_1, Stub, handle, path, text};
use kernpack_cuda_stub::api;
use kernpack_cuda_stub::argument::Out;
use kernpack_cuda_stub::c_types::{CUcontext, CUdeviceptr, CUstream};
use kernpack_cuda_stub::status::Status;
use object::{Object, ObjectSymbol};
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

fn allocate(stub: &Stub) -> Status {
    stub.cuMemAlloc_v2(Out(&mut CUdeviceptr(0)), 16)
}

#[test]
fn calls_fail_as_told() {
    let (stub, first) =
        Stub::ready("fail cuMemAlloc_v2 2 with 719\nfail cuStreamCreate on 1 with 2");
    let three = [(); 3].map(|()| allocate(&stub));
    assert_eq!(three, [Status::SUCCESS, Status::LAUNCH_FAILED, Status::SUCCESS]);
    stub.stream(1);
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    let refused = handle(CUstream, |out| stub.cuStreamCreate(out, 1));
    assert_eq!(refused, Err(Status::OUT_OF_MEMORY));
    assert_eq!(stub.cuCtxSetCurrent(first), Status::SUCCESS);
    let fail = |function, nth| stub.kernpack_cuda_stub_fail(text(function), nth, 999);
    assert_eq!((fail("cuMemAlloc_v2", 1), fail("cuCtxSynchronize", 0)), (0, 0));
    assert_eq!(fail("cuNothing", 1), -1);
    assert_eq!([allocate(&stub), allocate(&stub)], [Status::UNKNOWN, Status::SUCCESS]);
    assert_eq!([(); 2].map(|()| stub.cuCtxSynchronize()), [Status::UNKNOWN; 2]);
    assert_eq!(stub.counts()["allocations"], 3);
    let log = stub.log();
    let told = log.iter().filter(|line| line["told"] == true).map(|line| &line["result"]);
    let results =
        [719, 2, 999, 999, 999].map(|code| Status(code).name().unwrap().to_str().unwrap());
    assert_eq!(told.collect::<Vec<_>>(), results);
}

#[test]
fn a_reset_forgets_everything() {
    let (stub, context) = Stub::ready("");
    let stream = stub.stream(1);
    allocate(&stub);
    stub.load("KPSTUB sm_90").unwrap();
    let counts = json!({
        "libraries": 1, "retained": 1, "contexts": 0, "streams": 1, "captures": 0, "graphs": 0,
        "executables": 0, "allocations": 1, "launches": 0,
    });
    assert_eq!(stub.counts(), counts);
    assert_eq!(stub.kernpack_cuda_stub_reset(text("nonsense")), -1);
    assert_eq!(stub.counts(), counts);
    assert_eq!(stub.kernpack_cuda_stub_reset(text("devices 1")), 0);
    assert_eq!(stub.cuCtxSynchronize(), Status::NOT_INITIALIZED);
    assert_eq!(stub.cuInit(0), Status::SUCCESS);
    assert_eq!(handle(CUcontext, |out| stub.cuCtxGetCurrent(out)), Ok(CUcontext(0)));
    assert_ne!(stub.primary(DEVICE_0), context);
    assert_eq!(stub.cuStreamSynchronize(stream), Status::INVALID_HANDLE);
}

#[test]
fn the_log_names_what_calls_give_and_take() {
    let (stub, _) = Stub::ready("");
    let stream = stub.stream(1);
    assert_eq!(stub.cuStreamSynchronize(stream), Status::SUCCESS);
    assert_eq!(stub.cuStreamDestroy_v2(CUstream(0x30)), Status::INVALID_HANDLE);
    let log = stub.log();
    let thread = &log[0]["thread"];
    let expected = json!([
        {"call": "cuInit", "thread": thread, "device": null, "args": {"flags": 0}, "result": "CUDA_SUCCESS", "out": {}},
        {"call": "cuDevicePrimaryCtxRetain", "thread": thread, "device": null,
            "args": {"context": "out", "device": 0}, "result": "CUDA_SUCCESS", "out": {"context": "context1"}},
        {"call": "cuCtxSetCurrent", "thread": thread, "device": null,
            "args": {"context": "context1"}, "result": "CUDA_SUCCESS", "out": {}},
        {"call": "cuStreamCreate", "thread": thread, "device": 0,
            "args": {"stream": "out", "flags": 1}, "result": "CUDA_SUCCESS", "out": {"stream": "stream1"}},
        {"call": "cuStreamSynchronize", "thread": thread, "device": 0,
            "args": {"stream": "stream1"}, "result": "CUDA_SUCCESS", "out": {}},
        {"call": "cuStreamDestroy_v2", "thread": thread, "device": 0,
            "args": {"stream": "0x30"}, "result": "CUDA_ERROR_INVALID_HANDLE"},
    ]);
    assert_eq!(serde_json::Value::from(log), expected);
    assert!(stub.log().is_empty());
}

#[test]
fn a_log_that_does_not_fit_stays() {
    let (stub, _) = Stub::ready("");
    let mut small = [0u8; 8];
    let needed = stub.kernpack_cuda_stub_take_log(small.as_mut_ptr(), small.len());
    assert!(needed > 8);
    assert_eq!(small, [0; 8]);
    assert_eq!(stub.log().len(), 3);
}

#[test]
fn images_go_to_files_under_their_digests() {
    let folder = tempfile::tempdir().unwrap();
    let (stub, _) = Stub::ready(&format!("images {}", folder.path().display()));
    stub.load("KPSTUB sm_90").unwrap();
    let log = stub.log();
    let digest = log.last().unwrap()["image"]["digest"].as_str().unwrap();
    assert_eq!(std::fs::read(folder.path().join(digest)).unwrap(), b"KPSTUB sm_90");
}

#[test]
fn the_log_goes_to_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let (stub, _) = Stub::ready(&format!("log {}", file.display()));
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written.lines().count(), stub.log().len());
}

#[test]
fn calls_take_as_long_as_told_without_holding_others_up() {
    let (stub, _) = Stub::ready("delay cuCtxSynchronize 300");
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| stub.cuCtxSynchronize());
        assert_eq!(allocate(&stub), Status::SUCCESS);
        assert!(start.elapsed() < Duration::from_millis(300));
    });
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[test]
fn many_threads_may_call_at_once() {
    let (stub, context) = Stub::ready("");
    let work = || {
        assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
        for _ in 0..100 {
            let library = stub.load("KPSTUB sm_90\nkernel k").unwrap();
            let (kernel, stream) = (stub.kernel(library, "k").unwrap(), stub.stream(0));
            assert_eq!(stub.launch(kernel, stream), Status::SUCCESS);
            assert_eq!(stub.cuStreamDestroy_v2(stream), Status::SUCCESS);
            assert_eq!(stub.cuLibraryUnload(library), Status::SUCCESS);
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| _ = scope.spawn(work)));
    let counts = stub.counts();
    assert_eq!([&counts["libraries"], &counts["streams"]], [0, 0]);
    assert_eq!(counts["launches"], 800);
    assert_eq!(stub.log().len(), 3 + 8 * (1 + 600));
}

#[test]
fn the_library_exports_what_the_table_lists_under_the_drivers_name() {
    let bytes = std::fs::read(path()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names = exported.filter_map(|symbol| symbol.name().ok());
    let mut names: Vec<_> = names.filter(|name| name.starts_with("cu")).collect();
    let mut listed: Vec<_> = api::exports().map(|export| export.name).collect();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed);
    let _loaded = Stub::fresh("");
    // SAFETY: The stub is loaded already, and has this name inside.
    let again = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    // SAFETY: Only looked up.
    let reset = unsafe { again.get::<*const ()>(b"kernpack_cuda_stub_reset") };
    assert!(reset.is_ok());
}

/// Not a test of its own: what `the_variable_names_a_configuration` runs in a process that has the
/// variable.
#[test]
fn in_a_process_with_the_variable() {
    let Ok(expected) = std::env::var("KERNPACK_CUDA_STUB_EXPECTED") else { return };
    // SAFETY: Loading the stub runs nothing of its own.
    let library = unsafe { libloading::Library::new(path()) }.unwrap();
    // SAFETY: This is the function's type.
    let init = unsafe { library.get::<extern "C" fn(u32) -> Status>(b"cuInit") }.unwrap();
    assert_eq!(init(0).0.to_string(), expected);
}

#[test]
fn the_variable_names_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stub.txt");
    let run = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "control::in_a_process_with_the_variable", "--nocapture"]);
        command.env("KERNPACK_CUDA_STUB", &file).env("KERNPACK_CUDA_STUB_EXPECTED", "803");
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    std::fs::write(&file, "fail cuInit with 803\n").unwrap();
    let (is_good, output) = run();
    assert!(is_good && output.contains("1 passed"), "{output}");
    std::fs::write(&file, "fail cuInit with 804\n").unwrap();
    assert!(!run().0);
    std::fs::write(&file, "\nfail cuInit with no\n").unwrap();
    let (is_good, output) = run();
    assert!(!is_good && output.contains("line 2: cannot read `fail cuInit with no`"), "{output}");
}
