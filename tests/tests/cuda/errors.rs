// SPDX-License-Identifier: Apache-2.0
//! What is said where the driver refuses something: each of its errors at each call that is made of
//! it, and the reasons that are found out.

use super::*;
use kernpack_cuda_stub::status::Status;
use kernpack_tests::cuda_host::Host;
use std::collections::BTreeMap;

/// Number, name in the CUDA runtime, name in the driver, of every error.
pub(super) fn codes() -> Vec<(u32, &'static str, &'static str)> {
    let lines = include_str!("codes.txt").lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    parts.map(|parts| (parts[0].parse().unwrap(), parts[1], parts[2])).collect()
}

/// What the driver says about an error.
fn text_of(code: u32) -> &'static str {
    Status(code).text().expect("the table has it").to_str().unwrap()
}

/// The calls of a package's whole life, in order: function, and which call of it this is.
fn sites(log: &[Json]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let names = log.iter().map(|line| line["call"].as_str().unwrap().to_string());
    names
        .map(|name| {
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            (name, *count)
        })
        .collect()
}

const INVALID_HANDLE: u32 = 400;

/// Whether a call is accepted where this fails: what only asks or tidies up may.
fn may_fail(function: &str, nth: u64, code: u32) -> bool {
    match function {
        // A handle that means nothing: it is launched by another one.
        "cuLaunchKernelEx" => code == INVALID_HANDLE,

        "cuCtxGetDevice"
        | "cuThreadExchangeStreamCaptureMode"
        | "cuKernelGetFunction"
        | "cuKernelGetAttribute"
        | "cuKernelSetAttribute"
        | "cuLibraryUnload"
        | "cuDevicePrimaryCtxRelease_v2" => true,
        // Major and minor compute capability are needed; how much shared memory there is is not.
        "cuDeviceGetAttribute" => nth > 2,
        // The caller's context is put back.
        "cuCtxSetCurrent" => nth > 1,
        _ => false,
    }
}

/// What stands behind the driver's own words, or instead of them.
fn reason(function: &str, code: u32) -> &'static str {
    match (function, code) {
        ("cuInit", 3) => {
            "a process that was forked from one that used CUDA cannot use it; start it afresh (spawn)"
        }
        ("cuInit", 100) => "there is no GPU, or none is visible to this process",
        ("cuDevicePrimaryCtxRetain" | "cuCtxGetCurrent" | "cuCtxSetCurrent", 101) => {
            "there are 2 devices, numbered from 0"
        }
        ("cuLibraryGetKernel", 500) => "the image has no kernel `",
        (
            "cuDeviceGetAttribute"
            | "cuLibraryLoadData"
            | "cuLibraryGetKernel"
            | "cuLaunchKernelEx",
            209,
        ) => "the device is sm_90, and the code is for compute_80",
        _ => text_of(code),
    }
}

fn doing(function: &str) -> String {
    match function {
        "cuInit" => format!("starting the CUDA driver {CALLING_SCALE}"),
        "cuLaunchKernelEx" => "launching `scale` on device 1".to_string(),
        "cuDeviceGetAttribute" | "cuLibraryLoadData" | "cuLibraryGetKernel" => {
            "loading `scale` of package `gpu` on device 1".to_string()
        }
        _ => format!("using device 1 {CALLING_SCALE}"),
    }
}

