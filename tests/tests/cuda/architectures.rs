// SPDX-License-Identifier: Apache-2.0
//! Launches for some architectures: each device gets the one whose code it takes, with its own
//! grid, in calls, in prepared ones and in graphs; and one that none is for is told by name.

use super::submission::*;
use super::*;

const FILE: &str = r#"
import kernpack as kp

@kp.kernel
def narrow(x):
    x[kp.block_idx()[0]] = 1.0

@kp.kernel
def wide(x, width: kp.Constexpr):
    i = kp.block_idx()[0] * width
    if i < x.shape[0]:
        kp.fence("cluster")
        x[i] = 1.0

@kp.kernel
def last(x):
    x[0] = 2.0

@kp.jit("f(x: Tensor([n], float32, mut))")
def f(x):
    n = x.shape[0]
    narrow(x).launch(grid=n, block=32, arch="compute_80")
    wide(x, 4).launch(grid=kp.ceil_div(n, 4), block=64, smem=128, arch=("compute_90a", "compute_103"))
    last(x).launch(grid=1, block=1)
"#;

/// A driver with a device of that compute capability.
fn device(capability: &str) -> String {
    format!("devices 1\ndevice 0 compute {capability}")
}

fn package() -> &'static GpuPackage {
    static BUILT: LazyLock<GpuPackage> =
        LazyLock::new(|| GpuPackage::of_kernels(Path::new(""), "gpu.py", FILE));
    &BUILT
}

/// Kernel, grid, block and shared memory of each launch, by whichever call.
fn launches(log: &[Json]) -> Vec<String> {
    let launches = launched(log).into_iter().map(|launch| {
        let (kernel, config) = (launch["kernel"].as_str().expect("a name"), &launch["config"]);
        format!("{kernel} {} {} {}", config["grid"], config["block"], config["shared"])
    });
    launches.collect()
}

const NARROW: [&str; 2] = ["narrow [10,1,1] [32,1,1] 0", "last [1,1,1] [1,1,1] 0"];
const WIDE: [&str; 2] = ["wide [3,1,1] [64,1,1] 128", "last [1,1,1] [1,1,1] 0"];
const EACH: [(&str, [&str; 2]); 4] =
    [("9.0", WIDE), ("8.6", NARROW), ("10.0", NARROW), ("10.3", WIDE)];

#[test]
fn a_device_gets_the_launch_whose_code_it_takes() {
    for (capability, expected) in EACH {
        let scene = Scene::on(package(), &device(capability));
        let logs: Vec<_> = (0..N_CALLS).map(|_| scene.call("f", &[tensor(10, 0)])).collect();
        for log in &logs {
            assert_eq!(launches(log), expected, "{capability}");
        }
        assert!(names(&logs[logs.len() - 1]).contains(&"cuGraphLaunch"), "{capability}");
    }
}

#[test]
fn a_prepared_call_launches_what_its_device_takes() {
    for (capability, expected) in EACH {
        let scene = Scene::on(package(), &device(capability));
        let prepared = prepare(&scene.loaded, "f", &[tensor(10, 0)]);
        assert!(launches(&scene.stub.take_log()).is_empty(), "{capability}");
        launch(&prepared).unwrap();
        assert_eq!(launches(&scene.stub.take_log()), expected, "{capability}");
    }
}

#[test]
fn a_device_that_none_is_for_is_told_by_name() {
    default_stream();
    let stub = Stub::load(&device("7.5"));
    let loaded = package().load();
    let expected = "RuntimeError: CUDA Error: cudaErrorNoKernelImageForDevice (209, CUDA_ERROR_NO_BINARY_FOR_GPU) \
         loading `narrow` of package `gpu` on device 0: the device is sm_75, and the code is for compute_80, compute_90a, compute_103";
    for (function, value) in [("f", tensor(10, 0)), ("kernpack_preload_gpu", Value::Int(0))] {
        assert_eq!(loaded.call(function, &[value]).unwrap_err(), expected, "{function}");
    }
    assert!(launches(&stub.take_log()).is_empty());
}
