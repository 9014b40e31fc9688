# SPDX-License-Identifier: Apache-2.0
"""Functions of packages in programs of JAX, whose kernels run on a GPU: streams, command buffers,
devices, exported programs.
"""

import os
import subprocess
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import pytest
from conftest import FOLDER

jax = pytest.importorskip("jax")
if jax.default_backend() != "gpu":
    pytest.skip("JAX has no GPU", allow_module_level=True)

import jax.export
import jax.numpy as jnp
import kernpack as kp
import kernpack.jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

PACKAGE = FOLDER / "xla_calls.so"
LENGTH = 1000


@pytest.fixture(scope="module")
def functions():
    return kp.load_module(PACKAGE)


@pytest.fixture(scope="module")
def add_one(functions):
    return kp.jax.call(functions.add_one)


def chain(call, length=10):
    """A program of calls, each of what the one before returned."""

    def program(x):
        for _ in range(length):
            x = call(x)
        return x

    return jax.jit(program)


def ramp(n=LENGTH):
    return jnp.arange(n, dtype=jnp.float32)


def test_values(functions, add_one):
    x = ramp()
    np.testing.assert_array_equal(jax.jit(add_one)(x), np.arange(LENGTH) + 1)
    np.testing.assert_array_equal(
        kp.jax.call(functions.added)(x.reshape(20, 50)), np.arange(LENGTH).reshape(20, 50) + 1
    )
    assert jax.jit(add_one)(x[:0]).shape == (0,)


def test_a_chain_is_right_each_time(add_one):
    program, x = chain(add_one), ramp()
    for offset in range(2000):
        y = program(x + offset)
        if offset % 100 == 0:
            np.testing.assert_array_equal(y, np.arange(LENGTH, dtype="float32") + offset + 10)
    np.testing.assert_array_equal(y, np.arange(LENGTH, dtype="float32") + 2009)


def test_among_kernels_of_xla(add_one):
    def program(x, call):
        for _ in range(5):
            x = jnp.sin(call(jnp.cos(x) + x)) + jnp.flip(x)
        return x.sum()

    x = ramp() / LENGTH
    ours, theirs = (
        jax.jit(program, static_argnums=1)(x, call) for call in (add_one, lambda x: x + 1)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_launches_wait_for_what_is_in_front_of_them(add_one):
    busy = jnp.eye(4096) * 1.0001

    @jax.jit
    def program(x):
        product = busy
        for _ in range(10):
            product = product @ busy
        return add_one(x + 0 * product[0, 0]), product

    y, _ = program(ramp())
    np.testing.assert_array_equal(y, np.arange(LENGTH) + 1)


def test_a_stream_parameter_is_the_programs(functions):
    on = kp.jax.call(functions.on)
    program = chain(on)
    np.testing.assert_array_equal(program(ramp() * 2), 2 * np.arange(LENGTH) + 10)


def test_workspaces_are_the_programs(functions):
    twice = kp.jax.call(functions.twice)
    program, x = chain(twice), ramp()
    for _ in range(20):
        np.testing.assert_array_equal(program(x), np.arange(LENGTH) + 20)
    assert kp.jax.last_workspace_peak() >= 4 * LENGTH


def test_in_place(functions):
    call = kp.jax.call(functions.in_place, aliases=["a"])
    x = ramp()
    np.testing.assert_array_equal(jax.jit(call)(x), np.arange(LENGTH) + 1)
    np.testing.assert_array_equal(x, np.arange(LENGTH))
    before = x.unsafe_buffer_pointer()
    y = jax.jit(call, donate_argnums=0)(x)
    assert y.unsafe_buffer_pointer() == before and x.is_deleted()


def test_column_major(functions):
    x = ramp().reshape(20, 50)
    np.testing.assert_array_equal(jax.jit(kp.jax.call(functions.turned))(x), x.T + 1)
    call = kp.jax.call(functions.added, modes={"a": (1, 0), "b": (1, 0)})
    np.testing.assert_array_equal(jax.jit(call)(x), x + 1)


@pytest.mark.parametrize("graph", [True, False])
def test_command_buffers(functions, graph, tmp_path):
    """XLA says in its dump what it records."""
    script = f"""
import jax, jax.numpy as jnp, kernpack as kp, kernpack.jax
call = kp.jax.call(kp.load_module({str(PACKAGE)!r}).add_one, cuda_graph={graph})
@jax.jit
def program(x):
    for _ in range(10): x = call(x)
    return x
x = jnp.arange(1000.0)
for _ in range(20): y = program(x)
assert (y == x + 10).all()
"""
    flags = f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text --xla_gpu_graph_min_graph_size=2"
    environment = {**os.environ, "XLA_FLAGS": flags}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    # The optimised program, and what it became: either may name the buffer, and options of XLA's do
    # too.
    dumped = [path for path in tmp_path.rglob("*.txt") if "program" in str(path) and path.is_file()]
    texts = {
        path.name: path.read_text(errors="replace").lower()
        for path in dumped
        if "optimizations" in path.name or "thunk" in path.name
    }
    named = [
        name for name, text in texts.items() if "command_buffer" in text or "commandbuffer" in text
    ]
    assert texts and bool(named) == graph, (
        f"{named} of {sorted(path.name for path in tmp_path.rglob('*'))}"
    )


def test_errors_keep_their_kind(functions, add_one):
    with pytest.raises(ValueError, match="expected n <= 1048576, got 1048577"):
        jax.eval_shape(add_one, jax.ShapeDtypeStruct((1048577,), jnp.float32))
    late = kp.jax.call(functions.add_one, check=False)
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match="INVALID_ARGUMENT: ValueError: .*expected n <= 1048576, got 1048577",
    ):
        jax.jit(late)(ramp(1048577)).block_until_ready()
    np.testing.assert_array_equal(jax.jit(late)(ramp()), np.arange(LENGTH) + 1)


