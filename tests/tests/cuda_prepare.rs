// SPDX-License-Identifier: Apache-2.0
//! Prepared calls and loading ahead, on a driver that needs no GPU: what they launch and load, what they hold, what they refuse.
#![expect(unsafe_code, reason = "loads generated code and calls it")]

use kernpack_compiler::{Options, compile, package_file};
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::{DType, FUNCTION_PREFIX, TypeIndex};
use kernpack_tests::cuda_stub::Stub;
use kernpack_tests::fake_ffi::{self, PackedFunction};
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::{Arrival, Tensor, Value};
use libloading::Library;
use serde_json::Value as Json;
use std::sync::LazyLock;

const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 n)
{
    ret;
}
.visible .entry idle()
{
    ret;
}
";

const PACKAGE: &str = r#"
[package]
name = "gpu"
[[function]]
signature = "scale(a: Tensor([n], float32), b: Tensor([n], float32, mut), twice: bool = False)"
workspace = { space = "Tensor([n], uint8)" }
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["a", "b", "n: int32"]
grid = ["ceildiv(n, 256)"]
block = [256]
[[function.launch]]
when = "twice == 1"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["b", "space", "n: int32"]
grid = [2]
block = [64]
[[function]]
signature = "nested(p: Tuple(int32, x: Tensor([n], float32)))"
source = { ptx = "k.ptx" }
kernel = "idle"
args = []
launch = { grid = [1], block = [32] }
[[function]]
signature = "made(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["x", "y", "n: int32"]
launch = { grid = [1], block = [32] }
"#;

fn load() -> Library {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
        let package = package_file::parse(PACKAGE, folder.path()).unwrap();
        compile(&package, &Options::default()).unwrap().shared_object().unwrap()
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gpu.so");
    std::fs::write(&path, &*BYTES).unwrap();
    assert!(fake_ffi::exports().iter().all(|address| *address != 0));
    fake_ffi::set_stream(0);
    // SAFETY: the module was just compiled; loading it runs nothing.
    unsafe { Library::new(&path) }.unwrap()
}

/// What a call leaves: its result, or the error.
fn outcome(status: i32, result: Any) -> Result<Any, String> {
    let record = fake_ffi::take_record();
    assert!(record.broken.is_empty(), "{:?}", record.broken);
    match (status, record.error) {
        (0, None) => Ok(result),
        (-1, Some((kind, message))) => Err(format!("{kind}: {message}")),
        other => panic!("{other:?}"),
    }
}

fn call(library: &Library, name: &str, values: &[Value], arrival: Arrival) -> Result<Any, String> {
    call_with(library, name, Arguments::new(values, arrival)).0
}

fn call_with(
    library: &Library,
    name: &str,
    arguments: Arguments,
) -> (Result<Any, String>, Arguments) {
    let symbol = format!("{FUNCTION_PREFIX}{name}");
    // SAFETY: the compiler gives every entry point this type.
    let entry = *unsafe { library.get::<PackedFunction>(symbol.as_bytes()) }.unwrap();
    let args = std::ptr::with_exposed_provenance(arguments.address() as usize);
    let mut result = Any::default();
    fake_ffi::take_record();
    // SAFETY: the arguments follow the ABI, and the result is an empty value.
    let status = unsafe { entry(std::ptr::null_mut(), args, arguments.count(), &mut result) };
    (outcome(status, result), arguments)
}

/// A prepared call. Its arguments stay, as they do where references to them count.
struct Prepared(Any, #[expect(dead_code)] Arguments);

fn prepare(library: &Library, name: &str, values: &[Value]) -> Prepared {
    let symbol = format!("kernpack_prepare_{name}");
    let (result, arguments) = call_with(library, &symbol, Arguments::new(values, Arrival::Tensor));
    Prepared(result.unwrap(), arguments)
}

impl Drop for Prepared {
    fn drop(&mut self) {
        fake_ffi::drop_result(&self.0);
    }
}

fn launch(Prepared(prepared, _): &Prepared) -> Result<Any, String> {
    outcome(fake_ffi::call_result(prepared, &[]), Any::default())
}

fn tensor(n: i64) -> Value {
    Value::Tensor(Tensor {
        arrival: None,
        data: 0x1000,
        device: (2, 0),
        dtype: DType::FLOAT32,
        shape: vec![n],
        strides: None,
        byte_offset: 0,
    })
}

fn calls(log: &[Json], name: &str) -> Vec<Json> {
    log.iter().filter(|line| line["call"] == name).cloned().collect()
}

#[test]
fn a_prepared_call_launches_what_the_call_would() {
    let stub = Stub::load("devices 1");
    let library = load();
    let values = [tensor(1000), tensor(1000), Value::Bool(1)];
    call(&library, "scale", &values, Arrival::Tensor).unwrap();
    let expected = launches(&stub);
    assert_eq!(expected.len(), 2);

    let prepared = prepare(&library, "scale", &values);
    assert_eq!(prepared.0.type_index, TypeIndex::FUNCTION.0);
    assert!(launches(&stub).is_empty(), "preparing launches nothing");
    for _ in 0..3 {
        launch(&prepared).unwrap();
        assert_eq!(launches(&stub), expected);
    }
    drop(prepared);
}

/// What was launched: kernels with their sizes and arguments.
fn launches(stub: &Stub) -> Vec<String> {
    let log = stub.take_log();
    calls(&log, "cuLaunchKernelEx").iter().map(|call| call["args"].to_string()).collect()
}

#[test]
fn what_was_given_is_held_until_the_function_goes() {
    let _stub = Stub::load("devices 1");
    let library = load();
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&library, "scale", &values);
    assert_eq!(fake_ffi::n_borrowed(), 2);
    drop(prepared);
    assert_eq!(fake_ffi::n_borrowed(), 0);

    let values = [Value::List(vec![Value::Int(3), tensor(8)])];
    let prepared = prepare(&library, "nested", &values);
    assert_eq!(fake_ffi::n_borrowed(), 2, "the list, and the tensor in it");
    launch(&prepared).unwrap();
    drop(prepared);
    assert_eq!(fake_ffi::n_borrowed(), 0);
}

