# SPDX-License-Identifier: Apache-2.0
"""What goes from one process to another: programs by the digest of their packages, and pickles."""

import copy
import os
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import jax_functions
import numpy as np
import pytest
from jax import export
from jax.experimental import serialize_executable

import kernpack as kp
import kernpack.jax as kj


@pytest.fixture(scope="module")
def package(kernpack, tmp_path_factory):
    return jax_functions.build(kernpack, tmp_path_factory.mktemp("processes"))


@pytest.fixture(scope="module")
def load(package):
    return kp.load_module(package).__getitem__


def python(script, *args, path=()):
    """What a script prints in a process of its own."""
    paths = os.pathsep.join([*map(str, path), os.environ["PYTHONPATH"]])
    command = [sys.executable, "-c", script, *map(str, args)]
    environment = {**os.environ, "PYTHONPATH": paths}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


RUN = """
import pickle, sys
import jax.numpy as jnp
import kernpack as kp
from jax import export
from jax.experimental import serialize_executable

def load():
    module = kp.load_module(sys.argv[2])

def read():
    content = open(sys.argv[1], "rb").read()
    if sys.argv[1].endswith("executable"):
        return serialize_executable.deserialize_and_load(*pickle.loads(content))
    return export.deserialize(bytearray(content)).call

x, y = jnp.ones(4), jnp.ones(4)
for step in sys.argv[3:]:
    exec(step)
print(program(x, y).tolist())
"""


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        ("exported", ["load()", "import kernpack.jax", "program = read()"]),
        ("exported", ["import kernpack.jax", "program = read()", "load()"]),
        ("executable", ["load()", "import kernpack.jax", "program = read()"]),
        ("executable", ["import kernpack.jax", "load()", "program = read()"]),
    ],
)
def test_programs_by_digest_find_a_package_that_is_loaded(package, load, tmp_path, kind, steps):
    call, x = kj.call(load("axpy")), jnp.zeros(4)
    program = jax.jit(lambda x, y: call(x, y, alpha=4.0))
    if kind == "exported":
        content = export.export(program, **kj.export_options())(x, x).serialize()
    else:
        compiled = program.lower(x, x).compile()
        content = pickle.dumps(serialize_executable.serialize(compiled))
    (tmp_path / kind).write_bytes(content)
    # The same bytes under another name are the same package.
    moved = tmp_path / "moved.so"
    moved.write_bytes(package.read_bytes())
    assert python(RUN, tmp_path / kind, moved, *steps) == "[5.0, 5.0, 5.0, 5.0]\n"


def test_a_program_by_digest_says_what_is_not_loaded(kernpack, load, tmp_path):
    call, x = kj.call(load("axpy")), jnp.zeros(4)
    content = export.export(jax.jit(call), **kj.export_options())(x, x).serialize()
    (tmp_path / "exported").write_bytes(content)
    other = jax_functions.build(
        kernpack, tmp_path, jax_functions.PACKAGE.replace("alpha: float32 = 2.0", "alpha: float32")
    )
    steps = ["import kernpack.jax", "load()", "program = read()"]
    with pytest.raises(AssertionError, match="NOT_FOUND: the package .* is not loaded"):
        python(RUN, tmp_path / "exported", other, *steps)


RESTORED = """
import pickle, sys
import jax, jax.numpy as jnp
call, tripled, differentiable, results = pickle.loads(open(sys.argv[1], "rb").read())
x, y = jnp.arange(4.0), jnp.ones(4)
print(call(x, y).tolist(), jax.jit(tripled)(x, y).tolist(), results.u.tolist())
print(jax.grad(lambda x: differentiable(x).sum())(x).tolist())
try:
    call(x)
except TypeError as error:
    print(error)
"""

RULES = """
def backward(inputs, outputs, cotangents):
    return 2 * cotangents
"""


def test_calls_are_pickled_with_their_package(kernpack, tmp_path, monkeypatch):
    path = jax_functions.build(kernpack, tmp_path)
    (tmp_path / "rules_of_test.py").write_text(RULES)
    monkeypatch.syspath_prepend(tmp_path)
    import rules_of_test

    module = kp.load_module(path)
    call, tripled = kj.call(module.axpy), kj.call(module.axpy, static={"alpha": 3.0})
    differentiable = kj.custom_vjp(kj.call(module.double), rules_of_test.backward)
    x = jnp.ones(4)
    # What a call has prepared for shapes stays here.
    call(x, x), differentiable(x)
    results = kj.call(module.nested)((x, (x, 2.0)), None)
    (tmp_path / "pickled").write_bytes(pickle.dumps((call, tripled, differentiable, results)))
    path.unlink()
    assert python(RESTORED, tmp_path / "pickled", path=[tmp_path]).splitlines() == [
        "[1.0, 3.0, 5.0, 7.0] [1.0, 4.0, 7.0, 10.0] [3.0, 3.0, 3.0, 3.0]",
        "[2.0, 2.0, 2.0, 2.0]",
        "axpy() missing 1 required argument: 'y'",
    ]


def test_pickled_options_are_kept(load):
    x = jnp.arange(24.0).reshape(2, 3, 4)
    folding = kj.call(load("rows"), vmap="fold")
    folding(x[0], x[0, 0])
    one_hot = jax.ShapeDtypeStruct((3,), jnp.float32)
    said = kj.call(load("double"), output={"y": one_hot}, modes={"x": (0,)}, embed=False)
    in_place = kj.call(load("increment"), aliases=["y"])
    for again in (lambda it: pickle.loads(pickle.dumps(it)), copy.copy, copy.deepcopy):
        found = again(folding)
        assert found.vmap_dim == "m" and repr(found) == repr(folding)
        np.testing.assert_array_equal(found(x[0], x[0, 0]), folding(x[0], x[0, 0]))
        assert again(said)(x[0, 0, :3]).tolist() == [0, 2, 4]
        assert again(in_place)(x[0, 0], by=2).tolist() == [2, 3, 4, 5]


def test_pickled_results_have_the_same_type(load):
    x = jnp.ones(3)
    found = kj.call(load("nested"))((x, (x, 2.0)), None)
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found) and again.v.tolist() == found.v.tolist()
    assert jax.tree.structure(again) == jax.tree.structure(copy.deepcopy(found))
