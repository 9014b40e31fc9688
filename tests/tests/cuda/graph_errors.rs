// SPDX-License-Identifier: Apache-2.0
//! What the driver refuses on the way through graphs: nobody learns of it but by plain launches,
//! which say what they say; and of contexts and streams that have gone nothing is used.

use super::errors::codes;
use super::submission::*;
use super::*;

const FUNCTIONS: &[(&str, &str)] = &[
    (
        "both(x: Tensor([k], float32), n: int32)",
        "grid = [2], block = [32], attr = { cluster = [2], cooperative = true }",
    ),
    (
        "sized(n: int32, g: int32, b: int32, smem: int32)",
        "grid = [\"g\"], block = [\"b\"], smem = \"smem\"",
    ),
    (
        "clusters(n: int32, x: int32, y: int32)",
        "grid = [24, 24], block = [32], attr = { cluster = [\"x\", \"y\"] }",
    ),
    ("together(n: int32)", "grid = [\"n\"], block = [1024], attr = { cooperative = true }"),
];

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| Ways::build_each_of(FUNCTIONS));
    &BUILT
}

/// A call on device 0, which a tensor tells.
fn both(scene: &Scene, n: i64) -> Result<(), String> {
    scene.loaded.call("both", &[tensor(4, 0), Value::Int(n)])
}

/// The calls that the way through graphs makes: to ask, to make a graph, to launch it, and to
/// destroy it.
const SITES: [&str; 13] = [
    "cuStreamIsCapturing",
    "cuStreamGetId",
    "cuStreamGetCtx",
    "cuCtxGetId",
    "cuStreamGetAttribute",
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
    "cuGraphKernelNodeSetAttribute",
    "cuGraphInstantiateWithFlags",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
];

/// How often each is called in the first calls and at the end of a package.
fn n_calls(log: &[Json]) -> [usize; 13] {
    SITES.map(|site| calls(log, site).len())
}

/// Every kernel is launched once, as it would be plainly; and but for what the driver does not
/// destroy, nothing is left.
#[test]
fn nobody_learns_what_the_driver_refuses_graphs() {
    let live = |site: &str, nth: u64, code: u32| {
        let scene = Scene::new(&ways().graph);
        if !site.is_empty() {
            scene.stub.fail(site, nth, code);
        }
        for n in 0..5 {
            assert_eq!(both(&scene, n), Ok(()), "{site} {nth} {code}");
        }
        let Scene { loaded, stub, .. } = scene;
        drop(loaded);
        let log = stub.take_log();
        assert_eq!(first_arguments(&log), [0, 1, 2, 3, 4], "{site} {nth} {code}");
        let counts = stub.counts();
        let left = ["executables", "graphs"].map(|kind| counts[kind].as_u64().unwrap());
        let expected = match site {
            "cuGraphExecDestroy" => [1, 0],
            "cuGraphDestroy" => [0, 1],
            // Without its number, a context may be another than that of the graph.
            "cuCtxGetId" if nth == 2 => [1, 1],
            _ => [0, 0],
        };
        assert_eq!(left, expected, "{site} {nth} {code}");
        log
    };
    let usual = n_calls(&live("", 0, 0));
    assert_eq!(usual, [4, 4, 1, 2, 1, 1, 1, 2, 1, 3, 4, 1, 1]);
    let expect = |site: &str, nth, code| {
        let told = live(site, nth, code).iter().filter(|line| line["told"] == true).count();
        assert_eq!(told, 1, "{site} {nth} {code}");
    };
    for (site, n) in SITES.into_iter().zip(usual) {
        codes().iter().for_each(|(code, ..)| expect(site, 1, *code));
        (2..=n as u64).for_each(|nth| expect(site, nth, 719));
    }
}

/// Where the plain launch is refused as well, it is that which is told of.
#[test]
fn what_is_refused_both_ways_is_told_as_ever() {
    for site in ["cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2", "cuGraphCreate"] {
        for (code, name, drivers_name) in codes() {
            let [plain, graph] = ways().tell(|scene| {
                let n_before = if site == "cuGraphCreate" { 1 } else { 2 };
                for n in 0..n_before {
                    assert_eq!(both(scene, n), Ok(()));
                }
                scene.stub.fail(site, 1, code);
                scene.stub.fail("cuLaunchKernelEx", 0, code);
                both(scene, 9).unwrap_err()
            });
            assert_eq!(graph, plain, "{site} {code}");
            let expected = format!("({code}, {drivers_name}) launching `k0` on device 0: ");
            assert!(plain.starts_with(&format!("RuntimeError: CUDA Error: {name} {expected}")));
        }
    }
}

