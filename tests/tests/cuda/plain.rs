// SPDX-License-Identifier: Apache-2.0
//! Where launches stay plain, though a function wants graphs and has one: the driver is asked for
//! what it is asked for plainly, and for nothing that has to do with graphs.

use super::submission::*;
use super::*;
use kernpack_tests::cuda_host::{GLOBAL, Host, PER_THREAD, RELAXED, THREAD_LOCAL};
use std::sync::Barrier;

const FUNCTIONS: &[(&str, &str)] = &[
    ("count(x: Tensor([k], float32), n: int32)", "grid = [1], block = [32]"),
    ("bare(n: int32)", "grid = [1], block = [32]"),
    ("wide(n: int32)", "grid = [1], block = [\"n\"]"),
    ("prior(n: int32)", "grid = [1], block = [32], attr = { priority = -1 }"),
    (
        "three(n: int32)",
        "grid = [1], block = [32], attr = { cluster = [1], cooperative = true, priority = 0 }",
    ),
];

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| Ways::build_each_of(FUNCTIONS));
    &BUILT
}

/// A call on device 0, which a tensor tells.
fn count(scene: &Scene, n: i64) -> Result<(), String> {
    scene.loaded.call("count", &[tensor(4, 0), Value::Int(n)])
}

/// Calls until there is a graph, where there is to be one, and forgets the log.
fn settle(scene: &Scene) {
    for n in 0..3 {
        assert_eq!(count(scene, n), Ok(()));
    }
    scene.stub.take_log();
}

/// Has a story told of a package that has a graph for its calls, and of one that launches plainly:
/// each call must do the same, and so have to do with no graph.
fn expect_plain<T: PartialEq + std::fmt::Debug>(what: &str, story: impl Fn(&Scene) -> T) {
    let [plain, graph] = ways().tell(|scene| {
        settle(scene);
        let told = story(scene);
        let deeds = deeds(&scene.stub.take_log());
        assert!(!deeds.is_empty(), "{what}");
        assert_eq!(count(scene, 99), Ok(()), "{what}, then a good call");
        assert_eq!(first_arguments(&scene.stub.take_log()), [99], "{what}");
        (told, deeds)
    });
    assert_eq!(graph, plain, "{what}");
}

#[test]
fn a_captured_stream_gets_launches() {
    let modes = [GLOBAL, THREAD_LOCAL, RELAXED];
    for (captures, own) in modes.into_iter().flat_map(|mode| modes.map(|own| (mode, own))) {
        expect_plain(&format!("{captures} {own}"), |scene| {
            scene.host.exchange_capture_mode(own);
            scene.host.begin_capture(scene.stream, captures);
            let told = [1, 2, 3].map(|n| count(scene, n));
            assert_eq!(scene.host.capturing(scene.stream), 1, "{told:?}");
            assert_eq!(scene.host.end_capture(scene.stream), 0);
            scene.host.exchange_capture_mode(GLOBAL);
            told
        });
    }
}

/// Whatever spoilt a capture, what follows is refused until it ends.
#[test]
fn a_spoilt_capture_refuses_launches() {
    expect_plain("a spoilt capture", |scene| {
        scene.host.begin_capture(scene.stream, RELAXED);
        let wide = scene.loaded.call("wide", &ints(&[4096])).unwrap_err();
        assert_eq!(scene.host.capturing(scene.stream), 2);
        let told = [1, 2].map(|n| count(scene, n).unwrap_err());
        assert_ne!(scene.host.end_capture(scene.stream), 0);
        (wide, told)
    });
}

/// The capture's own graph is what launches go into, also where a graph would have been made in the
/// very call; and behind the end of the capture, what was made before is launched again.
#[test]
fn a_capture_may_begin_and_end_between_any_two_calls() {
    for begins_at in 0..4 {
        let [plain, graph] = ways().tell(|scene| {
            let mut told = Vec::new();
            for n in 0..8 {
                if n == begins_at {
                    scene.host.begin_capture(scene.stream, GLOBAL);
                }
                if n == begins_at + 2 {
                    assert_eq!(scene.host.end_capture(scene.stream), 0);
                }
                let log = scene.call("count", &[tensor(4, 0), Value::Int(n)]);
                let is_captured = (begins_at..begins_at + 2).contains(&n);
                let launch = calls(&log, "cuLaunchKernelEx");
                if is_captured {
                    assert_eq!(launch[0]["captured"], true, "{n} of {begins_at}");
                    assert!(graph_calls(&log).is_empty(), "{n} of {begins_at}");
                }
                told.push((launched(&log), launch.is_empty()));
            }
            told
        });
        let all = |told: &[(Vec<Json>, bool)]| -> Vec<_> {
            told.iter().map(|(launched, _)| launched.clone()).collect()
        };
        assert_eq!(all(&graph), all(&plain), "{begins_at}");
        assert!(graph.iter().rev().take(2).all(|(_, is_graph)| *is_graph), "{begins_at}");
    }
}

