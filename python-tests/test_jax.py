# SPDX-License-Identifier: Apache-2.0
"""Packages inside JAX's compiled programs, on the CPU."""

import itertools
import subprocess
import traceback

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy as np
import pytest
import tvm_ffi

PACKAGE = """
[package]
name = "xla"

[[function]]
signature = '''
axpy(a: float32, x: Tensor([n], T), y: Tensor([n], T)) -> out: Tensor([n], T)
where T in {float32, bfloat16}, n % 2 == 0
'''
source = { host = "xla.c" }
symbol = "axpy_{T}"
args = ["a", "x", "y", "n", "out"]

[[function]]
signature = "sums(x: Tensor([m, n], float32), total: Tensor([], float32, mut), rows: Tensor([m], float32, mut))"
source = { host = "xla.c" }
symbol = "sums"
args = ["x", "m", "n", "total", "rows"]

[[function]]
signature = "increment(x: Tensor([n], float32, mut), y: Tensor([n], float32, mut))"
source = { host = "xla.c" }
symbol = "increment"
args = ["y", "n"]

[[function]]
signature = '''
fill(mode: String, dtype: DataType, y: Tensor([n], dtype, mut)) where mode in {"one", "two or so"}, dtype in {float32, int32}
'''
[[function.launch]]
when = 'mode == "one"'
source = { host = "xla.c" }
kernel = "one_{dtype}"
args = ["y", "n"]
[[function.launch]]
when = "otherwise"
source = { host = "xla.c" }
kernel = "two_{dtype}"
args = ["y", "n"]
"""

KERNELS = """
#include <stdint.h>
#include <string.h>

static float widen(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint16_t narrow(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)(bits >> 16);
}

void axpy_float32(float a, const float *x, const float *y, int64_t n, float *out) {
    for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

void axpy_bfloat16(float a, const uint16_t *x, const uint16_t *y, int64_t n, uint16_t *out) {
    for (int64_t i = 0; i < n; ++i) out[i] = narrow(a * widen(x[i]) + widen(y[i]));
}

void sums(const float *x, int64_t m, int64_t n, float *total, float *rows) {
    *total = 0;
    for (int64_t i = 0; i < m; ++i) {
        rows[i] = 0;
        for (int64_t j = 0; j < n; ++j) rows[i] += x[i * n + j];
        *total += rows[i];
    }
}

void one_float32(float *y, int64_t n) { while (n-- > 0) y[n] = 1; }
void one_int32(int32_t *y, int64_t n) { while (n-- > 0) y[n] = 1; }
void two_float32(float *y, int64_t n) { while (n-- > 0) y[n] = 2; }
void two_int32(int32_t *y, int64_t n) { while (n-- > 0) y[n] = 2; }

void increment(float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += 1; }
"""

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def module(tmp_path_factory, kernpack):
    folder = tmp_path_factory.mktemp("xla")
    (folder / "xla.toml").write_text(PACKAGE)
    (folder / "xla.c").write_text(KERNELS)
    subprocess.run([kernpack, "build", "xla.toml", "-o", "xla.so"], cwd=folder, check=True)
    return tvm_ffi.load_module(str(folder / "xla.so"))


def target(function, *spec):
    """A new name for a function; XLA never forgets one."""
    name = f"kernpack.xla.{next(NUMBERS)}"
    jax_tvm_ffi.register_ffi_target(name, function, list(spec) or None, platform="cpu")
    return name


@pytest.fixture(scope="module")
def axpy(module):
    name = target(module.axpy_out, "attrs.a", "args", "rets")

    def call(a, x, y, vmap_method="sequential"):
        out = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.ffi.ffi_call(name, out, vmap_method=vmap_method)(x, y, a=a)

    return call


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_in_a_compiled_program(axpy, dtype):
    x, y = jnp.arange(8, dtype=dtype), jnp.ones(8, dtype)
    out = jax.jit(lambda x, y: axpy(2.0, x, y) * 2)(x, y)
    assert out.dtype == dtype
    np.testing.assert_array_equal(np.asarray(out, "float32"), 2 * (2 * np.arange(8) + 1))


