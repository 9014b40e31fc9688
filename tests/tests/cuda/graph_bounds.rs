// SPDX-License-Identifier: Apache-2.0
//! How many graphs there are, for whom, and for how long: the most frequent uses have them, they
//! cost memory once, and nothing is left when what they are for goes.

use super::submission::*;
use super::*;
use kernpack_ffi_abi::layout::Any;
use kernpack_tests::alone::{alone, in_child};
use kernpack_tests::gpu_package::outcome;
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::Arrival;

const N_KERNELS: usize = 64;
/// The most graphs of a kernel, and of a package.
const MOST_OF_KERNEL: u64 = 4;
const MOST: u64 = 32;

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| {
        let names: Vec<_> = (0..N_KERNELS).map(|number| format!("f{number}")).collect();
        let launch = "grid = [1], block = [32]";
        let one = |name: &String| function(&format!("{name}(n: int32)"), name, &["n"], launch);
        let kernels: Vec<_> = names.iter().map(|name| (&name[..], ".param .u32 n")).collect();
        Ways::build(&names.iter().map(one).collect::<String>(), &ptx(&kernels), "")
    });
    &BUILT
}

/// Calls of the first function on a stream, that many.
fn on(scene: &Scene, stream: usize, number: i64) -> Vec<Json> {
    fake_ffi::set_stream(stream);
    (0..number).flat_map(|n| scene.count("f0", &[n])).collect()
}

/// A prepared call of the first function with a number.
fn prepare(loaded: &Loaded, number: i64) -> Any {
    let arguments = Arguments::new(&ints(&[number]), Arrival::Tensor);
    let (status, prepared) = loaded.invoke("kernpack_prepare_f0", &arguments);
    outcome(status).0.unwrap();
    prepared
}

fn launch(prepared: &Any) {
    outcome(fake_ffi::call_result(prepared, &[])).0.unwrap();
}

/// How many calls an executable counts for that has just been made.
const WORTH: i64 = 512;

fn is_graph(log: &[Json]) -> bool {
    !calls(log, "cuGraphLaunch").is_empty()
}

#[test]
fn a_kernel_has_few_graphs() {
    for package in [&ways().graph, &ways().auto] {
        let scene = Scene::new(package);
        let streams: Vec<_> = (0..10).map(|_| scene.host.stream()).collect();
        let mut most = 0;
        for round in 1..20 {
            for stream in &streams {
                on(&scene, *stream, round % 7);
                most = most.max(scene.n("executables"));
                assert_eq!(scene.n("executables"), scene.n("graphs"));
            }
        }
        assert_eq!(most, MOST_OF_KERNEL);
    }
}

#[test]
fn a_package_has_not_many_graphs() {
    let scene = Scene::new(&ways().graph);
    let mut most = 0;
    let mut had_graphs = std::collections::BTreeSet::new();
    for round in 0..100 {
        for number in 0..N_KERNELS {
            let log = scene.count(&format!("f{number}"), &[round]);
            assert_eq!(first_arguments(&log), [round as u32]);
            if is_graph(&log) {
                had_graphs.insert(number);
            }
            most = most.max(scene.n("executables"));
        }
    }
    assert_eq!(most, MOST);
    assert!(had_graphs.len() as u64 >= MOST);
    // Those that are called from now on have their turn.
    let late = N_KERNELS - 1;
    let log: Vec<_> = (0..8000).flat_map(|n| scene.count(&format!("f{late}"), &[n])).collect();
    assert!(is_graph(&log));
    assert!(scene.n("executables") <= MOST);
}

/// Uses of more kernels in turn than there are graphs for make few: a use whose executable has made
/// room asks for one again when it has come often.
#[test]
fn many_kernels_in_turn_make_few_graphs() {
    let scene = Scene::new(&ways().graph);
    let mut n_made = 0;
    for round in 0..400 {
        let calls_of = |number| scene.count(&format!("f{number}"), &[round]);
        let logs = (0..N_KERNELS).map(calls_of);
        let n_now: usize = logs.map(|log| calls(&log, "cuGraphCreate").len()).sum();
        n_made += if round < 20 { 0 } else { n_now };
    }
    assert!(n_made < N_KERNELS, "{n_made}");
}

