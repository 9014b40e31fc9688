// SPDX-License-Identifier: Apache-2.0
//! Packages with GPU kernels, called on a driver that needs no GPU: which device and stream they choose, what they load, what they say.
#![expect(unsafe_code, reason = "loads generated code and calls it")]

use kernpack_compiler::{Options, compile, package_file};
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::{DType, FUNCTION_PREFIX};
use kernpack_tests::cuda_stub::Stub;
use kernpack_tests::fake_ffi;
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::{Arrival, Tensor, Value};
use libloading::Library;
use serde_json::Value as Json;
use std::ffi::c_void;
use std::sync::LazyLock;

const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 by)
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
name = "gpu"
[[function]]
signature = "scale(a: Tensor([n], float32), b: Tensor([n], float32, mut), by: float32, s: Optional[int32] = None)"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["a", "b", "n: int32", "by"]
launch = { grid = ["ceildiv(n, 256)"], block = [256], smem = "4*n" }
[[function]]
signature = "nested(p: Tuple(int32, x: Tensor([n], float32)))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "given(x: Tensor([n], float32), s: Stream)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32], attr = { stream = "s", priority = -1, cluster = [1] } }
[[function]]
signature = "bare(n: int32, threads: int32)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = ["n"], block = ["threads"] }
[[function]]
signature = "chosen(x: Tensor([n], float32))"
[[function.launch]]
when = "n > 4"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = [32]
[[function.launch]]
when = "n > 8"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [2]
block = [32]
[[function.launch]]
when = "n == 0"
source = { host = "h.c" }
kernel = "idle"
args = []
"#;

type EntryPoint = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32;

/// A loaded package of its own.
struct Loaded(Library);

impl Loaded {
    fn new() -> Loaded {
        static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
            std::fs::write(folder.path().join("h.c"), "void idle(void) {}").unwrap();
            let package = package_file::parse(PACKAGE, folder.path()).unwrap();
            compile(&package, &Options::default()).unwrap().shared_object().unwrap()
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.so");
        std::fs::write(&path, &*BYTES).unwrap();
        assert!(fake_ffi::exports().iter().all(|address| *address != 0));
        // SAFETY: the module was just compiled; loading it runs nothing.
        Loaded(unsafe { Library::new(&path) }.unwrap())
    }

    fn call(&self, name: &str, values: &[Value]) -> Result<(), String> {
        let arguments = Arguments::new(values, Arrival::DLTensor);
        let symbol = format!("{FUNCTION_PREFIX}{name}");
        // SAFETY: the compiler gives every entry point this type.
        let entry = *unsafe { self.0.get::<EntryPoint>(symbol.as_bytes()) }.unwrap();
        let args = std::ptr::with_exposed_provenance(arguments.address() as usize);
        let mut result = Any::default();
        fake_ffi::take_record();
        // SAFETY: the arguments follow the ABI, and the result is an empty value.
        let status = unsafe { entry(std::ptr::null_mut(), args, arguments.count(), &mut result) };
        match (status, fake_ffi::take_record().error) {
            (0, None) => Ok(()),
            (-1, Some((kind, message))) => Err(format!("{kind}: {message}")),
            other => panic!("{other:?}"),
        }
    }
}

fn tensor(n: i64, device: i32) -> Value {
    Value::Tensor(Tensor {
        arrival: None,
        data: 0x1000,
        device: (2, device),
        dtype: DType::FLOAT32,
        shape: vec![n],
        strides: None,
        byte_offset: 0,
    })
}

fn scale(loaded: &Loaded, n: i64, device: i32) -> Result<(), String> {
    loaded.call("scale", &[tensor(n, device), tensor(n, device), Value::Float(2.5)])
}

fn calls(log: &[Json], name: &str) -> Vec<Json> {
    log.iter().filter(|line| line["call"] == name).cloned().collect()
}

fn default_stream() {
    fake_ffi::set_stream(0);
}

#[test]
fn a_launch_is_what_the_package_says() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = Loaded::new();
    scale(&loaded, 1000, 0).unwrap();
    let log = stub.take_log();
    let launches = calls(&log, "cuLaunchKernelEx");
    assert_eq!(launches.len(), 1);
    let text = launches[0].to_string();
    for part in ["\"scale\"", "4,1,1", "256,1,1", "4000"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 1);
    scale(&loaded, 1, 0).unwrap();
    assert_eq!(calls(&stub.take_log(), "cuLibraryLoadData").len(), 0, "loaded once");
}

#[test]
fn each_device_gets_its_image_and_its_context() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = Loaded::new();
    scale(&loaded, 8, 1).unwrap();
    loaded.call("nested", &[Value::List(vec![Value::Int(3), tensor(8, 1)])]).unwrap();
    scale(&loaded, 8, 0).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 2, "once a device");
    let devices: Vec<_> =
        calls(&log, "cuLaunchKernelEx").iter().map(|call| call["device"].to_string()).collect();
    assert_eq!(devices, ["1", "1", "0"]);
    assert_eq!(stub.counts()["libraries"], 2);
    drop(loaded);
    assert_eq!(stub.counts()["libraries"], 0, "{}", stub.counts());
}

