// SPDX-License-Identifier: Apache-2.0
//! What decides about graphs outside of packages: `KERNPACK_LAUNCH` and `CUDA_LAUNCH_BLOCKING` of
//! the environment, and a driver that lacks a function.

use super::submission::*;
use super::*;
use kernpack_tests::alone::alone;
use kernpack_tests::cuda_host::Host;
use kernpack_tests::cuda_stub;
use std::fs;
use std::path::Path;

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| {
        let launch = "grid = [1], block = [32]";
        let text = function("count(x: Tensor([k], float32), n: int32)", "count", &["n"], launch);
        Ways::build(&text, &ptx(&[("count", ".param .u32 n")]), "")
    });
    &BUILT
}

fn values(n: i64) -> [Value; 2] {
    [tensor(4, 0), Value::Int(n)]
}

/// The first call that goes through a graph, if one does, and what the last takes.
fn first_graph(scene: &Scene) -> (Option<i64>, Vec<String>) {
    let mut first = None;
    let mut last = Vec::new();
    for n in 0..N_CALLS {
        let log = scene.call("count", &values(n));
        assert_eq!(first_arguments(&log), [n as u32]);
        if first.is_none() && !graph_calls(&log).is_empty() {
            first = Some(n);
        }
        last = names(&log).iter().map(|name| name.to_string()).collect();
    }
    (first, last)
}

/// What packages that want plain launches, graphs and the cheaper do.
fn firsts() -> [Option<i64>; 3] {
    let Ways { plain, graph, auto } = ways();
    [plain, graph, auto].map(|package| first_graph(&Scene::new(package)).0)
}

