// SPDX-License-Identifier: Apache-2.0
//! The packages that the examples become, called on a driver that needs no GPU: what each launch
//! has, to the byte.

use crate::{folder, text};
use expect_test::{Expect, expect};
use kernpack_compiler::source::kernel;
use kernpack_compiler::source::ptxas::Ptxas;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_kernel_ir::Kernel;
use kernpack_machine::ArchKind;
use kernpack_package::GpuSource;
use kernpack_package::source::KernelSource;
use kernpack_tests::cuda_stub::{self, Stub};
use kernpack_tests::fake_ffi;
use kernpack_tests::gpu_package::GpuPackage;
use kernpack_tests::value::{Tensor, Value};
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A tensor on the GPU, at the address `number << 32`.
fn tensor(number: u64, dtype: DType, shape: &[i64]) -> Value {
    Value::Tensor(Tensor {
        data: number << 32,
        device: (DeviceType::CUDA.0, 0),
        dtype,
        shape: shape.to_vec(),
        strides: None,
        ..Tensor::default()
    })
}

/// A package, and the sources that it would have assembled.
type Built = (GpuPackage, Vec<GpuSource>);

/// Calls a function of an example's package, and compares its launches: kernel, grid, block, bytes
/// of dynamic shared memory, and the arguments as numbers in hexadecimal digits.
fn expect_launches(file: &str, function: &str, values: &[Value], expected: Expect) {
    fake_ffi::set_stream(0);
    let stub = Stub::load("devices 1");
    thread_local! {
        static BUILT: RefCell<HashMap<String, Rc<Built>>> = RefCell::default();
    }
    let own = up_to(function, text(file));
    let build = || Rc::new(GpuPackage::of_ptx(&folder(), &format!("{file}.py"), &own));
    let key = format!("{file} {function}");
    let built = |all: &mut HashMap<_, _>| Rc::clone(all.entry(key).or_insert_with(build));
    let built = BUILT.with_borrow_mut(built);
    let (package, sources) = &*built;
    package.load().call(function, values).unwrap_or_else(|error| panic!("{error}"));
    let log = stub.take_log();
    let launches = cuda_stub::launched(&log);
    let shown = launches.iter().copied().map(shown);
    expected.assert_eq(&shown.collect::<Vec<_>>().join("\n"));
    let names: Vec<_> = launches.iter().filter_map(|launch| launch["kernel"].as_str()).collect();
    assemble(sources, &names);
}

/// Assembles these kernels for the architectures that their launches name, where there is an
/// assembler.
fn assemble(sources: &[GpuSource], names: &[&str]) {
    if Ptxas::find().is_err() {
        return;
    }
    let mut unknown = names.to_vec();
    for source in sources {
        let GpuSource::Kernel(source, archs) = source else { unreachable!("an example's source") };
        unknown.retain(|name| source.instances.iter().all(|kernel| kernel.name != *name));
        let is_launched = |kernel: &&Arc<Kernel>| names.contains(&kernel.name.as_str());
        let instances: Arc<[_]> = source.instances.iter().filter(is_launched).cloned().collect();
        for arch in archs.iter().filter(|arch| arch.kind == ArchKind::Sm && !instances.is_empty()) {
            let launched = KernelSource { instances: instances.clone(), ..source.clone() };
            kernel::cubin(&launched, arch.value).unwrap_or_else(|errors| panic!("{errors:?}"));
        }
    }
    assert!(unknown.is_empty(), "no kernels of the file: {unknown:?}");
}

/// A file without the functions behind one, and without one of the types: nobody launches these.
fn up_to(function: &str, text: String) -> String {
    let mut text = text.replace("T in {float16, bfloat16}", "T in {bfloat16}");
    let own = text.find(&format!("def {function}(")).expect("the function");
    if let Some(next) = text[own..].find("\n@kp.jit") {
        text.truncate(own + next);
    }
    text
}

fn shown(launch: &Json) -> String {
    let config = &launch["config"];
    let arguments = launch["arguments"].as_array().expect("a list").iter();
    let arguments = arguments.map(|argument| number(argument["bytes"].as_str().expect("digits")));
    format!(
        "{}: grid {}, block {}, shared {}, arguments {}",
        launch["kernel"].as_str().expect("a name"),
        config["grid"],
        config["block"],
        config["shared"],
        arguments.collect::<Vec<_>>().join(" "),
    )
}