#[test]
fn every_error_of_the_driver_is_told_at_every_call_of_it() {
    default_stream();
    let stub = Stub::load("devices 2");
    let life = || {
        let host = Host::new();
        let own = host.create(0);
        stub.take_log();
        (package().load(), host, own)
    };
    let (loaded, _, _) = life();
    scale(&loaded, 8, 1).unwrap();
    drop(loaded);
    let sites = sites(&stub.take_log());
    assert_eq!(sites.len(), 29, "{sites:?}");
    for (function, nth) in &sites {
        for (code, name, drivers_name) in codes() {
            let at = format!("{function} {nth} {code}");
            stub.reset("devices 2");
            let (loaded, host, own) = life();
            stub.fail(function, *nth, code);
            let outcome = scale(&loaded, 8, 1);
            if (&function[..], *nth) != ("cuCtxSetCurrent", 2) {
                assert_eq!(host.current(), own, "{at}");
            }
            if may_fail(function, *nth, code) {
                assert_eq!(outcome, Ok(()), "{at}");
            } else {
                let start = format!(
                    "RuntimeError: CUDA Error: {name} ({code}, {drivers_name}) {}: ",
                    doing(function)
                );
                let error = outcome.expect_err(&at);
                let rest = error.strip_prefix(&start).unwrap_or_else(|| panic!("{at}: {error}"));
                assert!(rest.starts_with(reason(function, code)), "{at}: {error}");
            }
            host.set_current(own);
            assert_eq!(scale(&loaded, 8, 1), Ok(()), "then a good call, {at}");
            assert_eq!(host.current(), own, "{at}");
            drop(loaded);
            let counts = stub.counts();
            let left = (counts["libraries"].as_i64(), counts["retained"].as_i64());
            match &function[..] {
                "cuLibraryUnload" => assert_eq!(left, (Some(1), Some(0)), "{at}"),
                "cuDevicePrimaryCtxRelease_v2" => assert_eq!(left, (Some(0), Some(1)), "{at}"),
                _ => assert_eq!(left, (Some(0), Some(0)), "{at}"),
            }
        }
    }
}

/// An error that nobody knows still has its number.
#[test]
fn an_error_without_a_name_is_told_by_its_number() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    for (site, doing) in [
        ("cuInit", &format!("starting the CUDA driver {CALLING_SCALE}")[..]),
        ("cuLaunchKernelEx", "launching `scale` on device 0"),
    ] {
        stub.fail(site, 1, 12345);
        let error = scale(&loaded, 8, 0).unwrap_err();
        assert_eq!(
            error,
            format!(
                "RuntimeError: CUDA Error: cudaErrorUnknown (12345, an error without a name) {doing}: "
            )
        );
    }
}

#[test]
fn the_current_device_may_not_be_had() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let bare = || loaded.call("bare", &[Value::Int(4), Value::Int(32)]);
    for (code, expected) in [
        (
            201,
            "cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) asking for the current device when calling: `bare(n: int32, threads: int32)`: no tensor tells the device, and no CUDA context is current",
        ),
        (
            4,
            "cudaErrorCudartUnloading (4, CUDA_ERROR_DEINITIALIZED) asking for the current device when calling: `bare(n: int32, threads: int32)`: driver shutting down",
        ),
    ] {
        stub.fail("cuCtxGetDevice", 1, code);
        assert_eq!(bare(), Err(format!("RuntimeError: CUDA Error: {expected}")));
    }
    assert_eq!(bare(), Ok(()));
}

#[test]
fn an_earlier_kernels_error_is_said_to_be_one() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    let sticky = [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721];
    for (code, name, drivers_name) in codes() {
        stub.fail("cuLaunchKernelEx", 1, code);
        // A handle that means nothing is given up for another one.
        if code == INVALID_HANDLE {
            stub.fail("cuLaunchKernelEx", 2, code);
        }
        let error = scale(&loaded, 8, 0).unwrap_err();
        let earlier =
            "; an earlier kernel failed, and nothing runs on the device until the process ends";
        assert_eq!(error.ends_with(earlier), sticky.contains(&code), "{error}");
        let start = format!(
            "RuntimeError: CUDA Error: {name} ({code}, {drivers_name}) launching `scale` on device 0: "
        );
        assert!(error.starts_with(&start), "{error}");
        if code == 700 {
            assert_eq!(error, start + "an illegal memory access was encountered" + earlier);
        }
    }
}

