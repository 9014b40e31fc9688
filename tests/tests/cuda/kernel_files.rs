// SPDX-License-Identifier: Apache-2.0
//! Kernels that are written here: what reaches them of tensors, dims, strides and scalars, and
//! which of them a call launches.

use super::*;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_tests::value::Tensor;

const FILE: &str = r#"
import kernpack as kp

@kp.kernel
def scale(x, y, by, width: kp.Constexpr = 1):
    row = kp.block_idx()[0]
    i = kp.thread_idx()[0] * width
    if i < x.shape[1]:
        y[row, i] = x[row, i] * by

@kp.jit("scaled(x: Tensor([m, n], float32, strides=[s, 1]), y: Tensor([m, n], float32, mut), by: float32)")
def scaled(x, y, by):
    m, n = x.shape
    if n == 64:
        scale(x, y, by).launch(grid=m, block=64)
    else:
        scale(x, y, by, width=2).launch(grid=(m, 2), block=32, smem=4 * n)
"#;

const RESULTS: &str = r#"
import kernpack as kp

@kp.kernel
def double(x, y):
    i = kp.block_idx()[0] * 32 + kp.thread_idx()[0]
    for j in kp.range_constexpr(4):
        if 4 * i + j < x.shape[0]:
            y[4 * i + j] = x[4 * i + j] * 2.0

@kp.jit("doubled(x: Tensor([n], float32, align=16)) -> y: Tensor([n], float32) where n % 4 == 0")
def doubled(x, y):
    double(x, y).launch(grid=kp.ceil_div(x.shape[0], 128), block=32)
"#;

const PACKAGE: &str = r#"
[package]
name = "written"
submit = "plain"
[[function]]
signature = "rows(x: Tensor([m, n], T), y: Tensor([m, n], T, mut)) where T in {float16, float32}"
source = { kernel = "k.py" }
kernel = "scale"
args = ["x", "y", "2"]
launch = { grid = ["m"], block = [128] }
"#;

/// Grid, block, shared memory and arguments of each launch.
fn launches(package: &GpuPackage, function: &str, values: &[Value]) -> Vec<String> {
    default_stream();
    let stub = Stub::load("devices 1");
    package.load().call(function, values).unwrap();
    let log = stub.take_log();
    let launches = calls(&log, "cuLaunchKernelEx").into_iter().map(|call| {
        let launch = &call["launch"];
        let arguments = launch["arguments"].as_array().expect("a list").iter();
        let bytes: Vec<_> = arguments.map(|one| one["bytes"].as_str().unwrap()).collect();
        let (kernel, config) = (launch["kernel"].as_str().unwrap(), &launch["config"]);
        let (grid, block, shared) = (&config["grid"], &config["block"], &config["shared"]);
        format!("{kernel} {grid} {block} {shared}: {}", bytes.join(" "))
    });
    launches.collect()
}

fn matrix(dtype: DType, data: u64, strides: Option<Vec<i64>>, shape: [i64; 2]) -> Value {
    let (shape, device) = (shape.to_vec(), (DeviceType::CUDA.0, 0));
    Value::Tensor(Tensor { data, strides, dtype, shape, device, ..Tensor::default() })
}

#[test]
fn a_kernel_file_is_a_package() {
    let package = GpuPackage::of_kernels(Path::new(""), "written.py", FILE);
    let call = |n: i64| {
        let x = matrix(DType::FLOAT32, 0x1000, Some(vec![1000, 1]), [3, n]);
        let y = matrix(DType::FLOAT32, 0x9000, None, [3, n]);
        launches(&package, "scaled", &[x, y, Value::Float(0.5)])
    };
    // x, its stride, m, y, by: where n is 64, it is part of the code.
    let launch = "scale [3,1,1] [64,1,1] 0: 0010000000000000 e803000000000000 0300000000000000 0090000000000000 0000003f";
    assert_eq!(call(64), [launch]);
    // x, its stride, m, n, y, by.
    let launch = "scale_2 [3,2,1] [32,1,1] 40: 0010000000000000 e803000000000000 0300000000000000 0a00000000000000 0090000000000000 0000003f";
    assert_eq!(call(10), [launch]);
}

#[test]
fn a_package_file_names_a_kernel_of_a_file() {
    let package = GpuPackage::build(PACKAGE, &[("k.py", FILE.as_bytes())]);
    let call = |dtype: DType| {
        let (x, y) = (matrix(dtype, 0x1000, None, [3, 10]), matrix(dtype, 0x9000, None, [3, 10]));
        launches(&package, "rows", &[x, y])
    };
    let passed =
        "[3,1,1] [128,1,1] 0: 0010000000000000 0a00000000000000 0300000000000000 0090000000000000";
    assert_eq!(call(DType::FLOAT16), [format!("scale_float16 {passed}")]);
    assert_eq!(call(DType::FLOAT32), [format!("scale_float32 {passed}")]);
}

/// What a call allocates is where the wide kernel needs it, or the call is refused; a twin is
/// passed its result anywhere, and takes the kernel for that.
#[test]
fn a_twin_takes_the_kernel_for_where_its_result_is() {
    let package = GpuPackage::of_kernels(Path::new(""), "results.py", RESULTS);
    let vector = |data: u64| {
        let (shape, device) = (vec![8], (DeviceType::CUDA.0, 0));
        Value::Tensor(Tensor { data, dtype: DType::FLOAT32, shape, device, ..Tensor::default() })
    };
    let kernels = |function: &str, values: &[Value]| {
        let launches = launches(&package, function, values).into_iter();
        launches.map(|launch| launch.split(' ').next().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(kernels("doubled", &[vector(0x1000)]), ["double"]);
    for (result, kernel) in [(0x9000, "double"), (0x9010, "double"), (0x9004, "double_2")] {
        assert_eq!(kernels("doubled_out", &[vector(0x1000), vector(result)]), [kernel]);
    }
    let stub = Stub::load("devices 1");
    fake_ffi::allocate_at(0x7000_0008);
    let error = package.load().call("doubled", &[vector(0x1000)]).unwrap_err();
    assert_eq!(
        error,
        "RuntimeError: Cannot allocate the result `y` when calling: `doubled(x: Tensor([n], float32)) -> \
         y: Tensor([n], float32)`: the allocator's memory is no multiple of 16 bytes"
    );
    assert!(calls(&stub.take_log(), "cuLaunchKernelEx").is_empty());
}
