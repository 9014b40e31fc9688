// SPDX-License-Identifier: Apache-2.0
//! `run --compare`, with a driver that needs no GPU and runs nothing: what it is asked for, what it
//! may answer, and what is said of memory that stays as it was.

use crate::bench::{Bench, Ran};
use crate::on_stub::{OnStub, ROWS};
use expect_test::{Expect, expect};
use serde_json::Value;
use std::path::Path;

/// A kernel that adds, one that copies, and one of which a GPU has no exact result.
const FILE: &str = r#"
import kernpack as kp


@kp.kernel
def add_kernel(x, y, by, w):
    i = kp.block_idx()[0] * 32 + kp.thread_idx()[0]
    if i < x.shape[0]:
        if w is None:
            y[i] = x[i] + by
        else:
            y[i] = x[i] + w[i]


@kp.jit("add(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 1.0, w: Optional[Tensor([n], float32)] = None)")
def add(x, y, by, w):
    add_kernel(x, y, by, w).launch(grid=kp.ceil_div(x.shape[0], 32), block=32)


@kp.kernel
def copy_kernel(x, y):
    held = kp.shared(x.element_type, y.shape[0])
    t = kp.thread_idx()[0]
    if t < x.shape[0]:
        held[t] = x[t]
        y[t] = held[t]
        kp.printf("copies {}", t)


@kp.jit("copy(x: Tensor([n], float16)) -> y: Tensor([n], float16) where n <= 32")
def copy(x, y):
    copy_kernel(x, y).launch(grid=1, block=32, cluster=1, cooperative=True)


@kp.kernel
def sum_kernel(x, total):
    kp.atomic_add(total, 0, x[kp.thread_idx()[0]])


@kp.jit("sum(x: Tensor([32], float32), total: Tensor([1], float32, mut))")
def sum(x, total):
    sum_kernel(x, total).launch(grid=1, block=32)


@kp.kernel
def wide_kernel(x, y):
    if kp.block_idx()[0] == 0 and kp.thread_idx()[0] < x.shape[0]:
        y[kp.thread_idx()[0]] = x[kp.thread_idx()[0]]


@kp.kernel
def over_kernel(x, y):
    y[kp.thread_idx()[0]] = x[kp.thread_idx()[0]]


@kp.jit("over(x: Tensor([31], float32), y: Tensor([32], float32, mut))")
def over(x, y):
    over_kernel(x, y).launch(grid=1, block=32)
"#;

/// As many blocks as the device has multiprocessors.
const PACKAGE: &str = r#"
[package]
name = "wide"
[[function]]
signature = "wide(x: Tensor([n], float32), y: Tensor([n], float32, mut))"
source = { kernel = "k.py" }
kernel = "wide_kernel"
args = ["x", "y"]
launch = { grid = ["min(device.sm_count, device.cc)"], block = [32] }
"#;

/// A comparison on the stub.
struct Compared(OnStub);

impl Compared {
    /// The driver is told this.
    fn new(config: &str) -> Compared {
        Compared(OnStub::new(files(), config))
    }

    fn run(&self, args: &str) -> Ran {
        self.0.run(&format!("{args} --compare"))
    }

    fn expect(&self, args: &str, expected: Expect) {
        expected.assert_eq(&self.run(args).to_string());
    }

    /// The answer as JSON.
    fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.run(&format!("--json {args}")).stdout).expect("JSON")
    }
}

fn files() -> Bench {
    Bench::with("k.py", FILE).and("rows.py", ROWS).and("wide.toml", PACKAGE)
}