/// As many uses in turn as there can be no graphs for make none, and destroy none.
#[test]
fn many_uses_in_turn_go_without() {
    let scene = Scene::new(&ways().graph);
    let streams: Vec<_> = (0..16).map(|_| scene.host.stream()).collect();
    let mut rounds = (0..20).map(|_| {
        let logs = streams.iter().map(|stream| on(&scene, *stream, 1));
        logs.map(|log| graph_calls(&log).len()).sum::<usize>()
    });
    assert_eq!(rounds.by_ref().skip(2).sum::<usize>(), 0, "streams");

    fake_ffi::set_stream(scene.stream);
    let prepared: Vec<_> = (0..300).map(|n| prepare(&scene.loaded, n)).collect();
    scene.stub.take_log();
    for round in 0..5 {
        prepared.iter().for_each(launch);
        let log = scene.stub.take_log();
        assert_eq!(first_arguments(&log), (0..300).collect::<Vec<_>>());
        assert!(round == 0 || graph_calls(&log).is_empty(), "{round}");
    }
    prepared.iter().for_each(fake_ffi::drop_result);
}

/// One that comes as often as all others together keeps its graph.
#[test]
fn a_frequent_use_keeps_its_graph_among_rare_ones() {
    let scene = Scene::new(&ways().graph);
    let streams: Vec<_> = (0..16).map(|_| scene.host.stream()).collect();
    let frequent = scene.stream;
    on(&scene, frequent, 3);
    for round in 0..10 {
        for stream in &streams {
            let log = on(&scene, frequent, 1);
            assert_eq!(graph_calls(&log).last(), Some(&"cuGraphLaunch"), "{round}");
            assert!(!graph_calls(&log).contains(&"cuGraphCreate"), "{round}");
            on(&scene, *stream, 1);
        }
    }
}

/// What was made serves for some time, so that bursts on many streams make few.
#[test]
fn bursts_make_few_graphs() {
    for (package, n_at_once) in [(&ways().graph, 2), (&ways().auto, 4)] {
        let scene = Scene::new(package);
        let streams: Vec<_> = (0..16).map(|_| scene.host.stream()).collect();
        let rounds = (0..20).flat_map(|_| &streams);
        let logs = rounds.map(|stream| on(&scene, *stream, n_at_once));
        let n_made: usize = logs.map(|log| calls(&log, "cuGraphCreate").len()).sum();
        assert!((1..=2 * MOST_OF_KERNEL as usize).contains(&n_made), "{n_made}");
    }
}

#[test]
fn a_use_that_becomes_frequent_takes_over() {
    for (package, n_before) in [(&ways().graph, 10), (&ways().graph, 1000), (&ways().auto, 10)] {
        let scene = Scene::new(package);
        for _ in 0..4 {
            on(&scene, scene.host.stream(), n_before);
        }
        assert_eq!(scene.n("executables"), MOST_OF_KERNEL);
        let late = scene.host.stream();
        let log = on(&scene, late, n_before.max(WORTH) + 20);
        assert!(is_graph(&log), "as soon as it has come as often as each of the others counts");
        assert_eq!(scene.n("executables"), MOST_OF_KERNEL);
        assert_eq!(calls(&log, "cuGraphCreate").len(), 1);
    }
}

