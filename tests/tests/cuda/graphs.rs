// SPDX-License-Identifier: Apache-2.0
//! Launches through executable graphs: kernels get what they get plainly, call by call, and the
//! driver is asked for no more than that takes.

use super::submission::*;
use super::*;
use kernpack_ffi_abi::DType;
use kernpack_tests::cuda_host::{GLOBAL, RELAXED, THREAD_LOCAL};
use kernpack_tests::value::Tensor;

/// Kernels, and their parameters.
const KERNELS: &[(&str, &str)] = &[
    ("none", ""),
    ("count", ".param .u32 n"),
    ("scalars", ".param .u64 x, .param .u32 n, .param .f32 by, .param .u8 k, .param .u16 h"),
    ("structs", ".param .align 8 .b8 a[24], .param .u16 k, .param .align 8 .b8 b[200]"),
    ("map", ".param .align 64 .b8 m[128], .param .u32 n"),
    (
        "many",
        ".param .u64 a, .param .u8 b, .param .u16 c, .param .u32 d, .param .u64 e, .param .f32 f, .param .f64 g, \
         .param .u64 h, .param .u8 i, .param .u16 j, .param .u32 k, .param .u64 l, .param .f32 m, .param .f64 n, \
         .param .u64 o, .param .u8 p, .param .u16 q, .param .u32 r, .param .u64 s",
    ),
    ("constants", ".param .u8 a, .param .f64 b, .param .u64 c"),
    ("strides", ".param .u64 x, .param .u64 s, .param .u64 t"),
    ("twelve", ".param .align 4 .b8 a[12]"),
];

const LAUNCH: &str = "grid = [\"n % 3 + 1\", 2], block = [\"32 * (n % 4 + 1)\"], smem = \"4 * n\"";
const FIXED: &str = "grid = [1], block = [32]";

/// Functions: the signature, the kernel, its arguments and its launch.
const FUNCTIONS: &[(&str, &str, &[&str], &str)] = &[
    ("none(x: Tensor([n], float32))", "none", &[], LAUNCH),
    ("count(n: int32)", "count", &["n"], LAUNCH),
    (
        "scalars(x: Tensor([n], float32), by: float32, k: int8, h: float16)",
        "scalars",
        &["x", "n: int32", "by", "k", "h"],
        LAUNCH,
    ),
    (
        "structs(x: Tensor([n], float32), k: int16)",
        "structs",
        &[
            "struct(x, n, 7: int64)",
            "k",
            "struct(n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, x)",
        ],
        LAUNCH,
    ),
    ("map(a: Tensor([n, 64], float16))", "map", &["tma(a, box=[8, 8])", "n: int32"], LAUNCH),
    (
        "many(x: Tensor([n], float32), k: int8, h: float16, f: float32, g: float64)",
        "many",
        &[
            "x", "k", "h", "n: int32", "n", "f", "g", "x", "k", "h", "n: int32", "n", "f", "g",
            "x", "k", "h", "n: int32", "n",
        ],
        LAUNCH,
    ),
    (
        "constants(x: Tensor([n], float32))",
        "constants",
        &["-128: int8", "0.1: float64", "18446744073709551615: uint64"],
        LAUNCH,
    ),
    ("strides(x: Tensor([n, 4], float32, strides=[s, t]))", "strides", &["x", "s", "t"], LAUNCH),
    ("twelve(n: int32, k: int32)", "twelve", &["struct(1: int32, n, k)"], FIXED),
    (
        "cluster(n: int32, c: int32)",
        "count",
        &["n"],
        "grid = [8, 4], block = [32], attr = { cluster = [\"c\", 2] }",
    ),
    (
        "together(n: int32)",
        "count",
        &["n"],
        "grid = [\"n\"], block = [32], attr = { cooperative = true }",
    ),
    (
        "both(n: int32)",
        "count",
        &["n"],
        "grid = [\"2 * n\"], block = [32], attr = { cluster = [2], cooperative = true }",
    ),
    ("sized(n: int32, gz: int32, by: int32, smem: int32)", "count", &["n"], SIZED),
];

const SIZED: &str = "grid = [1, 1, \"gz\"], block = [1, \"by\"], smem = \"smem\"";

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| {
        let functions = FUNCTIONS.iter();
        let functions = functions
            .map(|(signature, kernel, args, launch)| function(signature, kernel, args, launch));
        Ways::build(&functions.collect::<String>(), &ptx(KERNELS), "")
    });
    &BUILT
}

