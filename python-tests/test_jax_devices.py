# SPDX-License-Identifier: Apache-2.0
"""Calls under `shard_map`, over four devices of the CPU: what varies from device to device is known
to, which gradients, loops and results depend on.
"""

import os
import subprocess
import sys

import jax_functions
import pytest

PREAMBLE = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import kernpack as kp, kernpack.jax as kj
if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map
load = kp.load_module(sys.argv[1]).__getitem__
assert len(jax.devices()) == 4
mesh = Mesh(np.array(jax.devices()), ("i",))
square = Mesh(np.array(jax.devices()).reshape(2, 2), ("i", "j"))
x, w = jnp.arange(64.0).reshape(16, 4), jnp.arange(4.0) + 1

def over(f, ins, outs, mesh=mesh):
    return jax.jit(shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs))

def refused(call, words):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert words in str(error), error
    else:
        raise SystemExit("taken")
"""

# The derivative for what every device has is the sum of all devices' derivatives.
GRADIENTS = """
def backward(inputs, outputs, cotangents):
    x, w = inputs
    return cotangents * w, (cotangents * x).sum(0)

for vmap in ("sequential", "fold"):
    rows = kj.custom_vjp(kj.call(load("rows"), vmap=vmap), backward)
    total = lambda x, w: jax.lax.psum(rows(x, w).sum(), "i")
    outside = jax.grad(over(total, (P("i"), P()), P()), (0, 1))(x, w)
    inside = over(jax.grad(total, (0, 1)), (P("i"), P()), (P("i"), P()))(x, w)
    for of_x, of_w in (outside, inside):
        np.testing.assert_array_equal(of_x, jnp.broadcast_to(w, x.shape))
        np.testing.assert_array_equal(of_w, x.sum(0))
"""

# Nothing else asks for the derivative of what varies, and there is nothing to sum.
OWN_RULE = """
double = jax.custom_vjp(kj.call(load("double")))
double.defvjp(lambda x: (double(x), None), lambda _, cotangents: (2 * cotangents,))
total = lambda x: jax.lax.psum(double(x).sum(), "i")
gradient = jax.grad(over(total, P("i"), P()))(jnp.arange(8.0))
assert gradient.tolist() == [2] * 8, gradient
"""

RESULTS = """
call = kj.call(load("rows"))
# Each device has other rows, and so another result.
refused(lambda: over(call, (P("i"), P()), P())(x, w), "out_specs")
refused(lambda: over(call, (P(), P("i")), P())(x[:, :1], w), "out_specs")
# What is the same everywhere gives the same everywhere, in the same trace too.
both = lambda x, w: (call(x, w), call(w[None], w))
mine, everyones = over(both, (P("i"), P()), (P("i"), P()))(x[:4], w)
np.testing.assert_array_equal(mine, x[:4] * w + 1)
np.testing.assert_array_equal(everyones, [w * w + 1])
assert over(call, (P(), P()), P())(x, w).shape == x.shape
# An array over one axis of a mesh and another over the other: the result is over both.
refused(lambda: over(call, (P("i"), P(None)), P("j"), square)(x, w), "out_specs")
refused(lambda: over(call, (P("i"), P("j")), P("i"), square)(x[:, :2], w), "out_specs")
there = over(call, (P("i", "j"), P("j")), P("i", "j"), square)(x, w)
np.testing.assert_array_equal(there, x * w + 8)
# Several results and a hidden workspace.
spaced = over(kj.call(load("spaced")), P("i"), P("i"))(x)
np.testing.assert_array_equal(spaced, 2 * x.sum(1) + 0.5)
sums = over(kj.call(load("sums")), P("i"), (P(), P("i")))
refused(lambda: sums(x), "out_specs")
"""

LOOPS = """
double, increment = kj.call(load("double")), kj.call(load("increment"), aliases=["y"])
def loop(x):
    return jax.lax.scan(lambda carry, _: (increment(double(carry)), None), x, None, length=3)[0]
assert over(loop, P("i"), P("i"))(jnp.arange(4.0)).tolist() == [7, 15, 23, 31]
rows = {vmap: kj.call(load("rows"), vmap=vmap) for vmap in ("sequential", "sequential_unrolled", "fold")}
batch = x.reshape(8, 2, 4)
for vmap, call in rows.items():
    mapped = jax.vmap(call, (0, None))
    found = over(mapped, (P("i"), P()), P("i"))(batch, w)
    np.testing.assert_array_equal(found, batch * w + (4 if vmap == "fold" else 2))
    refused(lambda: over(mapped, (P("i"), P()), P())(batch, w), "out_specs")
"""


@pytest.fixture(scope="module")
def package(kernpack, tmp_path_factory):
    return jax_functions.build(kernpack, tmp_path_factory.mktemp("devices"))


def pythons():
    """This interpreter, and those of `KERNPACK_PYTHON_JAX`, which have other versions of JAX."""
    others = os.environ.get("KERNPACK_PYTHON_JAX", "").split(":")
    return [sys.executable, *(other for other in others if other)]


@pytest.mark.parametrize("python", pythons())
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(GRADIENTS, id="gradients"),
        pytest.param(OWN_RULE, id="own rule"),
        pytest.param(RESULTS, id="results"),
        pytest.param(LOOPS, id="loops"),
    ],
)
def test_what_varies_over_devices_is_known(package, python, script):
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    command = [python, "-c", PREAMBLE + script, str(package)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
