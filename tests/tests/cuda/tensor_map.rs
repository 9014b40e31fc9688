// SPDX-License-Identifier: Apache-2.0
//! Tensor maps as the driver is asked for them and as kernels get them, on a driver that needs no
//! GPU: every field, and what is said where the driver refuses. Which calls are refused before that
//! is in `tests/suite/checks/tensor-map.md`.

use super::{Json, calls};
use kernpack_compiler::{Options, compile};
use kernpack_ffi_abi::DType;
use kernpack_package::{Function, HostSource, Launch, Package};
use kernpack_tests::cuda_host::Host;
use kernpack_tests::cuda_stub::Stub;
use kernpack_tests::fake_ffi;
use kernpack_tests::gpu_package::{GpuPackage, Loaded};
use kernpack_tests::value::{Tensor, Value};
use kernpack_validators::{KernelName, parse_kernel_arg};

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry one(.param .align 64 .b8 map[128])
{
    ret;
}
.visible .entry two(.param .align 128 .b8 a[128], .param .u32 n, .param .align 64 .b8 b[128])
{
    ret;
}
";

/// Functions of one launch: signature, arguments.
const FUNCTIONS: &[(&str, &str)] = &[
    ("row(a: Tensor([m, n], float16))", "tma(a, box=[64, 32], swizzle=64, l2=128)"),
    (
        "cube(a: Tensor([k, m, n], bfloat16))",
        "tma(a, box=[1, 64, 64], steps=[2, 1, 1], swizzle=128, l2=256, fill=nan)",
    ),
    ("strided(a: Tensor([m, n], float32, strides=[s, 1]))", "tma(a, box=[8, 16], l2=64)"),
    ("column(a: Tensor([m, n], float64, order=col))", "tma(a, box=[8, 16], steps=[1, 4])"),
    (
        "view(a: Tensor([m, n], float32))",
        "tma(a, box=[2, 3, 4], dims=[m//2, 2, n], strides=[2*n, n, 1])",
    ),
    ("flat(a: Tensor([m, n], uint32))", "tma(a, box=[256], dims=[m*n])"),
    ("bytes(a: Tensor([m, n], float32))", "tma(a, box=[8, 32], as=uint8, swizzle=32)"),
    ("any_half(a: Tensor([m, n], T)) where T in {float16, bfloat16}", "tma(a, box=[8, 8])"),
    (
        "interleaved(a: Tensor([c, h, w], uint8))",
        "tma(a, box=[1, 2, 48], steps=[1, 1, 3], interleave=32, swizzle=32)",
    ),
    ("sixteen(a: Tensor([c, h, w], int8))", "tma(a, box=[1, 2, 16], interleave=16)"),
    ("result(x: Tensor([n], uint8)) -> y: Tensor([n, 4, 16], int32)", "tma(y, box=[1, 1, 16])"),
    (
        "odd_result(x: Tensor([n], uint8)) -> y: Tensor([n, 4, 16], int32)",
        "tma(y, box=[1, 1, 16], interleave=32, swizzle=32)",
    ),
];

/// A package without functions.
const EMPTY: &str = "[package]\nname = \"maps\"\n";

fn function(signature: &str, kernel: &str, args: &[&str]) -> String {
    format!(
        "[[function]]\nsignature = \"{signature}\"\nsource = {{ ptx = \"k.ptx\" }}\nkernel = \"{kernel}\"\n\
         args = {args:?}\nlaunch = {{ grid = [1], block = [32] }}\n"
    )
}

fn package() -> Loaded {
    let functions = FUNCTIONS.iter().map(|(signature, map)| function(signature, "one", &[map]));
    let mut text = EMPTY.to_string() + &functions.collect::<String>();
    let args = ["tma(a, box=[8, 8])", "n: int32", "tma(b, box=[128])"];
    text += &function("both(a: Tensor([m, n], float16), b: Tensor([n], uint8))", "two", &args);
    fake_ffi::set_stream(0);
    GpuPackage::build(&text, &[("k.ptx", PTX.as_bytes())]).load()
}

