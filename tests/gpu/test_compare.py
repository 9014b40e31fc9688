# SPDX-License-Identifier: Apache-2.0
"""`kernpack run --compare`: each example on the interpreter and on the GPU, with sizes on both sides
of its tiles and conditions; and what is said where results differ, or may.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
KERNPACK = os.environ["KERNPACK_CLI"]
EXAMPLES = FOLDER / "examples/kernels"
PATIENCE = 300


def compare(path, *arguments, **environment):
    """What the command answers, and how it exits."""
    ran = subprocess.run(
        [KERNPACK, "--json", "run", str(path), *arguments, "--compare"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.stdout.startswith("{"), f"status {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return json.loads(ran.stdout), ran.returncode


def expect_same(path, *arguments):
    answer, code = compare(path, *arguments)
    assert (answer["findings"], code) == ([], 0), answer["findings"]
    compared = answer["compared"]
    assert compared["gpu"] == torch.cuda.get_device_name(0)
    assert {tensor["different"] for tensor in compared["tensors"]} <= {0}
    assert [tensor["name"] for tensor in compared["tensors"]] == [
        tensor["name"] for tensor in answer["tensors"]
    ]
    return answer


CALLS = [
    *[f"add_one add_one n={n}" for n in (0, 1, 255, 256, 257, 1024, 1028, 4093)],
    *[f"elementwise {f} s={s}" for f in ("relu", "poly") for s in ("", "5", "7,4", "2,3,5,7")],
    *[f"reduce_sum reduce_sum m={m} n={n}" for m, n in ((1, 1), (3, 511), (5, 1021), (2, 2048))],
    *[f"reduce_sum reduce_sum_tiled m={m} n={n}" for m, n in ((1, 1), (3, 511), (5, 1024))],
    *[f"reduce_sum reduce_sum_vectors m={m} n={n}" for m, n in ((9, 4), (3, 1024), (2, 4100))],
    *[f"softmax softmax_backward m=2 n={n} T=float32" for n in (4, 1028, 4099, 16388)],
    *[
        f"{file} {function} m=2 d={d} T={dtype}"
        for file in ("rms_norm", "layer_norm")
        for function in (file, f"fused_add_{file}", f"{file}_backward")
        for d in (8, 1032, 4104, 16392)
        for dtype in ("float16", "bfloat16")
    ],
    *[f"transpose transpose m={m} n={n}" for m, n in ((1, 1), (64, 64), (65, 130), (31, 127))],
    "matmul matmul m=128 n=256 k=16",
    "matmul matmul m=128 n=128 k=48",
    # Maps of tensors.
    *[
        f"gemm gemm m={m} n={n} k={k} T={dtype} --fill a=ones --fill b=2 --arch sm_90a"
        for m, n, k in ((1, 8, 8), (130, 264, 160), (130, 33, 72), (128, 128, 1024))
        for dtype in ("float16", "bfloat16")
    ],
    *[
        f"gemm gemm_simple m={m} n={n} k={k} T={dtype} --fill a=ones --fill b=2 device.cc=80"
        " --arch compute_80"
        for m, n, k in ((1, 1, 8), (129, 136, 160), (130, 33, 72))
        for dtype in ("float16", "bfloat16")
    ],
]

# What `kp.fast_exp2` is made of, and `kp.log` beside it.
CLOSE = [
    *[f"softmax softmax m=2 n={n} T=float32" for n in (1, 3, 4, 1028, 4099, 16384, 16388)],
    *[
        f"cross_entropy {function} m=2 n={n} T=float32 L=int32 --fill labels=zeros"
        for function in ("cross_entropy", "cross_entropy_backward")
        for n in (1, 1028, 4099, 16388)
    ],
]


@pytest.mark.parametrize("call", CALLS)
def test_an_example_gives_the_same_bits(call):
    file, *arguments = call.split()
    answer = expect_same(EXAMPLES / f"{file}.py", *arguments, "--seed", "5")
    assert answer["exact"]


@pytest.mark.parametrize("call", CLOSE)
def test_an_example_gives_nearly_the_same(call):
    file, *arguments = call.split()
    answer, code = compare(EXAMPLES / f"{file}.py", *arguments, "--seed", "5", "--ulps", "4096")
    assert (answer["findings"], code, answer["exact"]) == ([], 0, False), answer


def test_every_function_of_the_examples_is_compared():
    texts = [path.read_text() for path in EXAMPLES.glob("*.py")]
    functions = {name for text in texts for name in re.findall(r"@kp\.jit\(\s*\"+\s*(\w+)\(", text)}
    # One rank alone would wait for ever: `test_all_reduce.py`. Others are compared with torch, in files of their own.
    of_torch = {"gemm_gelu", "gemm_gelu_tanh", "gemm_relu", "gemm_silu", "grouped_gemm"}
    of_torch |= {"attention", "attention_varlen", "paged_decode"}
    compared = {call.split()[1] for call in CALLS + CLOSE}
    assert functions == {"all_reduce", *of_torch, *compared}


@pytest.mark.parametrize("arch", ["compute_80", "sm_80,compute_80", "compute_80,sm_90"])
def test_code_for_other_architectures_does_the_same(arch):
    major = torch.cuda.get_device_capability()[0]
    if major < 8:
        pytest.skip("the GPU is older")
    arguments = ["softmax_backward", "m=3", "n=100", "T=float32", "--arch", arch]
    answer = expect_same(EXAMPLES / "softmax.py", *arguments)
    assert answer["compared"]["arch"] in arch.split(",")


def test_without_an_assembler_the_driver_compiles():
    arguments = ["reduce_sum", "m=3", "n=100"]
    answer, code = compare(EXAMPLES / "reduce_sum.py", *arguments, KERNPACK_NVJITLINK="/none.so")
    assert code == 0 and answer["compared"]["arch"].startswith("compute_")


KERNELS = '''
import kernpack as kp


@kp.kernel
def mixed(x, w, y, held, by):
    row, t = kp.block_idx()[0], kp.thread_idx()[0]
    wide = kp.shared(kp.float32, (x.shape[1], 16))
    for i in kp.range_constexpr(16):
        wide[t, i] = x[row, t] * kp.float32(by)
    kp.sync_threads()
    total = kp.float32(0)
    for i in kp.range_constexpr(16):
        total += wide[x.shape[1] - 1 - t, i]
    if w is not None:
        total += w[t]
    held[row, t] = total
    y[row, t] = held[row, t].to(y.element_type)
    if t == 0:
        kp.printf("row {}", row)


@kp.jit(
    """
    mixed_row(
        x: Tensor([m, n], float32), T: DataType = float16,
        w: Optional[Tensor([n], float32)] = None, by: float64 = 0.5
    ) -> y: Tensor([m, n], T) where T in {float16, bfloat16, float32}, n <= 1024
    """,
    workspace={"held": "Tensor([m, n], float32)"},
)
def mixed_row(x, T, w, by, y, held):
    mixed(x, w, y, held, by).launch(grid=x.shape[0], block=x.shape[1])


@kp.kernel
def total(x, out):
    kp.atomic_add(out, 0, x[kp.block_idx()[0] * 32 + kp.thread_idx()[0]])


@kp.jit("total_of(x: Tensor([n], float32), out: Tensor([1], float32, mut)) where n % 32 == 0")
def total_of(x, out):
    total(x, out).launch(grid=x.shape[0] // 32, block=32)


@kp.kernel
def machine(x, y):
    i = kp.thread_idx()[0]
    y[i] = kp.fast_exp2(x[i]) + kp.fast_sin(x[i])


@kp.kernel
def first_block(x, y):
    i = kp.thread_idx()[0]
    if kp.block_idx()[0] == 0:
        y[i] = x[i]


@kp.jit("approximate(x: Tensor([n], float32), y: Tensor([n], float32, mut)) where n <= 1024")
def approximate(x, y):
    machine(x, y).launch(grid=1, block=x.shape[0])


@kp.kernel
def counted(x, out):
    out[kp.thread_idx()[0]] = kp.atomic_add(x, 0, 1)


@kp.jit("tickets(x: Tensor([1], int32, mut), out: Tensor([1024], int32, mut))")
def tickets(x, out):
    counted(x, out).launch(grid=1, block=1024)
'''


@pytest.fixture
def kernels(tmp_path):
    path = tmp_path / "kernels_here.py"
    path.write_text(KERNELS)
    return path


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("more", [[], ["w=None", "by=0.3"]])
def test_results_workspaces_and_what_is_not_given(kernels, dtype, more):
    answer = expect_same(kernels, "mixed_row", "m=3", "n=1024", f"T={dtype}", *more)
    # Beyond 48 KiB, which a launch must ask for; printed once a block, by the interpreter.
    [launch] = answer["launches"]
    assert (launch["smem"], launch["printed"]) == (65536, ["row 0", "row 1", "row 2"])
    names = ["x", "y", "held"] if more else ["x", "w", "y", "held"]
    assert [tensor["name"] for tensor in answer["compared"]["tensors"]] == names


def test_sums_in_any_order_are_close(kernels):
    arguments = ["total_of", "n=4096", "--fill", "x=random", "--fill", "out=1000"]
    answer, code = compare(kernels, *arguments)
    assert code == 0 and not answer["exact"] and answer["findings"] == []
    # Numbers from -1 to 1 that are added to 1000: each sum is rounded to within half a unit.
    assert compare(kernels, *arguments, "--ulps", "4096")[1] == 0


def test_approximate_functions_are_close(kernels):
    answer, code = compare(kernels, "approximate", "n=1000")
    assert code == 0 and not answer["exact"]
    [_, y] = answer["compared"]["tensors"]
    assert y["name"] == "y" and y["most_ulps"] is not None
    # Sums near 0 have few bits of what is added.
    assert all(abs(one["interpreted"] - one["gpu"]) < 1e-5 for one in y["shown"])


def test_what_differs_is_told(kernels):
    # Who comes first is drawn from the seed on the interpreter, and the GPU's own choice.
    answer, code = compare(kernels, "tickets", "--fill", "zeros", "--seed", "3")
    assert code == 1 and answer["exact"]
    assert [finding["code"] for finding in answer["findings"]] == ["gpu-difference"]
    differences = {tensor["name"]: tensor for tensor in answer["compared"]["tensors"]}
    assert (differences["x"]["different"], differences["out"]["elements"]) == (0, 1024)
    first = differences["out"]["shown"][0]
    assert first["element"].startswith("out[") and first["interpreted"] != first["gpu"]


DEVICE = """
[package]
name = "device"
[[function]]
signature = "wide(x: Tensor([32], float32), y: Tensor([32], float32, mut))"
source = { kernel = "kernels_here.py" }
kernel = "first_block"
args = ["x", "y"]
launch = { grid = ["device.sm_count"], block = [32] }
"""


def test_launches_are_told_of_this_gpu(kernels):
    package = kernels.with_name("device.toml")
    package.write_text(DEVICE)
    answer = expect_same(package, "wide")
    properties = torch.cuda.get_device_properties(0)
    [launch] = answer["launches"]
    assert launch["grid"] == [properties.multi_processor_count, 1, 1]


def test_without_a_gpu_the_interpreter_has_run():
    arguments = ["add_one", "n=4", "--fill", "zeros"]
    answer, code = compare(EXAMPLES / "add_one.py", *arguments, CUDA_VISIBLE_DEVICES="")
    assert (code, answer["compared"]) == (1, None)
    assert [finding["code"] for finding in answer["findings"]] == ["no-gpu"]
    assert "CUDA_ERROR_NO_DEVICE" in answer["findings"][0]["message"]
    assert answer["tensors"][1]["values"] == [1.0] * 4