#[test]
fn what_may_help_is_said() {
    default_stream();
    let stub = Stub::load("devices 1");
    for (site, code, expected) in [
        (
            "cuLibraryLoadData",
            2,
            "cudaErrorMemoryAllocation (2, CUDA_ERROR_OUT_OF_MEMORY) loading `scale` of package `gpu` on device 0: out of memory; free memory on the device",
        ),
        (
            "cuLaunchKernelEx",
            2,
            "cudaErrorMemoryAllocation (2, CUDA_ERROR_OUT_OF_MEMORY) launching `scale` on device 0: out of memory; free memory on the device",
        ),
        (
            "cuLaunchKernelEx",
            201,
            "cudaErrorDeviceUninitialized (201, CUDA_ERROR_INVALID_CONTEXT) launching `scale` on device 0: invalid device context; the stream, or the current context, is not one of the device",
        ),
        (
            "cuLaunchKernelEx",
            209,
            "cudaErrorNoKernelImageForDevice (209, CUDA_ERROR_NO_BINARY_FOR_GPU) launching `scale` on device 0: the device is sm_90, and the code is for compute_80",
        ),
    ] {
        let loaded = package().load();
        stub.fail(site, 1, code);
        assert_eq!(scale(&loaded, 8, 0), Err(format!("RuntimeError: CUDA Error: {expected}")));
    }
    // The device does not tell what it is, either.
    let loaded = package().load();
    scale(&loaded, 8, 0).unwrap();
    stub.fail("cuLaunchKernelEx", 1, 209);
    stub.fail("cuDeviceGetAttribute", 1, 999);
    let error = scale(&loaded, 8, 0).unwrap_err();
    assert!(
        error.ends_with("launching `scale` on device 0: the code is for compute_80"),
        "{error}"
    );
    let loaded = package().load();
    stub.fail("cuCtxSetCurrent", 1, 101);
    stub.fail("cuDeviceGetCount", 1, 999);
    let error = scale(&loaded, 8, 0).unwrap_err();
    let using = format!("(101, CUDA_ERROR_INVALID_DEVICE) using device 0 {CALLING_SCALE}");
    assert!(error.ends_with(&using), "{error}");
}

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry any(.param .u32 n)
{
    ret;
}
.visible .entry small(.param .u32 n)
.maxntid 128, 1, 1
{
    ret;
}
.visible .entry fixed(.param .u32 n)
{
    .shared .align 4 .b8 s[1000];
    ret;
}
";

const PACKAGE: &str = r#"
[package]
name = "limits"
submit = "plain"
[[function]]
signature = "sized(gx: int32, gy: int32, gz: int32, bx: int32, by: int32, bz: int32, smem: int32)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["gx"]
launch = { grid = ["gx", "gy", "gz"], block = ["bx", "by", "bz"], smem = "smem" }
[[function]]
signature = "small(threads: int32)"
source = { ptx = "k.ptx" }
kernel = "small"
args = ["threads"]
launch = { grid = [1], block = ["threads"] }
[[function]]
signature = "fixed(smem: int32)"
source = { ptx = "k.ptx" }
kernel = "fixed"
args = ["smem"]
launch = { grid = [1], block = [32], smem = "smem" }
[[function]]
signature = "clusters(gx: int32, gy: int32, gz: int32, x: int32, y: int32, z: int32)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["gx"]
launch = { grid = ["gx", "gy", "gz"], block = [32], attr = { cluster = ["x", "y", "z"], priority = 0 } }
[[function]]
signature = "together(g: int32, h: int32)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["g"]
launch = { grid = ["g", "h"], block = [1024], attr = { cooperative = true } }
[[function]]
signature = "in_clusters(g: int32)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["g"]
launch = { grid = ["g"], block = [1024], attr = { cooperative = true, cluster = [1] } }
[[function]]
signature = "behind(g: int32, threads: int32, smem: int32)"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "any"
args = ["g"]
grid = [1]
block = [32]
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "any"
args = ["g"]
grid = ["g"]
block = ["threads"]
smem = "smem"
attr = { cooperative = true }
"#;

fn limits() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(PACKAGE, PTX));
    BUILT.load()
}

/// Calls a function with numbers, on the current device, and says what is behind the name of the
/// kernel and of the error.
fn refused(loaded: &Loaded, function: &str, numbers: &[i64]) -> String {
    let values: Vec<_> = numbers.iter().map(|number| Value::Int(*number)).collect();
    let error = loaded.call(function, &values).expect_err(function);
    let behind = error.strip_prefix("RuntimeError: CUDA Error: ");
    behind.unwrap_or_else(|| panic!("{error}")).to_string()
}

