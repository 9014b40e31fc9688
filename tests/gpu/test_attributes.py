# SPDX-License-Identifier: Apache-2.0
"""How kernels are launched and what they are passed, as they see it themselves; and images that
other compilers made.
"""

import ctypes
import os
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


@pytest.fixture(scope="module")
def attributes():
    return tvm_ffi.load_module(str(FOLDER / "attributes.so"))


def zeros(n):
    return torch.zeros(n, dtype=torch.int32, device="cuda")


@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_clusters(attributes, size):
    sizes = zeros(16)
    attributes.clusters(sizes, size)
    assert sizes.tolist() == [size] * 16


@pytest.mark.parametrize(
    "n, size, reason",
    [
        (16, 3, "grid.x 16 is no multiple of the cluster's 3"),
        (32, 32, "a cluster of 32 blocks exceeds 16"),
    ],
)
def test_clusters_that_are_refused(attributes, n, size, reason):
    with pytest.raises(
        RuntimeError, match=f"cudaErrorInvalid.* launching `clusters` on device 0: {reason}"
    ):
        attributes.clusters(zeros(n), size)
    test_clusters(attributes, 2)


def test_all_blocks_of_a_cooperative_grid_run_at_once(attributes):
    blocks = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    arrived = zeros(1)
    attributes.meet(arrived, blocks)
    assert arrived.item() == blocks


def test_a_cooperative_grid_that_is_too_large(attributes):
    with pytest.raises(
        ValueError, match="Too many blocks .* expected at most [0-9]+ at once, got 1000000$"
    ):
        attributes.meet(zeros(1), 1_000_000)


def test_dependent_launches_of_high_priority(attributes):
    stream = torch.cuda.Stream()
    a = torch.arange(1 << 20, dtype=torch.int32, device="cuda")
    b, c = torch.zeros_like(a), torch.zeros_like(a)
    torch.cuda.synchronize()
    for _ in range(20):
        attributes.add_after(a, b, ctypes.c_void_p(stream.cuda_stream))
        attributes.add_after(b, c, ctypes.c_void_p(stream.cuda_stream))
    stream.synchronize()
    assert torch.equal(c, a + 2)


@pytest.mark.parametrize("kind", ["cubin", "fatbin"])
def test_what_other_compilers_made(attributes, kind):
    attributes[kind](zeros(1))
    torch.cuda.synchronize()


def test_constants(attributes):
    bits = torch.zeros(8, dtype=torch.int64, device="cuda")
    attributes.constants(bits)
    minus_zero = -(1 << 31)
    wide = torch.tensor([1e-300], dtype=torch.float64).view(torch.int64).item()
    assert bits.tolist() == [1, 0xBE00, 0x3586, minus_zero, -1, 0, -128, wide]


def test_all_arguments_of_a_launch_without_args(attributes):
    a = torch.arange(1000, dtype=torch.float32, device="cuda")
    assert torch.equal(attributes.scaled(a, -0.5, 1000), -0.5 * a)
    b = torch.zeros_like(a)
    attributes.scaled_out(a, 3.0, 1000, b)
    assert torch.equal(b, 3 * a)