#[test]
fn what_nobody_owns_cannot_be_prepared() {
    let _stub = Stub::load("devices 1");
    let library = load();
    let values = [tensor(8), tensor(8)];
    let error = call(&library, "kernpack_prepare_scale", &values, Arrival::DLTensor).unwrap_err();
    assert_eq!(
        error,
        "TypeError: Mismatched type on argument #0 when calling: `kernpack_prepare_scale`, expected a tensor that can be held, \
         got a DLTensor*, which belongs to the caller"
    );
    let values = [Value::List(vec![Value::Int(3), tensor(8)])];
    let error = call(&library, "kernpack_prepare_nested", &values, Arrival::DLTensor).unwrap_err();
    assert!(error.starts_with("TypeError: Mismatched type on argument #0"), "{error}");
    assert_eq!(fake_ffi::n_borrowed(), 0);
}

#[test]
fn a_call_that_is_refused_is_refused_when_it_is_prepared() {
    let stub = Stub::load("devices 1");
    let library = load();
    let values = [tensor(8), tensor(9)];
    let refused = call(&library, "scale", &values, Arrival::Tensor).unwrap_err();
    let error = call(&library, "kernpack_prepare_scale", &values, Arrival::Tensor).unwrap_err();
    assert_eq!(error, refused);
    assert!(error.starts_with("ValueError: Mismatched b.shape[0] on argument #1"), "{error}");
    assert_eq!(fake_ffi::n_borrowed(), 0);
    assert!(stub.take_log().is_empty(), "the driver is not asked");
}

#[test]
fn a_prepared_call_reports_what_the_driver_refuses_and_arguments() {
    let stub = Stub::load("devices 1");
    let library = load();
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&library, "scale", &values);
    stub.fail("cuLaunchKernelEx", 1, 1);
    let error = launch(&prepared).unwrap_err();
    assert!(error.starts_with("RuntimeError: CUDA Error: cudaErrorInvalidValue (1, "), "{error}");
    launch(&prepared).unwrap();
    let status = fake_ffi::call_result(&prepared.0, &[Any::default(); 2]);
    assert_eq!(
        outcome(status, Any::default()).unwrap_err(),
        "TypeError: Mismatched number of arguments when calling: a prepared function, expected 0 arguments, got 2"
    );
    drop(prepared);
}

#[test]
fn a_function_with_results_is_prepared_through_its_twin() {
    let stub = Stub::load("devices 1");
    let library = load();
    let symbol = |name: &str| {
        // SAFETY: nothing is called.
        unsafe { library.get::<PackedFunction>(format!("{FUNCTION_PREFIX}{name}").as_bytes()) }
    };
    assert!(symbol("kernpack_prepare_made").is_err());
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&library, "made_out", &values);
    launch(&prepared).unwrap();
    assert_eq!(launches(&stub).len(), 1);
    drop(prepared);
}

#[test]
fn loading_ahead_leaves_nothing_to_load() {
    let stub = Stub::load("devices 2");
    let library = load();
    for device in [1, 0] {
        let result = call(&library, "kernpack_preload_gpu", &[Value::Int(device)], Arrival::Tensor);
        assert_eq!(result.unwrap().type_index, TypeIndex::NONE.0);
    }
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 2, "once a device");
    assert_eq!(calls(&log, "cuKernelGetFunction").len(), 4, "each kernel, on each device");
    assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 4, "there and back");
    call(&library, "scale", &[tensor(8), tensor(8)], Arrival::Tensor).unwrap();
    assert!(calls(&stub.take_log(), "cuLibraryLoadData").is_empty());
}

#[test]
fn loading_ahead_says_what_is_wrong() {
    let stub = Stub::load("devices 2");
    let library = load();
    let preload = |device| call(&library, "kernpack_preload_gpu", &[device], Arrival::Tensor);
    for device in [2, -1, i64::MAX] {
        let error = preload(Value::Int(device)).unwrap_err();
        assert!(error.contains("cudaErrorInvalidDevice (101"), "{error}");
        assert!(error.contains(&format!("device {device}: there are 2 devices")), "{error}");
    }
    let error = preload(Value::Float(0.5)).unwrap_err();
    assert!(error.starts_with("TypeError: Mismatched type on argument #0"), "{error}");
    for (site, code) in [("cuLibraryLoadData", 2), ("cuKernelGetFunction", 2)] {
        stub.fail(site, 1, code);
        let error = preload(Value::Int(1)).unwrap_err();
        assert!(error.contains("cudaErrorMemoryAllocation (2, "), "{site}: {error}");
        preload(Value::Int(1)).unwrap();
    }
}
