// SPDX-License-Identifier: Apache-2.0
//! Prepared calls and loading ahead, on a driver that needs no GPU: what they launch and load, what
//! they hold, what they refuse.

use super::*;
use kernpack_ffi_abi::{DType, TypeIndex};
use kernpack_tests::cuda_host::Host;
use kernpack_tests::value::Carrier;

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
signature = "made(x: Tensor([*b], float32)) -> y: Tensor([*b], float32)"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["x", "y", "b.numel: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "chosen(x: Tensor([n], T), mode: String = \"a long default\", out: DataType = int8) where T in {float32}, out in {int8, int16}"
[[function.launch]]
when = "mode == \"a long default\""
source = { ptx = "k.ptx" }
kernel = "idle"
args = []
grid = [1]
block = [32]
[[function.launch]]
when = "mode in {\"once\", \"a text that is no small one\"} and out == int16"
source = { ptx = "k.ptx" }
kernel = "idle"
args = []
grid = [2]
block = [32]
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(PACKAGE, PTX));
    default_stream();
    BUILT.load()
}

fn tensor(n: i64) -> Value {
    super::tensor(n, 0)
}

/// Why a call is not prepared.
fn refusal(loaded: &Loaded, name: &str, values: &[Value], arrival: Arrival) -> String {
    let arguments = Arguments::new(values, arrival);
    let (status, _) = loaded.invoke(&format!("kernpack_prepare_{name}"), &arguments);
    outcome(status).0.unwrap_err()
}

/// What was launched: kernels with their sizes and arguments.
fn launches(stub: &Stub) -> Vec<String> {
    let log = stub.take_log();
    calls(&log, "cuLaunchKernelEx").iter().map(|call| call["launch"].to_string()).collect()
}

/// The texts may be gone by then.
#[test]
fn a_prepared_call_knows_what_texts_and_dtypes_said() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let text = |text: &str| Value::Str(Carrier::Any, text.as_bytes().to_vec());
    let dtype = Value::Inline(TypeIndex::DATA_TYPE.0, DType::INT16.packed().into());
    let cases = [
        (vec![tensor(4)], 1),
        (vec![tensor(4), text("once"), dtype], 2),
        (vec![tensor(4), text("a text that is no small one"), text("int16")], 2),
    ];
    for (values, grid) in cases {
        loaded.call("chosen", &values).unwrap();
        let expected = launches(&stub);
        let mut prepared = prepare(&loaded, "chosen", &values);
        prepared.1 = Arguments::new(&[], Arrival::Tensor);
        launch(&prepared).unwrap();
        assert_eq!(launches(&stub), expected);
        assert_eq!(expected.len(), 1);
        assert!(expected[0].contains(&format!("\"grid\":[{grid},1,1]")), "{expected:?}");
    }
    let values = [tensor(4), text("twice")];
    let refused = refusal(&loaded, "chosen", &values, Arrival::Tensor);
    assert!(refused.ends_with("got mode = \"twice\", out = int8"), "{refused}");
}

#[test]
fn a_prepared_call_launches_what_the_call_would() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let values = [tensor(1000), tensor(1000), Value::Bool(1)];
    loaded.call("scale", &values).unwrap();
    let expected = launches(&stub);
    assert_eq!(expected.len(), 2);

    let prepared = prepare(&loaded, "scale", &values);
    assert_eq!(prepared.0.type_index, TypeIndex::FUNCTION.0);
    assert!(launches(&stub).is_empty(), "preparing launches nothing");
    for _ in 0..3 {
        launch(&prepared).unwrap();
        assert_eq!(launches(&stub), expected);
    }
    drop(prepared);
}

#[test]
fn what_was_given_is_held_until_the_function_goes() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&loaded, "scale", &values);
    assert_eq!(fake_ffi::n_borrowed(), 2);
    drop(prepared);
    assert_eq!(fake_ffi::n_borrowed(), 0);

    let values = [Value::List(vec![Value::Int(3), tensor(8)])];
    let prepared = prepare(&loaded, "nested", &values);
    assert_eq!(fake_ffi::n_borrowed(), 2, "the list, and the tensor in it");
    launch(&prepared).unwrap();
    drop(prepared);
    assert_eq!(fake_ffi::n_borrowed(), 0);
}

#[test]
fn what_nobody_owns_cannot_be_prepared() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let values = [tensor(8), tensor(8)];
    let error = refusal(&loaded, "scale", &values, Arrival::DLTensor);
    assert_eq!(
        error,
        "TypeError: Mismatched type on argument #0 when calling: `kernpack_prepare_scale`, expected a tensor that can be held, \
         got a DLTensor*, which belongs to the caller"
    );
    let values = [Value::List(vec![Value::Int(3), tensor(8)])];
    let error = refusal(&loaded, "nested", &values, Arrival::DLTensor);
    assert!(error.starts_with("TypeError: Mismatched type on argument #0"), "{error}");
    assert_eq!(fake_ffi::n_borrowed(), 0);
}