#[test]
fn the_callers_context_comes_back() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = Loaded::new();
    let current = |log: &[Json]| calls(log, "cuCtxSetCurrent").last().cloned().unwrap();
    scale(&loaded, 8, 1).unwrap();
    let restored = current(&stub.take_log());
    stub.fail("cuLaunchKernelEx", 1, 700);
    let error = scale(&loaded, 8, 1).unwrap_err();
    assert!(error.contains("cudaErrorIllegalAddress (700, CUDA_ERROR_ILLEGAL_ADDRESS)"), "{error}");
    assert_eq!(current(&stub.take_log())["args"], restored["args"]);
    stub.fail("cuCtxSetCurrent", 2, 201);
    stub.fail("cuLaunchKernelEx", 1, 719);
    let error = scale(&loaded, 8, 1).unwrap_err();
    assert!(error.contains("cudaErrorLaunchFailure (719"), "the first error is the one: {error}");
    scale(&loaded, 8, 1).unwrap();
}

#[test]
fn a_grid_without_blocks_is_no_launch() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = Loaded::new();
    scale(&loaded, 0, 0).unwrap();
    assert!(calls(&stub.take_log(), "cuLaunchKernelEx").is_empty());
    loaded.call("chosen", &[tensor(0, 0)]).unwrap();
    assert!(stub.take_log().is_empty(), "where nothing launches, the driver is not asked");
    loaded.call("chosen", &[tensor(9, 0)]).unwrap();
    assert_eq!(calls(&stub.take_log(), "cuLaunchKernelEx").len(), 2);
}

#[test]
fn a_stream_that_is_given_wins_and_needs_no_context() {
    fake_ffi::set_stream(0xdead);
    let stub = Stub::load("devices 1");
    let loaded = Loaded::new();
    let error = loaded.call("given", &[tensor(4, 0), Value::Ptr(0xbeef)]).unwrap_err();
    assert!(error.starts_with("RuntimeError: CUDA Error: "), "{error}");
    assert!(calls(&stub.take_log(), "cuCtxSetCurrent").is_empty());
    loaded.call("given", &[tensor(4, 0), Value::None]).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 2, "there and back");
}

#[test]
fn without_a_tensor_the_current_context_decides() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = Loaded::new();
    let error = loaded.call("bare", &[Value::Int(4), Value::Int(32)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) asking for the current device: \
         no tensor tells the device, and no CUDA context is current"
    );
    drop(stub);
}

#[test]
fn a_refused_launch_says_which_limit_it_exceeds() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = Loaded::new();
    let error = scale(&loaded, 1 << 17, 0).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `scale` on device 0: \
         524288 bytes of dynamic and 0 bytes of static shared memory exceed the device's 232448 bytes"
    );
    scale(&loaded, 50_000, 0).expect("more than 48 KiB is allowed");
}

#[test]
fn a_number_out_of_range_is_refused_before_the_driver_sees_it() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = Loaded::new();
    let error = loaded.call("bare", &[Value::Int(-1), Value::Int(32)]).unwrap_err();
    assert_eq!(
        error,
        "ValueError: Out of bound launch grid[0] `n` when calling: `bare(n: int32, threads: int32)`, \
         expected to be in range [0, 2147483647], got -1"
    );
}

#[test]
fn every_code_of_the_driver_is_named_at_every_call() {
    default_stream();
    let stub = Stub::load("devices 1");
    let sites = [
        "cuInit",
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuLibraryLoadData",
        "cuLibraryGetKernel",
        "cuLaunchKernelEx",
    ];
    for code in [
        1, 2, 3, 4, 100, 101, 200, 201, 209, 218, 222, 400, 500, 600, 700, 701, 702, 719, 720, 800,
        801, 803, 900, 999,
    ] {
        for site in sites {
            stub.reset("devices 1");
            let loaded = Loaded::new();
            stub.fail(site, 1, code);
            let error = scale(&loaded, 8, 0).unwrap_err();
            assert!(
                error.starts_with("RuntimeError: CUDA Error: cudaError"),
                "{site} {code}: {error}"
            );
            assert!(error.contains(&format!("({code}")), "{site} {code}: {error}");
            scale(&loaded, 8, 0)
                .unwrap_or_else(|error| panic!("then a good call, {site} {code}: {error}"));
            drop(loaded);
            assert_eq!(stub.counts()["libraries"], 0, "{site} {code}");
        }
    }
}

#[test]
fn many_threads_load_once_and_all_hear_of_a_failure() {
    let stub = Stub::load("devices 1\ndelay cuLibraryLoadData 50");
    let loaded = Loaded::new();
    let all = || {
        let calls = std::thread::scope(|scope| {
            let call = || {
                default_stream();
                scale(&loaded, 8, 0)
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(call)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        (calls, self::calls(&stub.take_log(), "cuLibraryLoadData").len())
    };
    stub.fail("cuLibraryLoadData", 1, 2);
    let (outcomes, n_loads) = all();
    let n_failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert!(n_failed >= 1, "the failure is told");
    assert!(n_loads <= 2, "one fails, and at most one that came later loads: {n_loads}");
    let (outcomes, n_loads_later) = all();
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(n_loads + n_loads_later, 2, "loaded once after the failure");
}
