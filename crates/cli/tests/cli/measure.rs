// SPDX-License-Identifier: Apache-2.0
//! `bench`, with a driver that needs no GPU, under which kernels take no time: what it is asked
//! for, in which order, and what is given back.

use crate::bench::{Bench, Ran};
use crate::on_stub::{OnStub, ROWS};
use expect_test::{Expect, expect};
use serde_json::Value;
use std::collections::BTreeMap;

/// One launch, and two one behind another.
const FILE: &str = r#"
import kernpack as kp


@kp.kernel
def add_kernel(x, y, by):
    i = kp.block_idx()[0] * 32 + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] + by


@kp.jit("add(x: Tensor([n], float32), by: float32 = 1.0) -> y: Tensor([n], float32)")
def add(x, by, y):
    add_kernel(x, y, by).launch(grid=kp.ceil_div(x.shape[0], 32), block=32)


@kp.jit(
    "add_twice(x: Tensor([n], float16), y: Tensor([n], float16, mut)) where noalias(x, y)",
    workspace={"held": "Tensor([n], float16)"},
)
def add_twice(x, y, held):
    add_kernel(x, held, 1).launch(grid=2, block=32)
    add_kernel(held, y, 1).launch(grid=2, block=32, pdl=True)
"#;

const PACKAGE: &str = r#"
[package]
name = "host"
[[function]]
signature = "host(x: Tensor([n], float32, mut))"
source = { host = "host.c" }
kernel = "host"
args = ["x"]
"#;

fn on_stub(config: &str) -> OnStub {
    let files = Bench::with("k.py", FILE).and("rows.py", ROWS).and("host.toml", PACKAGE);
    OnStub::new(files.and("host.c", "void host(float *x) { *x = 1; }"), config)
}

/// An outcome, without what is measured: every number behind `]) ` and in front of a unit.
fn shown(ran: &Ran) -> String {
    let mut text = String::new();
    for line in ran.to_string().lines() {
        let is_figure = line.starts_with("out:   ");
        let words = line.split(' ').map(|word| match word.parse::<f64>() {
            Ok(_) if is_figure => "…",
            Err(_) | Ok(_) => word,
        });
        text += &format!("{}\n", words.collect::<Vec<_>>().join(" "));
    }
    ["ns", "µs", "ms"].iter().fold(text, |text, unit| text.replace(&format!("… {unit}"), "… s"))
}

#[track_caller]
fn expect_shown(args: &str, expected: &Expect) {
    expected.assert_eq(&shown(&on_stub("").run(args)));
}