#[test]
fn what_a_prepared_call_has_goes_with_it() {
    let scene = Scene::new(&ways().graph);
    let prepared = [1, 2].map(|n| prepare(&scene.loaded, n));
    for round in 0..3 {
        prepared.iter().for_each(launch);
        assert_eq!(scene.n("executables"), if round == 0 { 0 } else { 2 });
    }
    on(&scene, scene.stream, 3);
    assert_eq!(scene.n("executables"), 3, "calls have their own");
    let own = scene.host.create(1);
    scene.stub.take_log();
    fake_ffi::drop_result(&prepared[0]);
    assert_eq!(scene.host.current(), own);
    assert_eq!((scene.n("executables"), scene.n("graphs")), (2, 2));
    let destroys = calls(&scene.stub.take_log(), "cuGraphExecDestroy");
    assert_eq!((destroys.len(), &destroys[0]["device"]), (1, &0.into()), "in its context");
    scene.host.set_current(scene.primary);
    launch(&prepared[1]);
    assert!(is_graph(&scene.stub.take_log()), "the other goes on");
    fake_ffi::drop_result(&prepared[1]);
    assert_eq!((scene.n("executables"), scene.n("graphs")), (1, 1));
    // Another may lie where it lay.
    for n in 10..30 {
        let prepared = prepare(&scene.loaded, n);
        for _ in 0..3 {
            launch(&prepared);
        }
        assert_eq!(first_arguments(&scene.stub.take_log()), [n as u32; 3]);
        fake_ffi::drop_result(&prepared);
        assert_eq!((scene.n("executables"), scene.n("graphs")), (1, 1));
    }
}

/// However often those were called that have gone.
#[test]
fn a_prepared_call_that_goes_makes_room_at_once() {
    let scene = Scene::new(&ways().graph);
    let prepare_and_launch = |n_launches| {
        let prepared = prepare(&scene.loaded, 1);
        (0..n_launches).for_each(|_| launch(&prepared));
        prepared
    };
    let gone: Vec<_> = (0..4).map(|_| prepare_and_launch(500)).collect();
    let last = prepare(&scene.loaded, 2);
    gone.iter().for_each(fake_ffi::drop_result);
    scene.stub.take_log();
    (0..3).for_each(|_| launch(&last));
    assert_eq!(n_graphs(&scene.stub.take_log()), 2);
    fake_ffi::drop_result(&last);
}

#[test]
fn unloading_destroys_all_of_every_device() {
    for current in [0, 1, 2] {
        let scene = Scene::new(&ways().graph);
        let contexts = [scene.primary, scene.host.primary(1)];
        for context in contexts {
            scene.host.set_current(context);
            let streams = [0, scene.host.stream(), scene.host.stream()];
            streams.iter().for_each(|stream| _ = on(&scene, *stream, 3));
            fake_ffi::set_stream(0);
            (0..3).for_each(|n| _ = scene.count("f1", &[n]));
        }
        assert_eq!(scene.n("executables"), 8);
        let own = scene.host.create(0);
        while scene.host.current() != 0 {
            scene.host.set_current(0);
        }
        let current = [0, contexts[1], own][current];
        scene.host.set_current(current);
        let Scene { loaded, stub, host, .. } = scene;
        stub.take_log();
        drop(loaded);
        let log = stub.take_log();
        assert_eq!(host.current(), current);
        assert_eq!(calls(&log, "cuGraphExecDestroy").len(), 8);
        assert!(log.iter().all(|line| line["result"] == "CUDA_SUCCESS"));
        let counts = stub.counts();
        let left = ["executables", "graphs", "libraries"].map(|kind| counts[kind].as_u64());
        assert_eq!(left, [Some(0); 3]);
    }
}

/// A function's arguments may be others each time: its graph is made once.
#[test]
fn graphs_take_memory_once() {
    let stub = Stub::load("devices 1");
    let loaded = held::load();
    let host = kernpack_tests::cuda_host::Host::new();
    host.set_current(host.primary(0));
    let call = |n| loaded.call("bare", &[Value::Int(n)]);
    let mut log = Vec::new();
    for n in 0..20_000 {
        call(n).unwrap();
        if n % 1000 == 999 {
            assert_eq!(held::n_allocations(&loaded), 1, "{n}");
            log = stub.take_log();
        }
    }
    let counts = stub.counts();
    assert_eq!((&counts["executables"], &counts["graphs"]), (&1.into(), &1.into()));
    let launches: Vec<_> = (19_000..20_000).collect();
    assert_eq!(first_arguments(&log), launches);
    drop(loaded);
    assert_eq!(stub.counts()["executables"], 0);
}

