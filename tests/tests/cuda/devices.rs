// SPDX-License-Identifier: Apache-2.0
//! Which device, context and stream a call chooses, and that the caller finds everything as it was.

use super::*;
use kernpack_ffi_abi::DeviceType;
use kernpack_tests::cuda_host::{Context, Host};
use kernpack_tests::gpu_package::tensor_on;

const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 x, .param .u64 y, .param .u64 ws)
{
    ret;
}
.visible .entry count(.param .u32 n)
{
    ret;
}
";

const PACKAGE: &str = r#"
[package]
name = "devices"
submit = "plain"
[[function]]
signature = "made(x: Tensor([*b], float32)) -> y: Tensor([*b], float32)"
workspace = { ws = "Tensor([4*b.numel], uint8)" }
source = { ptx = "k.ptx" }
kernel = "fill"
args = ["x", "y", "ws"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "wide(x: Tensor([n], float32)) -> y: Tensor([n], float32, align=64)"
workspace = { ws = "Tensor([n], uint8)" }
source = { ptx = "k.ptx" }
kernel = "fill"
args = ["x", "y", "ws"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "nested(p: Tuple(int32, q: Tuple(h: Tensor([n], float32, device=cpu), x: Tensor([n], float32))))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "two(a: Tensor([n], float32), p: Tuple(b: Tensor([n], float32)), c: Tensor([n], float32, device={cpu, cuda}, peer))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "managed(x: Tensor([n], float32, device={cpu, cuda_host, cuda_managed}), y: Tensor([n], float32, device={cpu, cuda_managed}))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "given(x: Tensor([n], float32), s: Stream)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32], attr = { stream = "s" } }
[[function]]
signature = "bare(n: int32)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "both(x: Tensor([n], float32), s: Stream)"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
[[function.launch]]
when = "n > 1"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
attr = { stream = "s" }
[[function]]
signature = "sometimes(x: Tensor([n], float32))"
[[function.launch]]
when = "n > 4"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
[[function.launch]]
when = "n <= 4"
source = { host = "h.c" }
kernel = "idle"
args = []
[[function]]
signature = "hosted(a: Tensor([n], float32, device={cpu, cuda}), b: Tensor([n], float32, device={cpu, cuda})) -> y: Tensor([n], float32)"
source = { host = "h.c" }
kernel = "write"
args = ["y"]
"#;

const C: &str = "void idle(void) {}\nvoid write(float *y) {}\n";

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| {
        GpuPackage::build(PACKAGE, &[("k.ptx", PTX.as_bytes()), ("h.c", C.as_bytes())])
    });
    BUILT.load()
}

/// The device of each launch.
fn launched(log: &[Json]) -> Vec<i64> {
    let launches = calls(log, "cuLaunchKernelEx");
    launches.iter().filter_map(|line| line["launch"]["device"].as_i64()).collect()
}

/// What a caller may have current, when its tensors are on device 1: what, the context, and whether
/// that is device 1's.
fn callers(host: &Host) -> Vec<(&'static str, Context, bool)> {
    let (own, theirs) = (host.create(0), host.create(1));
    let primaries = [host.primary(0), host.primary(1)];
    while host.current() != 0 {
        host.set_current(0);
    }
    vec![
        ("none", 0, false),
        ("another device's primary context", primaries[0], false),
        ("a context of its own on another device", own, false),
        ("the device's primary context", primaries[1], true),
        ("a context of its own on the device", theirs, true),
    ]
}

#[test]
fn tensors_inside_tuples_decide_the_device_and_its_stream() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let inner = Value::List(vec![tensor_on(DeviceType::CPU, 4, 0), tensor(4, 1)]);
    let nested = Value::List(vec![Value::Int(3), inner]);
    let (outcome, record) = loaded.call_recorded("nested", &[nested]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(record.streams_asked, [(2, 1)]);
    assert_eq!(launched(&stub.take_log()), [1]);
}

