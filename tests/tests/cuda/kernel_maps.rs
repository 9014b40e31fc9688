// SPDX-License-Identifier: Apache-2.0
//! Maps of tensors that kernels ask for which are written here: what the launch encodes and passes.

use super::tensor_map::{arguments, words};
use super::*;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_tests::value::Tensor;

const FILE: &str = r#"
import kernpack as kp

BM, BK = 128, 64

@kp.kernel
def copy_tile(a, b):
    layout = kp.make_composed_layout(kp.make_swizzle(3, 3, 3), 0, kp.make_layout((BM, BK, 2), stride=(BK, 1, BM * BK)))
    ta, tb = kp.make_tma(a, layout), kp.make_tma(b, layout)
    same = kp.make_tma(a, layout)
    tiles = kp.shared(kp.bfloat16, layout)
    bar = kp.mbarrier()
    m, k, _ = kp.block_idx()
    if kp.thread_idx()[0] == 0:
        bar.init(1)
        bar.arrive_and_expect_tx(2 * 2 * BM * BK)
        kp.copy(ta[None, (m, k)], tiles[None, None, 0], to=bar)
        kp.copy(same[None, (m, k + 1)], tiles[None, None, 1], to=bar)
        bar.wait()
        kp.copy(tiles[None, None, 0], tb[None, (m, k)], to=kp.bulk_group)
        kp.bulk_commit_group()
        kp.bulk_wait_group(0)

@kp.kernel
def copy_columns(a, at):
    layout = kp.make_layout((16, 8), stride=(1, 16))
    tile, bar = kp.shared(kp.float32, layout), kp.mbarrier()
    if kp.thread_idx()[0] == 0:
        bar.init(1)
        bar.arrive_and_expect_tx(512)
        kp.copy(kp.make_tma(a, layout)[None, (at, 0)], tile, to=bar)
        bar.wait()

@kp.jit("copied(a: Tensor([m, k], bfloat16, align=16, strides=[s, 1]), b: Tensor([m, k], bfloat16, align=16, mut)) where k % 8 == 0")
def copied(a, b):
    grid = kp.ceil_div(a.shape[0], BM), kp.ceil_div(a.shape[1], BK)
    copy_tile(a, b).launch(grid=grid, block=32, arch="sm_90")

@kp.jit("columns(a: Tensor([m, n], float32, align=16, order=col), at: int32) where m % 4 == 0")
def columns(a, at):
    copy_columns(a, at).launch(grid=1, block=32, arch="sm_90")
"#;

fn matrix(dtype: DType, data: u64, strides: Option<Vec<i64>>, shape: [i64; 2]) -> Value {
    let (shape, device) = (shape.to_vec(), (DeviceType::CUDA.0, 0));
    Value::Tensor(Tensor { data, strides, dtype, shape, device, ..Tensor::default() })
}

fn passed(function: &str, values: &[Value]) -> Vec<Vec<u8>> {
    let package = GpuPackage::of_kernels(Path::new(""), "boxes.py", FILE);
    default_stream();
    let stub = Stub::load("devices 1");
    package.load().call(function, values).unwrap();
    arguments(&stub.take_log())
}

#[test]
fn a_launch_passes_each_map_once() {
    let a = matrix(DType::BFLOAT16, 0x10_0000, Some(vec![1000, 1]), [300, 200]);
    let b = matrix(DType::BFLOAT16, 0x20_0000, None, [300, 200]);
    let passed = passed("copied", &[a, b]);
    let maps: Vec<_> = passed.iter().filter(|one| one.len() == 128).map(|map| words(map)).collect();
    assert_eq!(passed.len(), 2);
    expect_test::expect![[r#"
        9 [0, 3, 0, 0] 0x100000 [200, 300] [2000] [64, 128] [1, 1]
        9 [0, 3, 0, 0] 0x200000 [200, 300] [400] [64, 128] [1, 1]"#]]
    .assert_eq(&maps.join("\n"));
}

#[test]
fn the_innermost_dim_is_the_one_whose_elements_lie_side_by_side() {
    let a = matrix(DType::FLOAT32, 0x10_0000, Some(vec![1, 64]), [64, 24]);
    let passed = passed("columns", &[a, Value::Int(3)]);
    let map = passed.iter().find(|one| one.len() == 128).expect("a map");
    expect_test::expect!["7 [0, 0, 0, 0] 0x100000 [64, 24] [256] [16, 8] [1, 1]"]
        .assert_eq(&words(map));
}
