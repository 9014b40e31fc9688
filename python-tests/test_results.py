# SPDX-License-Identifier: Apache-2.0
"""Results: what comes back, as whose tensors, and that nothing is left behind where a call fails."""

import subprocess
from collections.abc import Sequence

import numpy as np
import pytest
import torch
import tvm_ffi

PACKAGE = """
[package]
name = "results"

[[function]]
signature = "double(x: Tensor([m, n], T)) -> y: Tensor([m, n], T) where T in {float32, float64}"
source = { host = "results.c" }
symbol = "double_{T}"
args = ["x", "x.numel", "y"]

[[function]]
signature = '''
split(x: Tensor([n], float32), k: int64 = 1)
    -> head: Tensor([k], float32), rest: Tensor([n - k], float32), sizes: Tensor([2], int64)
where k <= n, k >= 0
'''
source = { host = "results.c" }
symbol = "split"
args = ["x", "n", "k", "head", "rest", "sizes"]

[[function]]
signature = "sums(x: Tensor([*b, d], float32)) -> y: Tensor([*b], float32), twice: Tensor([2, *b], float32)"
source = { host = "results.c" }
symbol = "sums"
args = ["x", "b.numel", "d", "y", "twice"]

[[function]]
signature = "iota(n: int64) -> y: Tensor([n], int64)"
source = { host = "results.c" }
symbol = "iota"
args = ["y", "n"]

[[function]]
signature = "fail(x: Tensor([n], float32), status: int32) -> y: Tensor([16777216], float32)"
workspace = { w = "Tensor([67108864], uint8, align=4096)" }
source = { host = "results.c" }
symbol = "fail"
returns = "int"
args = ["status", "w", "y"]

[[function]]
signature = "huge(x: Tensor([n], float32), k: int64) -> y: Tensor([k, k], float64)"
source = { host = "results.c" }
symbol = "nothing"
args = ["y"]
"""

KERNELS = """
#include <stdint.h>
#include <string.h>

void double_float32(const float *x, int64_t n, float *y) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }
void double_float64(const double *x, int64_t n, double *y) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }

void split(const float *x, int64_t n, int64_t k, float *head, float *rest, int64_t *sizes) {
    for (int64_t i = 0; i < k; ++i) head[i] = x[i];
    for (int64_t i = k; i < n; ++i) rest[i - k] = x[i];
    sizes[0] = k;
    sizes[1] = n - k;
}

void sums(const float *x, int64_t n, int64_t d, float *y, float *twice) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] = 0;
        for (int64_t j = 0; j < d; ++j) y[i] += x[i * d + j];
        twice[i] = twice[n + i] = y[i];
    }
}

void iota(int64_t *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = i; }

int fail(int32_t status, unsigned char *w, float *y) {
    (void)y;
    return ((uintptr_t)w & 4095) != 0 ? 77 : status;
}

void nothing(double *y) { (void)y; }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory, kernpack):
    folder = tmp_path_factory.mktemp("results")
    (folder / "results.toml").write_text(PACKAGE)
    (folder / "results.c").write_text(KERNELS)
    subprocess.run([kernpack, "build", "results.toml", "-o", "results.so"], cwd=folder, check=True)
    return tvm_ffi.load_module(str(folder / "results.so"))


def address_space():
    """The pages that the process has mapped, in MiB."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * 4 // 1024


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (1, 1)])
def test_a_result_is_a_tensor_of_the_callers_framework(module, dtype, shape):
    x = torch.randn(shape, dtype=dtype)
    y = module.double(x)
    assert type(y) is torch.Tensor and y.is_contiguous()
    torch.testing.assert_close(y, 2 * x)


def test_several_results_are_an_array(module):
    x = torch.arange(5.0)
    results = module.split(x, 2)
    assert (
        type(results) is tvm_ffi.Array
        and isinstance(results, Sequence)
        and not isinstance(results, tuple)
    )
    head, rest, sizes = results
    assert (head.tolist(), rest.tolist(), sizes.tolist()) == ([0.0, 1.0], [2.0, 3.0, 4.0], [2, 3])
    assert all(type(result) is torch.Tensor for result in (head, rest, sizes))
    head, rest, sizes = module.split(x)
    assert sizes.tolist() == [1, 4]
    head, rest, sizes = module.split(x, 5)
    assert (head.tolist(), rest.shape) == (x.tolist(), (0,))


