// SPDX-License-Identifier: Apache-2.0
//! What kernels are passed, byte for byte: constants, and all that a function takes where `args` is
//! left out.

use super::*;
use kernpack_tests::value::Tensor;

const KERNELS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry constants(
    .param .u8 truth, .param .u8 small, .param .u16 half, .param .u16 brain, .param .f32 single, .param .f64 wide,
    .param .u64 big, .param .u64 null, .param .align 8 .b8 both[32]
) { ret; }
.visible .entry plain(.param .u64 x, .param .u8 k, .param .u16 by, .param .u64 p, .param .u64 y) { ret; }
";

const PASSING: &str = r#"
[package]
name = "passing"
[[function]]
signature = "constants(x: Tensor([n], float32))"
source = { ptx = "k.ptx" }
kernel = "constants"
args = [
    "true: bool", "-128: int8", "-1.5: float16", "1e-6: bfloat16", "-0.0: float32", "-inf: float64",
    "18446744073709551615: uint64", "0: pointer", "struct(0.1: float32, struct(false: bool, 5e-324: float64), 1: bool)",
]
launch = { grid = [1], block = [32] }
[[function]]
signature = "plain(x: Tensor([n], float32), k: int8, by: float16, p: Pointer, y: Tensor([n], float32, mut))"
source = { ptx = "k.ptx" }
kernel = "plain"
launch = { grid = [1], block = [32] }
"#;

/// The bytes of each argument of the only launch of a call, as hexadecimal digits.
fn passed(function: &str, values: &[Value]) -> Vec<String> {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| build(PASSING, KERNELS));
    default_stream();
    let stub = Stub::load("devices 1");
    let loaded = BUILT.load();
    loaded.call(function, values).unwrap();
    let launches = calls(&stub.take_log(), "cuLaunchKernelEx");
    assert_eq!(launches.len(), 1);
    let arguments = launches[0]["launch"]["arguments"].as_array().expect("a list");
    arguments.iter().map(|argument| argument["bytes"].as_str().unwrap().to_string()).collect()
}

#[test]
fn constants_are_passed_as_their_types() {
    let expected = [
        "01",
        "80",
        "00be",
        "8635",
        "00000080",
        "000000000000f0ff",
        "ffffffffffffffff",
        "0000000000000000",
    ];
    let passed = passed("constants", &[tensor(8, 0)]);
    assert_eq!(passed[..8], expected);
    // What lies between members is not said.
    let both = &passed[8];
    assert_eq!(both[..8], *"cdcccc3d");
    assert_eq!(both[16..18], *"00");
    assert_eq!(both[32..50], *"010000000000000001");
}

#[test]
fn without_args_every_parameter_is_passed() {
    let at = |data: u64| {
        let tensor = Tensor { data, device: (2, 0), shape: vec![8], ..Tensor::default() };
        Value::Tensor(tensor)
    };
    let values = [at(0x1000), Value::Int(-3), Value::Float(0.1), Value::Ptr(0x30), at(0x2000)];
    let expected = ["0010000000000000", "fd", "662e", "3000000000000000", "0020000000000000"];
    assert_eq!(passed("plain", &values), expected);
}