#[test]
fn a_call_that_is_refused_is_refused_when_it_is_prepared() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let values = [tensor(8), tensor(9)];
    let refused = loaded.call("scale", &values).unwrap_err();
    let error = refusal(&loaded, "scale", &values, Arrival::Tensor);
    assert_eq!(error, refused);
    assert!(error.starts_with("ValueError: Mismatched b.shape[0] on argument #1"), "{error}");
    assert_eq!(fake_ffi::n_borrowed(), 0);
    assert!(stub.take_log().is_empty(), "the driver is not asked");
}

#[test]
fn a_prepared_call_reports_what_the_driver_refuses_and_arguments() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&loaded, "scale", &values);
    stub.fail("cuLaunchKernelEx", 1, 1);
    let error = launch(&prepared).unwrap_err();
    assert!(error.starts_with("RuntimeError: CUDA Error: cudaErrorInvalidValue (1, "), "{error}");
    launch(&prepared).unwrap();
    let status = fake_ffi::call_result(&prepared.0, &[Any::default(); 2]);
    assert_eq!(
        outcome(status).0.unwrap_err(),
        "TypeError: Mismatched number of arguments when calling: a prepared function, expected 0 arguments, got 2"
    );
    drop(prepared);
}

#[test]
fn a_function_with_results_is_prepared_through_its_twin() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    assert!(!loaded.has("kernpack_prepare_made"));
    let values = [tensor(8), tensor(8)];
    let prepared = prepare(&loaded, "made_out", &values);
    launch(&prepared).unwrap();
    assert_eq!(launches(&stub).len(), 1);
    drop(prepared);
}

#[test]
fn loading_ahead_leaves_nothing_to_load() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    for device in [1, 0] {
        loaded.call("kernpack_preload_gpu", &[Value::Int(device)]).unwrap();
    }
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 2, "once a device");
    assert_eq!(calls(&log, "cuKernelGetFunction").len(), 4, "each kernel, on each device");
    assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 4, "there and back");
    loaded.call("scale", &[tensor(8), tensor(8)]).unwrap();
    assert!(calls(&stub.take_log(), "cuLibraryLoadData").is_empty());
}

/// A context of the caller's own on the device stays current, and kernels are loaded for it; the
/// primary context is left alone.
#[test]
fn loading_ahead_in_a_context_of_ones_own_makes_no_functions() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    let host = Host::new();
    let primary = host.primary(0);
    let own = host.create(0);
    stub.take_log();
    loaded.call("kernpack_preload_gpu", &[Value::Int(0)]).unwrap();
    let log = stub.take_log();
    assert_eq!(calls(&log, "cuLibraryLoadData").len(), 1);
    assert_eq!(calls(&log, "cuCtxSetCurrent").len(), 0);
    assert_eq!(calls(&log, "cuKernelGetFunction").len(), 0);
    assert_eq!(host.current(), own);
    let launched_in = |context| {
        host.set_current(context);
        stub.take_log();
        loaded.call("scale", &[tensor(8), tensor(8)]).unwrap();
        let log = stub.take_log();
        assert!(calls(&log, "cuLibraryLoadData").is_empty());
        calls(&log, "cuKernelGetFunction").len()
    };
    assert_eq!(launched_in(own), 0);
    assert_eq!(launched_in(primary), 1, "made when it is first launched there");
}

#[test]
fn loading_ahead_says_what_is_wrong() {
    let stub = Stub::load("devices 2");
    let loaded = load();
    let preload = |device| loaded.call("kernpack_preload_gpu", &[device]);
    for device in [2, -1, i64::MAX] {
        let error = preload(Value::Int(device)).unwrap_err();
        assert!(error.contains("cudaErrorInvalidDevice (101"), "{error}");
        assert!(
            error.contains(&format!("device {device} when calling: `kernpack_preload_gpu(")),
            "{error}"
        );
    }
    let error = preload(Value::Float(0.5)).unwrap_err();
    assert!(error.starts_with("TypeError: Mismatched type on argument #0"), "{error}");
    for (device, site) in [(0, "cuLibraryLoadData"), (1, "cuKernelGetFunction")] {
        stub.fail(site, 1, 2);
        let error = preload(Value::Int(device)).unwrap_err();
        assert!(error.contains("cudaErrorMemoryAllocation (2, "), "{site}: {error}");
        preload(Value::Int(device)).unwrap();
    }
}