#[test]
fn what_differs_is_told() {
    let compared = Compared::new("");
    compared.expect("run k.py add n=40 w=None --fill count", expect![[r#"
        exit 1
        out: add_kernel: grid [2], block [32]
        out: y: float32 [40] = 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 ...
        out: NVIDIA H200, compute_90: 40 of 40 elements of y differ, at most 1065353216 ulp apart
        err: error[gpu-difference]: 40 of 40 elements of `y` differ on NVIDIA H200
        err:   --> k.py:15:39
        err:    |
        err: 15 | @kp.jit("add(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 1.0, w: Optional[Tensor([n], float32)] = None)")
        err:    |                                       ^
        err: y[0]: interpreter 1.0, GPU 0.0
        err: y[1]: interpreter 2.0, GPU 1.0
        err: y[2]: interpreter 3.0, GPU 2.0
        err: y[3]: interpreter 4.0, GPU 3.0
        err: at most 1065353216 ulp apart
    "#]]);
}

#[test]
fn the_same_bits_are_told() {
    let compared = Compared::new("");
    // Memory that was never written is 0 on both sides.
    compared.expect(
        "run k.py copy n=3 --fill zeros",
        expect![[r#"
        exit 0
        out: copy_kernel: grid [1], block [32], 16 bytes of shared memory
        out:   copies 0
        out:   copies 1
        out:   copies 2
        out: y: float16 [3] = 0.0 0.0 0.0
        out: NVIDIA H200, compute_90: the same bits
    "#]],
    );
    // Without a launch too, and a NaN is like any other.
    compared.expect(
        "run k.py add n=0",
        expect![[r#"
        exit 0
        out: y: float32 [0] = 
        out: NVIDIA H200, compute_90: the same bits
    "#]],
    );
    compared.expect(
        "run k.py add n=2 by=nan --fill nan",
        expect![[r#"
        exit 0
        out: add_kernel: grid [1], block [32]
        out: y: float32 [2] = nan nan
        out: NVIDIA H200, compute_90: the same bits
    "#]],
    );
}

#[test]
fn a_launch_has_what_the_interpreter_was_passed() {
    let compared = Compared::new("");
    let launches = |args: &str| {
        let compared = Compared::new("");
        compared.run(args);
        compared.0.launches().join("\n")
    };
    expect!["add_kernel [2,1,1] [32,1,1] 0 []: memory1 2800000000000000 memory2 0000003f 0000000000000000 0000000000000000"].assert_eq(&launches("run k.py add n=40 by=0.5 w=None"));
    expect!["add_kernel [2,1,1] [32,1,1] 0 []: memory1 2800000000000000 memory2 0000803f 0100000000000000 memory3"].assert_eq(&launches("run k.py add n=40"));
    expect![[r#"copy_kernel [1,1,1] [32,1,1] 16 [{"id":4,"name":"cluster","value":[1,1,1]},{"id":2,"name":"cooperative","value":1}]: memory1 0700000000000000 memory2 0e00000000000000"#]].assert_eq(&launches("run k.py copy n=7"));
    // Memory that is allocated is freed, and a library that is loaded is unloaded.
    compared.run("run k.py add n=40");
    let counts = ["cuMemAlloc_v2", "cuMemFree_v2", "cuLibraryLoadData", "cuLibraryUnload"];
    assert_eq!(counts.map(|function| compared.0.calls(function).len()), [3, 3, 1, 1]);
}

#[test]
fn kernels_that_take_maps_of_tensors_are_compared() {
    let compared = Compared::new("");
    compared.expect(
        "run rows.py rows m=10 n=40 --fill zeros",
        expect![[r#"
        exit 0
        out: rows_kernel: grid [1], block [32]
        out: y: float32 [32] = 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 ...
        out: NVIDIA H200, compute_90: the same bits
    "#]],
    );
    compared.0.expect_map();
}

#[test]
fn what_kernels_print_is_the_interpreters() {
    let compared = Compared::new("");
    let ran = compared.run("run k.py copy n=2 --fill zeros");
    assert_eq!(ran.stdout.matches("copies").count(), 2, "{ran}");
    let images = std::fs::read_dir(compared.0.driver.path().join("images")).expect("a folder");
    let images = images.map(|image| std::fs::read_to_string(image.unwrap().path()).unwrap());
    let images: Vec<_> = images.collect();
    let [image] = &images[..] else { panic!("{} images", images.len()) };
    assert!(image.contains(".target sm_90\n") && image.contains(".entry copy_kernel"), "{image}");
    assert!(!image.contains("vprintf"), "{image}");
}

#[test]
fn sums_in_any_order_may_differ() {
    let compared = Compared::new("");
    compared.expect("run k.py sum --fill x=ones --fill total=zeros", expect![[r#"
        exit 0
        out: sum_kernel: grid [1], block [32]
        out: total: float32 [1] = 32.0
        out: NVIDIA H200, compute_90: 1 of 1 elements of total differ, at most 1107296256 ulp apart (approximate functions or atomic sums of floats have no exact results)
    "#]]);
    compared.expect("run k.py sum --fill x=ones --fill total=zeros --ulps 3", expect![[r#"
        exit 1
        out: sum_kernel: grid [1], block [32]
        out: total: float32 [1] = 32.0
        out: NVIDIA H200, compute_90: 1 of 1 elements of total differ, at most 1107296256 ulp apart (approximate functions or atomic sums of floats have no exact results)
        err: error[gpu-difference]: 1 of 1 elements of `total` differ on NVIDIA H200
        err:   --> k.py:40:40
        err:    |
        err: 40 | @kp.jit("sum(x: Tensor([32], float32), total: Tensor([1], float32, mut))")
        err:    |                                        ^^^^^
        err: total[0]: interpreter 32.0, GPU 0.0
        err: at most 1107296256 ulp apart
    "#]]);
    let usage = compared.0.bench.run(["run", "k.py", "sum", "--ulps", "3"]);
    assert_eq!(usage.code, Some(2), "{usage}");
    // A NaN on one side is no distance away.
    assert_eq!(compared.run("run k.py sum --fill x=nan --fill total=zeros").code, Some(1));
    // Exact results may be apart as far as is said.
    let far =
        |ulps: &str| compared.run(&format!("run k.py add n=1 w=None --fill zeros --ulps {ulps}"));
    assert_eq!(far("1065353215").code, Some(1));
    assert_eq!(far("1065353216").code, Some(0));
}

#[test]
fn a_comparison_as_json() {
    let compared = Compared::new("");
    let answer = compared.json("run k.py add n=2 w=None --fill count");
    expect![[r#"{"gpu":"NVIDIA H200","arch":"compute_90","tensors":[{"name":"x","elements":2,"different":0,"most_ulps":0,"shown":[]},{"name":"y","elements":2,"different":2,"most_ulps":1065353216,"shown":[{"element":"y[0]","interpreted":1.0,"gpu":0.0},{"element":"y[1]","interpreted":2.0,"gpu":1.0}]}]}"#]].assert_eq(&answer["compared"].to_string());
    assert_eq!(answer["findings"][0]["code"], "gpu-difference");
    let answer = Compared::new("devices 0").json("run k.py add n=2 w=None --fill count");
    assert_eq!(answer["compared"], Value::Null);
    assert_eq!(answer["findings"][0]["code"], "no-gpu");
    assert_eq!(answer["tensors"][1]["values"], serde_json::json!([1.0, 2.0]));
}

#[test]
fn without_a_gpu_the_interpreter_has_run() {
    let compared = Compared::new("devices 0");
    compared.expect("run k.py add n=2 --fill ones", expect![[r#"
        exit 1
        out: add_kernel: grid [1], block [32]
        out: y: float32 [2] = 2.0 2.0
        out: not compared with a GPU
        err: error[no-gpu]: there is no GPU to compare with: cuInit answers CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    "#]]);
    // A file that is no library.
    let compared = Compared(OnStub::with_driver(files(), Path::new("/dev/null")));
    let ran = compared.run("run k.py add n=2 --fill ones");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("y: float32 [2] = 2.0 2.0\nnot compared with a GPU\n"), "{ran}");
    let found = "error[no-gpu]: there is no GPU to compare with: found no libcuda.so.1, the CUDA \
                 driver, where the loader looks: ";
    assert!(ran.stderr.starts_with(found), "{ran}");
}

#[test]
fn a_library_that_is_no_driver_is_told() {
    let libc = ["/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"];
    let libc = libc.map(|folder| Path::new(folder).join("libc.so.6"));
    let libc = libc.iter().find(|file| file.is_file()).expect("the C library");
    let ran = Compared(OnStub::with_driver(files(), libc)).run("run k.py add n=2 --fill ones");
    let found = "error[no-gpu]: there is no GPU to compare with: libcuda.so.1 has no cuInit: it is \
                 no driver of CUDA 12.0 or later\n";
    assert_eq!(ran.stderr, found);
}

#[test]
fn whatever_the_driver_refuses_is_told() {
    let first = ["cuInit", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetName"];
    let context = ["cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2"];
    for function in first.into_iter().chain(context) {
        expect_refused(function, "no-gpu", "there is no GPU to compare with: ");
    }
    for function in ["cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"] {
        expect_refused(function, "gpu-failed", "on NVIDIA H200, ");
    }
    let launch = ["cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelSetAttribute"];
    for function in launch.into_iter().chain(["cuLaunchKernelEx", "cuCtxSynchronize"]) {
        expect_refused(function, "gpu-failed", "`copy_kernel`: on NVIDIA H200, ");
    }
}

/// A call that the driver refuses is a problem of that code and beginning, beside the interpreter's
/// result.
fn expect_refused(function: &str, code: &str, beginning: &str) {
    let compared = Compared::new(&format!("fail {function} with 719"));
    let ran = compared.run("run k.py copy n=2 --fill ones");
    let plain = function.trim_end_matches("_v2");
    let expected = format!(
        "error[{code}]: {beginning}{plain} answers CUDA_ERROR_LAUNCH_FAILED: unspecified launch \
         failure\n"
    );
    assert_eq!((ran.code, &ran.stderr), (Some(1), &expected), "{function}");
    assert!(ran.stdout.contains("y: float16 [2] = 1.0 1.0\nnot compared"), "{ran}");
}

#[test]
fn what_the_interpreter_finds_wrong_does_not_get_to_a_gpu() {
    let compared = Compared::new("");
    let ran = compared.run("run k.py over");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error[index-out-of-bounds]"), "{ran}");
    assert!(ran.stdout.ends_with("not compared with a GPU\n"), "{ran}");
    assert!(compared.0.calls("cuMemAlloc_v2").is_empty());
    assert!(compared.0.calls("cuLaunchKernelEx").is_empty());
}

#[test]
fn a_gpu_takes_what_it_would_take_of_a_package() {
    let compared = Compared::new("");
    let arch = |archs: &str| {
        let answer = compared.json(&format!("run k.py add n=2 --arch {archs}"));
        answer["compared"]["arch"].as_str().map(str::to_string)
    };
    assert_eq!(arch("compute_80,compute_90,compute_100").as_deref(), Some("compute_90"));
    assert_eq!(arch("compute_90a,compute_90").as_deref(), Some("compute_90a"));
    compared.expect(
        "run k.py add n=2 --fill ones --arch compute_100",
        expect![[r#"
        exit 1
        out: add_kernel: grid [1], block [32]
        out: y: float32 [2] = 2.0 2.0
        out: not compared with a GPU
        err: error[gpu-failed]: NVIDIA H200 runs no code for compute_100
        err:  |
        err:  = help: ask for `compute_90`, or leave `--arch` out
    "#]],
    );
    // Machine code takes an assembler, and there is none here.
    let ran = compared.run("run k.py add n=2 --fill ones --arch sm_90");
    assert!(ran.stderr.starts_with("error[gpu-assembler]: found no nvJitLink"), "{ran}");
    assert_eq!(ran.code, Some(1));
}

#[test]
fn launches_may_ask_of_the_device() {
    let compared = Compared::new("device 0 attribute 16 7");
    let grid = |ran: Ran| ran.stdout.lines().next().unwrap_or_default().to_string();
    let run = |more: &[&str]| {
        let args = ["run", "wide.toml", "wide", "n=2", "--fill", "ones"];
        compared.0.bench.run(args.iter().chain(more))
    };
    assert_eq!(grid(run(&[])), "wide_kernel: grid [90], block [32]");
    assert_eq!(grid(run(&["device.sm_count=5"])), "wide_kernel: grid [5], block [32]");
    assert_eq!(grid(run(&["device.cc=80"])), "wide_kernel: grid [80], block [32]");
    // The GPU's own, unless others are said.
    let ran = compared.run("run wide.toml wide n=2");
    assert_eq!(grid(ran), "wide_kernel: grid [7], block [32]");
    let ran = compared.run("run wide.toml wide n=2 device.sm_count=3");
    assert_eq!(grid(ran), "wide_kernel: grid [3], block [32]");
    assert_eq!(compared.0.launches().len(), 2);
    let wrong = run(&["device.sm_count=many"]);
    let expected = expect![[r#"
        exit 1
        err: error[bad-value]: `device.sm_count` is a positive integer, found `many`
    "#]];
    expected.assert_eq(&wrong.to_string());
    // Nobody asks, or for something that there is not.
    let expected = expect![[r#"
        exit 1
        err: error[unknown-name]: `add` has nothing that is called `device.sm_count`
        err:   --> k.py:15:10
        err:    |
        err: 15 | @kp.jit("add(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 1.0, w: Optional[Tensor([n], float32)] = None)")
        err:    |          ^^^
    "#]];
    let args = ["run", "k.py", "add", "n=2", "device.sm_count=3"];
    compared.0.bench.expect(&args, expected);
    assert_eq!(run(&["device.sms=3"]).code, Some(1));
}
