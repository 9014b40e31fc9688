// SPDX-License-Identifier: Apache-2.0
//! Kernels with tensor descriptors that the host makes: a package asks the driver for what Triton's
//! own launcher asks, field by field. That is in `tests/triton/launches_VERSION.json`, which
//! `tests/triton/launch.py` recorded.

use super::triton::load;
use super::{Json, Stub, Value, calls};
use kernpack_ffi_abi::DType;
use kernpack_tests::value::Tensor;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;

const X: u64 = 0x1_0000;
const Y: u64 = 0x2_0000;

const SHIFT: &str = "signature = 'call(x: Tensor([m, n], float32, strides=[s, 1]), y: Tensor([m, n], float32, mut), by: float32)'\n\
    source = { triton = 'k.cubin' }\nargs = ['x', 'by', 'y']\nlaunch = { grid = ['ceildiv(m, 16)', 'ceildiv(n, 64)'] }";
const PAD: &str = "signature = 'call(y: Tensor([i, j, k, 256], bfloat16, mut), x: Tensor([i, m, n], bfloat16, strides=[r, s, 1]))'\n\
    source = { triton = 'k.cubin' }\nargs = ['y', 'x']\nlaunch = { grid = ['i', 'j', 'k'] }";

fn tensor(address: u64, device: i32, dtype: DType, shape: &[i64], strides: &[i64]) -> Value {
    Value::Tensor(Tensor {
        arrival: None,
        data: address,
        device: (2, device),
        dtype,
        shape: shape.to_vec(),
        strides: Some(strides.to_vec()),
        byte_offset: 0,
    })
}

/// The tensors with which `launch.py` calls `shift`.
fn of_shift(device: i32) -> Vec<Value> {
    let float32 =
        |address, strides: &[i64]| tensor(address, device, DType::FLOAT32, &[100, 200], strides);
    vec![float32(X, &[256, 1]), float32(Y, &[200, 1]), Value::Float(2.5)]
}

fn of_pad() -> Vec<Value> {
    let y = tensor(Y, 0, DType::BFLOAT16, &[3, 3, 3, 256], &[2304, 768, 256, 1]);
    vec![y, tensor(X, 0, DType::BFLOAT16, &[3, 20, 72], &[2000, 80, 1])]
}

/// What of a log `launch.py` records.
fn asked(log: &[Json]) -> Json {
    let maps = calls(log, "cuTensorMapEncodeTiled");
    let made: Vec<_> = maps.iter().map(|line| &line["out"]["map"]).collect();
    let launches = calls(log, "cuLaunchKernelEx");
    let [launch] = &launches[..] else { panic!("{launches:?}") };
    let arguments = launch["launch"]["arguments"].as_array().unwrap().iter();
    let arguments = arguments.map(|argument| {
        let bytes = &argument["bytes"];
        let map = made.iter().position(|map| *map == bytes);
        map.map_or(bytes.clone(), |number| json!(format!("map {number}")))
    });
    let fields = maps.iter().map(|line| {
        let mut fields = line["args"].as_object().unwrap().clone();
        fields.extend(line["tensor"].as_object().unwrap().clone());
        Json::Object(fields)
    });
    json!({
        "maps": fields.collect::<Vec<_>>(),
        "arguments": arguments.collect::<Vec<_>>(),
        "config": launch["launch"]["config"],
    })
}

/// The function that makes the recorded call of that name, its file and its arguments; the last is
/// the device.
fn recorded(name: &str) -> (String, &str, Vec<Value>) {
    let (kernel, is_nan) = match name.strip_suffix("_nan") {
        Some(kernel) => (kernel, true),
        None => (name, false),
    };
    let (function, values) = match kernel {
        "shift" => (SHIFT, of_shift(0)),
        "shift_sm80" => (SHIFT, of_shift(1)),
        "pad" => (PAD, of_pad()),
        other => panic!("{other}"),
    };
    let function = match is_nan {
        true => {
            function.replace("'x'", "'tma(x, fill=nan)'").replace("'y']", "'tma(y, fill=nan)']")
        }
        false => function.to_string(),
    };
    (function, kernel, values)
}

#[test]
fn a_package_asks_for_what_tritons_launcher_asks() {
    let stub = Stub::load("devices 2\ndevice 1 compute 8.0");
    let mut names = HashSet::new();
    for version in ["3.4.0", "3.5.1", "3.6.0"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("triton");
        let text = std::fs::read_to_string(path.join(format!("launches_{version}.json"))).unwrap();
        let launches: Json = serde_json::from_str(&text).unwrap();
        for (name, expected) in launches.as_object().unwrap() {
            let (function, file, values) = recorded(name);
            let loaded = load(&format!("{file}_{version}"), &[], &function);
            loaded.call("call", &values).unwrap_or_else(|error| panic!("{name}: {error}"));
            let asked = asked(&stub.take_log());
            for key in ["maps", "arguments", "config"] {
                assert_eq!(asked[key], expected[key], "{key} of {name} of {version}");
            }
            names.insert(name.clone());
        }
    }
    assert_eq!(names.len(), 6, "{names:?}");
}