fn tensor(dtype: DType, shape: &[i64], strides: Option<&[i64]>) -> Value {
    Value::Tensor(Tensor {
        arrival: None,
        data: 0x10_0000,
        device: (2, 0),
        dtype,
        shape: shape.to_vec(),
        strides: strides.map(<[i64]>::to_vec),
        byte_offset: 0,
    })
}

/// The bytes of each argument of the one launch in a log.
pub(super) fn arguments(log: &[Json]) -> Vec<Vec<u8>> {
    let launches = calls(log, "cuLaunchKernelEx");
    let [launch] = &launches[..] else { panic!("{launches:?}") };
    let arguments = launch["launch"]["arguments"].as_array().unwrap().iter();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    arguments
        .map(|it| it["bytes"].as_str().unwrap().as_bytes().chunks(2).map(byte).collect())
        .collect()
}

/// A map as the stub encodes it, in words: the data type, interleave, swizzle, promotion and fill,
/// where, dims, strides, box, steps.
pub(super) fn words(map: &[u8]) -> String {
    assert_eq!((map.len(), &map[..6]), (128, &b"KPSTUB"[..]));
    let rank = usize::from(map[7]);
    let word = |i: usize| u64::from_le_bytes(map[16 + 8 * i..][..8].try_into().unwrap());
    let dims: Vec<_> = (1..=rank).map(word).collect();
    let strides: Vec<_> = (rank + 1..2 * rank).map(word).collect();
    let behind = &map[16 + 16 * rank..];
    let boxes: Vec<_> =
        (0..rank).map(|i| behind[2 * i] as u16 | u16::from(behind[2 * i + 1]) << 8).collect();
    let steps = &behind[2 * rank..3 * rank];
    format!("{} {:?} {:#x} {dims:?} {strides:?} {boxes:?} {steps:?}", map[6], &map[8..12], word(0))
}

#[test]
fn the_driver_is_told_what_the_package_says() {
    let stub = Stub::load("devices 1");
    let package = package();
    let expect = |function: &str, arguments: &[Value], expected: &str| {
        stub.take_log();
        package.call(function, arguments).unwrap();
        assert_eq!(words(&self::arguments(&stub.take_log())[0]), expected, "{function}");
    };
    let f16 = tensor(DType::FLOAT16, &[128, 96], None);
    expect("row", &[f16], "6 [0, 2, 2, 0] 0x100000 [96, 128] [192] [32, 64] [1, 1]");
    let bf16 = tensor(DType::BFLOAT16, &[3, 100, 64], None);
    expect(
        "cube",
        &[bf16],
        "9 [0, 3, 3, 1] 0x100000 [64, 100, 3] [128, 12800] [64, 64, 1] [1, 1, 2]",
    );
    let f32 = tensor(DType::FLOAT32, &[5, 7], Some(&[12, 1]));
    expect("strided", &[f32], "7 [0, 0, 1, 0] 0x100000 [7, 5] [48] [16, 8] [1, 1]");
    let f64 = tensor(DType::FLOAT64, &[6, 5], Some(&[1, 6]));
    expect("column", &[f64], "8 [0, 0, 0, 0] 0x100000 [6, 5] [48] [8, 16] [1, 4]");
    let f32 = tensor(DType::FLOAT32, &[6, 8], None);
    expect("view", &[f32], "7 [0, 0, 0, 0] 0x100000 [8, 2, 3] [32, 64] [4, 3, 2] [1, 1, 1]");
    let u32 = tensor(DType::UINT32, &[6, 7], None);
    expect("flat", &[u32], "2 [0, 0, 0, 0] 0x100000 [42] [] [256] [1]");
    let f32 = tensor(DType::FLOAT32, &[6, 8], None);
    expect("bytes", &[f32], "0 [0, 1, 0, 0] 0x100000 [32, 6] [32] [32, 8] [1, 1]");
    for (dtype, data_type) in [(DType::FLOAT16, 6), (DType::BFLOAT16, 9)] {
        let expected = format!("{data_type} [0, 0, 0, 0] 0x100000 [8, 2] [16] [8, 8] [1, 1]");
        expect("any_half", &[tensor(dtype, &[2, 8], None)], &expected);
    }
    let u8 = tensor(DType::UINT8, &[2, 3, 64], None);
    expect(
        "interleaved",
        &[u8],
        "0 [2, 1, 0, 0] 0x100000 [64, 3, 2] [64, 192] [48, 2, 1] [3, 1, 1]",
    );
    let i8 = tensor(DType::INT8, &[2, 3, 16], None);
    expect("sixteen", &[i8], "0 [1, 0, 0, 0] 0x100000 [16, 3, 2] [16, 48] [16, 2, 1] [1, 1, 1]");
    expect(
        "result",
        &[tensor(DType::UINT8, &[2], None)],
        "3 [0, 0, 0, 0] 0x70000010 [16, 4, 2] [64, 256] [16, 1, 1] [1, 1, 1]",
    );
}