/// What a function is called with, the `i`th time: other values each time.
fn given(function: &str, i: i64) -> Vec<Value> {
    let n = 16 + i;
    let tensor = |dtype, shape: &[i64], strides: Option<&[i64]>| {
        let (shape, strides) = (shape.to_vec(), strides.map(<[i64]>::to_vec));
        tensor_at(0x1000 * n as u64, Tensor { dtype, shape, strides, ..Tensor::default() })
    };
    let x = tensor(DType::FLOAT32, &[n], None);
    let (k, f) = (Value::Int(-i), Value::Float(0.5 + i as f64));
    match function {
        "none" | "constants" => vec![x],
        "count" | "together" | "both" => ints(&[n]),
        "scalars" => vec![x, f.clone(), k, f],
        "structs" => vec![x, k],
        "map" => vec![tensor(DType::FLOAT16, &[n, 64], None)],
        "many" => vec![x, k, f.clone(), f.clone(), f],
        "strides" => vec![tensor(DType::FLOAT32, &[n, 4], Some(&[8 * n, n]))],
        "twelve" => ints(&[7 + i, -i]),
        "cluster" => ints(&[n, [1, 2, 4, 8][i as usize % 4]]),
        "sized" => ints(&[n, i % 2 + 1, i % 3 + 1, 16 * i]),
        _ => unreachable!("{function}"),
    }
}

/// The calls that launches through a graph may take.
const LAUNCHES: [&str; 2] = ["cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2"];

/// Whatever changes from call to call, each kernel gets its own. A graph is made for the second
/// call, or the fourth where the way is chosen; in those behind it one call sets what has changed,
/// and one launches.
#[test]
fn kernels_get_the_same_whichever_way_they_are_launched() {
    for (signature, ..) in FUNCTIONS {
        let name = signature.split('(').next().unwrap();
        let story = |package| {
            let scene = Scene::new(package);
            let logs = (0..N_CALLS).map(|i| scene.call(name, &given(name, i)));
            (logs.collect::<Vec<_>>(), submitted::launched(&scene.loaded, name))
        };
        let (plain, counts) = story(&ways().plain);
        let expected = launched(&plain.concat());
        assert_eq!(expected.len() as i64, N_CALLS, "{name}");
        assert_eq!(counts, serde_json::json!({ "plain": N_CALLS, "graph": 0, "graphs": 0 }));
        assert!(graph_calls(&plain.concat()).is_empty(), "{name}");
        for (package, n_plain) in [(&ways().graph, 1), (&ways().auto, 3)] {
            let (logs, counts) = story(package);
            assert_eq!(launched(&logs.concat()), expected, "{name}");
            // Other clusters are other nodes.
            if name == "cluster" {
                continue;
            }
            let graph = N_CALLS - n_plain;
            let counted = serde_json::json!({ "plain": n_plain, "graph": graph, "graphs": 1 });
            assert_eq!(counts, counted, "{name}");
            for (number, log) in logs.iter().enumerate() {
                let made = graph_calls(log);
                match number as i64 - n_plain {
                    ..0 => assert!(made.is_empty(), "{name} {number}: {made:?}"),
                    0 => assert_eq!(made.first(), Some(&"cuGraphCreate"), "{name}"),
                    _ => assert_eq!(made, [LAUNCHES[1], LAUNCHES[0]], "{name} {number}"),
                }
            }
        }
    }
}

/// Whatever it is that differs from the last call, it is set once, and what is the same is not.
#[test]
fn what_a_kernel_has_is_not_set_again() {
    let scene = Scene::new(&ways().graph);
    let usual = [16, 1, 1, 64];
    for _ in 0..2 {
        scene.count("sized", &usual);
    }
    let n_sets = |numbers: &[i64; 4]| {
        let log = scene.count("sized", numbers);
        assert_eq!(calls(&log, LAUNCHES[0]).len(), 1);
        assert_eq!(first_arguments(&log), [numbers[0] as u32]);
        calls(&log, LAUNCHES[1]).len()
    };
    for numbers in [[17, 1, 1, 64], [17, 2, 1, 64], [17, 2, 3, 64], [17, 2, 3, 65], [-17, 2, 3, 65]]
    {
        assert_eq!([&numbers; 3].map(n_sets), [1, 0, 0], "{numbers:?}");
    }
    // What has kept changing is set without a look, and it is noticed where that ends.
    for number in 0..40 {
        assert_eq!(n_sets(&[number, 1, 1, 64]), 1, "{number}");
    }
    let sets: Vec<_> = (0..40).map(|_| n_sets(&usual)).collect();
    assert!(sets.iter().sum::<usize>() <= 17, "{sets:?}");
    assert!(sets[17..].iter().all(|n| *n == 0), "{sets:?}");
}