/// The NULL stream would wait for the captured one, and is told so as ever.
#[test]
fn the_null_stream_waits_for_no_capture() {
    for stream in [0, 1] {
        let [plain, graph] = ways().tell(|scene| {
            let blocking = scene.host.blocking_stream();
            fake_ffi::set_stream(stream);
            settle(scene);
            scene.host.begin_capture(blocking, RELAXED);
            let told = count(scene, 7).unwrap_err();
            let deeds = deeds(&scene.stub.take_log());
            assert_ne!(scene.host.end_capture(blocking), 0, "it is spoilt, as it is plainly");
            (told, count(scene, 8), deeds)
        });
        assert!(plain.0.contains("(906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)"), "{}", plain.0);
        assert_eq!(graph, plain);
    }
}

/// What another thread captures is no matter for a stream that has nothing to do with it.
#[test]
fn another_threads_capture_is_no_matter() {
    let scene = Scene::new(&ways().graph);
    settle(&scene);
    for mode in [GLOBAL, THREAD_LOCAL, RELAXED] {
        let (begun, done) = (Barrier::new(2), Barrier::new(2));
        let captured = scene.host.stream();
        std::thread::scope(|scope| {
            let capturing = scope.spawn(|| {
                let host = Host::new();
                host.begin_capture(captured, mode);
                begun.wait();
                done.wait();
                (host.capturing(captured), host.end_capture(captured))
            });
            begun.wait();
            let logs = [3, 4].map(|n| scene.call("count", &[tensor(4, 0), Value::Int(n)]));
            assert!(logs.iter().all(|log| graph_calls(log).contains(&"cuGraphLaunch")), "{mode}");
            assert_eq!(first_arguments(&logs.concat()), [3, 4]);
            done.wait();
            assert_eq!(capturing.join().unwrap(), (1, 0), "{mode}: it goes on, and is whole");
        });
    }
}

#[test]
fn another_context_gets_launches() {
    expect_plain("the NULL stream of a context of one's own", |scene| {
        let own = scene.host.create(0);
        fake_ffi::set_stream(0);
        let told = [1, 2, 3].map(|n| count(scene, n));
        assert_eq!(scene.host.current(), own);
        fake_ffi::set_stream(scene.stream);
        scene.host.set_current(scene.primary);
        told
    });
    expect_plain("another device's context is current", |scene| {
        let other = scene.host.primary(1);
        scene.host.set_current(other);
        let on_a_stream = [1, 2, 3].map(|n| count(scene, n));
        fake_ffi::set_stream(0);
        let on_none = [1, 2, 3].map(|n| count(scene, n));
        assert_eq!(scene.host.current(), other);
        fake_ffi::set_stream(scene.stream);
        scene.host.set_current(scene.primary);
        (on_a_stream, on_none)
    });
    expect_plain("no context is current", |scene| {
        scene.host.set_current(0);
        let on_a_stream = [1, 2, 3].map(|n| count(scene, n));
        fake_ffi::set_stream(0);
        let on_none = [1, 2, 3].map(|n| count(scene, n));
        assert_eq!(scene.host.current(), 0);
        fake_ffi::set_stream(scene.stream);
        scene.host.set_current(scene.primary);
        (on_a_stream, on_none)
    });
    expect_plain("a stream of another context", |scene| {
        scene.host.create(0);
        let theirs = scene.host.stream();
        scene.host.set_current(scene.primary);
        fake_ffi::set_stream(theirs);
        let told = [1, 2, 3].map(|n| count(scene, n));
        fake_ffi::set_stream(scene.stream);
        told
    });
}

#[test]
fn the_stream_of_each_thread_gets_launches() {
    expect_plain("stream 2", |scene| {
        fake_ffi::set_stream(PER_THREAD);
        let told = [1, 2, 3].map(|n| count(scene, n));
        fake_ffi::set_stream(scene.stream);
        told
    });
}

/// What a launch alone has: a priority.
#[test]
fn attributes_that_nodes_have_not_stay_with_launches() {
    for name in ["prior", "three"] {
        expect_plain(name, |scene| {
            (0..4).map(|n| scene.loaded.call(name, &ints(&[n]))).collect::<Vec<_>>()
        });
    }
}

/// However often they come: other launches still go through graphs.
#[test]
fn launches_that_no_graph_can_make_keep_nobody_from_graphs() {
    let scene = Scene::new(&ways().graph);
    for n in 0..200 {
        scene.count("prior", &[n]);
    }
    for n in 0..3 {
        let log = scene.count("bare", &[n]);
        assert_eq!(graph_calls(&log).last(), (n > 0).then_some(&"cuGraphLaunch"), "{n}");
    }
}

#[test]
fn a_stream_with_a_window_gets_launches() {
    expect_plain("a window", |scene| {
        let stream = scene.host.stream();
        scene.host.set_window(stream, 0x1000, 4096);
        fake_ffi::set_stream(stream);
        let told = [1, 2, 3].map(|n| count(scene, n));
        fake_ffi::set_stream(scene.stream);
        told
    });
}
