// SPDX-License-Identifier: Apache-2.0
//! Threads that launch through graphs at once: none has a graph while another has it, and nothing
//! is launched twice, or not at all, or with another's arguments.

use super::submission::*;
use super::*;
use kernpack_ffi_abi::layout::Any;
use kernpack_tests::cuda_host::Host;
use kernpack_tests::gpu_package::outcome;
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::Arrival;
use std::collections::BTreeMap;
use std::sync::Barrier;

const N_THREADS: usize = 16;
const N_EACH: i64 = 40;

const FUNCTIONS: &str = r#"
[[function]]
signature = "two(n: int32)"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "first"
args = ["n"]
grid = [1]
block = [32]
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "second"
args = ["n"]
grid = [2]
block = [32]
"#;

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| {
        let kernels = [("first", ".param .u32 n"), ("second", ".param .u32 n")];
        Ways::build(FUNCTIONS, &ptx(&kernels), "")
    });
    &BUILT
}

/// Has threads work at once, each with its number, in the primary context.
fn at_once(scene: &Scene, work: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(N_THREADS);
    let primary = scene.primary;
    std::thread::scope(|scope| {
        for number in 0..N_THREADS {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                Host::new().set_current(primary);
                barrier.wait();
                work(number);
            });
        }
    });
}

/// Each kernel was launched as often as it was called for with an argument, and nobody met another
/// at a graph.
fn expect_each_once(log: &[Json], numbers: impl Iterator<Item = i64>) {
    assert!(log.iter().all(|line| line.get("overlaps").is_none() && line.get("crash").is_none()));
    assert!(log.iter().all(|line| line["result"] == "CUDA_SUCCESS"));
    let mut launches: BTreeMap<(String, u32), i32> = BTreeMap::new();
    for (launch, number) in launched(log).iter().zip(first_arguments(log)) {
        *launches.entry((launch["kernel"].to_string(), number)).or_default() += 1;
    }
    let mut expected = BTreeMap::new();
    for number in numbers {
        for kernel in ["\"first\"", "\"second\""] {
            *expected.entry((kernel.to_string(), number as u32)).or_default() += 1;
        }
    }
    assert_eq!(launches, expected);
}

#[test]
fn threads_on_one_stream_or_several_launch_each_kernel_once() {
    for package in [&ways().graph, &ways().auto] {
        for n_streams in [1, 4, N_THREADS] {
            let config = "devices 1\ndelay cuGraphLaunch 1\ndelay cuGraphInstantiateWithFlags 1\n\
                delay cuGraphExecDestroy 1";
            let scene = Scene::on(package, config);
            let streams: Vec<_> = (0..n_streams).map(|_| scene.host.stream()).collect();
            let numbers = |thread: usize| (0..N_EACH).map(move |n| 1000 * thread as i64 + n);
            at_once(&scene, |thread| {
                fake_ffi::set_stream(streams[thread % n_streams]);
                for number in numbers(thread) {
                    scene.loaded.call("two", &ints(&[number])).unwrap();
                }
            });
            let log = scene.stub.take_log();
            expect_each_once(&log, (0..N_THREADS).flat_map(numbers));
            assert!(!calls(&log, "cuGraphLaunch").is_empty(), "{n_streams}");
            assert!(scene.n("executables") <= 4, "{n_streams}");
            let Scene { loaded, stub, .. } = scene;
            drop(loaded);
            let counts = stub.counts();
            assert_eq!((&counts["executables"], &counts["graphs"]), (&0.into(), &0.into()));
        }
    }
}

/// A prepared call may be called by any thread.
#[test]
fn a_prepared_call_is_anybodys() {
    let scene = Scene::on(&ways().graph, "devices 1\ndelay cuGraphLaunch 1");
    let prepared: Vec<_> = (0..2).map(|n| prepare(&scene, n)).collect();
    let made: Vec<_> = prepared.iter().map(fake_ffi::made).collect();
    at_once(&scene, |thread| {
        fake_ffi::set_stream(scene.stream);
        for _ in 0..N_EACH {
            assert_eq!(outcome(made[thread % 2].call(&[])).0, Ok(()));
        }
    });
    let log = scene.stub.take_log();
    let each = N_EACH * N_THREADS as i64 / 2;
    expect_each_once(&log, (0..2).flat_map(|n| (0..each).map(move |_| n)));
    assert!(!calls(&log, "cuGraphLaunch").is_empty());
    assert!(calls(&log, "cuGraphExecKernelNodeSetParams_v2").is_empty(), "each has its own graph");
    prepared.iter().for_each(fake_ffi::drop_result);
    assert_eq!((scene.n("executables"), scene.n("graphs")), (0, 0));
}

/// A prepared call with a number.
fn prepare(scene: &Scene, number: i64) -> Any {
    let arguments = Arguments::new(&ints(&[number]), Arrival::Tensor);
    let (status, prepared) = scene.loaded.invoke("kernpack_prepare_two", &arguments);
    outcome(status).0.unwrap();
    prepared
}