#[test]
fn a_call_is_measured() {
    let expected = expect![[r#"
        exit 0
        out: add_kernel: grid [32], block [32]
        out: add(float32 [1000], float32 [1000])
        out:   … s ± … %, … GB/s of … MB, … of a copy
        out:   by the clock of NVIDIA H200 (compute_90), cold caches; control …
    "#]];
    expect_shown("bench k.py add n=1000 --seconds 0.01", &expected);
    let expected = expect![[r#"
        exit 0
        out: add_kernel_2: grid [2], block [32]
        out: add_kernel_3: grid [2], block [32]
        out: add_twice(float16 [40], float16 [40])
        out:   … s ± … %, … GB/s of … MB, … of a copy
        out:   by the clock of NVIDIA H200 (compute_90), warm caches; control …
    "#]];
    expect_shown("bench k.py add_twice n=40 --seconds 0.01 --caches warm", &expected);
}

/// The work that the stream was given: a letter for memory that is written, an event, a kernel and
/// a copy.
fn work(on_stub: &OnStub) -> String {
    let letters = BTreeMap::from([
        ("cuMemsetD8Async", 'w'),
        ("cuEventRecord", 'e'),
        ("cuLaunchKernelEx", 'k'),
        ("cuMemcpyDtoDAsync_v2", 'c'),
    ]);
    let calls = on_stub.all_calls();
    calls.iter().filter_map(|call| letters.get(call["call"].as_str()?)).collect()
}

/// The sides of rounds, in front of each of which memory is written: what is done in front of the
/// first event, and between both. So many events come before the first round.
fn sides(work: &str, n_events: usize) -> Vec<(String, String)> {
    let (first, _) = work.match_indices('e').nth(n_events - 1).expect("so many events");
    let sides = work[first + 1..].split('w').filter(|side| !side.is_empty());
    let parts = sides.map(|side| {
        let (front, rest) = side.split_once('e').expect("an event in front");
        let between = rest.strip_suffix('e').expect("an event behind");
        (front.to_string(), between.to_string())
    });
    parts.collect()
}

#[test]
fn caches_are_cold_in_front_of_each_call() {
    let stub = on_stub("");
    stub.run("bench k.py add_twice n=40 --seconds 0.0001");
    // Two tell how long it takes to write, for each of three sides.
    let sides = sides(&work(&stub), 6);
    assert!(sides.iter().all(|(front, _)| front.is_empty()), "{sides:?}");
    let timed: Vec<_> = sides.iter().map(|(_, timed)| &timed[..]).collect();
    let count = |what: &str| timed.iter().filter(|side| **side == what).count();
    assert_eq!(count("kk"), 2 * count("c"), "{timed:?}");
    assert!(count("c") >= 9 && count("kk") + count("c") == timed.len(), "{timed:?}");
    // In an order by chance.
    assert!(timed.chunks(3).any(|round| round[0] == "c"), "{timed:?}");
    assert!(timed.chunks(3).any(|round| round[1] == "c"), "{timed:?}");
}

#[test]
fn caches_are_warm_behind_the_same_call() {
    let stub = on_stub("");
    stub.run("bench k.py add n=40 --seconds 0.0001 --caches warm");
    // Two more tell how long a call takes.
    let sides = sides(&work(&stub), 12);
    assert!(sides.len() >= 27, "{sides:?}");
    for (front, timed) in &sides {
        assert!(["k", "c"].contains(&&front[..]), "{front} {timed}");
        assert!(!timed.is_empty() && timed.chars().all(|one| front.contains(one)), "{sides:?}");
    }
}

#[test]
fn launches_are_as_the_call_makes_them() {
    let stub = on_stub("");
    stub.run("bench k.py add n=40 by=0.5 --seconds 0.0001");
    let launches = stub.launches();
    let first = "add_kernel [2,1,1] [32,1,1] 0 []: memory1 2800000000000000 memory2 0000003f";
    assert!(launches.len() > 2 * 9, "{launches:?}");
    assert!(launches.iter().all(|launch| launch == first), "{launches:?}");
    let stub = on_stub("");
    stub.run("bench k.py add_twice n=40 --seconds 0.0001");
    let launches = stub.launches();
    let early = launches.iter().filter(|launch| launch.contains("programmatic")).count();
    assert!(early > 2 * 9 && 2 * early == launches.len(), "{launches:?}");
}

#[test]
fn maps_of_tensors_are_encoded() {
    let stub = on_stub("");
    let ran = stub.run("bench rows.py rows m=10 n=40 --seconds 0.0001");
    assert_eq!(ran.code, Some(0), "{ran}");
    stub.expect_map();
}

#[test]
fn a_measurement_as_json() {
    let ran = on_stub("").run("--json bench k.py add n=1000 --seconds 0.01");
    let mut answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    for figure in ["time", "control", "copy"] {
        let taken = answer[figure].take();
        assert!(taken["median"].as_f64().is_some_and(|median| median > 0.0), "{taken}");
        assert!(taken["spread"].as_f64().is_some_and(|spread| spread >= 0.0), "{taken}");
    }
    expect![[r#"{"function":"add","launches":[{"kernel":"add_kernel","grid":[32,1,1],"block":[32,1,1],"smem":0}],"tensors":[{"name":"x","dtype":"float32","shape":[1000],"strides":[1],"role":"read"},{"name":"y","dtype":"float32","shape":[1000],"strides":[1],"role":"result"}],"gpu":"NVIDIA H200","arch":"compute_90","caches":"cold","bytes":8000,"time":null,"control":null,"copy":null,"clocks":null,"warnings":[]}"#]].assert_eq(&answer.to_string());
}

/// A management library that tells clocks which go down a little, and two reasons.
const NVML: &str = r#"
#include <string.h>
static int looks;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  *device = &looks;
  return strlen(bus) == 16 && bus[8] == ':' && bus[11] == ':' && bus[14] == '.' ? 0 : 2;
}
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *clock) {
  *clock = kind == 1 ? 1980 - 10 * (looks++ % 3) : kind == 2 ? 3201 : 0;
  return device == &looks ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
  *reasons = looks == 4 ? 0x4 : looks == 5 ? 0x1 | 0x20 : 0;
  return 0;
}
"#;

#[test]
fn clocks_are_watched() {
    let stub = on_stub("");
    let file = |name: &str| stub.driver.path().join(name);
    std::fs::write(file("nvml.c"), NVML).expect("the folder can be written");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(file("libnvidia-ml.so.1")).arg(file("nvml.c"));
    assert!(compiler.status().expect("there is a C compiler").success());
    let ran = stub.run("bench k.py add n=40 --seconds 0.0001");
    let clocks = "multiprocessors 1960 to 1980 MHz, memory 3201 MHz, held down by power and heat";
    assert!(ran.stdout.contains(&format!("cold caches; {clocks}; control")), "{ran}");
    let ran = stub.run("--json bench k.py add n=40 --seconds 0.0001");
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let expected = r#"{"sm":[1960,1980],"memory":[3201,3201],"limits":["power","heat"]}"#;
    assert_eq!(answer["clocks"].to_string(), expected);
    // A library that is none is as good as no library.
    std::fs::write(file("libnvidia-ml.so.1"), "none").expect("the folder can be written");
    let ran = stub.run("bench k.py add n=40 --seconds 0.0001");
    assert!(ran.code == Some(0) && ran.stdout.contains("cold caches; control"), "{ran}");
}

#[test]
fn without_a_gpu_nothing_is_measured() {
    let expected = expect![[r#"
        exit 1
        err: error[no-gpu]: there is no GPU to measure on: cuInit answers CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
        err:  |
        err:  = help: `kernpack run … --count` counts what accesses ask of memory, without one
    "#]];
    expected.assert_eq(&on_stub("devices 0").run("bench k.py add n=8").to_string());
}

#[test]
fn what_cannot_be_measured_is_told() {
    expect_shown(
        "bench k.py add n=0",
        &expect![[r#"
        exit 1
        err: error: `add` launches nothing for these arguments
    "#]],
    );
    expect_shown(
        "bench k.py add n=1000 --memory 1KiB",
        &expect![[r#"
            exit 1
            err: error[memory]: the call takes 15.6KiB of memory, and may take 1.0KiB: 7.8KiB for `x`, 7.8KiB for `y`
            err:  |
            err:  = help: say smaller dims, or let it take more with `--memory`
        "#]],
    );
    expect_shown(
        "bench rows.py rows m=8 n=6",
        &expect![[r#"
        exit 1
        err: error: ValueError: Invalid x.shape[1] on argument #0 when calling: `rows(x: Tensor([m, n], float32), y: Tensor([32], float32))`, expected to be divisible by 4, got 6
    "#]],
    );
    expect_shown(
        "bench host.toml host n=8",
        &expect![[r#"
        exit 1
        err: error[not-interpreted]: `host` is no kernel that is written here, and is not interpreted
        err:  --> host.toml:7:10
        err:   |
        err: 7 | kernel = "host"
        err:   |          ^^^^^^
    "#]],
    );
    expect_shown(
        "bench k.py subtract n=8",
        &expect![[r#"
        exit 1
        err: error: there is no function `subtract`; there is `add`, `add_twice`
    "#]],
    );
    for wrong in ["--seconds 0", "--seconds soon", "--seconds 1e99", "--caches hot"] {
        let ran = on_stub("").run(&format!("bench k.py add n=8 {wrong}"));
        assert_eq!(ran.code, Some(2), "{wrong}: {ran}");
    }
}

#[test]
fn whatever_the_driver_refuses_is_told_and_nothing_is_left() {
    let held = [
        ("cuMemAlloc_v2", "cuMemFree_v2"),
        ("cuLibraryLoadData", "cuLibraryUnload"),
        ("cuEventCreate", "cuEventDestroy_v2"),
        ("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"),
        ("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"),
    ];
    let refused = [
        "cuMemAlloc_v2 1",
        "cuMemAlloc_v2 3",
        "cuMemcpyHtoD_v2 2",
        "cuLibraryLoadData 1",
        "cuLibraryGetKernel 2",
        "cuEventCreate 1",
        "cuEventCreate 4",
        "cuEventRecord 5",
        "cuEventElapsedTime 2",
        "cuMemsetD8Async 3",
        "cuMemcpyDtoDAsync_v2 2",
        "cuLaunchKernelEx 1",
        "cuLaunchKernelEx 7",
        "cuCtxSynchronize 3",
    ];
    for call in refused {
        let stub = on_stub(&format!("fail {call} with 719"));
        let ran = stub.run("bench k.py add_twice n=40 --seconds 0.0001");
        let name = call.split(' ').next().unwrap_or_default();
        let expected = format!("{} answers CUDA_ERROR_LAUNCH_FAILED", name.trim_end_matches("_v2"));
        assert!(ran.code == Some(1) && ran.stderr.contains(&expected), "{call}: {ran}");
        for (taken, given_back) in held {
            let succeeds = |call: &Value| call["result"] == "CUDA_SUCCESS";
            let count = |name| stub.calls(name).iter().filter(|call| succeeds(call)).count();
            assert_eq!(count(taken), count(given_back), "{call}: {taken}");
        }
    }
}

#[test]
fn where_there_is_no_room_nothing_is_copied() {
    // The tensors, what is written in front of calls, and the memory that is copied.
    for number in [4, 5] {
        let stub = on_stub(&format!("fail cuMemAlloc_v2 {number} with 2"));
        let ran = stub.run("--json bench k.py add n=40 --seconds 0.0001");
        let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(answer["time"]["median"].is_number(), "{answer}");
        assert_eq!(answer["copy"], Value::Null, "{answer}");
        assert!(stub.calls("cuMemcpyDtoDAsync_v2").is_empty());
    }
}
