// SPDX-License-Identifier: Apache-2.0
//! Prepared calls that launch through graphs: what each launches is its own, wherever and whenever
//! it is called.

use super::submission::*;
use super::*;
use kernpack_tests::cuda_host::{GLOBAL, RELAXED};

/// One that passes the same each time, one on a stream that it is given, one with memory that each
/// call has anew, and one of two launches.
const FUNCTIONS: &str = r#"
[[function]]
signature = "same(x: Tensor([k], float32), n: int32)"
source = { ptx = "k.ptx" }
kernel = "a"
args = ["n", "x"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "given(x: Tensor([k], float32), n: int32, s: Stream)"
source = { ptx = "k.ptx" }
kernel = "a"
args = ["n", "x"]
launch = { grid = [1], block = [32], attr = { stream = "s" } }
[[function]]
signature = "room(x: Tensor([k], float32), n: int32)"
workspace = { space = "Tensor([k], float32)" }
source = { ptx = "k.ptx" }
kernel = "a"
args = ["n", "space"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "two(x: Tensor([k], float32), n: int32)"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "a"
args = ["n", "x"]
grid = [1]
block = [32]
[[function.launch]]
when = "n % 2 == 0"
source = { ptx = "k.ptx" }
kernel = "b"
args = ["n", "x"]
grid = [2]
block = [32]
"#;
const NAMES: [&str; 4] = ["same", "given", "room", "two"];

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> = LazyLock::new(|| {
        let params = ".param .u32 n, .param .u64 x";
        Ways::build(FUNCTIONS, &ptx(&[("a", params), ("b", params)]), "")
    });
    &BUILT
}

/// A prepared call that launches with a number, and on a stream if it is given one.
fn prepare_with(scene: &Scene, name: &str, n: i64, stream: usize) -> Prepared {
    let mut values = vec![tensor(4, 0), Value::Int(n)];
    if name == "given" {
        values.push(Value::Ptr(stream as u64));
    }
    prepare(&scene.loaded, name, &values)
}

/// Numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Prepared calls come and go, are called in bursts on streams that change and are captured, beside
/// plain calls of the same functions.
#[test]
fn prepared_calls_launch_what_they_would_launch_plainly() {
    let story = |scene: &Scene, seed: u64| {
        let mut numbers = Numbers(seed);
        let streams = [0, 1, 2, scene.stream, scene.host.stream(), scene.host.blocking_stream()];
        let mut n_made = 0;
        let mut make = |numbers: &mut Numbers| {
            n_made += 1;
            let stream = streams[numbers.below(streams.len())];
            prepare_with(scene, NAMES[numbers.below(NAMES.len())], n_made, stream)
        };
        let mut prepared: Vec<_> = (0..6).map(|_| make(&mut numbers)).collect();
        let (mut told, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let number = numbers.below(prepared.len());
            match numbers.below(8) {
                0 => prepared[number] = make(&mut numbers),
                1 => fake_ffi::set_stream(streams[numbers.below(streams.len())]),
                2 => {
                    let values = [tensor(4, 0), Value::Int(number as i64)];
                    told.push(scene.loaded.call("same", &values));
                }
                3 => {
                    let captured = streams[3 + numbers.below(3)];
                    scene.host.begin_capture(captured, [GLOBAL, RELAXED][numbers.below(2)]);
                    (0..3).for_each(|_| told.push(launch(&prepared[number])));
                    ends.push(scene.host.end_capture(captured));
                }
                _ => (0..numbers.below(9)).for_each(|_| told.push(launch(&prepared[number]))),
            }
        }
        let log = scene.stub.take_log();
        let is_graph = !calls(&log, "cuGraphLaunch").is_empty();
        assert!(log.iter().all(|line| line["crash"].is_null()));
        ((told, ends, launched(&log)), is_graph)
    };
    for seed in 0..10 {
        let [plain, graph] = ways().tell(|scene| story(scene, seed));
        let auto = story(&Scene::new(&ways().auto), seed);
        assert_eq!(graph.0, plain.0, "{seed}");
        assert_eq!(auto.0, plain.0, "{seed}");
        assert_eq!([plain.1, graph.1, auto.1], [false, true, true], "{seed}");
    }
}

/// It asks for what may have changed, and for nothing else.
#[test]
fn a_prepared_call_takes_these_calls_and_no_more() {
    let scene = Scene::new(&ways().graph);
    for (stream, id) in [(scene.stream, "cuStreamGetId"), (0, "cuCtxGetId")] {
        let expected = ["cuCtxGetCurrent", "cuStreamIsCapturing", id, "cuGraphLaunch"];
        for name in NAMES {
            fake_ffi::set_stream(stream);
            let prepared = prepare_with(&scene, name, 1, stream);
            for _ in 0..4 {
                launch(&prepared).unwrap();
            }
            scene.stub.take_log();
            for _ in 0..40 {
                let Prepared(function, _) = &prepared;
                let (told, record) = outcome(fake_ffi::call_result(function, &[]));
                assert_eq!(told, Ok(()));
                let asked: &[_] = if name == "given" { &[] } else { &[(2, 0)] };
                assert_eq!(record.streams_asked, asked, "{name}");
                let log = scene.stub.take_log();
                assert_eq!(names(&log), expected, "{name}");
            }
        }
    }
}

/// Memory that each call has anew may be elsewhere, in the middle of any streak.
#[test]
fn a_prepared_call_passes_the_memory_that_it_has_now() {
    let scene = Scene::new(&ways().graph);
    let prepared = prepare_with(&scene, "room", 1, 0);
    for round in 0..200 {
        let address = 0x7000_0000 + 256 * (round / 7 % 3);
        fake_ffi::allocate_at(address);
        scene.stub.take_log();
        launch(&prepared).unwrap();
        let log = scene.stub.take_log();
        let bytes = launched(&log)[0]["arguments"][1]["bytes"].clone();
        let expected: String =
            address.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bytes, *expected, "{round}");
    }
}

