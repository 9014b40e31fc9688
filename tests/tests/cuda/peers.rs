// SPDX-License-Identifier: Apache-2.0
//! Tensors of other devices: a call sees to it that its kernels reach their memory, once for two
//! devices and both ways, and says so where they cannot.

use super::*;
use kernpack_ffi_abi::DeviceType;
use kernpack_tests::cuda_host::Host;
use kernpack_tests::gpu_package::tensor_on;

const PACKAGE: &str = r#"
[package]
name = "peers"
submit = "plain"
[[function]]
signature = "reach(x: Tensor([n], float32), y: Tensor([n], float32, device={cpu, cuda, cuda_managed}, peer), z: Optional[Tensor([m], float32, peer)] = None)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> =
        LazyLock::new(|| GpuPackage::build(PACKAGE, &[("k.ptx", PTX.as_bytes())]));
    BUILT.load()
}

/// How often it was asked that memory be reached, and how many launches there were.
fn counted(stub: &Stub) -> [usize; 2] {
    let log = stub.take_log();
    ["cuCtxEnablePeerAccess", "cuLaunchKernelEx"].map(|function| calls(&log, function).len())
}

#[test]
fn the_memory_of_another_device_is_asked_for_once() {
    default_stream();
    let stub = Stub::load("devices 3");
    let (loaded, host) = (load(), Host::new());
    host.set_current(host.primary(2));
    let current = host.current();
    let call = |own, y| loaded.call("reach", &[tensor(4, own), y]);
    for (own, y, asked) in [
        (0, tensor(4, 0), 0),
        (0, tensor_on(DeviceType::CPU, 4, 0), 0),
        (0, tensor_on(DeviceType::CUDA_MANAGED, 4, 1), 0),
        (0, tensor(4, 1), 2),
        (0, tensor(4, 1), 0),
        (0, tensor(4, 2), 2),
        (1, tensor(4, 0), 0),
        (2, tensor(4, 0), 0),
        (2, tensor(4, 1), 2),
    ] {
        stub.take_log();
        assert_eq!(call(own, y.clone()), Ok(()));
        assert_eq!(counted(&stub), [asked, 1], "{own}, {y:?}");
        assert_eq!(host.current(), current, "the caller finds its context again");
    }
}

#[test]
fn a_peer_that_is_left_out_is_not_asked_for() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let call = |z| loaded.call("reach", &[tensor(4, 1), tensor(4, 1), z]);
    assert_eq!(call(Value::None), Ok(()));
    assert_eq!(counted(&stub), [0, 1]);
    assert_eq!(call(tensor(7, 0)), Ok(()));
    assert_eq!(counted(&stub), [2, 1]);
}

#[test]
fn memory_that_is_reached_already_is_no_mistake() {
    default_stream();
    let stub = Stub::load("devices 2");
    // PyTorch has asked before, as has another package.
    assert_eq!(load().call("reach", &[tensor(4, 0), tensor(4, 1)]), Ok(()));
    assert_eq!(load().call("reach", &[tensor(4, 0), tensor(4, 1)]), Ok(()));
    assert_eq!(counted(&stub), [4, 2]);
}

#[test]
fn devices_that_do_not_reach_one_another_are_told() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let call = || loaded.call("reach", &[tensor(4, 0), tensor(4, 1)]);
    stub.fail("cuCtxEnablePeerAccess", 1, 217);
    let error = call().unwrap_err();
    let start = "RuntimeError: CUDA Error: cudaErrorPeerAccessUnsupported (217, \
                 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) reaching the memory of device 1 from device 0 \
                 when calling: `reach(";
    assert!(error.starts_with(start), "{error}");
    let end = "peer access is not supported between these two devices";
    assert!(error.ends_with(end), "{error}");
    assert_eq!(counted(&stub), [1, 0], "nothing is launched");
    // The next call tries again. That the other device does not reach this one is told when its
    // kernels are to.
    stub.fail("cuCtxEnablePeerAccess", 2, 217);
    assert_eq!(call(), Ok(()));
    assert_eq!(counted(&stub), [2, 1]);
    assert_eq!(loaded.call("reach", &[tensor(4, 1), tensor(4, 0)]), Ok(()));
    assert_eq!(counted(&stub), [2, 1]);
    for site in ["cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"] {
        let loaded = load();
        stub.fail(site, 1, 2);
        let error = loaded.call("reach", &[tensor(4, 0), tensor(4, 1)]).unwrap_err();
        assert!(error.contains("reaching the memory of device 1 from device 0"), "{error}");
    }
}

#[test]
fn a_number_that_no_device_has_is_told() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    // What is known of two devices says nothing of another one.
    assert_eq!(loaded.call("reach", &[tensor(4, 1), tensor(4, 0)]), Ok(()));
    assert_eq!(counted(&stub), [2, 1]);
    for (own, other) in [(0, 64), (1, 64), (64, 0)] {
        let error = loaded.call("reach", &[tensor(4, own), tensor(4, other)]).unwrap_err();
        assert!(error.contains("(101, CUDA_ERROR_INVALID_DEVICE)"), "{error}");
        let told = format!("reaching the memory of device {other} from device {own}");
        assert!(error.contains(&told), "{error}");
        assert_eq!(counted(&stub), [0, 0]);
    }
}

#[test]
fn prepared_calls_reach_it_too() {
    default_stream();
    let stub = Stub::load("devices 2");
    let loaded = load();
    let prepared = prepare(&loaded, "reach", &[tensor(4, 0), tensor(4, 1)]);
    stub.take_log();
    for asked in [2, 0] {
        launch(&prepared).unwrap();
        assert_eq!(counted(&stub), [asked, 1]);
    }
}
