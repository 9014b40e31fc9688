// SPDX-License-Identifier: Apache-2.0
//! Grids that are computed from `launch.max_blocks`, how many blocks of a launch the device holds
//! at once: what the driver says of the very kernel that is launched, asked once.

use super::*;
use kernpack_ffi_abi::DType;
use kernpack_tests::cuda_host::Host;
use kernpack_tests::value::Tensor;

const ASKED: &str = "cuOccupancyMaxActiveBlocksPerMultiprocessor";

const KERNELS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry any(.param .u64 n) { ret; }
.visible .entry k_float16(.param .u64 n) { ret; }
.visible .entry k_float32(.param .u64 n) { ret; }
";

const FUNCTIONS: &str = r#"
[package]
name = "resident"
submit = "plain"
[[function]]
signature = "f(n: int64, threads: int32, smem: int32)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["n"]
[function.launch]
grid = ["min(n, launch.max_blocks)"]
block = ["threads"]
smem = "smem"
attr = { cooperative = true }
[[function]]
signature = "chosen(x: Tensor([n], T)) where T in {float16, float32}"
[[function.launch]]
when = "n > 4"
source = { ptx = "k.ptx" }
kernel = "k_{T}"
args = ["n"]
grid = ["launch.max_blocks"]
block = [1024]
[[function.launch]]
when = "n == 4"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["n"]
grid = ["2*launch.max_blocks"]
block = [512, 2]
[[function]]
signature = "short(n: int64)"
source = { ptx = "k.ptx" }
kernel = "any"
args = ["n"]
launch = { grid = ["launch.max_blocks - n"], block = [1024] }
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(FUNCTIONS, KERNELS));
    default_stream();
    BUILT.load()
}

/// The first extent of the grid of the only launch, and how often the driver was asked.
fn grid(stub: &Stub) -> (Json, usize) {
    let log = stub.take_log();
    let launches = calls(&log, "cuLaunchKernelEx");
    assert_eq!(launches.len(), 1);
    (launches[0]["launch"]["config"]["grid"][0].clone(), calls(&log, ASKED).len())
}

#[test]
fn a_grid_is_of_as_many_blocks_as_run_at_once() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let f = |n: i64, threads: i64, smem: i64| loaded.call("f", &[n, threads, smem].map(Value::Int));
    for [threads, smem, at_once] in [[1024, 0, 264], [32, 0, 132 * 32], [32, 100_000, 264]] {
        f(100_000, threads, smem).unwrap();
        assert_eq!(grid(&stub), (at_once.into(), 1), "asked once, the cooperative grid included");
        for n in [100_000, 7] {
            f(n, threads, smem).unwrap();
            assert_eq!(grid(&stub), (at_once.min(n).into(), 0), "it is known");
        }
    }
    // Blocks that no launch has are refused as they are elsewhere, and those that no device runs by
    // the driver, with its reason.
    for (threads, smem, reason) in [
        (0, 0, "expected to be in range [1, 2147483647], got 0"),
        (-1, 0, "expected to be in range [1, 2147483647], got -1"),
        (32, -1, "expected to be in range [0, 2147483647], got -1"),
        (1025, 0, "block 1025 exceeds the device's 1024 threads"),
        (
            32,
            300_000,
            "300000 bytes of dynamic and 0 bytes of static shared memory exceed the device's 232448 bytes",
        ),
    ] {
        let error = f(5, threads, smem).unwrap_err();
        assert!(error.ends_with(reason), "{error}");
    }
}

#[test]
fn a_driver_that_does_not_say_runs_one_block_on_each_multiprocessor() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let f = || loaded.call("f", &[1000, 1024, 0].map(Value::Int));
    stub.fail(ASKED, 1, 1);
    f().unwrap();
    assert_eq!(grid(&stub), (132.into(), 1));
    f().unwrap();
    assert_eq!(grid(&stub), (264.into(), 1), "it is asked again");
}

/// Each device by itself, and of several launches and kernels that which runs.
#[test]
fn the_launch_that_runs_is_asked_about_on_its_device() {
    let stub = Stub::load(
        "devices 2\ndevice 1 compute 8.6\ndevice 1 attribute 16 84\ndevice 1 attribute 39 1536",
    );
    let loaded = load();
    let halves = |n: i64| match tensor(n, 0) {
        Value::Tensor(float32) => Value::Tensor(Tensor { dtype: DType::FLOAT16, ..float32 }),
        other => panic!("{other:?}"),
    };
    let expect = |value: Value, blocks: i64, n_asked: usize| {
        loaded.call("chosen", &[value]).unwrap();
        assert_eq!(grid(&stub), (blocks.into(), n_asked));
    };
    expect(tensor(5, 0), 264, 1);
    expect(tensor(5, 1), 84, 1);
    expect(tensor(4, 0), 528, 1);
    expect(halves(5), 264, 1);
    for n_again in 0..2 {
        expect(tensor(5 + n_again, 0), 264, 0);
        expect(tensor(5, 1), 84, 0);
        expect(tensor(4, 0), 528, 0);
        expect(halves(5), 264, 0);
    }
    stub.take_log();
    loaded.call("chosen", &[tensor(3, 1)]).unwrap_err();
    assert!(calls(&stub.take_log(), ASKED).is_empty(), "nothing runs");
}

#[test]
fn a_check_that_the_number_fails_prints_it() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    loaded.call("short", &[Value::Int(4)]).unwrap();
    assert_eq!(grid(&stub), (260.into(), 1));
    loaded.call("short", &[Value::Int(264)]).unwrap();
    assert!(calls(&stub.take_log(), "cuLaunchKernelEx").is_empty(), "no blocks are no launch");
    let error = loaded.call("short", &[Value::Int(300)]).unwrap_err();
    assert_eq!(
        error,
        "ValueError: Out of bound launch grid[0] `launch.max_blocks - n` when calling: `short(n: int64)`, \
         expected to be in range [0, 2147483647], got -36"
    );
}

#[test]
fn a_prepared_call_has_asked() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let host = Host::new();
    host.set_current(host.primary(0));
    let arguments = Arguments::new(&[1000, 1024, 0].map(Value::Int), Arrival::Tensor);
    let (status, prepared) = loaded.invoke("kernpack_prepare_f", &arguments);
    outcome(status).0.unwrap();
    assert_eq!(calls(&stub.take_log(), ASKED).len(), 1);
    for _ in 0..2 {
        outcome(fake_ffi::call_result(&prepared, &[])).0.unwrap();
        assert_eq!(grid(&stub), (264.into(), 0));
    }
    fake_ffi::drop_result(&prepared);
}

#[test]
fn a_device_that_there_is_not_is_an_error() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    let error = loaded.call("chosen", &[tensor(5, 3)]).unwrap_err();
    assert!(error.starts_with("RuntimeError: CUDA Error: "), "{error}");
    let error = loaded.call("f", &[5, 32, 0].map(Value::Int)).unwrap_err();
    assert!(error.contains("no CUDA context is current"), "{error}");
    stub.fail("cuLibraryLoadData", 1, 200);
    let error = loaded.call("chosen", &[tensor(5, 0)]).unwrap_err();
    assert!(error.contains("loading"), "{error}");
    drop(stub);
}