/// A prepared call counts as used when it is launched again, so that it keeps its executable.
#[test]
fn a_prepared_call_keeps_its_executable_among_rare_uses() {
    let scene = Scene::new(&ways().graph);
    let prepared = prepare_with(&scene, "same", 7, 0);
    let others: Vec<_> = (0..16).map(|n| prepare_with(&scene, "same", n, 0)).collect();
    (0..4).for_each(|_| launch(&prepared).unwrap());
    for round in 0..6000 {
        scene.stub.take_log();
        launch(&prepared).unwrap();
        let log = scene.stub.take_log();
        assert_eq!(graph_calls(&log), ["cuGraphLaunch"], "{round}");
        assert_eq!(first_arguments(&log), [7]);
        launch(&others[round % others.len()]).unwrap();
    }
}

/// Prepared calls are timed as others are: from time to time, the other way is tried.
#[test]
fn prepared_calls_try_the_other_way() {
    let scene = Scene::new(&ways().auto);
    let prepared = prepare_with(&scene, "same", 7, 0);
    (0..20).for_each(|_| launch(&prepared).unwrap());
    scene.stub.take_log();
    (0..1000).for_each(|_| launch(&prepared).unwrap());
    let log = scene.stub.take_log();
    assert_eq!(first_arguments(&log), [7; 1000]);
    assert!(calls(&log, "cuLaunchKernelEx").len() >= 20);
}

/// What is prepared on one package's device goes to that device.
#[test]
fn each_device_has_its_prepared_calls() {
    let scene = Scene::new(&ways().graph);
    fake_ffi::set_stream(0);
    let contexts = [scene.primary, scene.host.primary(1)];
    let prepared =
        [0, 1].map(|device| prepare(&scene.loaded, "same", &[tensor(4, device), Value::Int(5)]));
    for round in 0..40 {
        for (device, prepared) in prepared.iter().enumerate() {
            scene.host.set_current(contexts[round % 3 % 2]);
            scene.stub.take_log();
            launch(prepared).unwrap();
            let log = scene.stub.take_log();
            assert_eq!(launched(&log)[0]["device"], device, "{round}");
        }
    }
    assert_eq!(scene.n("executables"), 2);
}

/// Profilers tell who has launched, whichever way it was done: by walking the stack from the driver
/// through the package to its caller. Only from the first launch they cannot.
#[test]
fn whoever_launches_is_told_by_the_stack() {
    for package in [&ways().plain, &ways().graph] {
        let scene = Scene::on(package, "devices 1\nstacks told");
        let prepared = prepare_with(&scene, "same", 1, 0);
        launch(&prepared).unwrap();
        scene.stub.take_log();
        let mut n_launches = 0;
        for _ in 0..5 {
            scene.loaded.call("same", &[tensor(4, 0), Value::Int(3)]).unwrap();
            launch(&prepared).unwrap();
            let log = scene.stub.take_log();
            let is_launch = |line: &&Json| {
                ["cuLaunchKernelEx", "cuGraphLaunch"].iter().any(|name| line["call"] == *name)
            };
            for line in log.iter().filter(is_launch) {
                let files = line["stack"].as_array().unwrap();
                let files: Vec<_> = files.iter().map(|file| file.as_str().unwrap()).collect();
                let [stub, package, program, ..] = files[..] else { panic!("{line}") };
                assert!(stub.ends_with("libcuda.so.1"), "{line}");
                assert!(package.starts_with(&*std::env::temp_dir().to_string_lossy()), "{line}");
                assert!(program.contains("deps/cuda-"), "{line}");
                n_launches += 1;
            }
        }
        assert_eq!(n_launches, 10);
    }
}