#[test]
fn each_map_of_a_launch_is_encoded_on_every_call() {
    let stub = Stub::load("devices 1");
    let package = package();
    for n in [64, 128] {
        stub.take_log();
        let a = tensor(DType::FLOAT16, &[2, n], None);
        package.call("both", &[a, tensor(DType::UINT8, &[n], None)]).unwrap();
        let log = stub.take_log();
        assert_eq!(calls(&log, "cuTensorMapEncodeTiled").len(), 2);
        let arguments = arguments(&log);
        let a = format!("6 [0, 0, 0, 0] 0x100000 [{n}, 2] [{}] [8, 8] [1, 1]", 2 * n);
        assert_eq!(words(&arguments[0]), a);
        assert_eq!(arguments[1], (n as i32).to_le_bytes());
        let b = format!("0 [0, 0, 0, 0] 0x100000 [{n}] [] [128] [1]");
        assert_eq!(words(&arguments[2]), b);
    }
}

/// In the device's primary context, a map costs its encoding and a look at which context is
/// current.
#[test]
fn nothing_more_is_asked_than_there_must_be() {
    let stub = Stub::load("devices 1");
    let package = package();
    let host = Host::new();
    host.set_current(host.primary(0));
    let mut log = Vec::new();
    for _ in 0..2 {
        stub.take_log();
        package.call("row", &[tensor(DType::FLOAT16, &[128, 96], None)]).unwrap();
        log = stub.take_log();
    }
    let names: Vec<_> = log.iter().map(|line| line["call"].as_str().unwrap()).collect();
    let ask = "cuCtxGetCurrent";
    assert_eq!(names, [ask, "cuTensorMapEncodeTiled", ask, "cuLaunchKernelEx"]);
}

#[test]
fn nothing_is_asked_for_an_empty_tensor() {
    let stub = Stub::load("devices 1");
    let package = package();
    package.call("row", &[tensor(DType::FLOAT16, &[0, 96], None)]).unwrap();
    package.call("view", &[tensor(DType::FLOAT32, &[1, 8], None)]).unwrap();
    assert!(stub.take_log().is_empty(), "not even the driver");
}

#[test]
fn a_refused_map_says_what_it_is() {
    let stub = Stub::load("devices 1");
    let package = package();
    let call = || package.call("row", &[tensor(DType::FLOAT16, &[128, 96], None)]);
    stub.fail("cuTensorMapEncodeTiled", 1, 1);
    assert_eq!(
        call().unwrap_err(),
        "RuntimeError: CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) encoding the tensor map of `a`: \
         dims [96, 128], strides in bytes [192], box [32, 64], the innermost first: the driver takes no such map"
    );
    let error = package.call("odd_result", &[tensor(DType::UINT8, &[2], None)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) encoding the tensor map of `y`: \
         its data is at an address % 32 == 16, expected 0"
    );
    stub.take_log();
    call().expect("then a good call");
}