/// What stands before the reason.
fn start(name: &str, number: u32, drivers_name: &str, kernel: &str) -> String {
    format!("{name} ({number}, {drivers_name}) launching `{kernel}` on device 0: ")
}

fn invalid_value(reason: &str) -> String {
    start("cudaErrorInvalidValue", 1, "CUDA_ERROR_INVALID_VALUE", "any") + reason
}

#[test]
fn a_block_or_grid_beyond_the_device_is_told() {
    default_stream();
    // Extents as they are on an H200, but for a shorter grid.
    let limits_of_grid =
        "device 0 attribute 5 1000\ndevice 0 attribute 6 100\ndevice 0 attribute 7 10";
    let stub = Stub::load(&format!("devices 1\n{limits_of_grid}"));
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    for (numbers, reason) in [
        ([1, 1, 1, 4096, 1, 1, 0], "block 4096 exceeds the device's 1024 threads"),
        ([1, 1, 1, 1025, 1, 1, 0], "block 1025 exceeds the device's 1024 threads"),
        ([1, 1, 1, 32, 16, 4, 0], "block 2048 exceeds the device's 1024 threads"),
        ([1, 1, 1, 1, 1, 65, 0], "block.z 65 exceeds the device's 64"),
        ([1001, 1, 1, 1, 1, 1, 0], "grid.x 1001 exceeds the device's 1000"),
        ([1, 101, 1, 1, 1, 1, 0], "grid.y 101 exceeds the device's 100"),
        ([1, 1, 11, 1, 1, 1, 0], "grid.z 11 exceeds the device's 10"),
        (
            [1, 1, 1, 1, 1, 1, 232_449],
            "232449 bytes of dynamic and 0 bytes of static shared memory exceed the device's 232448 bytes",
        ),
    ] {
        assert_eq!(refused(&loaded, "sized", &numbers), invalid_value(reason));
        assert_eq!(
            loaded.call("sized", &[1000, 100, 10, 16, 1, 64, 232_448].map(Value::Int)),
            Ok(())
        );
    }
    // The device's limits cannot be asked for, and then the kernel's neither: the driver's words
    // remain.
    let numbers = [1, 1, 1, 4096, 1, 1, 0];
    stub.fail("cuDeviceGetAttribute", 0, 999);
    let reason = "block 4096 exceeds the kernel's 1024 threads (it uses 16 registers a thread)";
    assert_eq!(refused(&loaded, "sized", &numbers), invalid_value(reason));
    stub.fail("cuKernelGetAttribute", 0, 999);
    assert_eq!(refused(&loaded, "sized", &numbers), invalid_value("invalid argument"));
}

/// Beside static shared memory, and with a device whose block may be narrower than it has threads.
#[test]
fn each_limit_is_its_own() {
    default_stream();
    let stub = Stub::load(
        "devices 1\ndevice 0 attribute 2 512\ndevice 0 attribute 3 256\ndevice 0 attribute 97 65536",
    );
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    for (numbers, reason) in [
        ([1, 1, 1, 513, 1, 1, 0], "block.x 513 exceeds the device's 512"),
        ([1, 1, 1, 1, 257, 1, 0], "block.y 257 exceeds the device's 256"),
        (
            [1, 1, 1, 1, 1, 1, 65_537],
            "65537 bytes of dynamic and 0 bytes of static shared memory exceed the device's 65536 bytes",
        ),
    ] {
        assert_eq!(refused(&loaded, "sized", &numbers), invalid_value(reason));
    }
    assert_eq!(loaded.call("sized", &[1, 1, 1, 512, 2, 1, 65_536].map(Value::Int)), Ok(()));
    // Nothing is beyond a limit that is known.
    for (code, name, drivers_name) in codes() {
        if [1, 701, 720, 912].contains(&code) {
            stub.fail("cuLaunchKernelEx", 1, code);
            let expected = start(name, code, drivers_name, "any") + text_of(code);
            assert_eq!(refused(&loaded, "sized", &[1, 1, 1, 1, 1, 1, 0]), expected);
        }
    }
}