/// Whatever fails on the way: nothing, a check of the driver's that may fail, or what the call
/// needs.
#[test]
fn the_caller_finds_its_context_again() {
    default_stream();
    let stub = Stub::load("devices 2");
    let host = Host::new();
    let always =
        ["", "cuLibraryLoadData", "cuLibraryGetKernel", "cuLaunchKernelEx", "cuCtxGetDevice"];
    let switching = ["cuDevicePrimaryCtxRetain", "cuCtxGetCurrent", "cuCtxSetCurrent"];
    for (what, context, is_the_devices) in callers(&host) {
        let switching = if is_the_devices { &[][..] } else { &switching };
        for site in always.iter().chain(switching) {
            let loaded = load();
            host.set_current(context);
            if !site.is_empty() {
                stub.fail(site, 1, 719);
            }
            stub.take_log();
            let outcome = loaded.call("made", &[tensor(4, 1)]);
            let log = stub.take_log();
            assert_eq!(host.current(), context, "{what}, {site}");
            let is_accepted = ["", "cuCtxGetDevice"].contains(site);
            assert_eq!(outcome.is_ok(), is_accepted, "{what}, {site}: {outcome:?}");
            let is_known = is_the_devices && *site != "cuCtxGetDevice";
            if is_known {
                assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 0, "{what} will do");
            }
        }
    }
}

#[test]
fn a_refused_argument_reaches_no_driver() {
    default_stream();
    let stub = Stub::load("devices 2");
    let error = load().call("two", &[tensor(4, 1), Value::List(vec![tensor(5, 1)]), tensor(4, 1)]);
    assert!(error.unwrap_err().starts_with("ValueError: Mismatched p.b.shape[0] on argument #1"));
    assert!(stub.take_log().is_empty());
}

#[test]
fn a_context_that_cannot_be_put_back_hides_nothing() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    let own = host.create(0);
    for launch in [719, 0] {
        host.set_current(own);
        stub.fail("cuCtxSetCurrent", 2, 201);
        stub.fail("cuLaunchKernelEx", 1, launch);
        let outcome = loaded.call("made", &[tensor(4, 1)]);
        match launch {
            0 => assert_eq!(outcome, Ok(())),
            _ => {
                let error = outcome.unwrap_err();
                assert!(error.contains("cudaErrorLaunchFailure (719"), "{error}");
            }
        }
    }
}

#[test]
fn two_devices_in_one_call_are_refused_and_a_peer_is_not() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let call = |a, b, c| {
        loaded.call("two", &[tensor(4, a), Value::List(vec![tensor(4, b)]), tensor(4, c)])
    };
    let error = call(1, 0, 1).unwrap_err();
    let start = "ValueError: Mismatched device index on p.b in argument #1 when calling: `two(";
    assert!(error.starts_with(start), "{error}");
    let end = "expected to match a.device.index, got 0 (a.device.index is 1)";
    assert!(error.ends_with(end), "{error}");
    assert!(stub.take_log().is_empty());
    assert_eq!(call(1, 1, 0), Ok(()));
    assert_eq!(call(0, 0, 1), Ok(()));
    assert_eq!(launched(&stub.take_log()), [1, 0], "a peer decides nothing");
}

#[test]
fn managed_memory_decides_and_host_memory_does_not() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let on = |device_type, device| tensor_on(device_type, 4, device);
    let host = Host::new();
    host.set_current(host.primary(0));
    stub.take_log();
    let managed = on(DeviceType::CUDA_MANAGED, 1);
    loaded.call("managed", &[on(DeviceType::CUDA_HOST, 0), managed.clone()]).unwrap();
    loaded.call("managed", &[managed, on(DeviceType::CPU, 0)]).unwrap();
    // Nothing tells: the current context does.
    loaded.call("managed", &[on(DeviceType::CPU, 0), on(DeviceType::CPU, 0)]).unwrap();
    host.set_current(host.primary(1));
    loaded.call("managed", &[on(DeviceType::CUDA_MANAGED, 0), on(DeviceType::CPU, 0)]).unwrap();
    assert_eq!(launched(&stub.take_log()), [1, 1, 0, 0]);
}

/// A host function's results are where its tensors on a GPU are, and elsewhere on the CPU.
#[test]
fn results_are_allocated_on_the_calls_device() {
    default_stream();
    let _stub = Stub::load("devices 2");
    let loaded = load();
    let made_on = |name, tensors: &[Value]| {
        let (outcome, record) = loaded.call_recorded(name, tensors);
        assert_eq!(outcome, Ok(()), "{name}");
        record.allocated.into_iter().map(|it| it.device).collect::<Vec<_>>()
    };
    let (cpu, gpu) = (tensor_on(DeviceType::CPU, 4, 0), tensor(4, 1));
    assert_eq!(made_on("made", &[tensor(4, 1)]), [(2, 1); 2], "a result and a workspace");
    assert_eq!(made_on("hosted", &[cpu.clone(), cpu.clone()]), [(1, 0)]);
    assert_eq!(made_on("hosted", &[cpu.clone(), gpu.clone()]), [(2, 1)]);
    assert_eq!(made_on("hosted", &[gpu, cpu]), [(2, 1)]);
}