/// Each of many arguments is looked at, to its last byte.
#[test]
fn a_change_of_any_argument_is_noticed() {
    let scene = Scene::new(&ways().graph);
    for name in ["many", "scalars", "structs", "strides", "twelve"] {
        let values = given(name, 1);
        for _ in 0..2 {
            scene.call(name, &values);
        }
        assert_eq!(graph_calls(&scene.call(name, &values)), [LAUNCHES[0]], "{name}");
        for changed in 0..values.len() {
            let mut values = values.clone();
            values[changed] = given(name, 2).remove(changed);
            let log = scene.call(name, &values);
            assert_eq!(graph_calls(&log), [LAUNCHES[1], LAUNCHES[0]], "{name} {changed}");
            scene.call(name, &given(name, 1));
        }
    }
}

/// On the NULL stream, the current context is asked for once, whichever way it goes; and a stream
/// of one's own is asked whether it is the one that it was.
#[test]
fn a_launch_takes_these_calls_and_no_more() {
    let scene = Scene::new(&ways().graph);
    let same = || scene.call("strides", &given("strides", 1));
    for (stream, expected) in [
        (scene.stream, &["cuCtxGetCurrent", "cuStreamIsCapturing", "cuStreamGetId"][..]),
        (0, &["cuCtxGetCurrent", "cuStreamIsCapturing", "cuCtxGetId"]),
        (1, &["cuCtxGetCurrent", "cuStreamIsCapturing", "cuCtxGetId"]),
    ] {
        fake_ffi::set_stream(stream);
        for _ in 0..2 {
            same();
        }
        let log = same();
        assert_eq!(names(&log), [expected, &["cuGraphLaunch"]].concat(), "{stream}");
    }
}

/// Each of two devices has graphs of its own.
#[test]
fn each_device_has_its_graphs() {
    let scene = Scene::new(&ways().graph);
    fake_ffi::set_stream(0);
    let contexts = [scene.primary, scene.host.primary(1)];
    for n in 0..N_CALLS {
        for (device, context) in contexts.iter().enumerate() {
            scene.host.set_current(*context);
            let log = scene.count("count", &[16 + n]);
            assert_eq!(first_arguments(&log), [16 + n as u32]);
            assert_eq!(launched(&log)[0]["device"], device);
            let makes = graph_calls(&log).contains(&"cuGraphCreate");
            assert_eq!(makes, n == 1, "{n} on {device}");
        }
    }
    assert_eq!(scene.n("executables"), 2);
}

/// Cooperative launches and clusters are nodes' own, and those of a graph keep what they had.
#[test]
fn a_cluster_goes_through_a_graph_as_long_as_it_is_the_same() {
    let scene = Scene::new(&ways().graph);
    for (cluster, is_graph) in
        [(2, false), (2, true), (2, true), (4, false), (2, true), (8, false), (4, false), (2, true)]
    {
        let log = scene.count("cluster", &[5, cluster]);
        assert_eq!(calls(&log, LAUNCHES[0]).len(), usize::from(is_graph), "{cluster}");
        let attributes = launched(&log)[0]["config"]["attributes"].clone();
        let expected =
            serde_json::json!([{ "id": 4, "name": "cluster", "value": [cluster, 2, 1] }]);
        assert_eq!(attributes, expected);
    }
}

/// Making and destroying are potentially unsafe calls, which another thread's global capture
/// forbids; the thread's own mode of capture, and its context, are as they were.
#[test]
fn graphs_are_made_and_destroyed_while_another_stream_is_captured() {
    let scene = Scene::new(&ways().graph);
    let capturing = scene.host.stream();
    let host = &scene.host;
    for mode in [GLOBAL, THREAD_LOCAL, RELAXED] {
        host.exchange_capture_mode(mode);
        let loaded = ways().graph.load();
        host.begin_capture(capturing, GLOBAL);
        for i in 0..3 {
            loaded.call("strides", &given("strides", i)).unwrap();
        }
        assert_eq!(scene.n("executables"), 1, "{mode}");
        assert_eq!(host.exchange_capture_mode(mode), mode, "restored");
        let own = host.create(1);
        drop(loaded);
        assert_eq!((scene.n("executables"), scene.n("graphs")), (0, 0), "{mode}");
        assert_eq!(host.current(), own);
        assert_eq!(host.exchange_capture_mode(mode), mode, "restored");
        host.set_current(scene.primary);
        assert_eq!(host.end_capture(capturing), 0, "{mode}");
    }
}