#[test]
fn a_block_beyond_the_kernel_is_told() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    let reason = "block 129 exceeds the kernel's 128 threads (it uses 16 registers a thread)";
    let begin = start("cudaErrorInvalidValue", 1, "CUDA_ERROR_INVALID_VALUE", "small");
    assert_eq!(refused(&loaded, "small", &[129]), begin.clone() + reason);
    assert_eq!(loaded.call("small", &[Value::Int(128)]), Ok(()));
    stub.fail("cuLaunchKernelEx", 1, 701);
    let name =
        start("cudaErrorLaunchOutOfResources", 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "small");
    assert_eq!(refused(&loaded, "small", &[129]), name + reason);
    stub.fail("cuKernelGetAttribute", 1, 999);
    assert_eq!(refused(&loaded, "small", &[129]), begin + "invalid argument");
}

#[test]
fn static_shared_memory_counts_too() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    assert_eq!(loaded.call("fixed", &[Value::Int(231_448)]), Ok(()), "all that there is");
    let begin = start("cudaErrorInvalidValue", 1, "CUDA_ERROR_INVALID_VALUE", "fixed");
    let reason = "231449 bytes of dynamic and 1000 bytes of static shared memory exceed the device's 232448 bytes";
    assert_eq!(refused(&loaded, "fixed", &[231_449]), begin.clone() + reason);
    // Where the kernel does not tell, what is asked for may be too much all the same.
    stub.fail("cuKernelGetAttribute", 0, 999);
    let reason = "232449 bytes of dynamic and 0 bytes of static shared memory exceed the device's 232448 bytes";
    assert_eq!(refused(&loaded, "fixed", &[232_449]), begin + reason);
}

#[test]
fn a_cluster_that_cannot_be_is_told() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    let begin = start("cudaErrorInvalidClusterSize", 912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "any");
    for (numbers, reason) in [
        ([3, 2, 2, 2, 1, 1], "grid.x 3 is no multiple of the cluster's 2"),
        ([2, 3, 2, 1, 2, 1], "grid.y 3 is no multiple of the cluster's 2"),
        ([2, 2, 3, 1, 1, 2], "grid.z 3 is no multiple of the cluster's 2"),
        ([17, 1, 1, 17, 1, 1], "a cluster of 17 blocks exceeds 16"),
        ([4, 4, 4, 2, 4, 4], "a cluster of 32 blocks exceeds 16"),
    ] {
        assert_eq!(refused(&loaded, "clusters", &numbers), begin.clone() + reason);
    }
    // Those of more than 8 blocks need no word of the caller's.
    for numbers in [[4, 2, 2, 4, 1, 2], [3, 3, 1, 3, 3, 1], [16, 1, 1, 16, 1, 1]] {
        assert_eq!(loaded.call("clusters", &numbers.map(Value::Int)), Ok(()), "{numbers:?}");
    }
    // Where they are not allowed: nothing but the opt-in says 1.
    let loaded = limits();
    let sets = calls(&stub.take_log(), "cuKernelSetAttribute");
    let is_set = |line: &Json| line["args"]["attribute"] == 14 && line["args"]["value"] == 1;
    assert!(sets.iter().any(is_set), "{sets:?}");
    stub.fail("cuKernelSetAttribute", 0, 999);
    assert_eq!(
        refused(&loaded, "clusters", &[9, 1, 1, 9, 1, 1]),
        begin + "a cluster of 9 blocks exceeds 8"
    );
    assert_eq!(loaded.call("clusters", &[8, 1, 1, 8, 1, 1].map(Value::Int)), Ok(()));
}

#[test]
fn a_cooperative_grid_that_does_not_fit_is_told() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    let begin = start(
        "cudaErrorCooperativeLaunchTooLarge",
        720,
        "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
        "any",
    );
    assert_eq!(
        refused(&loaded, "in_clusters", &[2000]),
        begin + "a cooperative grid of 2000 blocks does not fit on the device at once"
    );
    assert_eq!(loaded.call("together", &[Value::Int(100), Value::Int(2)]), Ok(()));
    // Of another error it is no reason.
    stub.fail("cuLaunchKernelEx", 1, 1);
    assert_eq!(refused(&loaded, "in_clusters", &[2000]), invalid_value("invalid argument"));
}