#[test]
fn the_environments_stream_is_asked_for_once_and_only_where_something_launches() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(1));
    let stream = host.stream();
    fake_ffi::set_stream(stream);
    let asked = |name, values: &[Value]| {
        let (outcome, record) = loaded.call_recorded(name, values);
        assert_eq!(outcome, Ok(()), "{name}");
        record.streams_asked
    };
    let given = Value::Ptr(stream as u64);
    assert_eq!(
        asked("both", &[tensor(4, 1), given.clone()]),
        [(2, 1)],
        "three launches, two on it"
    );
    assert_eq!(asked("given", &[tensor(4, 1), given]), []);
    assert_eq!(asked("sometimes", &[tensor(5, 1)]), [(2, 1)]);
    stub.take_log();
    assert_eq!(asked("sometimes", &[tensor(4, 1)]), []);
    assert!(stub.take_log().is_empty());
}

#[test]
fn a_stream_of_its_own_wins_and_needs_no_context() {
    let stub = Stub::load("devices 2");
    let host = Host::new();
    host.set_current(host.primary(1));
    let stream = host.stream();
    let other = host.primary(0);
    for current in [0, other] {
        host.set_current(current);
        fake_ffi::set_stream(0xdead);
        let loaded = load();
        stub.take_log();
        for name in ["given", "given"] {
            loaded.call(name, &[tensor(4, 1), Value::Ptr(stream as u64)]).unwrap();
        }
        fake_ffi::set_stream(stream);
        loaded.call("made", &[tensor(4, 1)]).unwrap();
        let log = stub.take_log();
        assert_eq!(launched(&log), [1, 1, 1]);
        assert!(calls(&log, "cuCtxSetCurrent").is_empty());
        assert_eq!(calls(&log, "cuDevicePrimaryCtxRetain").len(), 0);
        drop(loaded);
        assert_eq!(host.current(), current);
    }
}

/// A function of the primary context is tried first; a stream of another context costs one refusal,
/// and no more.
#[test]
fn a_stream_of_its_own_may_be_of_any_context() {
    let stub = Stub::load("devices 2");
    let host = Host::new();
    let own = host.create(1);
    let of_own = host.stream();
    host.set_current(host.primary(1));
    let of_primary = host.stream();
    let loaded = load();
    let launched_as = |stream: usize| {
        stub.take_log();
        loaded.call("given", &[tensor(4, 1), Value::Ptr(stream as u64)]).unwrap();
        let launches = calls(&stub.take_log(), "cuLaunchKernelEx");
        let kind = |line: &Json| line["args"]["function"].as_str().unwrap()[..6].to_string();
        launches.iter().map(|line| (kind(line), line["result"].to_string())).collect::<Vec<_>>()
    };
    let done = |kind: &str| (kind.to_string(), "\"CUDA_SUCCESS\"".to_string());
    assert_eq!(launched_as(of_primary), [done("functi")]);
    let refused = ("functi".to_string(), "\"CUDA_ERROR_INVALID_HANDLE\"".to_string());
    assert_eq!(launched_as(of_own), [refused, done("kernel")]);
    assert_eq!(launched_as(of_own), [done("kernel")]);
    assert_eq!(launched_as(of_primary), [done("kernel")]);
    assert_ne!(host.current(), own);
}

/// Each kernel of a module is looked for when it is first launched, whichever of them the module
/// was loaded for; and once, where its function cannot be had, because another context is current.
#[test]
fn a_stream_of_its_own_gets_the_function_of_each_kernel() {
    let stub = Stub::load("devices 2");
    let host = Host::new();
    let primary = host.primary(1);
    host.set_current(primary);
    let stream = host.stream();
    let (of_another_device, own) = (host.primary(0), host.create(1));
    while host.current() != 0 {
        host.set_current(0);
    }
    for (current, kind) in
        [(primary, "function"), (0, "kernel"), (of_another_device, "kernel"), (own, "kernel")]
    {
        host.set_current(current);
        let loaded = load();
        fake_ffi::set_stream(stream);
        stub.take_log();
        loaded.call("made", &[tensor(4, 1)]).unwrap();
        let given = || loaded.call("given", &[tensor(4, 1), Value::Ptr(stream as u64)]).unwrap();
        given();
        let log = stub.take_log();
        assert_eq!(calls(&log, "cuLaunchKernelEx").len(), 2, "none is refused");
        assert_eq!(calls(&log, "cuKernelGetFunction").len(), if kind == "kernel" { 0 } else { 2 });
        given();
        let log = stub.take_log();
        assert_eq!(log.len(), 1, "the launch and nothing else: {log:?}");
        let launched = log[0]["args"]["function"].as_str().unwrap();
        assert!(launched.starts_with(kind), "{launched}");
    }
}