@pytest.mark.parametrize(
    ("mode", "dtype", "value"), [("one", "float32", 1), ("two or so", "int32", 2)]
)
def test_texts_and_names_of_dtypes_are_attributes(module, mode, dtype, value):
    name = target(module.fill, "attrs.mode", "attrs.dtype", "rets")
    filled = jax.jit(
        lambda: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((3,), dtype))(mode=mode, dtype=dtype)
    )()
    assert filled.dtype == dtype and filled.tolist() == [value] * 3
    with pytest.raises(
        jax.errors.JaxRuntimeError, match='expected mode in {"one", "two or so"}, got "three"'
    ):
        jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((3,), dtype))(
            mode="three", dtype=dtype
        ).block_until_ready()


def test_in_a_loop_and_in_a_map(axpy):
    ones = jnp.ones(4)
    looped = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, x: axpy(1.0, ones, x), x))(ones)
    np.testing.assert_array_equal(looped, 11 * np.ones(4))
    rows = jnp.arange(12.0).reshape(3, 4)
    mapped = jax.jit(jax.vmap(lambda row: axpy(3.0, row, ones)))(rows)
    np.testing.assert_array_equal(mapped, 3 * np.arange(12.0).reshape(3, 4) + 1)


def test_several_results_and_one_without_dims(module):
    name = target(module.sums)
    outs = (jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.float32))
    total, rows = jax.jit(jax.ffi.ffi_call(name, outs))(jnp.arange(12.0).reshape(3, 4))
    assert float(total) == 66.0
    np.testing.assert_array_equal(rows, [6, 22, 38])


def test_layouts_are_not_told(module):
    """Why `docs/hosts.md` has them left alone: the memory is column-major, and arrives as if it
    were not.
    """
    name = target(module.sums)
    outs = (jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((2,), jnp.float32))
    call = jax.ffi.ffi_call(name, outs, input_layouts=[(1, 0)])
    _, rows = jax.jit(call)(jnp.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(rows, [0 + 3 + 1, 4 + 2 + 5])


def test_a_donated_input_is_the_output(module):
    name = target(module.increment)
    call = jax.ffi.ffi_call(
        name, jax.ShapeDtypeStruct((4,), jnp.float32), input_output_aliases={0: 0}
    )
    x = jnp.arange(4.0)
    np.testing.assert_array_equal(jax.jit(call)(x), np.arange(4) + 1)
    np.testing.assert_array_equal(x, np.arange(4))  # not donated, so XLA copied it first
    np.testing.assert_array_equal(jax.jit(call, donate_argnums=0)(x), np.arange(4) + 1)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (jnp.zeros(3), jnp.zeros(3), r"expected to be divisible by 2, got 3"),
        (
            jnp.zeros(4),
            jnp.zeros(6),
            r"Mismatched y\.shape\[0\] on argument #2 .* got 6 \(x\.shape\[0\] is 4\)",
        ),
        (jnp.zeros(4, jnp.int32), jnp.zeros(4), r"expected dtype=float32 or bfloat16, got int32"),
        (jnp.zeros((2, 2)), jnp.zeros(4), r"expected ndim=1, got 2"),
    ],
    ids=["rule", "shape", "dtype", "rank"],
)
def test_a_refused_call_is_an_error_of_the_program(axpy, x, y, words):
    with pytest.raises(jax.errors.JaxRuntimeError, match=words + r"(\n|$)"):
        np.asarray(jax.jit(lambda x, y: axpy(1.0, x, y))(x, y))
    # The next program runs as if nothing had been.
    np.testing.assert_array_equal(axpy(1.0, jnp.ones(2), jnp.ones(2)), [2, 2])


def test_what_jax_makes_of_a_message_is_explained(axpy, kernpack):
    with pytest.raises(jax.errors.JaxRuntimeError) as refused:
        np.asarray(jax.jit(lambda x, y: axpy(1.0, x, y))(jnp.zeros((2, 2)), jnp.zeros(4)))
    for text in (str(refused.value), "".join(traceback.format_exception(refused.value))):
        ran = subprocess.run([kernpack, "explain", text], capture_output=True, text=True)
        assert ran.stdout.startswith("tensor-rank (ValueError)\n"), ran


def test_an_eager_call_with_jax_arrays(module):
    total, rows = np.zeros((), "float32"), np.zeros(2, "float32")
    module.sums(jnp.ones((2, 3)), total, rows)
    assert (total.item(), rows.tolist()) == (6.0, [3.0, 3.0])