/// A little-endian number of two digits a byte.
fn number(bytes: &str) -> String {
    let pairs = bytes.as_bytes().chunks(2).rev();
    let digits: String = pairs.flatten().map(|digit| char::from(*digit)).collect();
    match digits.trim_start_matches('0') {
        "" => "0".to_string(),
        digits => digits.to_string(),
    }
}

const F32: DType = DType::FLOAT32;

#[test]
fn launches_of_add_one() {
    let tensors = |n| [tensor(1, F32, &[n]), tensor(2, F32, &[n])];
    expect_launches(
        "add_one",
        "add_one",
        &tensors(4100),
        expect![
            "add_one_vectors: grid [5,1,1], block [256,1,1], shared 0, arguments 100000000 401 200000000"
        ],
    );
    expect_launches(
        "add_one",
        "add_one",
        &tensors(4099),
        expect![
            "add_one_scalars: grid [17,1,1], block [256,1,1], shared 0, arguments 100000000 1003 200000000"
        ],
    );
}

#[test]
fn launches_of_elementwise() {
    let shape = [31, 37];
    expect_launches(
        "elementwise",
        "poly",
        &[tensor(1, F32, &shape), tensor(2, F32, &shape)],
        expect![
            "map_scalars_2: grid [5,1,1], block [256,1,1], shared 0, arguments 100000000 47b 200000000"
        ],
    );
}

#[test]
fn launches_of_reduce_sum() {
    let tensors = |n| [tensor(1, F32, &[100, n]), tensor(2, F32, &[100])];
    expect_launches(
        "reduce_sum",
        "reduce_sum",
        &tensors(1000),
        expect![
            "sum_rows: grid [100,1,1], block [512,1,1], shared 0, arguments 100000000 3e8 64 200000000"
        ],
    );
    expect_launches(
        "reduce_sum",
        "reduce_sum_vectors",
        &tensors(1000),
        expect![
            "sum_warp_vectors: grid [13,1,1], block [256,1,1], shared 0, arguments 100000000 3e8 64 200000000"
        ],
    );
    expect_launches(
        "reduce_sum",
        "reduce_sum_vectors",
        &tensors(2000),
        expect![
            "sum_row_vectors: grid [100,1,1], block [256,1,1], shared 0, arguments 100000000 7d0 64 200000000"
        ],
    );
}

#[test]
fn launches_of_softmax() {
    let tensors = |n| [tensor(1, F32, &[100, n]), tensor(2, F32, &[100, n])];
    expect_launches(
        "softmax",
        "softmax",
        &tensors(4096),
        expect![
            "softmax_once_3: grid [100,1,1], block [256,1,1], shared 0, arguments 100000000 1000 64 200000000"
        ],
    );
    expect_launches(
        "softmax",
        "softmax",
        &tensors(16384),
        expect![
            "softmax_once_5: grid [100,1,1], block [512,1,1], shared 65664, arguments 100000000 4000 64 200000000"
        ],
    );
    expect_launches(
        "softmax",
        "softmax",
        &tensors(4097),
        expect![
            "softmax_twice_5: grid [100,1,1], block [512,1,1], shared 0, arguments 100000000 1001 64 200000000"
        ],
    );
    let tensors = [1, 2, 3].map(|number| tensor(number, F32, &[100, 4096]));
    expect_launches(
        "softmax",
        "softmax_backward",
        &tensors,
        expect![
            "gradient_once_3: grid [100,1,1], block [512,1,1], shared 0, arguments 100000000 1000 64 200000000 300000000"
        ],
    );
}

#[test]
fn launches_of_cross_entropy() {
    let logits = |number| tensor(number, F32, &[100, 5000]);
    let rows = |number| tensor(number, F32, &[100]);
    let labels = tensor(2, DType::INT64, &[100]);
    let ignored = Value::Int(-100);
    let values = [logits(1), labels.clone(), rows(3), rows(4), ignored.clone()];
    expect_launches(
        "cross_entropy",
        "cross_entropy",
        &values,
        expect![
            "losses_2_int64: grid [100,1,1], block [128,1,1], shared 0, arguments 100000000 1388 64 200000000 300000000 400000000 ffffffffffffff9c"
        ],
    );
    let values = [logits(1), labels, rows(3), rows(4), logits(5), ignored];
    expect_launches(
        "cross_entropy",
        "cross_entropy_backward",
        &values,
        expect![
            "logit_gradients_4_int64: grid [200,1,1], block [256,1,1], shared 0, arguments 100000000 1388 64 200000000 300000000 400000000 500000000 ffffffffffffff9c"
        ],
    );
}

