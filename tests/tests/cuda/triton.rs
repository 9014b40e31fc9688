// SPDX-License-Identifier: Apache-2.0
//! What Triton compiled, launched on a driver that needs no GPU: the block, the clusters, the
//! shared memory and the hidden arguments are those that the JSON says, for every version of Triton
//! that writes it otherwise.

use super::*;
use kernpack_ffi_abi::DType;
use kernpack_tests::value::Tensor;
use serde_json::json;
use std::path::Path;

/// A package with the function `call` of a file in `tests/triton`, with keys of its JSON changed.
pub(super) fn load(file: &str, keys: &[(&str, Json)], function: &str) -> Loaded {
    default_stream();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("triton").join(file);
    let cubin = std::fs::read(real.with_added_extension("cubin")).unwrap();
    let text = std::fs::read_to_string(real.with_added_extension("json")).unwrap();
    let mut json: Json = serde_json::from_str(&text).unwrap();
    for (key, value) in keys {
        json[key] = value.clone();
    }
    let text = format!("[package]\nname = 'triton'\n[[function]]\n{function}");
    let json = json.to_string();
    GpuPackage::build(&text, &[("k.cubin", &cubin), ("k.json", json.as_bytes())]).load()
}

/// Calls; the extents of what was allocated.
fn call(loaded: &Loaded, values: &[Value]) -> Result<Vec<Vec<i64>>, String> {
    let (outcome, record) = loaded.call_recorded("call", values);
    outcome.map(|()| record.allocated.into_iter().map(|it| it.shape).collect())
}

const ADD: &str = "signature = 'call(x: Tensor([n], float32), y: Tensor([n], float32, mut))'\n\
    source = { triton = 'k.cubin' }\nargs = ['x', 'y', 'n: int32']\nlaunch = { grid = ['ceildiv(n, 256)'] }";
const MOVE: &str = "signature = 'call(x: Tensor([m, n], float32), y: Tensor([m, n], float32, mut))'\n\
    source = { triton = 'k.cubin' }\nargs = ['x', 'y', 'm: int32', 'n: int32']\nlaunch = { grid = ['ceildiv(m, 32)', 'ceildiv(n, 32)'] }";

fn tensor(shape: &[i64]) -> Value {
    Value::Tensor(Tensor {
        arrival: None,
        data: 0x1000,
        device: (2, 0),
        dtype: DType::FLOAT32,
        shape: shape.to_vec(),
        strides: None,
        byte_offset: 0,
    })
}

/// The launches since the log was last taken.
fn launches(stub: &Stub) -> Vec<Json> {
    let log = stub.take_log();
    let launches = log.iter().filter(|line| line["call"] == "cuLaunchKernelEx");
    launches.map(|line| line["launch"].clone()).collect()
}

/// The only launch since the log was last taken.
fn launch(stub: &Stub) -> Json {
    let launches = launches(stub);
    assert_eq!(launches.len(), 1, "{launches:?}");
    launches[0].clone()
}

/// The bytes of the arguments, in hexadecimal.
fn arguments(launch: &Json) -> Vec<&str> {
    let arguments = launch["arguments"].as_array().unwrap();
    arguments.iter().map(|argument| argument["bytes"].as_str().unwrap()).collect()
}

const X: &str = "0010000000000000";
const NULL: &str = "0000000000000000";

#[test]
fn each_version_has_its_hidden_arguments() {
    let stub = Stub::load("devices 1");
    for (version, n_hidden) in
        [("3.2.0", 0), ("3.3.1", 1), ("3.4.0", 1), ("3.5.1", 2), ("3.6.0", 2)]
    {
        let loaded = load(&format!("add_{version}"), &[("shared", json!(512))], ADD);
        assert!(call(&loaded, &[tensor(&[1000]), tensor(&[1000])]).unwrap().is_empty());
        let launch = launch(&stub);
        assert_eq!(launch["kernel"], "add");
        let expected = [&[X, X, "e8030000"][..], &[NULL, NULL][..n_hidden]].concat();
        assert_eq!(arguments(&launch), expected, "{version}");
        // Four blocks of Triton's, each a cluster of two.
        let cluster = json!({"id": 4, "name": "cluster", "value": [2, 1, 1]});
        let expected = json!({"grid": [8, 1, 1], "block": [128, 1, 1], "shared": 512, "stream": null, "attributes": [cluster]});
        assert_eq!(launch["config"], expected, "{version}");
    }
}

