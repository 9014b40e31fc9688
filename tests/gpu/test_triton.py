# SPDX-License-Identifier: Apache-2.0
"""Kernels that Triton compiled, in packages, on a GPU: examples/triton and tests/triton.
`scripts/gpu-test` runs this where there is one.

The cubins are for sm_90a: other devices skip everything.
"""

import os
import sys
from pathlib import Path

import pytest
import torch
import tvm_ffi
from graphs import assert_replayed, captured

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() != (9, 0), reason="the cubins are for sm_90a"
)


@pytest.fixture(scope="module")
def softmax():
    return tvm_ffi.load_module(str(FOLDER / "softmax.so")).softmax


@pytest.fixture(scope="module")
def kernels():
    return tvm_ffi.load_module(str(FOLDER / "triton_versions.so"))


def rows(m, d, dtype):
    x = (torch.randn(m, d, device="cuda") * 5).to(dtype)
    # Where the kernel writes nothing, this shows.
    return x, torch.full_like(x, float("nan"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("m, d", [(1, 1), (7, 100), (1000, 1023), (3, 4096), (0, 8), (70_000, 64)])
def test_softmax_against_float64(softmax, dtype, m, d):
    x, y = rows(m, d, dtype)
    softmax(x, y)
    expected = torch.softmax(x.double(), 1)
    # bfloat16: half a unit in the last place of the result; float32: the sum and `exp` err too.
    rtol = 2**-8 if dtype == torch.bfloat16 else 2e-5
    torch.testing.assert_close(y.double(), expected, rtol=rtol, atol=1e-30)


def test_softmax_keeps_within_its_tensors(softmax):
    x = torch.randn(5, 100, device="cuda")
    room = torch.full((7, 100), -1.0, device="cuda")
    softmax(x, room[1:6])
    assert torch.equal(room[[0, 6]], torch.full((2, 100), -1.0, device="cuda"))
    assert torch.allclose(room[1:6].sum(1), torch.ones(5, device="cuda"))


def test_softmax_of_rows_that_are_too_long_is_refused(softmax):
    with pytest.raises(ValueError, match="expected d <= 4096"):
        softmax(*rows(2, 4097, torch.float32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_softmax_as_triton_runs_it(softmax, dtype):
    pytest.importorskip("triton")
    sys.path.insert(0, str(FOLDER))
    from triton_kernels import softmax as kernel

    x, y = rows(333, 1000, dtype)
    softmax(x, y)
    theirs = torch.empty_like(x)
    kernel[(333,)](x, theirs, 1000, BLOCK=4096, num_warps=8)
    # Another version of Triton may compile another order of additions: a unit in the last place.
    torch.testing.assert_close(
        y, theirs, rtol=2**-7 if dtype == torch.bfloat16 else 2e-5, atol=1e-30
    )


@pytest.mark.parametrize("version", ["3_2", "3_3", "3_4", "3_5", "3_6"])
@pytest.mark.parametrize("n", [0, 1, 256, 257, 1 << 20])
def test_every_version_in_clusters(kernels, version, n):
    x = torch.randn(n, device="cuda")
    y = torch.zeros_like(x)
    kernels[f"add_{version}"](x, y)
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize("m, n", [(1, 4), (32, 32), (100, 40), (1000, 2052)])
def test_scratch_memory(kernels, m, n):
    x = torch.randn(m, n, device="cuda")
    y = torch.zeros_like(x)
    kernels.move(x, y)
    assert torch.equal(y, x)


def test_scratch_memory_in_a_graph(kernels):
    x = torch.randn(100, 40, device="cuda")
    y = torch.zeros_like(x)
    kernels.move(x, y)
    assert_replayed(captured(lambda: kernels.move(x, y)), x, lambda: torch.equal(y, x))


@pytest.mark.parametrize("version", ["3_4", "3_5", "3_6"])
@pytest.mark.parametrize(
    "m, n, stride", [(16, 64, 64), (1, 4, 8), (100, 200, 256), (1000, 2052, 2052), (0, 64, 64)]
)
def test_descriptors_of_the_host(kernels, version, m, n, stride):
    x = torch.randn(m, stride, device="cuda")[:, :n]
    room = torch.zeros(m + 2, stride + 4, device="cuda")
    y = room[1 : m + 1, :n]
    kernels[f"shift_{version}"](x, 0.5, y)
    assert torch.equal(y, x + 0.5)
    y.zero_()
    assert not room.any(), "nothing is written out of bounds"


def test_a_descriptor_of_a_view(kernels):
    x = torch.randn(3, 25, 132, device="cuda")
    y = torch.zeros_like(x)
    kernels.shift_view(x, 0.5, y)
    assert torch.equal(y, x + 0.5)


@pytest.mark.parametrize("name, fill", [("pad", 0.0), ("pad_nan", float("nan"))])
@pytest.mark.parametrize("b, m, n", [(1, 8, 32), (3, 20, 72), (2, 1, 8)])
def test_what_lies_out_of_bounds(kernels, name, fill, b, m, n):
    i, j = -(-m // 8), -(-n // 32)
    x = torch.randn(b, m, n, device="cuda").bfloat16()
    y = torch.ones(b, i, j, 8, 32, device="cuda", dtype=torch.bfloat16)
    kernels[name](y, x)
    expected = torch.nn.functional.pad(x, (0, 32 * j - n, 0, 8 * i - m), value=fill)
    expected = expected.view(b, i, 8, j, 32).transpose(2, 3)
    torch.testing.assert_close(y, expected.contiguous(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("version", ["3_4", "3_5", "3_6"])
def test_descriptors_in_a_graph(kernels, version):
    x = torch.randn(100, 200, device="cuda")
    y = torch.zeros_like(x)
    shift = kernels[f"shift_{version}"]
    shift(x, 0.5, y)
    assert_replayed(captured(lambda: shift(x, 0.5, y)), x, lambda: torch.equal(y, x + 0.5))


def test_descriptors_as_triton_makes_them(kernels):
    pytest.importorskip("triton.tools.tensor_descriptor")
    sys.path.insert(0, str(FOLDER))
    from triton.tools.tensor_descriptor import TensorDescriptor
    from triton_test_kernels import shift

    x = torch.randn(100, 200, device="cuda")
    y, theirs = torch.zeros_like(x), torch.zeros_like(x)
    kernels.shift_3_6(x, 0.5, y)
    tiles = [TensorDescriptor.from_tensor(tensor, [16, 64]) for tensor in (x, theirs)]
    shift[(7, 4)](tiles[0], 0.5, tiles[1], ROWS=16, COLUMNS=64)
    assert torch.equal(y, theirs)
