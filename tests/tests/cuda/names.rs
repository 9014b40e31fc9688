// SPDX-License-Identifier: Apache-2.0
//! Kernels by their names in C++: what the driver is asked for, and what it launches.

use super::*;
use kernpack_ffi_abi::DType;
use kernpack_tests::value::Tensor;

const NAMED: &str = r#"
[package]
name = "named"
[[function]]
signature = "rms(x: Tensor([n], T, mut)) where T in {float16, float32}"
[[function.launch]]
source = { ptx = "k.ptx" }
kernel = "norm::rms<8, {T}>"
args = ["x"]
grid = [1]
block = [32]
[[function.launch]]
when = "T in {float32}"
source = { ptx = "k.ptx" }
kernel = "norm::rms<8u,float>"
args = ["x"]
grid = [2]
block = [32]
"#;

const KERNELS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .entry _ZN4norm3rmsILj8EfEEvPT0_(.param .u64 x) { ret; }\n\
    .visible .entry _ZN4norm3rmsILj8E6__halfEEvPT0_(.param .u64 x) { ret; }\n";

fn of_dtype(dtype: DType) -> Value {
    let tensor = Tensor { device: (2, 0), dtype, shape: vec![8], ..Tensor::default() };
    Value::Tensor(tensor)
}

#[test]
fn templates_are_launched_by_their_symbols() {
    default_stream();
    let stub = Stub::load("devices 1");
    let package = build(NAMED, KERNELS);
    let loaded = package.load();
    loaded.call("rms", &[of_dtype(DType::FLOAT16)]).unwrap();
    loaded.call("rms", &[of_dtype(DType::FLOAT32)]).unwrap();
    let log = stub.take_log();
    let launches = calls(&log, "cuLaunchKernelEx");
    let launched: Vec<_> = launches.iter().map(|call| &call["launch"]["kernel"]).collect();
    let (half, float) = ("_ZN4norm3rmsILj8E6__halfEEvPT0_", "_ZN4norm3rmsILj8EfEEvPT0_");
    assert_eq!(launched, [half, float, float]);
    let asked = calls(&log, "cuLibraryGetKernel");
    assert_eq!(asked.len(), 2, "two spellings are one kernel: {asked:?}");
}