#[test]
fn clusters_multiply_the_extents_of_the_grid_that_they_have() {
    let stub = Stub::load("devices 1");
    let config = |keys: &[(&str, Json)], grid: &str| {
        let function = ADD.replace("['ceildiv(n, 256)']", grid);
        let loaded = load("add_3.5.1", keys, &function);
        call(&loaded, &[tensor(&[1000]), tensor(&[1000])]).unwrap();
        launch(&stub)["config"].clone()
    };
    let extents = [("num_ctas", json!(4)), ("cluster_dims", json!([2, 1, 2]))];
    let wide = config(&extents, "['ceildiv(n, 256)', 3]");
    assert_eq!(wide["grid"], json!([8, 3, 2]));
    assert_eq!(wide["attributes"][0]["value"], json!([2, 1, 2]));
    let alone = config(&[("num_ctas", json!(1))], "['ceildiv(n, 256)', 3]");
    assert_eq!(alone["grid"], json!([4, 3, 1]));
    assert_eq!(alone["attributes"], json!([]));
}

#[test]
fn attributes_are_those_of_the_json() {
    let stub = Stub::load("devices 1");
    let keys = [
        ("num_ctas", json!(1)),
        ("num_warps", json!(2)),
        ("launch_pdl", json!(true)),
        ("launch_cooperative_grid", json!(true)),
    ];
    let function = ADD.replace("] }", "], attr = { priority = -1 } }");
    call(&load("add_3.6.0", &keys, &function), &[tensor(&[1]), tensor(&[1])]).unwrap();
    let config = launch(&stub)["config"].clone();
    assert_eq!(config["block"], json!([64, 1, 1]));
    let attributes = config["attributes"].as_array().unwrap();
    let names: Vec<_> = attributes.iter().map(|attribute| &attribute["name"]).collect();
    assert_eq!(names, ["cooperative", "programmatic", "priority"]);
}

#[test]
fn scratch_memory_is_a_workspace_of_all_blocks() {
    let stub = Stub::load("devices 1");
    let loaded = load("move_3.6.0", &[], MOVE);
    let allocated = call(&loaded, &[tensor(&[100, 40]), tensor(&[100, 40])]).unwrap();
    // 256 bytes for each of 4 times 2 blocks, and room to align them.
    assert_eq!(allocated, [[256 * 4 * 2 + 127]]);
    let launch = launch(&stub);
    assert_eq!(arguments(&launch), [X, X, "64000000", "28000000", "8000007000000000", NULL]);
    assert_eq!(launch["config"]["grid"], json!([4, 2, 1]));
    assert_eq!(launch["config"]["shared"], 4104);
    let clusters = load("move_3.6.0", &[("num_ctas", json!(2))], MOVE);
    let allocated = call(&clusters, &[tensor(&[100, 40]), tensor(&[100, 40])]).unwrap();
    assert_eq!(allocated, [[256 * 8 * 2 + 127]], "of the driver's blocks, which are twice as many");
}

/// Like other workspaces, it is there before it is known which launches run.
#[test]
fn the_grid_of_a_launch_that_does_not_run_refuses_no_call() {
    let stub = Stub::load("devices 1");
    let one = |when: &str, grid: &str| {
        let keys = MOVE.split_once('\n').unwrap().1.replace("launch = { grid = ", "grid = ");
        let keys = keys.replace("'ceildiv(m, 32)'", grid).replace("] }", "]");
        format!("[[function.launch]]\nwhen = '{when}'\n{keys}\n")
    };
    let signature = MOVE.split_once('\n').unwrap().0;
    let two = [one("m > 100", "'m - 100'"), one("m <= 100", "1")].concat();
    let loaded = load("move_3.6.0", &[], &format!("{signature}\n{two}"));
    let allocated = call(&loaded, &[tensor(&[40, 40]), tensor(&[40, 40])]).unwrap();
    assert_eq!(allocated, [[127], [256 * 2 + 127]]);
    assert_eq!(launch(&stub)["config"]["grid"], json!([1, 2, 1]));
}

#[test]
fn a_grid_without_blocks_is_no_launch() {
    let stub = Stub::load("devices 1");
    let loaded = load("move_3.6.0", &[], MOVE);
    assert_eq!(call(&loaded, &[tensor(&[0, 40]), tensor(&[0, 40])]).unwrap(), [[127]]);
    assert!(launches(&stub).is_empty());
}