/// With how many blocks run at once, before anything is launched.
#[test]
fn a_cooperative_grid_that_does_not_fit_is_refused_first() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    let behind = |numbers: [i64; 3]| loaded.call("behind", &numbers.map(Value::Int));
    let error = |at_once: i64, blocks: i64| {
        let calling = "when calling: `behind(g: int32, threads: int32, smem: int32)`";
        Err(format!(
            "ValueError: Too many blocks for the cooperative launch of `any` on device 0 {calling}, expected at most {at_once} at once, got {blocks}"
        ))
    };
    for [threads, smem, at_once] in [[1024, 0, 264], [32, 0, 132 * 32], [32, 100_000, 264]] {
        stub.take_log();
        assert_eq!(behind([at_once + 1, threads, smem]), error(at_once, at_once + 1));
        let log = stub.take_log();
        assert!(
            calls(&log, "cuLaunchKernelEx").is_empty() && calls(&log, "cuGraphLaunch").is_empty()
        );
        assert_eq!(behind([at_once, threads, smem]), Ok(()), "{threads} {smem}");
    }
    // Where each multiprocessor has one block at most, there is nothing to ask.
    stub.take_log();
    assert_eq!(behind([132, 1024, 0]), Ok(()));
    let asked = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    assert!(calls(&stub.take_log(), asked).is_empty());
    // What is refused anyway says why, and what cannot be found out the driver says.
    let error = behind([1000, 32, 300_000]).unwrap_err();
    assert!(error.contains("shared memory exceed the device's"), "{error}");
    stub.fail(asked, 1, 1);
    let error = behind([265, 1024, 0]).unwrap_err();
    assert!(error.contains("a cooperative grid of 265 blocks does not fit"), "{error}");
}

/// Shared memory beyond what is allowed by default needs no word of the caller's: nothing but an
/// opt-in of the package's.
#[test]
fn the_default_of_shared_memory_is_no_limit() {
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = package().load();
    assert_eq!(scale(&loaded, 12_288, 0), Ok(()), "48 KiB");
    assert_eq!(scale(&loaded, 58_112, 0), Ok(()), "227 KiB");
    let error = scale(&loaded, 58_113, 0).unwrap_err();
    assert!(error.ends_with("exceed the device's 232448 bytes"), "{error}");
    let limits = calls(&stub.take_log(), "cuKernelSetAttribute");
    let set: Vec<_> =
        limits.iter().map(|line| (&line["args"]["attribute"], &line["args"]["value"])).collect();
    let [shared, clusters] = [(&8.into(), &232_448.into()), (&14.into(), &1.into())];
    assert_eq!(set, [shared, clusters, shared, clusters], "once for each kernel");
    // Where the opt-in was refused, the default holds.
    for site in ["cuKernelSetAttribute", "cuKernelGetAttribute"] {
        let loaded = package().load();
        stub.fail(site, 1, 999);
        assert_eq!(scale(&loaded, 12_288, 0), Ok(()), "{site}");
        let error = scale(&loaded, 12_289, 0).unwrap_err();
        assert!(error.ends_with("launching `scale` on device 0: invalid argument"), "{error}");
    }
}

/// The threads of a block may be more than 64 bits count: then it is a dim that is told.
#[test]
fn a_block_of_too_many_threads_to_count_is_told() {
    default_stream();
    let _stub = Stub::load("devices 1");
    let loaded = limits();
    let host = Host::new();
    host.set_current(host.primary(0));
    let invalid = "block.x 4194304 exceeds the device's 1024";
    let error = refused(&loaded, "sized", &[1, 1, 1, 1 << 22, 1 << 21, 1 << 21, 0]);
    assert!(error.contains(invalid), "{error}");
    let error = refused(&loaded, "sized", &[1, 1, 1, 1 << 22, 1 << 21, 1, 0]);
    assert!(error.contains("block 8796093022208 exceeds the device's 1024 threads"), "{error}");
}