const HALVES: DType = DType::BFLOAT16;

#[test]
fn launches_of_rms_norm() {
    let (x, w) =
        (|number| tensor(number, HALVES, &[100, 5120]), |number| tensor(number, HALVES, &[5120]));
    let eps = Value::Float(1e-5);
    let values = [x(1), w(2), x(3), eps.clone()];
    expect_launches(
        "rms_norm",
        "rms_norm",
        &values,
        expect![
            "rms_rows_4_bfloat16: grid [100,1,1], block [256,1,1], shared 0, arguments 100000000 1400 64 200000000 300000000 3727c5ac"
        ],
    );
    let values = [x(1), x(2), w(3), x(4), x(5), eps.clone()];
    expect_launches(
        "rms_norm",
        "fused_add_rms_norm",
        &values,
        expect![
            "rms_rows_13_bfloat16: grid [100,1,1], block [256,1,1], shared 0, arguments 100000000 1400 64 300000000 400000000 3727c5ac 200000000 500000000"
        ],
    );
    let values = [x(1), w(2), x(3), x(4), w(5), eps];
    expect_launches(
        "rms_norm",
        "rms_norm_backward",
        &values,
        expect![[r#"
            rms_gradient_4_bfloat16: grid [100,1,1], block [512,1,1], shared 65792, arguments 100000000 1400 64 200000000 300000000 400000000 70000010 18c 3727c5ac
            sum_columns_4_bfloat16: grid [160,1,1], block [1024,1,1], shared 0, arguments 70000010 1400 18c 64 500000000"#]],
    );
}

#[test]
fn launches_of_layer_norm() {
    let (x, w) =
        (|number| tensor(number, HALVES, &[100, 5120]), |number| tensor(number, HALVES, &[5120]));
    let rows = |number| tensor(number, F32, &[100]);
    let values = [x(1), w(2), w(3), x(4), rows(5), rows(6), Value::Float(1e-5)];
    expect_launches(
        "layer_norm",
        "layer_norm",
        &values,
        expect![
            "layer_rows_4_bfloat16: grid [100,1,1], block [256,1,1], shared 0, arguments 100000000 1400 64 200000000 300000000 400000000 500000000 600000000 3727c5ac"
        ],
    );
    let values = [x(1), w(2), rows(3), rows(4), x(5), x(6), w(7), w(8)];
    expect_launches(
        "layer_norm",
        "layer_norm_backward",
        &values,
        expect![[r#"
            layer_gradient_4_bfloat16: grid [100,1,1], block [256,1,1], shared 65664, arguments 100000000 1400 64 200000000 300000000 400000000 500000000 600000000 70000010 18c 70001010
            sum_columns_4_bfloat16: grid [160,2,1], block [1024,1,1], shared 0, arguments 70000010 1400 18c 70001010 64 700000000 800000000"#]],
    );
}

#[test]
fn launches_of_transpose() {
    let values = [tensor(1, F32, &[1000, 300]), tensor(2, F32, &[300, 1000])];
    expect_launches(
        "transpose",
        "transpose",
        &values,
        expect![
            "transpose_tiles: grid [5,16,1], block [32,16,1], shared 0, arguments 100000000 12c 3e8 200000000"
        ],
    );
}

#[test]
fn launches_of_matmul() {
    let values =
        [tensor(1, F32, &[256, 1024]), tensor(2, F32, &[1024, 512]), tensor(3, F32, &[256, 512])];
    expect_launches(
        "matmul",
        "matmul",
        &values,
        expect![
            "matmul_tiles: grid [4,2,1], block [256,1,1], shared 0, arguments 100000000 400 100 200000000 200 300000000"
        ],
    );
}

#[test]
fn launches_of_gemm() {
    let of = |n| {
        [
            tensor(1, HALVES, &[1000, 256]),
            tensor(2, HALVES, &[n, 256]),
            tensor(3, HALVES, &[1000, n]),
        ]
    };
    expect_launches(
        "gemm",
        "gemm_simple",
        &of(512),
        expect![
            "gemm_tiles_3_bfloat16: grid [32,1,1], block [128,1,1], shared 98328, arguments 100 3e8 200 300000000 10100800040000000000000020000000000000003e8000000000000010000000001000000000000000000000300020942555453504b 1010080004000000000000002000000000000000200000000000000010000000002000000000000000000000300020942555453504b"
        ],
    );
    expect_launches(
        "gemm",
        "gemm_simple",
        &of(513),
        expect![
            "gemm_tiles_5_bfloat16: grid [40,1,1], block [128,1,1], shared 98328, arguments 100 3e8 201 300000000 10100800040000000000000020000000000000003e8000000000000010000000001000000000000000000000300020942555453504b 1010080004000000000000002000000000000000201000000000000010000000002000000000000000000000300020942555453504b"
        ],
    );
}

/// Of each way of the signature's: masks, heads, keys, sequences.
#[test]
fn launches_of_attention() {
    let of = |d, keys| {
        [
            tensor(1, HALVES, &[2, 8, 300, d]),
            tensor(2, HALVES, &[2, 2, keys, d]),
            tensor(3, HALVES, &[2, 2, keys, d]),
            tensor(4, HALVES, &[2, 8, 300, d]),
            tensor(5, F32, &[2, 8, 300]),
            Value::Float(0.125),
        ]
    };
    let right = |right| [Value::Int(-1), Value::Int(right)];
    let launches = |values: &[&[Value]], expected| {
        expect_launches("attention", "attention", &values.concat(), expected);
    };
    launches(
        &[&of(128, 500)],
        expect![
            "attention_tiles_6_bfloat16: grid [3,8,2], block [384,1,1], shared 165920, arguments 2 8 12c 2 1f4 400000000 4b000 9600 80 1 500000000 960 3e000000 101010100010001008000400000000000012c000000000000096000000000000000010000000000000000080000000000000002000000000000012c000000000000008000000001000000000000000000000300040942555453504b 10101010001000100800040000000000001f400000000000003e80000000000000001000000000000000002000000000000000200000000000001f4000000000000008000000002000000000000000000000300040942555453504b 10101010001000100800040000000000001f400000000000003e80000000000000001000000000000000002000000000000000200000000000001f4000000000000008000000003000000000000000000000300040942555453504b"
        ],
    );
    launches(
        &[&of(64, 500), &right(0)],
        expect![
            "attention_tiles_3_bfloat16: grid [3,8,2], block [384,1,1], shared 84000, arguments 2 8 12c 2 1f4 400000000 25800 4b00 40 1 500000000 960 3e000000 0 101010100010001008000400000000000009600000000000004b000000000000000008000000000000000080000000000000002000000000000012c000000000000004000000001000000000000000000000300040942555453504b 10101010001000100800040000000000000fa00000000000001f40000000000000000800000000000000002000000000000000200000000000001f4000000000000004000000002000000000000000000000300040942555453504b 10101010001000100800040000000000000fa00000000000001f40000000000000000800000000000000002000000000000000200000000000001f4000000000000004000000003000000000000000000000300040942555453504b"
        ],
    );
    launches(
        &[&of(64, 500), &[Value::Int(3)]],
        expect![
            "attention_tiles_bfloat16: grid [3,8,2], block [384,1,1], shared 84000, arguments 2 8 12c 2 1f4 400000000 25800 4b00 40 1 500000000 960 3e000000 3 ffffffff 101010100010001008000400000000000009600000000000004b000000000000000008000000000000000080000000000000002000000000000012c000000000000004000000001000000000000000000000300040942555453504b 10101010001000100800040000000000000fa00000000000001f40000000000000000800000000000000002000000000000000200000000000001f4000000000000004000000002000000000000000000000300040942555453504b 10101010001000100800040000000000000fa00000000000001f40000000000000000800000000000000002000000000000000200000000000001f4000000000000004000000003000000000000000000000300040942555453504b"
        ],
    );
    launches(
        &[&of(128, 0)],
        expect![
            "write_nothing_bfloat16: grid [300,8,2], block [128,1,1], shared 0, arguments 400000000 4b000 2 9600 8 80 12c 80 1 500000000 960"
        ],
    );
}

#[test]
fn launches_of_paged_decode() {
    const I32: DType = DType::INT32;
    let values = [
        tensor(1, HALVES, &[3, 16, 128]),
        tensor(2, HALVES, &[50, 16, 2, 128]),
        tensor(3, HALVES, &[50, 16, 2, 128]),
        tensor(4, I32, &[3, 17]),
        tensor(5, I32, &[3]),
        tensor(6, HALVES, &[3, 16, 128]),
        Value::Float(0.125),
    ];
    expect_launches(
        "paged_decode",
        "paged_decode",
        &values,
        expect![[r#"
        decode_parts_2_bfloat16: grid [1,2,3], block [160,1,1], shared 98352, arguments 100000000 800 3 80 10 2 400000000 11 500000000 70000010 2080 208 82 4 3e000000 10101010001000100100040000000000000010000000000000020000000000000000200000000000000000200000000000000320000000000000010000000000000008000000002000000000000000000000300040942555453504b 10101010001000100100040000000000000010000000000000020000000000000000200000000000000000200000000000000320000000000000010000000000000008000000003000000000000000000000300040942555453504b
        put_together_2_bfloat16: grid [16,3,1], block [128,1,1], shared 0, arguments 70000010 2080 3 208 10 82 4 600000000 800 80"#]],
    );
}

/// Parts of k in clusters, and few rows.
#[test]
fn launches_of_gemm_by_roles() {
    for (m, expected) in [
        (
            1000,
            expect![
                "gemm_parts_bfloat16: grid [64,1,1], block [384,1,1], shared 200736, arguments 1000 3e8 200 300000000 10100800040000000000000200000000000000003e8000000000000100000000001000000000000000000000300020942555453504b 1010080004000000000000020000000000000000200000000000000100000000002000000000000000000000300020942555453504b"
            ],
        ),
        (
            16,
            expect![
                "gemm_roles_bfloat16: grid [4,1,1], block [384,1,1], shared 184480, arguments 1000 200 10 300000000 1010080004000000000000020000000000000000200000000000000100000000002000000000000000000000300020942555453504b 1010010004000000000000020000000000000000010000000000000100000000001000000000000000000000300020942555453504b"
            ],
        ),
    ] {
        let values = [
            tensor(1, HALVES, &[m, 4096]),
            tensor(2, HALVES, &[512, 4096]),
            tensor(3, HALVES, &[m, 512]),
        ];
        expect_launches("gemm", "gemm", &values, expected);
    }
}

#[test]
fn launches_of_gemm_epilogue() {
    let values = [
        tensor(1, HALVES, &[1000, 256]),
        tensor(2, HALVES, &[512, 256]),
        tensor(3, HALVES, &[512]),
        tensor(4, HALVES, &[1000, 512]),
        Value::None,
        Value::Float(0.5),
    ];
    expect_launches(
        "gemm_epilogue",
        "gemm_gelu",
        &values,
        expect![
            "gemm_roles_3_bfloat16: grid [32,1,1], block [384,1,1], shared 196704, arguments 100 3e8 200 400000000 3f000000 300000000 10100800040000000000000020000000000000003e8000000000000010000000001000000000000000000000300020942555453504b 1010080004000000000000002000000000000000200000000000000010000000002000000000000000000000300020942555453504b"
        ],
    );
}

#[test]
fn launches_of_grouped_gemm() {
    let values = [
        tensor(1, HALVES, &[1000, 256]),
        tensor(2, HALVES, &[8, 512, 256]),
        tensor(3, DType::INT32, &[9]),
        tensor(4, HALVES, &[1000, 512]),
    ];
    expect_launches(
        "grouped_gemm",
        "grouped_gemm",
        &values,
        expect![
            "grouped_tiles_2_bfloat16: grid [32,1,1], block [384,1,1], shared 196672, arguments 100 3e8 400000000 200 300000000 9 10100800040000000000000020000000000000003e8000000000000010000000001000000000000000000000300020942555453504b 1010100004000000000000002000000000000001000000000000000010000000002000000000000000000000300020942555453504b"
        ],
    );
}