def test_a_program_for_the_cpu_is_refused_by_the_function(functions):
    late = kp.jax.call(functions.add_one)
    with jax.default_device(jax.devices("cpu")[0]):
        with pytest.raises(jax.errors.JaxRuntimeError, match="expected device_type=cuda, got cpu"):
            jax.jit(late)(jnp.arange(4.0)).block_until_ready()


FRESH = """
import sys, jax, jax.export, jax.numpy as jnp
import kernpack.jax
exported = jax.export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
x = jnp.arange(500.0)
print(bool((exported.call(x) == x + 10).all()))
"""


def test_exported_programs_run_in_a_fresh_process(functions, add_one, tmp_path):
    (n,) = jax.export.symbolic_shape("n")
    exported = kp.jax.export(chain(add_one))(jax.ShapeDtypeStruct((n,), jnp.float32))
    (tmp_path / "program").write_bytes(exported.serialize())
    command = [sys.executable, "-c", FRESH, str(tmp_path / "program")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == "True\n", ran.stderr


@pytest.mark.skipif(len(jax.devices()) < 2, reason="needs two GPUs")
def test_on_each_device(functions, add_one):
    first, second = jax.devices()[:2]
    x = jax.device_put(ramp(), second)
    y = chain(add_one)(x)
    assert y.devices() == {second}
    np.testing.assert_array_equal(y, np.arange(LENGTH) + 10)
    twice = chain(kp.jax.call(functions.twice))(x)
    np.testing.assert_array_equal(twice, np.arange(LENGTH) + 20)
    mesh = Mesh(np.array([first, second]), ("i",))
    call = kp.jax.call(functions.added)
    sharded = jax.shard_map(
        call, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i")
    )
    rows = ramp().reshape(20, 50)
    for _ in range(100):
        both = jax.jit(sharded)(rows)
    assert both.devices() == {first, second}
    np.testing.assert_array_equal(both, rows + 1)


def test_batches_and_derivatives(functions):
    added = kp.jax.call(functions.added, vmap="m")
    x = ramp(1200).reshape(3, 20, 20)
    np.testing.assert_array_equal(jax.jit(jax.vmap(added))(x), x + 1)
    smooth = kp.jax.custom_vjp(added, lambda inputs, outputs, cotangent: cotangent)
    gradient = jax.grad(lambda x: (jax.vmap(smooth)(x) ** 2).sum())(x)
    np.testing.assert_allclose(gradient, 2 * (x + 1))