#[test]
fn streams_0_1_and_2_are_those_of_the_current_context() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    let own = host.create(0);
    for stream in 0..3 {
        stub.take_log();
        fake_ffi::set_stream(stream as usize);
        loaded.call("made", &[tensor(4, 1)]).unwrap();
        loaded.call("given", &[tensor(4, 1), Value::Ptr(stream)]).unwrap();
        let log = stub.take_log();
        assert_eq!(launched(&log), [1, 1]);
        assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 4, "there and back");
        assert_eq!(host.current(), own);
    }
}

/// Launches on several streams need the context where one of these is the current context's.
#[test]
fn launches_on_several_streams_have_what_each_needs() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(1));
    let stream = host.stream();
    let own = host.create(0);
    for (environments, given) in [(stream, 0), (0, stream), (0, 2), (stream, stream)] {
        stub.take_log();
        fake_ffi::set_stream(environments);
        loaded.call("both", &[tensor(4, 1), Value::Ptr(given as u64)]).unwrap();
        assert_eq!(launched(&stub.take_log()), [1, 1, 1], "{environments} {given}");
        assert_eq!(host.current(), own);
    }
}

#[test]
fn without_a_tensor_the_current_context_decides() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    let error = loaded.call("bare", &[Value::Int(4)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) asking for the current device \
         when calling: `bare(n: int32)`: no tensor tells the device, and no CUDA context is current"
    );
    let own = host.create(1);
    stub.take_log();
    let (outcome, record) = loaded.call_recorded("bare", &[Value::Int(4)]);
    assert_eq!(outcome, Ok(()));
    assert_eq!(record.streams_asked, [(2, 1)]);
    let log = stub.take_log();
    assert_eq!(launched(&log), [1]);
    assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 0, "in the caller's own context");
    assert_eq!(host.current(), own);
}

#[test]
fn devices_that_there_are_not_are_told() {
    let _stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let stream = host.stream();
    for device in [2, 63, 64, 65, i32::MAX] {
        default_stream();
        let error = loaded.call("made", &[tensor(4, device)]).unwrap_err();
        assert_eq!(
            error,
            format!(
                "RuntimeError: CUDA Error: cudaErrorInvalidDevice (101, CUDA_ERROR_INVALID_DEVICE) using device {device} \
                 when calling: `made(x: Tensor([*b], float32)) -> y: Tensor([*b], float32)`: there are 2 devices, numbered from 0"
            )
        );
        fake_ffi::set_stream(stream);
        let error = loaded.call("made", &[tensor(4, device)]).unwrap_err();
        let start =
            "RuntimeError: CUDA Error: cudaErrorInvalidDevice (101, CUDA_ERROR_INVALID_DEVICE) ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains(&format!(" device {device}")), "{error}");
    }
}

/// What is launched where: in the device's primary context it is a function of that, elsewhere a
/// kernel of any.
#[test]
fn a_function_is_launched_in_the_primary_context_and_a_kernel_elsewhere() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    let host = Host::new();
    let own = host.create(0);
    scale(&loaded, 8, 0).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuDevicePrimaryCtxGetState").len(), 1, "nobody has made a primary one");
    assert!(calls(&log, "cuDevicePrimaryCtxRetain").is_empty());
    assert!(calls(&log, "cuKernelGetFunction").is_empty());

    for site in ["cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain", "cuKernelGetFunction"] {
        host.set_current(host.primary(0));
        stub.take_log();
        stub.fail(site, 1, 999);
        scale(&loaded, 8, 0).unwrap();
        let log = stub.take_log();
        assert_eq!(calls(&log, site).len(), 1, "{site}");
        assert_eq!(calls(&log, "cuLaunchKernelEx").len(), 1, "{site}");
    }
    scale(&loaded, 8, 0).unwrap();
    assert_eq!(calls(&stub.take_log(), "cuKernelGetFunction").len(), 1);
    scale(&loaded, 8, 0).unwrap();
    let log: Vec<_> = stub.take_log().iter().map(|line| line["call"].to_string()).collect();
    assert_eq!(log, ["\"cuCtxGetCurrent\"", "\"cuLaunchKernelEx\""], "all that is left");

    host.set_current(own);
    scale(&loaded, 8, 0).unwrap();
    assert_eq!(host.current(), own);
    let launch = calls(&stub.take_log(), "cuLaunchKernelEx");
    assert_eq!(launch[0]["launch"]["context"], "context1", "the caller's own");
}

