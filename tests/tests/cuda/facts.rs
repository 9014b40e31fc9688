// SPDX-License-Identifier: Apache-2.0
//! What launches ask of the device, `device.sm_count` and the like: for the right one, once, and with an error where it does not tell.

use super::*;

const FUNCTION: &str = r#"
[package]
name = "facts"
[[function]]
signature = "f(n: int64, x: Optional[Tensor([m], float32)] = None)"
[[function.launch]]
when = "device.cc >= 90"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["device.cc: int32"]
grid = ["min(n, 4*device.sm_count)"]
block = [32]
smem = "device.smem_optin - 1024"
[[function.launch]]
when = "device.cc < 90"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
grid = [1]
block = ["device.cc"]
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> =
        LazyLock::new(|| GpuPackage::build(FUNCTION, &[("k.ptx", PTX.as_bytes())]));
    default_stream();
    BUILT.load()
}

/// Grid, block, shared memory and the bytes of the first argument of each launch.
fn launches(stub: &Stub) -> Vec<String> {
    let log = stub.take_log();
    calls(&log, "cuLaunchKernelEx").iter().map(|call| call["launch"].to_string()).collect()
}

const TWO: &str = "devices 2\ndevice 1 compute 8.6\ndevice 1 attribute 16 84";

#[test]
fn the_facts_are_those_of_the_calls_device() {
    let stub = Stub::load(TWO);
    let loaded = load();
    for (n, device, parts) in [
        (1000, 0, ["\"grid\":[528,1,1]", "\"block\":[32,1,1]", "\"shared\":231424"]),
        (7, 0, ["\"grid\":[7,1,1]", "\"block\":[32,1,1]", "\"shared\":231424"]),
        (7, 1, ["\"grid\":[1,1,1]", "\"block\":[86,1,1]", "\"shared\":0"]),
    ] {
        loaded.call("f", &[Value::Int(n), tensor(4, device)]).unwrap();
        let launched = launches(&stub);
        assert_eq!(launched.len(), 1);
        for part in parts {
            assert!(launched[0].contains(part), "{part} in {}", launched[0]);
        }
    }
}

#[test]
fn a_device_is_asked_once() {
    let stub = Stub::load(TWO);
    let loaded = load();
    let asked = |stub: &Stub| calls(&stub.take_log(), "cuDeviceGetAttribute").len();
    loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap();
    assert!(asked(&stub) > 0);
    loaded.call("f", &[Value::Int(2), tensor(4, 0)]).unwrap();
    assert_eq!(asked(&stub), 0);
}

#[test]
fn without_a_tensor_the_current_device_is_asked() {
    let stub = Stub::load(TWO);
    let loaded = load();
    let error = loaded.call("f", &[Value::Int(1)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) asking for the current device: \
         no tensor tells the device, and no CUDA context is current"
    );
    let host = kernpack_tests::cuda_host::Host::new();
    host.set_current(host.primary(1));
    loaded.call("f", &[Value::Int(1)]).unwrap();
    assert!(launches(&stub)[0].contains("\"block\":[86,1,1]"));
}

#[test]
fn a_check_that_a_fact_fails_prints_it() {
    let stub = Stub::load("devices 1\ndevice 0 attribute 97 512");
    let loaded = load();
    let error = loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap_err();
    assert_eq!(
        error,
        "ValueError: Out of bound launch smem `device.smem_optin - 1024` when calling: \
         `f(n: int64, x: Optional[Tensor([m], float32)])`, expected to be in range [0, 2147483647], got -512"
    );
    drop(stub);
}

#[test]
fn a_device_that_does_not_tell_is_an_error_and_asked_again() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    for nth in 1..=4 {
        stub.fail("cuDeviceGetAttribute", nth, 3);
        let error = loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap_err();
        assert!(error.contains("cudaErrorInitializationError (3, "), "{error}");
        assert!(error.contains(" using device 0"), "{error}");
    }
    loaded.call("f", &[Value::Int(1), tensor(4, 0)]).unwrap();
    let error = loaded.call("f", &[Value::Int(1), tensor(4, 70)]).unwrap_err();
    assert!(error.contains("using device 70: there are 1 devices"), "{error}");
}
