# SPDX-License-Identifier: Apache-2.0
"""Tiles that the device brings and sends by maps of tensors: with every swizzle, of one to three
modes, with edges that no tile divides.
"""

import os
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
DTYPES = [torch.int8, torch.int16, torch.int32]
# As tma_kernels.py has them.
ROWS, PLANES, BOXES = 8, 3, 2
# What no kernel may change.
AROUND = 77

pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() < (9, 0), reason="maps need sm_90"
)


@pytest.fixture(scope="module")
def package():
    return tvm_ffi.load_module(str(FOLDER / "tma_kernels.so"))


def row_of(dtype, bits):
    return (16 << bits) // dtype.itemsize


def inside(shape, dtype):
    """A tensor of that shape within another: rows begin at multiples of 16 bytes, and more lies around."""
    each = 16 // dtype.itemsize
    larger = [extent + 1 for extent in shape[:-1]] + [-(-shape[-1] // each) * each + each]
    whole = torch.full(larger, AROUND, dtype=dtype, device="cuda")
    return whole, whole[tuple(slice(0, extent) for extent in shape)]


def call(function, shape, tile, dtype, *more):
    """Calls a function with a tensor of that shape, and compares all that it writes with torch."""
    x_whole, x = inside(shape, dtype)
    x.copy_(torch.randint(-100, 100, shape, device="cuda"))
    x_before = x_whole.clone()
    # The device writes 16 bytes at once: a result has whole ones of them.
    kept = [*shape[:-1], max(16, shape[-1] // 16 * 16)]
    y_whole, y = inside(kept, dtype)
    padded = [-(-extent // part) * part for extent, part in zip(shape, tile)]
    seen = torch.full(padded, AROUND, dtype=dtype, device="cuda")
    function(x, y, seen, *more)
    expected_seen = torch.zeros_like(seen)
    here = tuple(slice(0, extent) for extent in shape)
    expected_seen[here] = x
    expected_whole = torch.full_like(y_whole, AROUND)
    expected_whole[tuple(slice(0, min(extents)) for extents in zip(kept, padded))] = 1
    both = tuple(slice(0, min(extents)) for extents in zip(shape, kept))
    expected_whole[both] = x[both] + 1
    for got, expected in [(seen, expected_seen), (y_whole, expected_whole), (x_whole, x_before)]:
        torch.testing.assert_close(got, expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 65, 1000, 100_003])
def test_vectors(package, n, dtype):
    call(package.vectors, [n], [row_of(dtype, 2)], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", range(4))
@pytest.mark.parametrize("n", [1, 33, 128, 257, 1001])
@pytest.mark.parametrize("m", [1, 7, 8, 9, 1000])
def test_matrices(package, m, n, bits, dtype):
    tile = [ROWS, row_of(dtype, bits) * BOXES]
    call(package.matrices, [m, n], tile, dtype, bits)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", range(4))
@pytest.mark.parametrize("shape", [[1, 1, 1], [2, 9, 33], [3, 8, 128], [4, 7, 129], [50, 61, 201]])
def test_cubes(package, shape, bits, dtype):
    tile = [PLANES, ROWS, row_of(dtype, bits)]
    call(package.cubes, shape, tile, dtype, bits)


@pytest.mark.parametrize("blocks", [1, 7, 132, 1000])
@pytest.mark.parametrize("n", [4, 32, 100, 4096])
@pytest.mark.parametrize("m", [1, 8, 1001, 20_000])
def test_a_pipeline(package, m, n, blocks):
    x, y = (torch.randint(-100, 100, (m, n), dtype=torch.int32, device="cuda") for _ in range(2))
    for _ in range(3):
        out = torch.full((m,), AROUND, dtype=torch.int32, device="cuda")
        package.row_sums(x, y, out, blocks)
        expected = (x * y).sum(1, dtype=torch.int32)
        torch.testing.assert_close(out, expected, rtol=0, atol=0)


def test_a_row_that_begins_anywhere_is_refused(package):
    x = torch.zeros(4, 18, dtype=torch.int16, device="cuda")
    seen = torch.zeros(8, 128, dtype=torch.int16, device="cuda")
    with pytest.raises(ValueError, match="expected strides.* to be a multiple of 16"):
        package.matrices(x, torch.zeros(4, 32, dtype=x.dtype, device="cuda"), seen, 3)


REDUCTIONS = {
    "add": lambda x: x.sum(0),
    "min": lambda x: x.amin(0),
    "max": lambda x: x.amax(0),
    "and": lambda x: bitwise(torch.bitwise_and, x),
    "or": lambda x: bitwise(torch.bitwise_or, x),
    "xor": lambda x: bitwise(torch.bitwise_xor, x),
}
FLOATS = [torch.float16, torch.bfloat16]
REDUCED = [(word, torch.int32) for word in REDUCTIONS]
REDUCED += [(word, torch.int64) for word in ("min", "max")]
REDUCED += [(word, torch.uint64) for word in ("add", "and", "or", "xor")]
REDUCED += [(word, dtype) for word in ("add", "min", "max") for dtype in FLOATS]
REDUCED += [("add", torch.float32)]


def bitwise(operation, x):
    result = x[0]
    for plane in x[1:]:
        result = operation(result, plane)
    return result


@pytest.mark.parametrize(("word", "dtype"), REDUCED, ids=str)
@pytest.mark.parametrize("shape", [[1, 1, 8], [3, 7, 40], [16, 9, 136], [50, 61, 264]])
def test_reductions(package, shape, word, dtype):
    # Sums of so many small integers are exact in every type and order.
    # torch computes nothing in uint64, and int64 has the same bits.
    known = torch.int64 if dtype == torch.uint64 else dtype
    x = torch.randint(-2, 3, shape, device="cuda").to(known)
    y = torch.randint(-2, 3, shape[1:], device="cuda").to(known)
    expected = REDUCTIONS[word](torch.cat([y[None], x]).to(torch.int64)).to(known)
    getattr(package, f"reduce_{word}")(x.view(dtype), y.view(dtype))
    torch.testing.assert_close(y, expected, rtol=0, atol=0)


@pytest.mark.skipif(torch.cuda.get_device_capability() != (9, 0), reason="it is of sm_90a")
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 200])
def test_multicast(steps, size):
    package = tvm_ffi.load_module(str(FOLDER / "multicast_kernels.so"))
    x = torch.randint(-9, 10, (steps * size, 32), dtype=torch.int32, device="cuda")
    totals = torch.zeros(32, dtype=torch.int32, device="cuda")
    for row in x:
        totals = 3 * totals + row
    ranks = torch.arange(8 * size, device="cuda") % size
    places = (torch.arange(32, device="cuda") + ranks[:, None]) % 32
    for _ in range(5):
        out = torch.full((8 * size, 32), AROUND, dtype=torch.int32, device="cuda")
        package.multicast(x, out, size)
        torch.testing.assert_close(out, totals[places], rtol=0, atol=0)