/// Packages know of 64: another is refused before anything is looked up for it.
#[test]
fn devices_are_numbered_below_64() {
    default_stream();
    let stub = Stub::load("devices 65");
    let loaded = load();
    assert_eq!(loaded.call("made", &[tensor(4, 63)]), Ok(()));
    stub.take_log();
    let error = loaded.call("made", &[tensor(4, 64)]).unwrap_err();
    assert!(error.contains("(101, CUDA_ERROR_INVALID_DEVICE) using device 64"), "{error}");
    assert_eq!(calls(&stub.take_log(), "cuDevicePrimaryCtxRetain").len(), 0);
}

/// What is left of a function after `cuDevicePrimaryCtxReset`: the context is the same, its handle
/// means nothing, and that of the kernel is good.
#[test]
fn a_function_is_looked_for_anew_after_a_reset() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let launched_of = |log: &[Json]| -> Vec<String> {
        let launches = calls(log, "cuLaunchKernelEx");
        launches.iter().map(|line| line["args"]["function"].to_string()).collect()
    };
    loaded.call("bare", &[Value::Int(4)]).unwrap();
    let first = launched_of(&stub.take_log());
    assert!(first[0].contains("function"), "{first:?}");
    stub.fail("cuLaunchKernelEx", 1, 400);
    loaded.call("bare", &[Value::Int(4)]).unwrap();
    let healed = launched_of(&stub.take_log());
    assert_eq!(healed[0], first[0]);
    assert!(healed[1].contains("kernel"), "{healed:?}");
    loaded.call("bare", &[Value::Int(4)]).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuKernelGetFunction").len(), 1);
    assert!(launched_of(&log)[0].contains("function"));
    // A kernel that is refused, too, is an error.
    stub.fail("cuLaunchKernelEx", 0, 400);
    let error = loaded.call("bare", &[Value::Int(4)]).unwrap_err();
    assert!(error.contains("cudaErrorInvalidResourceHandle"), "{error}");
    assert_eq!(launched_of(&stub.take_log()).len(), 2);
}

/// What was allocated before is freed, and the environment's own words and kind stay, all of them.
#[test]
fn memory_that_the_environment_refuses_is_told_with_the_call() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let calling = "when calling: `made(x: Tensor([*b], float32)) -> y: Tensor([*b], float32)`";
    for (number, what) in [(0, "result `y`"), (1, "workspace `ws`")] {
        fake_ffi::refuse_allocations_after(number);
        let error = loaded.call("made", &[tensor(4, 0)]).unwrap_err();
        let (kind, message) = fake_ffi::no_room();
        assert_eq!(error, format!("{kind}: Cannot allocate the {what} {calling}: {message}"));
    }
    fake_ffi::refuse_allocations_after(usize::MAX);
    loaded.call("made", &[tensor(4, 0)]).unwrap();
}

/// Kernels may be compiled for where the signature says that results are.
#[test]
fn a_result_is_where_its_signature_says() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let calling = "when calling: `wide(x: Tensor([n], float32)) -> y: Tensor([n], float32)`";
    for (address, is_fine) in [(0x7000_0000, true), (0x7000_0010, false), (0x7000_0040, true)] {
        fake_ffi::allocate_at(address);
        let outcome = loaded.call("wide", &[tensor(4, 0)]);
        let message = "the allocator's memory is no multiple of 64 bytes";
        let error = format!("RuntimeError: Cannot allocate the result `y` {calling}: {message}");
        assert_eq!(outcome.map(|_| ()), if is_fine { Ok(()) } else { Err(error) });
        loaded.call("wide", &[tensor(0, 0)]).unwrap();
    }
}
