// SPDX-License-Identifier: Apache-2.0
//! When an executable is made, when the other way is tried, and which way is kept: by the number of
//! a call.

use super::submission::*;
use super::*;

/// A function of one launch, and one of two.
const FUNCTIONS: &str = r#"
[[function]]
signature = "one(n: int32)"
source = { ptx = "k.ptx" }
kernel = "k"
args = ["n"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "two(n: int32)"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "k"
args = ["n"]
grid = [1]
block = [32]
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "k"
args = ["n"]
grid = [1]
block = [32]
"#;

fn ways() -> &'static Ways {
    static BUILT: LazyLock<Ways> =
        LazyLock::new(|| Ways::build(FUNCTIONS, &ptx(&[("k", ".param .u32 n")]), ""));
    &BUILT
}

/// Makes so many calls, and says in which of them, counted from 1, that function was called.
fn calls_with(scene: &Scene, n_calls: i64, function: &str) -> Vec<i64> {
    let has = |n: &i64| names(&scene.count("one", &[*n])).contains(&function);
    (1..=n_calls).filter(has).collect()
}

/// Where none can be made, it is tried a few times, and again when the use has come often. A count
/// of 1024 is one of 512.
#[test]
fn an_executable_is_tried_to_be_made_at_these_calls() {
    for (package, first) in [(&ways().graph, 2), (&ways().auto, 4)] {
        let scene = Scene::new(package);
        scene.stub.fail("cuGraphCreate", 0, 2);
        let tried = calls_with(&scene, 2000, "cuGraphCreate");
        let begins = [0, 512, 1024, 1536].map(|begin| begin + first);
        assert_eq!(tried, begins.map(|begin| [begin, begin + 1, begin + 2, begin + 3]).concat());
    }
}

/// Behind the fourth call, which makes the executable, every sixteenth is timed, and 36 of these
/// come before the first trial.
const FIRST_TRIAL: i64 = 5 + 16 * 36;
/// It lasts for 36 calls.
const BEHIND_IT: i64 = FIRST_TRIAL + 36;

#[test]
fn the_other_way_is_first_tried_at_these_calls() {
    let scene = Scene::new(&ways().auto);
    let plain = calls_with(&scene, BEHIND_IT - 1, "cuLaunchKernelEx");
    assert_eq!(plain, (1..4).chain(FIRST_TRIAL..BEHIND_IT).collect::<Vec<_>>());
}

#[test]
fn the_way_that_costs_less_is_kept() {
    for (dear, cheap) in
        [("cuGraphLaunch", "cuLaunchKernelEx"), ("cuLaunchKernelEx", "cuGraphLaunch")]
    {
        let scene = Scene::on(&ways().auto, &format!("devices 1\ndelay {dear} 1"));
        calls_with(&scene, BEHIND_IT - 1, "");
        assert_eq!(calls_with(&scene, 20, cheap), (1..=20).collect::<Vec<_>>());
    }
}

/// What is learned of single launches says nothing of several at once.
#[test]
fn one_launch_and_several_are_apart() {
    let scene = Scene::on(&ways().auto, "devices 1\ndelay cuGraphLaunch 1");
    calls_with(&scene, BEHIND_IT - 1, "");
    assert!(calls_with(&scene, 10, "cuGraphLaunch").is_empty());
    let has_graph = |n: &i64| names(&scene.count("two", &[*n])).contains(&"cuGraphLaunch");
    assert_eq!((1..=10).filter(has_graph).collect::<Vec<_>>(), (4..=10).collect::<Vec<_>>());
}