/// Memory of prepared calls and their graphs comes back, be there memory for a graph or not.
#[test]
fn without_memory_for_a_graph_launches_are_plain() {
    let stub = Stub::load("devices 1");
    let loaded = held::load();
    let host = kernpack_tests::cuda_host::Host::new();
    host.set_current(host.primary(0));
    let arguments = Arguments::new(&ints(&[4]), Arrival::Tensor);
    for is_refused in [true, false] {
        let (status, prepared) = loaded.invoke("kernpack_prepare_bare", &arguments);
        outcome(status).0.unwrap();
        let n_own = held::n_allocations(&loaded);
        stub.take_log();
        if is_refused {
            loaded.call("refuse", &ints(&[1])).unwrap();
        }
        (0..100).for_each(|_| launch(&prepared));
        let log = stub.take_log();
        assert_eq!(first_arguments(&log), [4; 100]);
        assert!(is_graph(&log), "in the end");
        assert_eq!(held::n_allocations(&loaded), n_own + 1);
        fake_ffi::drop_result(&prepared);
        assert_eq!(held::n_allocations(&loaded), 0);
    }
}

/// A child of a process that has graphs may not use the driver, and forgets them.
#[test]
fn a_child_leaves_its_parents_graphs_alone() {
    if alone("graph_bounds::a_child_leaves_its_parents_graphs_alone", &[]) {
        let scene = Scene::new(&ways().graph);
        let prepared = prepare(&scene.loaded, 7);
        for n in 0..3 {
            scene.count("f0", &[n]);
            launch(&prepared);
        }
        assert_eq!(scene.n("executables"), 2);
        let Scene { loaded, stub, stream, .. } = scene;
        let loaded = std::cell::Cell::new(Some(loaded));
        let told = in_child(|| {
            let loaded = loaded.take().unwrap();
            let error = loaded.call("f0", &ints(&[9])).unwrap_err();
            fake_ffi::drop_result(&prepared);
            drop(loaded);
            error
        });
        assert!(told.contains("(3, CUDA_ERROR_NOT_INITIALIZED)"), "{told}");
        fake_ffi::set_stream(stream);
        stub.take_log();
        let loaded = loaded.take().unwrap();
        loaded.call("f0", &ints(&[9])).unwrap();
        launch(&prepared);
        let log = stub.take_log();
        assert_eq!((first_arguments(&log), n_graphs(&log)), (vec![9, 7], 2));
        fake_ffi::drop_result(&prepared);
        drop(loaded);
        assert_eq!(stub.counts()["executables"], 0);
    }
}

fn n_graphs(log: &[Json]) -> usize {
    calls(log, "cuGraphLaunch").len()
}

/// Where the driver is first called by a child, that has graphs of its own, and the parent has its.
#[test]
fn a_child_has_its_own_graphs() {
    if alone("graph_bounds::a_child_has_its_own_graphs", &[]) {
        let stub = Stub::load("devices 1");
        let loaded = ways().graph.load();
        default_stream();
        let work = || {
            let host = kernpack_tests::cuda_host::Host::new();
            host.set_current(host.primary(0));
            for n in 0..4 {
                loaded.call("f0", &ints(&[n])).unwrap();
            }
            format!("{:?} {}", first_arguments(&stub.take_log()), stub.counts()["executables"])
        };
        assert_eq!(in_child(work), "[0, 1, 2, 3] 1");
        assert_eq!(work(), "[0, 1, 2, 3] 1");
    }
}
