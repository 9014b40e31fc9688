// SPDX-License-Identifier: Apache-2.0
//! Functions of several launches: which of them go through one graph, in which order they come, and
//! what has run where one of them is refused.

use super::submission::*;
use super::*;
use kernpack_ffi_abi::DType;
use kernpack_tests::cuda_host::Host;
use kernpack_tests::value::Tensor;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const KERNELS: &[(&str, &str)] = &[
    ("a", ".param .u32 n"),
    ("b", ".param .u32 n, .param .u64 x"),
    ("c", ".param .u32 n"),
    ("of_float32", ".param .u32 n"),
    ("of_float16", ".param .u32 n"),
    ("map", ".param .u32 n, .param .align 64 .b8 m[128]"),
];

/// What the package's host functions do: call back.
const C: &str = "void call(void (*back)(void)) { back(); }";

/// A launch of a kernel. Blocks are of 32 threads where nothing else is said.
fn launch(kernel: &str, args: &[&str], more: &[&str]) -> String {
    let usual = ["grid = [1]", "block = [32]"];
    let is_said = |line: &&&str| {
        let key = line.split(' ').next().unwrap();
        !more.iter().any(|line| line.split(' ').next() == Some(key))
    };
    let lines: Vec<_> = usual.iter().filter(is_said).chain(more).copied().collect();
    format!(
        "[[function.launch]]\nsource = {{ ptx = \"k.ptx\" }}\nkernel = \"{kernel}\"\nargs = {args:?}\n{}\n",
        lines.join("\n")
    )
}

/// A call of the host function.
const BACK: &str =
    "[[function.launch]]\nsource = { host = \"h.c\" }\nkernel = \"call\"\nargs = [\"f\"]\n";

fn several(signature: &str, launches: &[String]) -> String {
    format!("[[function]]\nsignature = \"{signature}\"\n{}", launches.concat())
}

/// A function of that many launches: each other is passed what the call is.
fn many(number: usize) -> String {
    let launches = (0..number).map(|i| {
        let constant = format!("{i}: int32");
        launch("a", &[if i % 2 == 0 { "n" } else { &constant }], &[])
    });
    several(&format!("many{number}(n: int32)"), &launches.collect::<Vec<_>>())
}

fn functions() -> String {
    let when = |bit: u32| format!("when = \"s // {bit} % 2 == 1\"");
    let set = |kernels: [&str; 3]| {
        let launches = kernels.iter().zip([1, 2, 4]);
        let args = |kernel: &str| if kernel == "b" { vec!["n", "n: int64"] } else { vec!["n"] };
        launches
            .map(|(kernel, bit)| launch(kernel, &args(kernel), &[&when(bit)]))
            .collect::<Vec<_>>()
    };
    let [a, c] = ["a", "c"].map(|kernel| launch(kernel, &["n"], &[]));
    let grid = |size: &str| format!("grid = [\"{size}\"]");
    let on = "attr = { stream = \"s\" }";
    [
        several("sets(n: int32, s: int32)", &set(["a", "b", "c"])),
        several("same(n: int32, s: int32)", &set(["a", "a", "a"])),
        several(
            "either(n: int32, s: int32)",
            &[
                launch("a", &["n"], &[&when(1)]),
                launch("a", &["n"], &["when = \"otherwise\"", "grid = [2]"]),
            ],
        ),
        several("around(n: int32, f: Pointer)", &[a.clone(), BACK.into(), c.clone(), c.clone()]),
        several(
            "streams(x: Tensor([k], float32), n: int32, s: Stream)",
            &[a.clone(), launch("c", &["n"], &[on]), launch("a", &["n"], &[on]), c.clone()],
        ),
        several(
            "empty(n: int32, g: int32, h: int32, i: int32)",
            &["g", "h", "i"].map(|size| launch("a", &[size], &[&grid(size)])),
        ),
        several(
            "dtypes(x: Tensor([n], T)) where T in {float16, float32}",
            &[launch("of_{T}", &["n: int32"], &[]), launch("a", &["n: int32"], &[])],
        ),
        several(
            "wide(n: int32, t: int32)",
            &[a.clone(), launch("c", &["n"], &["block = [\"t\"]"]), a.clone()],
        ),
        several(
            "dependent(n: int32)",
            &[
                a.clone(),
                launch("c", &["n"], &["attr = { pdl = true }"]),
                launch("a", &["n"], &["attr = { pdl = true, cluster = [1], cooperative = true }"]),
            ],
        ),
        several(
            "early(n: int32)",
            &["", "pdl = true", "pdl = true", "", "pdl = true", "pdl = true, cooperative = true"]
                .map(|attr| launch("a", &["n"], &[&format!("attr = {{ {attr} }}")])),
        ),
        several(
            "mapped(x: Tensor([k, 64], float16), n: int32)",
            &[a.clone(), launch("map", &["n", "tma(x, box=[8, 8])"], &[]), a],
        ),
        many(64),
        many(70),
    ]
    .concat()
}

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| Ways::build(&functions(), &ptx(KERNELS), C));
    &BUILT
}