#[test]
fn every_code_of_the_driver_is_named_and_the_callers_context_comes_back() {
    let stub = Stub::load("devices 1");
    let package = package();
    for code in [1, 2, 3, 4, 100, 201, 400, 500, 700, 719, 801, 999] {
        stub.take_log();
        stub.fail("cuTensorMapEncodeTiled", 1, code);
        let error = package.call("row", &[tensor(DType::FLOAT16, &[128, 96], None)]).unwrap_err();
        assert!(error.starts_with("RuntimeError: CUDA Error: cudaError"), "{code}: {error}");
        assert!(error.contains(&format!("({code}, CUDA_ERROR_")), "{code}: {error}");
        assert!(error.contains(" encoding the tensor map of `a`: "), "{code}: {error}");
        let log = stub.take_log();
        assert!(calls(&log, "cuLaunchKernelEx").is_empty(), "{code}");
        let switches = calls(&log, "cuCtxSetCurrent");
        assert_eq!(switches.len(), 2, "{code}: there and back");
        assert_eq!(switches[1]["args"]["context"], Json::Null, "{code}");
        package.call("row", &[tensor(DType::FLOAT16, &[128, 96], None)]).unwrap();
    }
}

#[test]
fn devices_before_compute_capability_9_have_none() {
    let stub = Stub::load("devices 1\ndevice 0 compute 8.6");
    let package = package();
    stub.fail("cuTensorMapEncodeTiled", 1, 801);
    let error = package.call("row", &[tensor(DType::FLOAT16, &[128, 96], None)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: CUDA Error: cudaErrorNotSupported (801, CUDA_ERROR_NOT_SUPPORTED) encoding the tensor map of `a`: \
         device 0 has none; tensor maps need compute capability 9.0 or later"
    );
}

#[test]
fn a_package_without_maps_does_not_know_them() {
    let names_it = |args: &[&str], kernel: &str| {
        let text = EMPTY.to_string() + &function("f(a: Tensor([n], uint8))", kernel, args);
        let ptx = PTX.to_string() + ".visible .entry none(.param .u64 a)\n{\n    ret;\n}\n";
        let bytes = GpuPackage::compile(&text, &[("k.ptx", ptx.as_bytes())]).unwrap();
        let name = b"cuTensorMapEncodeTiled";
        bytes.windows(name.len()).any(|window| window == name)
    };
    assert!(names_it(&["tma(a, box=[64])"], "one"));
    assert!(!names_it(&["a"], "none"));
}

#[test]
fn a_kernel_that_takes_no_map_is_refused() {
    let text = EMPTY.to_string()
        + &function("f(a: Tensor([n], uint8))", "two", &["tma(a, box=[64])", "a"]);
    let error = GpuPackage::compile(&text, &[("k.ptx", PTX.as_bytes())]).unwrap_err();
    let expected = "takes 3 parameters, of 128, 4, 128 bytes, but `f` passes 2 parameters, of 128 (`tma(a, box=[64])`), 8 (`a`) bytes";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_host_function_takes_no_map() {
    let arg = parse_kernel_arg("tma(a, box=[64])").unwrap();
    let launch = Launch::on_host(HostSource::new("k.c"), KernelName::plain("k"), vec![arg]);
    let signature = "f(a: Tensor([n], uint8))".parse().unwrap();
    let function = Function { launches: vec![launch], ..Function::new(signature) };
    let package = Package::new("maps", vec![function]);
    let error = compile(&package, &Options::default()).err().unwrap().to_string();
    let expected = "error[tensor-map]: in function `f`: `tma(a, box=[64])` is for kernels on a GPU\n  help: pass the tensor itself\n";
    assert!(error.starts_with(expected), "{error}");
}
