// SPDX-License-Identifier: Apache-2.0
//! What packages tell of how a function's launches were submitted.

use super::*;

const PACKAGE: &str = r#"
[package]
name = "gpu"
submit = "plain"
[[function]]
signature = "count(n: int32)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "checked(n: int32)"
[[function]]
signature = "made(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
submit = "auto"
source = { ptx = "k.ptx" }
kernel = "scale"
args = ["x", "y", "n: int32", "1: float32"]
launch = { grid = [1], block = [32] }
"#;

fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(PACKAGE, PTX));
    default_stream();
    BUILT.load()
}

/// What a function's launches are said to have been.
pub(super) fn launched(loaded: &Loaded, name: &str) -> Json {
    let (outcome, record) = loaded.call_recorded(&format!("kernpack_launched_{name}"), &[]);
    outcome.unwrap();
    let [text] = &record.strings[..] else { panic!("{:?}", record.strings) };
    serde_json::from_str(text).unwrap()
}

#[test]
fn each_function_that_launches_on_a_gpu_tells_how() {
    let loaded = load();
    for name in ["count", "made", "made_out"] {
        let none = serde_json::json!({ "plain": 0, "graph": 0, "graphs": 0 });
        assert_eq!(launched(&loaded, name), none, "{name}, before there is a driver");
    }
    assert!(!loaded.has("kernpack_launched_checked"));
}

#[test]
fn nothing_is_passed_to_ask() {
    let error = load().call("kernpack_launched_count", &[Value::Int(0)]).unwrap_err();
    assert_eq!(
        error,
        "TypeError: Mismatched number of arguments when calling: `kernpack_launched_count()`, expected 0 arguments, got 1"
    );
}

#[test]
fn without_memory_for_the_answer_there_is_an_error() {
    fake_ffi::refuse_string();
    let error = load().call("kernpack_launched_count", &[]).unwrap_err();
    let (kind, message) = fake_ffi::no_room();
    assert_eq!(error, format!("{kind}: {message}"));
}