thread_local! {
    static BACK_TO: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// What the host function calls: whatever the thread has chosen.
extern "C" fn back() {
    let chosen = BACK_TO.with_borrow(Option::clone);
    chosen.expect("something is chosen")();
}

fn call_back_to(work: impl Fn() + 'static) -> Value {
    BACK_TO.set(Some(Rc::new(work)));
    Value::Ptr((back as *const ()).expose_provenance() as u64)
}

/// How many graphs were launched.
fn n_graphs(log: &[Json]) -> usize {
    calls(log, "cuGraphLaunch").len()
}

/// Tells a story of both packages: what it says has to be the same, and so does all that was
/// launched.
fn expect_same<T: PartialEq + std::fmt::Debug>(story: impl Fn(&Scene) -> T) -> Vec<Json> {
    let [plain, graph] = ways().tell(|scene| {
        let told = story(scene);
        (told, scene.stub.take_log())
    });
    assert_eq!(graph.0, plain.0);
    assert_eq!(launched(&graph.1), launched(&plain.1));
    assert_eq!(n_graphs(&plain.1), 0);
    graph.1
}

/// Uses differ in the kernels that run. Where those are the same, but not as many, one is told from
/// the other when its graph is to be launched.
#[test]
fn each_set_of_launches_is_its_own() {
    for name in ["sets", "same"] {
        let log = expect_same(|scene| {
            for n in 0..80 {
                let set = [7, 3, 7, 5, 4, 7, 6, 2][n as usize % 8];
                scene.loaded.call(name, &ints(&[n, set])).unwrap();
            }
        });
        assert!(n_graphs(&log) >= 20, "{name}: {}", n_graphs(&log));
    }
}

/// Launches of one kernel that differ in their size alone share a graph, whichever of them runs.
#[test]
fn launches_of_one_kernel_share_a_graph() {
    let scene = Scene::new(&ways().graph);
    for n in 0..8 {
        let log = scene.count("either", &[n, n % 2]);
        assert_eq!(first_arguments(&log), [n as u32]);
        let grid = &launched(&log)[0]["config"]["grid"];
        assert_eq!(grid, &serde_json::json!([2 - n % 2, 1, 1]));
        assert_eq!(n_graphs(&log), usize::from(n > 0), "{n}");
    }
    assert_eq!(scene.n("executables"), 1);
}

#[test]
fn what_changes_of_a_chain_is_set_and_the_rest_is_not() {
    for (name, n_launches, n_graphs) in [("many64", 64, 1), ("many70", 70, 2)] {
        let log = expect_same(|scene| {
            (0..5).for_each(|n| scene.loaded.call(name, &ints(&[n])).unwrap());
        });
        assert_eq!(launched(&log).len(), 5 * n_launches);
        assert_eq!(self::n_graphs(&log), 4 * n_graphs);
        assert_eq!(calls(&log, "cuGraphCreate").len(), n_graphs);
        assert_eq!(calls(&log, "cuLaunchKernelEx").len(), n_launches, "of the first call");
        let n_sets = calls(&log, "cuGraphExecKernelNodeSetParams_v2").len();
        assert_eq!(n_sets, 3 * n_launches / 2);
    }
}

/// Kernels of a graph wait for one another, as on a stream.
#[test]
fn the_nodes_of_a_graph_are_in_a_line() {
    let scene = Scene::new(&ways().graph);
    scene.count("sets", &[0, 7]);
    let log = scene.count("sets", &[1, 7]);
    let nodes = calls(&log, "cuGraphAddKernelNode_v2");
    let after: Vec<_> = nodes.iter().map(|line| line["after"].clone()).collect();
    let made = |number: usize| serde_json::json!([nodes[number]["out"]["node"]]);
    assert_eq!(after, [serde_json::json!([]), made(0), made(1)]);
}

/// How nodes of a graph were connected, by their places in it: from which to which, and at which
/// port of the first.
fn edges(log: &[Json]) -> Vec<(usize, usize, u64)> {
    let nodes = calls(log, "cuGraphAddKernelNode_v2");
    let place = |node: &Json| nodes.iter().position(|line| line["out"]["node"] == *node).unwrap();
    let mut edges = Vec::new();
    for line in log.iter().filter(|line| line["result"] == "CUDA_SUCCESS") {
        match line["call"].as_str() {
            Some("cuGraphAddKernelNode_v2") => {
                let after = line["after"].as_array().unwrap();
                let to = place(&line["out"]["node"]);
                edges.extend(after.iter().map(|from| (place(from), to, 0)));
            }
            Some("cuGraphAddDependencies_v2") => {
                let of = line["edges"].as_array().unwrap();
                edges.extend(of.iter().map(|edge| {
                    let port = edge["way"]["from"].as_u64().unwrap();
                    (place(&edge["from"]), place(&edge["to"]), port)
                }));
            }
            _ => {}
        }
    }
    edges.sort_unstable();
    edges
}

/// A launch that may begin early begins when the one in front of it lets it. One that may not waits
/// for all that it could overlap with; a cooperative one, and what is behind it, overlaps with
/// none.
#[test]
fn launches_that_may_begin_early_have_programmatic_edges() {
    let scene = Scene::new(&ways().graph);
    scene.count("early", &[0]);
    let log = scene.count("early", &[1]);
    let expected =
        [(0, 1, 1), (0, 3, 0), (1, 2, 1), (1, 3, 0), (2, 3, 0), (3, 4, 1), (3, 5, 0), (4, 5, 0)];
    assert_eq!(edges(&log), expected);
    assert_eq!((n_graphs(&log), first_arguments(&log)), (1, vec![1; 6]));
    let log = scene.count("early", &[2]);
    assert_eq!((n_graphs(&log), first_arguments(&log)), (1, vec![2; 6]));
    assert_eq!((scene.n("graphs"), scene.n("executables")), (1, 1));
}

/// Where the driver takes no such edges, nodes are in a line.
#[test]
fn edges_that_the_driver_refuses_are_left_out() {
    let line: Vec<_> = (1..6).map(|to| (to - 1, to, 0)).collect();
    for (site, nth) in [
        ("cuGraphAddDependencies_v2", 1),
        ("cuGraphAddDependencies_v2", 4),
        ("cuGraphInstantiateWithFlags", 1),
    ] {
        let scene = Scene::new(&ways().graph);
        scene.count("early", &[0]);
        scene.stub.fail(site, nth, 801);
        let log = scene.count("early", &[1]);
        let second = log.iter().rposition(|line| line["call"] == "cuGraphCreate").unwrap();
        assert_eq!(edges(&log[second..]), line, "{site} {nth}");
        assert_eq!((n_graphs(&log), first_arguments(&log)), (1, vec![1; 6]));
        assert_eq!((scene.n("graphs"), scene.n("executables")), (1, 1));
    }
}

/// A launch that may begin before the one in front has ended is a node, whose edges say that: the
/// attribute is asked of none. By itself it is launched with all that it asks for.
#[test]
fn launches_that_may_begin_early_are_nodes_of_the_graph() {
    let ids = |of: &Json| {
        let attributes = of["config"]["attributes"].as_array().cloned().unwrap_or_default();
        attributes.iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    let [plain, graph] = ways().tell(|scene| {
        scene.count("dependent", &[0]);
        (1..4).map(|n| scene.count("dependent", &[n])).collect::<Vec<_>>()
    });
    for (n, log) in (1..).zip(&graph) {
        assert_eq!((n_graphs(log), first_arguments(log)), (1, vec![n; 3]));
    }
    let of_all = |log: &[Json]| Json::from(launched(log).iter().map(ids).collect::<Vec<_>>());
    assert_eq!(of_all(&graph[0]), serde_json::json!([[], [], [2, 4]]));
    assert_eq!(of_all(&plain[0]), serde_json::json!([[], [6], [2, 4, 6]]));
}

/// What the host does between launches it does between them.
#[test]
fn a_host_function_is_called_at_its_place() {
    let story = |package| {
        let scene = Scene::new(package);
        let host = Rc::new(Host::new());
        let count_devices = move || _ = host.attribute(1, 0);
        let back = call_back_to(count_devices);
        scene.stub.take_log();
        for n in 0..4 {
            scene.loaded.call("around", &[Value::Int(n), back.clone()]).unwrap();
        }
        let log = scene.stub.take_log();
        let step = |line: &Json| match line["call"] == "cuDeviceGetAttribute" {
            true => vec!["host".to_string()],
            false => launched(std::slice::from_ref(line))
                .iter()
                .map(|it| it["kernel"].to_string())
                .collect(),
        };
        (log.iter().flat_map(step).collect::<Vec<_>>(), n_graphs(&log))
    };
    let expected = ["\"a\"", "host", "\"c\"", "\"c\""].repeat(4);
    assert_eq!(story(&ways().plain), (expected.iter().map(|it| it.to_string()).collect(), 0));
    assert_eq!(story(&ways().graph).0, expected);
    assert_eq!(story(&ways().graph).1, 6, "two in each call but the first");
}

/// A graph is nobody's while the host is called, which may call the same function.
#[test]
fn a_host_function_may_call_the_package_again() {
    let story = |package: &GpuPackage| {
        let scene = Scene::new(package);
        let inner = Rc::new(package.load());
        let depth = Rc::new(Cell::new(0));
        let outer = inner.clone();
        let again = move || {
            depth.set(depth.get() + 1);
            if depth.get() % 3 != 0 {
                let back = Value::Ptr((back as *const ()).expose_provenance() as u64);
                inner.call("around", &[Value::Int(100 + depth.get()), back]).unwrap();
            }
        };
        let back = call_back_to(again);
        scene.stub.take_log();
        for n in 0..6 {
            outer.call("around", &[Value::Int(n), back.clone()]).unwrap();
        }
        BACK_TO.set(None);
        scene.stub.take_log()
    };
    let [plain, graph] = [&ways().plain, &ways().graph].map(story);
    assert_eq!(launched(&graph), launched(&plain));
    assert_eq!(launched(&plain).len(), 6 * 3 * 3);
    assert!(n_graphs(&graph) > 20);
}

#[test]
fn each_stream_has_its_graphs() {
    let log = expect_same(|scene| {
        let other = scene.host.stream();
        for n in 0..5 {
            // Also one and the same stream.
            let given = if n == 4 { scene.stream } else { other };
            let values = [tensor(4, 0), Value::Int(n), Value::Ptr(given as u64)];
            scene.loaded.call("streams", &values).unwrap();
        }
    });
    let on: Vec<_> = launched(&log).iter().map(|it| it["config"]["stream"].to_string()).collect();
    let [own, other] = ["\"stream1\"", "\"stream2\""];
    assert_eq!(on[..16], [own, other, other, own].repeat(4));
    assert_eq!(on[16..], [own; 4]);
    assert!(n_graphs(&log) >= 3 * 3);
}

#[test]
fn a_grid_without_blocks_is_no_node() {
    let log = expect_same(|scene| {
        for sizes in [[1, 2, 3], [1, 0, 3], [0, 2, 3], [0, 0, 0], [1, 2, 0], [0, 0, 3]].repeat(6) {
            let [g, h, i] = sizes;
            scene.loaded.call("empty", &ints(&[9, g, h, i])).unwrap();
        }
    });
    assert_eq!(launched(&log).len(), 6 * (3 + 2 + 2 + 2 + 1));
    assert!(n_graphs(&log) > 6);
}

#[test]
fn each_dtype_has_its_kernels() {
    let log = expect_same(|scene| {
        for n in 0..12 {
            let dtype = if n % 3 == 0 { DType::FLOAT16 } else { DType::FLOAT32 };
            let x = Tensor { dtype, shape: vec![n + 1], strides: None, ..Tensor::default() };
            scene.loaded.call("dtypes", &[tensor_at(0x1000, x)]).unwrap();
        }
    });
    assert_eq!(n_graphs(&log), 3 + 7, "each call but the first with each");
}

/// The launches before the one that is refused have run, and those behind it have not.
#[test]
fn what_comes_before_a_refused_launch_has_run() {
    let log = expect_same(|scene| {
        let mut told = Vec::new();
        for (n, threads) in [32, 4096, 32, 64, 1025, 4096, 64, 64].into_iter().enumerate() {
            let outcome = scene.loaded.call("wide", &ints(&[n as i64, threads]));
            assert_eq!(outcome.is_ok(), threads <= 1024);
            told.push(outcome);
        }
        told
    });
    assert_eq!(launched(&log).len(), 5 * 3 + 3);
    assert!(n_graphs(&log) >= 3);
}

/// What is refused for a reason of its own, whichever launch of a chain that is for.
#[test]
fn each_launch_of_a_chain_may_be_refused() {
    for (nth, code) in [(1, 1), (2, 2), (3, 719)] {
        let log = expect_same(|scene| {
            scene.count("sets", &[0, 7]);
            scene.count("sets", &[1, 7]);
            scene.stub.fail("cuGraphLaunch", 1, code);
            scene.stub.fail("cuLaunchKernelEx", nth, code);
            let error = scene.loaded.call("sets", &ints(&[2, 7])).unwrap_err();
            (error, scene.loaded.call("sets", &ints(&[3, 7])))
        });
        assert_eq!(first_arguments(&log), [vec![2; nth as usize - 1], vec![3; 3]].concat());
    }
}

/// What a launch is passed is made ready when it is its turn.
#[test]
fn what_comes_before_a_map_that_cannot_be_has_run() {
    let log = expect_same(|scene| {
        let x = Tensor {
            dtype: DType::FLOAT16,
            shape: vec![8, 64],
            strides: None,
            ..Tensor::default()
        };
        let call =
            |n| scene.loaded.call("mapped", &[tensor_at(0x1_0000, x.clone()), Value::Int(n)]);
        let mut told = Vec::new();
        for n in 0..8 {
            if n % 3 == 1 {
                scene.stub.fail("cuTensorMapEncodeTiled", 1, 1);
            }
            told.push(call(n));
        }
        assert_eq!(told.iter().filter(|outcome| outcome.is_err()).count(), 3);
        told
    });
    let expected = [0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 4, 5, 5, 5, 6, 6, 6, 7];
    assert_eq!(first_arguments(&log), expected);
    assert!(n_graphs(&log) >= 3);
}
