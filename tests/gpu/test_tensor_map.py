# SPDX-License-Identifier: Apache-2.0
"""Tensor maps on a GPU that has them: boxes as they come to lie in shared memory, compared with
slices. `scripts/gpu-test` runs this.
"""

import ctypes
import os
import threading
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])

if torch.cuda.get_device_capability()[0] != 9:
    pytest.skip("the kernels are for sm_90a", allow_module_level=True)


@pytest.fixture(scope="module")
def module():
    return tvm_ffi.load_module(str(FOLDER / "tensor_map.so"))


def padded(a, box, fill):
    """The tensor with every extent a multiple of the box's."""
    whole = [-(-extent // size) * size for extent, size in zip(a.shape, box)]
    result = torch.full(whole, fill, dtype=a.dtype, device=a.device)
    result[tuple(slice(0, extent) for extent in a.shape)] = a
    return result


def boxes(a, box, fill=0):
    """Its boxes, the innermost dim's first, each as the bytes of a row."""
    result = padded(a, box, fill)
    counts = [extent // size for extent, size in zip(result.shape, box)]
    split = [extent for pair in zip(counts, box) for extent in pair]
    order = list(range(0, 2 * a.ndim, 2)) + list(range(1, 2 * a.ndim, 2))
    result = result.reshape(split).permute(order).contiguous()
    return result.reshape(-1, torch.Size(box).numel()).view(torch.uint8)


def run(function, a, n_boxes, n_bytes, *arguments):
    out = torch.full((n_boxes, n_bytes), 0xA5, dtype=torch.uint8, device="cuda")
    function(a, out, *arguments)
    torch.cuda.synchronize()
    return out


def random(*shape, dtype=torch.float16):
    return torch.randn(*shape, device="cuda").to(dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(32, 64), (64, 128), (33, 72), (1, 8), (1, 12), (100, 200)])
def test_boxes_of_a_matrix_with_zeros_out_of_bounds(module, dtype, shape):
    a = random(*shape, dtype=dtype)
    expected = boxes(a, (32, 64))
    assert torch.equal(run(module.matrix, a, *expected.shape), expected)


def test_nan_out_of_bounds(module):
    a = random(33, 72)
    got = run(module.nan, a, 4, 4096).view(torch.float16)
    expected = boxes(a, (32, 64), float("nan")).view(torch.float16)
    assert torch.equal(got.isnan(), expected.isnan())
    assert torch.equal(got.nan_to_num(), expected.nan_to_num())


@pytest.mark.parametrize("span", [32, 64, 128])
def test_chunks_change_places_within_the_span(module, span):
    a = random(256, 128)
    box = (4096 // span, span // 2)
    expected = boxes(a, box)
    at = torch.arange(4096, device="cuda")
    # Of an address, the bits from 4 on, as many as the span has chunks, are changed by those from 7
    # on.
    plain = at ^ ((at >> 7) % (span // 16) << 4)
    assert torch.equal(run(module.swizzled, a, *expected.shape, span), expected[:, plain])


def test_a_tensor_with_strides_of_its_own(module):
    a = random(6, 20, 40, dtype=torch.float32)[1:4, ::2, 4:36]
    expected = boxes(a, (2, 8, 16))
    assert torch.equal(run(module.cube, a, *expected.shape), expected)


def test_a_broadcast_dim(module):
    a = random(1, 8, 16, dtype=torch.float32).expand(4, 8, 16)
    expected = boxes(a, (2, 8, 16))
    assert torch.equal(run(module.cube, a, *expected.shape), expected)


def test_column_major(module):
    a = random(24, 20, dtype=torch.float32)
    expected = boxes(a, (8, 16))
    assert torch.equal(run(module.column, a.t(), *expected.shape), expected)


def test_every_second_row(module):
    a = random(32, 48, dtype=torch.float32)
    expected = boxes(a[::2], (8, 16))
    assert torch.equal(run(module.steps, a, *expected.shape), expected)


def test_another_view_of_the_bytes(module):
    a = random(8, 20, dtype=torch.float32)
    expected = boxes(a.view(torch.uint8).reshape(4, 2, 80), (2, 4, 64))
    assert torch.equal(run(module.view, a, *expected.shape), expected)


@pytest.mark.parametrize("n", [1, 256, 1000])
def test_a_vector(module, n):
    a = torch.arange(1, n + 1, dtype=torch.int32, device="cuda")
    expected = boxes(a, (256,))
    assert torch.equal(run(module.row, a, *expected.shape), expected)


def test_an_empty_tensor_is_not_launched(module):
    assert (run(module.matrix, random(0, 64), 1, 4096) == 0xA5).all()


def test_a_misaligned_tensor_is_refused(module):
    a = random(32 * 64 + 4)[4:].reshape(32, 64)
    with pytest.raises(
        ValueError, match=r"Invalid tensor map of `a` on argument #0 .*, got address % 16 == 8"
    ):
        run(module.matrix, a, 1, 4096)


def test_the_driver_takes_what_the_checks_let_through(module):
    stream = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
    a = torch.zeros(2, 8, 64, dtype=torch.uint8, device="cuda")
    module.encode(a, stream)
    module.encode_16(a, stream)
    for shape in [(1, 1), (3, 8), (1, 7)]:
        module.encode_5(torch.zeros(shape, dtype=torch.float64, device="cuda"), stream)
    module.encode_16(a.expand(2, 8, 64)[:, :1].expand(2, 8, 64), stream)


def test_without_a_current_context(module):
    stream = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
    a = torch.zeros(2, 8, 64, dtype=torch.uint8, device="cuda")
    problems = []

    def call():
        try:
            module.encode(a, stream)
        except Exception as error:
            problems.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert not problems