#[test]
fn a_view_is_passed_with_its_own_shape_and_strides() {
    let stub = Stub::load("devices 1");
    let function = SHIFT
        .replace("x: Tensor([m, n], float32, strides=[s, 1])", "x: Tensor([k, 2, n], float32)")
        .replace("y: Tensor([m, n], float32, mut)", "y: Tensor([k, 2, n], float32, mut)")
        .replace("'x'", "'tma(x, dims=[2*k, n])'")
        .replace("'y']", "'tma(y, dims=[k, n], strides=[2*n, 1])']")
        .replace("ceildiv(m, 16)", "ceildiv(2*k, 16)");
    let loaded = load("shift_3.6.0", &[], &function);
    let cube = |address| tensor(address, 0, DType::FLOAT32, &[50, 2, 200], &[400, 200, 1]);
    loaded.call("call", &[cube(X), cube(Y), Value::Float(2.5)]).unwrap();
    let asked = asked(&stub.take_log());
    let of_x = ["map 0", "64000000", "c8000000", "c800000000000000", "0100000000000000"];
    let of_y = ["map 1", "32000000", "c8000000", "9001000000000000", "0100000000000000"];
    let null = "0000000000000000";
    assert_eq!(
        asked["arguments"],
        json!([&of_x[..], &["00002040"], &of_y, &[null, null]].concat())
    );
    assert_eq!(asked["maps"][0]["dims"], json!([200, 100]));
    assert_eq!(asked["maps"][0]["strides"], json!([800]));
    assert_eq!(asked["maps"][1]["dims"], json!([200, 50]));
    assert_eq!(asked["maps"][1]["strides"], json!([1600]));
}

/// What Triton would pass to the driver, which refuses it, or would not fit its parameter.
#[test]
fn a_tensor_that_can_have_no_descriptor_is_refused() {
    let stub = Stub::load("devices 1");
    let loaded = load("shift_3.6.0", &[], SHIFT);
    let call = |shape: &[i64], strides: &[i64], address| {
        let x = tensor(address, 0, DType::FLOAT32, shape, strides);
        let y = tensor(Y, 0, DType::FLOAT32, shape, &[shape[1], 1]);
        loaded.call("call", &[x, y, Value::Float(2.5)])
    };
    let error = call(&[100, 200], &[201, 1], X).unwrap_err();
    assert!(error.contains("Invalid tensor map of `x` on argument #0"), "{error}");
    let error = call(&[100, 200], &[200, 1], X + 4).unwrap_err();
    assert!(error.contains("Invalid tensor map of `x` on argument #0"), "{error}");
    let error = call(&[1, 1 << 31], &[1 << 31, 1], X).unwrap_err();
    assert!(error.contains("x.shape[1]: int32"), "{error}");
    assert!(calls(&stub.take_log(), "cuLaunchKernelEx").is_empty());
    // Nothing is copied of an empty tensor.
    call(&[0, 200], &[200, 1], X).unwrap();
    assert!(calls(&stub.take_log(), "cuLaunchKernelEx").is_empty());
}

/// Of several dtypes, each has its own cubin.
#[test]
fn a_dtype_variable_has_a_kernel_for_each_dtype() {
    let stub = Stub::load("devices 1");
    let function = "signature = 'call(y: Tensor([i, j, k, 256], T, mut), x: Tensor([i, m, n], T)) where T in {bfloat16, float32}'\n\
        [[function.launch]]\nsource = { triton = 'k.cubin' }\nargs = ['y', 'x']\ngrid = ['i', 'j', 'k']\nwhen = 'T in {bfloat16}'\n\
        [[function.launch]]\nsource = { triton = 'k.cubin' }\nargs = ['y', 'tma(y, dims=[i, j, 256*k])']\ngrid = ['i', 'j', 'k']\nwhen = 'i == 0, T in {bfloat16}'";
    let loaded = load("pad_3.6.0", &[], function);
    let y = tensor(Y, 0, DType::BFLOAT16, &[3, 3, 3, 256], &[2304, 768, 256, 1]);
    let x = tensor(X, 0, DType::BFLOAT16, &[3, 20, 72], &[1440, 72, 1]);
    loaded.call("call", &[y, x]).unwrap();
    let asked = asked(&stub.take_log());
    assert_eq!(asked["maps"][0]["data_type"], 9);
    assert_eq!(asked["maps"][0]["dims"], json!([72, 20, 3]));
    assert_eq!(asked["maps"][0]["strides"], json!([144, 2880]));
}