/// Whatever is beyond a limit is told as it is plainly, when a graph is made and when it is there,
/// and keeps no good call from being right.
#[test]
fn what_is_beyond_a_limit_is_told_as_ever() {
    let good: [(&str, &[i64]); 3] =
        [("sized", &[1, 1, 32, 0]), ("clusters", &[1, 2, 1]), ("together", &[100])];
    let bad: &[(&str, &[i64])] = &[
        ("sized", &[2, 1, 4096, 0]),
        ("sized", &[3, 1, 1025, 0]),
        ("sized", &[4, 1, 32, 232_449]),
        ("sized", &[5, i64::from(i32::MAX), 32, 232_449]),
        ("clusters", &[6, 5, 1]),
        ("clusters", &[7, 24, 1]),
        ("clusters", &[8, 8, 4]),
        ("together", &[1000]),
    ];
    let [plain, graph] = ways().tell(|scene| {
        let mut told = Vec::new();
        for (function, numbers) in bad {
            let (_, good) = good.iter().find(|(name, _)| name == function).unwrap();
            let call = |numbers| scene.loaded.call(function, &ints(numbers));
            // No call, one, two or three good ones before: with and without a graph.
            for n_before in 0..4 {
                (0..n_before).for_each(|_| assert_eq!(call(good), Ok(())));
                told.push(call(numbers).unwrap_err());
                assert_eq!(call(good), Ok(()));
            }
        }
        let log = scene.stub.take_log();
        (told, launched(&log), calls(&log, "cuGraphLaunch").len())
    });
    assert_eq!(graph.0, plain.0);
    assert_eq!(graph.1, plain.1);
    assert_eq!(plain.2, 0);
    assert!(graph.2 > 0);
}

/// As many refused calls as there may be: others go through graphs, and the function itself does
/// again.
#[test]
fn a_refused_call_keeps_nobody_from_graphs() {
    let scene = Scene::new(&ways().graph);
    for n in 0..100 {
        scene.loaded.call("sized", &ints(&[n, 1, 4096, 0])).unwrap_err();
    }
    for n in 0..3 {
        let log = scene.count("together", &[100 + n]);
        assert_eq!(graph_calls(&log).is_empty(), n == 0, "{n}");
    }
}

/// Also where the first calls had to do without a function of the primary context, as none was
/// current.
#[test]
fn what_a_first_call_did_without_keeps_nobody_from_graphs() {
    let scene = Scene::new(&ways().graph);
    let loaded = ways().graph.load();
    let call = |n| loaded.call("both", &[tensor(4, 0), Value::Int(n)]).unwrap();
    scene.host.set_current(scene.host.primary(1));
    (0..2).for_each(call);
    scene.host.set_current(scene.primary);
    // The device's context is known from a call on the NULL stream.
    fake_ffi::set_stream(0);
    loaded.call("together", &ints(&[1])).unwrap();
    fake_ffi::set_stream(scene.stream);
    scene.stub.take_log();
    (2..5).for_each(call);
    let log = scene.stub.take_log();
    assert_eq!(first_arguments(&log), [2, 3, 4]);
    assert!(calls(&log, "cuGraphLaunch").len() >= 2, "{:?}", names(&log));
}

/// What a reset leaves of a graph is a handle that means nothing: it is not used, and not given to
/// the driver to destroy. There is a graph again, after some time.
#[test]
fn a_reset_leaves_nothing_to_use() {
    // More than it takes until an executable is tried to be made once more.
    const N_CALLS: i64 = 600;
    for is_null in [true, false] {
        let scene = Scene::new(&ways().graph);
        for life in 0..3 {
            fake_ffi::set_stream(if is_null { 0 } else { scene.host.stream() });
            scene.stub.take_log();
            for n in 0..N_CALLS {
                assert_eq!(both(&scene, n), Ok(()), "{life}");
            }
            let log = scene.stub.take_log();
            assert_eq!(first_arguments(&log), (0..N_CALLS as u32).collect::<Vec<_>>());
            for line in log.iter().filter(|line| !line["args"]["executable"].is_null()) {
                assert_eq!(line["result"], "CUDA_SUCCESS", "{line}");
            }
            let has_graph = names(&log).last() == Some(&"cuGraphLaunch");
            assert!(has_graph, "{life}");
            scene.host.reset(0);
            assert_eq!(scene.n("executables"), 0, "they end with their context");
            scene.host.set_current(scene.host.primary(0));
        }
    }
}

/// A stream's handle may come back: as another stream of the context, or of another context.
#[test]
fn a_stream_may_have_the_handle_of_another() {
    let scene = Scene::on(&ways().graph, "devices 2\nstream-handles reused");
    let own = scene.host.create(0);
    let handle = scene.stream;
    for (context, is_graph) in [(scene.primary, true), (own, false), (scene.primary, true)] {
        for n in 0..3 {
            scene.host.set_current(scene.primary);
            let log = scene.call("both", &[tensor(4, 0), Value::Int(n)]);
            assert_eq!(first_arguments(&log), [n as u32]);
        }
        scene.host.destroy_stream(handle);
        scene.host.set_current(context);
        assert_eq!(scene.host.stream(), handle);
        scene.host.set_current(scene.primary);
        let log = scene.call("both", &[tensor(4, 0), Value::Int(9)]);
        assert_eq!(first_arguments(&log), [9]);
        assert_eq!(calls(&log, "cuGraphLaunch").len(), usize::from(is_graph));
        let ran_in = &launched(&log)[0]["context"];
        let expected = if is_graph { "context1" } else { "context2" };
        assert_eq!(ran_in, expected);
    }
}
