# SPDX-License-Identifier: Apache-2.0
"""Jit functions in programs of JAX on a GPU: what they compute, alone, among XLA's own kernels, in
batches, and in exported programs.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

from typing import NamedTuple

import pytest

jax = pytest.importorskip("jax")
if jax.default_backend() != "gpu":
    pytest.skip("JAX has no GPU", allow_module_level=True)

import jax.export
import jax.numpy as jnp
import kernpack as kp
import kernpack.jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

BLOCK = 256
LENGTH = 1000
Struct = jax.ShapeDtypeStruct
VECTOR = Struct((LENGTH,), jnp.float32)


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)


@kp.jit
def scale(x, y, by=2.0):
    assert x.shape == y.shape
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


@kp.jit("said(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 2.0)")
def said(x, y, by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.kernel
def add_rows(x, y):
    i = kp.block_idx()[0]
    for j in range(kp.thread_idx()[0], x.shape[1], BLOCK):
        y[i, j] = x[i, j] + 1


@kp.jit
def rows_added(x, y):
    assert x.shape == y.shape
    add_rows(x, y).launch(grid=x.shape[0], block=BLOCK)


class Pair(NamedTuple):
    x: object
    y: object


@kp.jit
def scale_pair(p, by: kp.Constexpr):
    assert p.x.shape == p.y.shape
    scale_elements(p.x, p.y, by).launch(grid=kp.ceil_div(p.x.shape[0], BLOCK), block=BLOCK)


def ramp(n=LENGTH, dtype=jnp.float32):
    return jnp.arange(n, dtype=dtype)


@pytest.mark.parametrize(
    "call",
    [
        kp.jax.call(scale, output=VECTOR),
        kp.jax.call(scaled),
        kp.jax.call(said),
        kp.jax.call(lambda by, y, x: scale(x, y, by), output={"y": VECTOR}, static={"by": 2.0}),
    ],
)
def test_values(call):
    x = ramp()
    expected = 2 * np.arange(LENGTH, dtype="float32")
    np.testing.assert_array_equal(jax.jit(lambda x: call(x=x))(x), expected)
    np.testing.assert_array_equal(jax.jit(lambda x: call(x=x, by=3.0))(x), expected * 1.5)
    np.testing.assert_array_equal(call(x=x), expected)


def test_each_dtype_has_a_variant():
    for dtype in (jnp.float16, jnp.bfloat16, jnp.int32):
        x = ramp(100, dtype)
        y = jax.jit(kp.jax.call(scaled))(x)
        assert y.dtype == dtype and (y == x * 2).all()


def test_among_kernels_of_xla():
    call = kp.jax.call(scaled)

    @jax.jit
    def program(x):
        for _ in range(10):
            x = call(x, by=0.5) + 1
        return x

    expected = np.arange(LENGTH, dtype="float32")
    for _ in range(10):
        expected = expected / 2 + 1
    for _ in range(20):
        np.testing.assert_allclose(program(ramp()), expected, rtol=1e-6)


def test_tuples_and_aliases():
    call = kp.jax.call(scale_pair, aliases=["p.y"])
    x = ramp()
    for pair in (Pair(x, x), {"x": x, "y": x}):
        out = jax.jit(lambda pair: call(pair, by=3))(pair)
        np.testing.assert_array_equal(jax.tree.leaves(out)[0], 3 * np.arange(LENGTH))
    y = jnp.zeros(LENGTH)
    before = y.unsafe_buffer_pointer()
    in_place = jax.jit(kp.jax.call(scale, aliases=["y"]), donate_argnums=1)
    y = in_place(x, y)
    assert y.unsafe_buffer_pointer() == before and (y == 2 * x).all()


@pytest.mark.parametrize(
    "options",
    [{}, {"layouts": {"x": "col"}}, {"modes": {"x": (1, 0)}}, {"modes": {"y": (1, 0)}}],
)
def test_layouts_and_modes(options):
    x = ramp(20 * 50).reshape(20, 50)
    is_turned = "modes" in options
    call = kp.jax.call(
        rows_added, output=Struct((50, 20) if is_turned else (20, 50), jnp.float32), **options
    )
    expected = np.asarray(x).T if is_turned else np.asarray(x)
    np.testing.assert_array_equal(jax.jit(call)(x), expected + 1)


def test_batches():
    x = ramp(6 * LENGTH).reshape(6, LENGTH)
    for vmap in ("sequential", "fold"):
        call = kp.jax.call(scaled, vmap=vmap)
        np.testing.assert_array_equal(jax.jit(jax.vmap(call))(x), np.asarray(x) * 2)


def test_derivatives():
    call = kp.jax.call(scaled)
    differentiated = kp.jax.custom_vjp(call, lambda inputs, out, d, by: call(d, by=by))
    gradient = jax.jit(jax.grad(lambda x: differentiated(x, by=3.0).sum()))(ramp())
    assert (gradient == 3).all()


@pytest.mark.skipif(len(jax.devices()) < 2, reason="needs two GPUs")
def test_each_device_has_its_own_part():
    mesh = Mesh(jax.devices(), ("rows",))
    spec = PartitionSpec("rows")
    sharded = jax.shard_map(kp.jax.call(scaled), mesh=mesh, in_specs=spec, out_specs=spec)
    x = ramp(len(jax.devices()) * 100)
    np.testing.assert_array_equal(jax.jit(sharded)(x), np.asarray(x) * 2)


def test_exported():
    (n,) = jax.export.symbolic_shape("n")
    exported = kp.jax.export(kp.jax.call(scaled))(Struct((n,), jnp.float32))
    again = jax.export.deserialize(exported.serialize())
    for length in (1, 300):
        np.testing.assert_array_equal(again.call(ramp(length)), 2 * np.arange(length))


@pytest.mark.parametrize("function", [scale, said], ids=lambda function: function.__name__)
def test_plain_calls_read_arrays_of_jax_and_write_none(function):
    torch = pytest.importorskip("torch")
    x = jnp.arange(LENGTH, dtype=jnp.float32).block_until_ready()
    y = torch.zeros(LENGTH, device="cuda")
    torch.cuda.synchronize()
    for _ in range(2):
        function(x, y)
        with pytest.raises(TypeError, match=r"argument #1 .* got a jax.Array, which is immutable"):
            function(y, x)
    assert y.tolist() == [2.0 * i for i in range(LENGTH)]
    assert np.array_equal(x, np.arange(LENGTH, dtype="float32"))