/// Which variables packages are called under, and at which call each of three packages then has its
/// first graph.
type Row = (&'static [(&'static str, &'static str)], [Option<i64>; 3]);

const ROWS: &[Row] = &[
    (&[], [None, Some(1), Some(3)]),
    (&[("KERNPACK_LAUNCH", "plain")], [None; 3]),
    (&[("KERNPACK_LAUNCH", "graph")], [Some(1); 3]),
    (&[("KERNPACK_LAUNCH", "auto")], [Some(3); 3]),
    (&[("CUDA_LAUNCH_BLOCKING", "1")], [None; 3]),
    (&[("CUDA_LAUNCH_BLOCKING", "1"), ("KERNPACK_LAUNCH", "graph")], [None; 3]),
    (&[("CUDA_LAUNCH_BLOCKING", "0")], [None, Some(1), Some(3)]),
    (&[("CUDA_LAUNCH_BLOCKING", "")], [None, Some(1), Some(3)]),
];

/// The row that the process is in.
const ROW: &str = "KERNPACK_TEST_ROW";

#[test]
fn the_environment_decides_whatever_packages_want() {
    for (number, (variables, _)) in ROWS.iter().enumerate() {
        let number = number.to_string();
        let variables = [variables, &[(ROW, &number[..])][..]].concat();
        if alone("setting::the_environment_decides_whatever_packages_want", &variables) {
            let row = std::env::var(ROW).unwrap().parse::<usize>().unwrap();
            let (variables, expected) = ROWS[row];
            assert_eq!(firsts(), expected, "{variables:?}");
            return;
        }
    }
}

/// The calls of the driver that packages made of it before they knew of graphs.
#[test]
fn plain_launches_take_what_they_always_took() {
    let of = |package: &GpuPackage| {
        let scene = Scene::new(package);
        fake_ffi::set_stream(0);
        let on_null = first_graph(&scene).1;
        fake_ffi::set_stream(scene.stream);
        [on_null, first_graph(&scene).1]
    };
    let expected = [&["cuCtxGetCurrent", "cuLaunchKernelEx"][..], &["cuLaunchKernelEx"]];
    assert_eq!(of(&ways().plain), expected);
    let name = "setting::plain_launches_take_what_they_always_took";
    if alone(name, &[("KERNPACK_LAUNCH", "plain")]) {
        let life = |package: &GpuPackage| {
            let Scene { loaded, stub, .. } = Scene::new(package);
            for n in 0..N_CALLS {
                loaded.call("count", &values(n)).unwrap();
            }
            drop(loaded);
            stub.take_log()
        };
        let told = |log: &[Json]| -> Vec<_> {
            log.iter().map(|line| (line["call"].clone(), line["launch"].clone())).collect()
        };
        let plain = told(&life(&ways().plain));
        for package in [&ways().graph, &ways().auto] {
            assert_eq!(of(package), expected);
            assert_eq!(told(&life(package)), plain, "from the first call to the last");
        }
    }
}

#[test]
fn a_value_that_means_nothing_is_told() {
    for value in ["nonsense", "", "Plain", "plain ", "graphs"] {
        let name = "setting::a_value_that_means_nothing_is_told";
        if alone(name, &[("KERNPACK_LAUNCH", value)]) {
            let value = std::env::var("KERNPACK_LAUNCH").unwrap();
            let stub = Stub::load("devices 1");
            default_stream();
            for package in [&ways().plain, &ways().graph] {
                let loaded = package.load();
                for _ in 0..2 {
                    let error = loaded.call("count", &values(1)).unwrap_err();
                    let calling = "when calling: `count(x: Tensor([k], float32), n: int32)`";
                    let expected = "expected `auto`, `plain` or `graph`";
                    let is = format!("RuntimeError: KERNPACK_LAUNCH is `{value}` {calling}");
                    assert_eq!(error, format!("{is}: {expected}"));
                }
            }
            assert!(stub.take_log().is_empty(), "the driver is not even started");
            return;
        }
    }
}

/// The functions for graphs.
const FUNCTIONS: [&str; 12] = [
    "cuGraphLaunch",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuCtxGetId",
    "cuStreamGetId",
    "cuStreamIsCapturing",
    "cuStreamGetAttribute",
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
    "cuGraphKernelNodeSetAttribute",
    "cuGraphInstantiateWithFlags",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
];

/// What packages call besides, and what the test does. There is no `cuGraphAddDependencies_v2`,
/// which older drivers lack: graphs do without.
const OTHERS: [&str; 27] = [
    "cuStreamGetCtx",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxSetCurrent",
    "cuCtxEnablePeerAccess",
    "cuCtxSynchronize",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDevicePrimaryCtxGetState",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernelEx",
    "cuStreamCreate",
    "cuThreadExchangeStreamCaptureMode",
    "cuKernelGetAttribute",
    "cuKernelGetFunction",
    "cuKernelSetAttribute",
    "cuLibraryGetKernel",
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuMemHostGetDevicePointer_v2",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
];

/// Writes a driver that hands each of these calls to the stub, and has no other functions.
fn write_driver(folder: &Path, functions: &[&str]) {
    let mut text = format!(
        "void *dlopen(const char *, int); void *dlsym(void *, const char *);\n\
         static void *stub(const char *name) {{ return dlsym(dlopen(\"{}\", 2), name); }}\n",
        cuda_stub::library().display()
    );
    let params = "long a, long b, long c, long d, long e, long f, long g, long h";
    for name in functions {
        let target = format!("((int (*)({params})) stub(\"{name}\"))");
        text += &format!("int {name}({params}) {{ return {target}(a, b, c, d, e, f, g, h); }}\n");
    }
    build_c(folder, "libcuda.so.1", &text);
}

/// The stub tells in a file what was called: the process has it behind another driver.
#[test]
fn a_driver_without_graphs_launches_plainly() {
    const NONE: &str = "";
    for function in [NONE].into_iter().chain(FUNCTIONS) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let others = FUNCTIONS.into_iter().filter(|name| *name != function);
        write_driver(folder.path(), &others.chain(OTHERS).collect::<Vec<_>>());
        fs::write(path("config"), format!("devices 1\nlog {}", path("log"))).unwrap();
        let variables = [
            ("LD_LIBRARY_PATH", folder.path().to_str().unwrap()),
            ("KERNPACK_CUDA_STUB", &path("config")),
            (LOG, &path("log")),
            (LACKS, function),
        ];
        if alone("setting::a_driver_without_graphs_launches_plainly", &variables) {
            let variable = |name| std::env::var(name).unwrap();
            return expect_ways(&variable(LOG), variable(LACKS) == NONE);
        }
    }
}

/// The variables that say which file the log is, and which function there is not.
const LOG: &str = "KERNPACK_TEST_LOG";
const LACKS: &str = "KERNPACK_TEST_LACKS";

/// Has packages launch, which do so through graphs if they can.
fn expect_ways(log: &str, has_graphs: bool) {
    let host = Host::new();
    host.set_current(host.primary(0));
    fake_ffi::set_stream(host.stream());
    for package in [&ways().graph, &ways().auto] {
        let loaded = package.load();
        for n in 0..N_CALLS {
            loaded.call("count", &values(n)).unwrap();
        }
    }
    let log = fs::read_to_string(log).unwrap();
    let log: Vec<Json> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let n_launched = first_arguments(&log).len() as i64;
    assert_eq!(n_launched, 2 * N_CALLS);
    // The call for which the driver is started counts for nothing.
    let n_plain = if has_graphs { 2 + 4 } else { n_launched };
    assert_eq!(calls(&log, "cuLaunchKernelEx").len() as i64, n_plain);
    assert_eq!(graph_calls(&log).is_empty(), !has_graphs);
}