def test_results_outlive_what_they_were_made_from(module):
    kept = [module.double(torch.full((4, 4), float(i))) for i in range(100)]
    assert [y[0, 0].item() for y in kept] == [2.0 * i for i in range(100)]


def test_the_out_twin_writes_into_what_it_is_given(module):
    x, y = torch.arange(6.0).reshape(2, 3), torch.zeros(2, 3)
    assert module.double_out(x, y) is None
    torch.testing.assert_close(y, 2 * x)
    module.double_out(x, x)  # nothing forbids it, and element by element it is right
    torch.testing.assert_close(x, y)
    with pytest.raises(
        ValueError,
        match=r"Mismatched y\.shape\[1\] on argument #1 .* got 4 \(x\.shape\[1\] is 3\)$",
    ):
        module.double_out(x, torch.zeros(2, 4))
    with pytest.raises(
        TypeError,
        match=r"y\.dtype on argument #1 .* expected to match x\.dtype \(float32\), got float64$",
    ):
        module.double_out(x, y.double())
    with pytest.raises(TypeError, match="expected 2 arguments, got 1$"):
        module.double_out(x)
    with pytest.raises(
        ValueError, match=r"y\.strides\[0\] .* expected to be 3 for row-major order, got 1$"
    ):
        module.double_out(x, torch.zeros(3, 2).t())


def test_the_out_twin_needs_no_allocator(module):
    x, head, rest, sizes = (
        np.arange(3, dtype="float32"),
        np.zeros(1, "float32"),
        np.zeros(2, "float32"),
        np.zeros(2, "int64"),
    )
    module.split_out(x, 1, head, rest, sizes)
    assert (head.tolist(), rest.tolist(), sizes.tolist()) == ([0], [1, 2], [1, 2])


def test_a_rule_over_results_is_checked_before_any_is_made(module):
    with pytest.raises(ValueError, match=r"expected k <= n, got 6 and 5 \(n is x.shape\[0\]\)$"):
        module.split(torch.zeros(5), 6)
    with pytest.raises(ValueError, match="expected k >= 0, got -1$"):
        module.split(torch.zeros(5), -1)


def test_extents_that_nothing_can_have(module):
    with pytest.raises(ValueError, match="huge"):
        module.huge(torch.zeros(1), 2**33)  # bytes beyond 64 bits
    with pytest.raises(ValueError, match="huge"):
        module.huge(torch.zeros(1), -1)
    # 2**60 bytes can be asked for; the allocator's refusal is the call's.
    with pytest.raises(
        (RuntimeError, MemoryError),
        match="^Cannot allocate the result `.*` when calling: `huge(.*)`: .*(?i:alloc|memory)",
    ):
        module.huge(torch.zeros(1), 2**28)


def test_a_failed_call_leaves_nothing(module):
    x = torch.zeros(1)
    for status in (3, 0):
        before = address_space()
        for _ in range(100):  # 128 MiB each, did it leave them
            if status:
                with pytest.raises(RuntimeError, match="expected status 0, got 3$"):
                    module.fail(x, status)
            else:
                module.fail(x, status)
        assert address_space() - before < 1000


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 1, 0, 3), (5, 0), (2,) * 12])
def test_results_have_the_dims_of_arguments_of_any_rank(module, shape):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    y, twice = module.sums(torch.from_numpy(x))
    assert (tuple(y.shape), tuple(twice.shape)) == (shape[:-1], (2, *shape[:-1]))
    np.testing.assert_array_equal(np.from_dlpack(y), x.sum(axis=-1))
    np.testing.assert_array_equal(np.from_dlpack(twice), np.stack([x.sum(axis=-1)] * 2))


def test_results_of_any_rank_go_into_what_is_given(module):
    x = torch.ones(3, 4, 5)
    y, twice = torch.empty(3, 4), torch.empty(2, 3, 4)
    module.sums_out(x, y, twice)
    assert torch.equal(y, torch.full((3, 4), 5.0)) and torch.equal(twice[1], y)
    with pytest.raises(
        ValueError,
        match=r"Mismatched y.shape\[1\] on argument #1 .*, expected to match x.shape\[1\], got 3",
    ):
        module.sums_out(x, torch.empty(3, 3), twice)
