# SPDX-License-Identifier: Apache-2.0
"""Functions of packages in programs of JAX, through kernpack's own handler, on the CPU."""

import collections
import dataclasses
import gc
import json
import os
import re
import subprocess
import sys
import threading
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import jax_functions
import numpy as np
import pytest
import tvm_ffi
from jax import export

import kernpack as kp
import kernpack.jax as kj
from kernpack import _xla

HERE = Path(__file__).resolve().parent

Error = jax.errors.JaxRuntimeError
Struct = jax.ShapeDtypeStruct


@pytest.fixture(scope="module")
def package(kernpack, tmp_path_factory):
    return jax_functions.build(kernpack, tmp_path_factory.mktemp("jax"))


@pytest.fixture(scope="module")
def load(package):
    return kp.load_module(package).__getitem__


@pytest.fixture(scope="module")
def axpy(load):
    return kj.call(load("axpy"))


def python(script, *args, **environment):
    """What a script prints in a process of its own."""
    environment = {**os.environ, **environment}
    command = [sys.executable, "-c", script, *map(str, args)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# Arguments


def test_shapes_come_from_the_signature(axpy):
    x, y = jnp.arange(8.0), jnp.ones(8)
    np.testing.assert_array_equal(jax.jit(axpy)(x, y), 2 * np.arange(8) + 1)
    np.testing.assert_array_equal(axpy(x, y), 2 * np.arange(8) + 1)
    assert (
        jax.eval_shape(axpy, Struct((6,), jnp.bfloat16), Struct((6,), jnp.bfloat16)).dtype
        == jnp.bfloat16
    )
    half = jax.jit(axpy)(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))
    assert half.dtype == jnp.bfloat16 and half[3] == 7


def test_keywords_and_defaults(load, axpy):
    x, y = jnp.arange(4.0), jnp.ones(4)
    np.testing.assert_array_equal(axpy(y=y, x=x, alpha=3), 3 * np.arange(4) + 1)
    np.testing.assert_array_equal(axpy(x, y, 0.5), np.arange(4) / 2 + 1)
    bound = kj.call(load("axpy"), static={"alpha": np.float32(5)})
    np.testing.assert_array_equal(jax.jit(bound)(x, y), 5 * np.arange(4) + 1)
    np.testing.assert_array_equal(bound(x, y, alpha=1), np.arange(4) + 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f, x: f(x), r"axpy\(\) missing 1 required argument: 'y'"),
        (lambda f, x: f(x, x, 1.0, 2.0), r"axpy\(\) takes 3 positional arguments but 4 were given"),
        (lambda f, x: f(x, x, beta=1), r"axpy\(\) got an unexpected keyword argument 'beta'"),
        (lambda f, x: f(x, x, x=x), r"axpy\(\) got multiple values for argument 'x'"),
        (lambda f, x: f(x, "x"), r"`y` takes an array, got str"),
        (lambda f, x: f(x, None), r"`y` is not Optional"),
        (lambda f, x: f(x, x, "1"), r"`alpha` takes a number, got '1'"),
        (lambda f, x: jax.jit(f)(x, x, 1.0), r"`alpha` is static: .* `static_argnames`"),
    ],
)
def test_wrong_arguments_are_type_errors(axpy, call, words):
    with pytest.raises(TypeError, match=words):
        call(axpy, jnp.zeros(4))


def test_statics_can_be_arguments_of_jit(axpy):
    jitted = jax.jit(axpy, static_argnames="alpha")
    x = jnp.arange(4.0)
    assert jitted(x, x, alpha=3.0).tolist() == [0, 4, 8, 12] and jitted(
        x, x, alpha=4.0
    ).tolist() == [0, 5, 10, 15]


def test_every_kind_of_static_argument(load):
    call = kj.call(load("scalars"))
    filled = jax.jit(lambda: call(6, 3 << 32, True, -1.5, None, s=(2, 7)))()
    assert filled.tolist() == [3, 1, -1.5, 0, 0, 7]
    filled = jax.jit(
        lambda: call(n=6, i=-(1 << 63), b=0, f=np.float32(0.25), lambda_=2, one=1, s=[2, 8])
    )()
    assert filled.tolist() == [-(1 << 31), 0, 0.25, 2, 1, 8]
    assert call(6, 0, 0, 0, **{"lambda": 3}, s=(2, 0)).tolist() == [0, 0, 0, 3, 1, 0]
    for wrong in ({"i": 1 << 63}, {"i": 1.5}, {"b": 2}, {"n": None}):
        with pytest.raises(TypeError, match=f"`{next(iter(wrong))}` takes"):
            call(**{"n": 6, "i": 0, "b": True, "f": 0.0, "lambda": None, "s": (2, 1), **wrong})
    with pytest.raises(ValueError, match="`one` is 1, got 2"):
        call(6, 0, True, 0.0, None, 2, (2, 1))


def test_an_integer_that_a_dim_says_may_be_left_out(load):
    call = kj.call(load("counted"))
    assert jax.jit(lambda x: call(x=x))(jnp.zeros(3)).tolist() == [3, 3, 3]
    assert call(4, jnp.zeros(4)).tolist() == [4] * 4
    with pytest.raises(ValueError, match=r"got 4 \(n is 3\)"):
        call(3, jnp.zeros(4))
    (n,) = export.symbolic_shape("n")
    with pytest.raises(ValueError, match="`n` is static, and is symbolic in this program: `n`"):
        kj.export(lambda x: call(x=x))(Struct((n,), jnp.float32))
    # Of `scalars` only what comes back has that extent.
    with pytest.raises(TypeError, match="missing 1 required argument: 'n'"):
        kj.call(load("scalars"))(i=0, b=True, f=0.0, lambda_=None, s=(2, 1))


def test_optional_results_come_back_where_they_are_named(load):
    x = jnp.arange(3.0)
    without = jax.jit(kj.call(load("maybe")))(x)
    assert without.y.tolist() == [0, 0, 0] and without.z is None
    both = jax.jit(kj.call(load("maybe"), output={"z": None}))(x)
    assert both.y.tolist() == [1, 1, 1] and both.z.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("mode", "dtype"), [("one", "float32"), ("two or so", jnp.int32)])
def test_texts_and_dtypes_are_static(load, mode, dtype):
    call = kj.call(load("fill"), output={"y": Struct((3,), jnp.dtype(dtype))})
    filled = jax.jit(lambda: call(mode, dtype))()
    assert filled.dtype == dtype and filled.tolist() == [1 if mode == "one" else 2] * 3


class Inner(collections.namedtuple("Inner", ["w", "by"])):
    pass


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Outer:
    a: jax.Array
    inner: tuple


def test_tuples_are_pytrees_and_optionals_may_be_none(load):
    call = kj.call(load("nested"))
    a, w = jnp.arange(3.0), jnp.ones(3)
    for p in ((a, [w, 2.0]), {"a": a, "inner": Inner(w, 2.0)}, Outer(a, (w, 2.0))):
        q = call(p, None)
        assert q.u.tolist() == [2, 3, 4] and q.v.tolist() == [-1, -1, -1]
    q = jax.jit(lambda a, w, z: call((a, (w, 0.0)), z))(a, w, 5 * w)
    assert q.v.tolist() == [5, 5, 5] and q._fields == ("u", "v")
    with pytest.raises(TypeError, match="`p` takes a tuple, got float"):
        call(1.0, None)
    with pytest.raises(ValueError, match="`p.inner` has 2 elements to pass, got 1"):
        call((a, (w,)), None)
    with pytest.raises(TypeError, match=r"`p` has the elements \['a', 'inner'\]"):
        call({"a": a, "other": (w, 1.0)}, None)


def test_several_results_are_a_named_tuple(load):
    call = kj.call(load("sums"))
    both = jax.jit(call)(jnp.arange(12.0).reshape(3, 4))
    assert (
        both._fields == ("total", "rows")
        and float(both.total) == 66
        and both.rows.tolist() == [6, 22, 38]
    )
    # They are pytrees of one type, whoever made them.
    again = jax.jit(kj.call(load("sums")))(jnp.ones((3, 4)))
    assert jax.tree.map(jnp.add, both, again).rows.tolist() == [10, 26, 42]


def test_outputs_can_be_said(load):
    structs = [Struct((), jnp.float32), Struct((2,), jnp.float32)]
    total, rows = kj.call(load("sums"), output=structs)(jnp.ones((2, 3)))
    assert float(total) == 6 and rows.tolist() == [3, 3]
    with pytest.raises(
        ValueError, match=r"`y` of `fill` has no shape or dtype yet: say it by `output="
    ):
        kj.call(load("fill"))("one", "int32")
    with pytest.raises(ValueError, match="2 arrays come back"):
        kj.call(load("sums"), output=structs[:1])(jnp.ones((2, 3)))
    with pytest.raises(ValueError, match="`rwos` does not come back"):
        kj.call(load("sums"), output={"rwos": None})(jnp.ones((2, 3)))


def test_expressions_are_evaluated_for_symbolic_sizes(load):
    n, m = export.symbolic_shape("n, m")
    specs = Struct((8 * n,), jnp.float32), Struct((m,), jnp.float32)
    exported = kj.export(kj.call(load("quarter")))(*specs)
    assert (
        str(exported.out_avals[0].shape) == "(n, max(3, m))"
        or str(exported.out_avals[0].shape) == "(n, max(m, 3))"
    )
    assert exported.call(jnp.ones(16), jnp.ones(5)).tolist() == [[1.0] * 5] * 2
    assert exported.call(jnp.ones(16), jnp.ones(2)).shape == (2, 3)
    spaced = kj.export(kj.call(load("spaced")))(Struct((m, n), jnp.float32))
    x = jnp.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(spaced.call(x), 2 * x.sum(1) + 0.5)


def test_expressions_are_evaluated(load):
    out = jax.eval_shape(
        kj.call(load("quarter")), Struct((26,), jnp.float32), Struct((2,), jnp.float32)
    )
    assert out.shape == (4, 3)
    assert kj.call(load("quarter"))(jnp.full(26, 7.0), jnp.ones(5)).tolist() == [[7.0] * 5] * 4


DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 float8_e3m4
float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu""".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(load, dtype):
    with jax.enable_x64() if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        x = jnp.asarray(np.arange(5).astype(np.dtype(dtype)))
        assert x.dtype == dtype
        y = jax.jit(kj.call(load("copy")))(x)
        assert y.dtype == dtype
        np.testing.assert_array_equal(np.asarray(y).view("uint8"), np.asarray(x).view("uint8"))


@pytest.mark.parametrize("length", [8, 7])
def test_floats_of_4_bits_are_pairs(load, length):
    x = jnp.asarray([0.5, 1, 1.5, 2, 3, 4, 6, -1][:length], jnp.float4_e2m1fn)
    call = kj.call(load("copy"))
    shape = jax.eval_shape(call, x).shape
    assert shape == (8,)  # of an odd number the last is a pair too
    if length == 8:
        np.testing.assert_array_equal(np.asarray(jax.jit(call)(x)), np.asarray(x))
    else:
        same = kj.call(load("copy"), output=Struct((7,), x.dtype))
        np.testing.assert_array_equal(np.asarray(jax.jit(same)(x)), np.asarray(x))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2"])
def test_packed_integers_are_refused(load, dtype):
    with pytest.raises(TypeError, match=f"JAX packs {dtype}"):
        kj.call(load("copy"))(jnp.zeros(4, dtype))
    kj_without = kj.call(tvm_ffi.convert(lambda *_: None), output=Struct((4,), jnp.float32))
    with pytest.raises(TypeError, match=f"JAX packs {dtype}"):
        kj_without(jnp.zeros(4, dtype))


def test_wide_results_need_wide_numbers(load):
    call = kj.call(load("copy"), output=Struct((4,), np.float64), check=False)
    with pytest.raises(
        ValueError, match="`y` is float64, which JAX has only with `jax_enable_x64`"
    ):
        call(jnp.zeros(4))


# Memory


def test_what_is_column_major_is_passed_so(load):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(jax.jit(kj.call(load("column_sums")))(x), [3, 5, 7])
    np.testing.assert_array_equal(jax.jit(kj.call(load("transpose")))(x), x.T)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, [2, 3, 4, 12, 4, 1]),
        ({"layouts": {"x": "col"}}, [2, 3, 4, 1, 2, 6]),
        ({"layouts": {"x": (2, 0, 1)}}, [2, 3, 4, 12, 1, 3]),
        ({"modes": {"x": (0, 2, 1)}}, [2, 4, 3, 12, 1, 4]),
        ({"modes": {"x": (2, 1, 0)}}, [4, 3, 2, 1, 4, 12]),
        ({"modes": {"x": (2, 0, 1)}, "layouts": {"x": (1, 2, 0)}}, [4, 2, 3, 1, 4, 8]),
    ],
)
def test_layouts_and_modes_are_seen_with_true_strides(load, options, seen):
    call = kj.call(load("strides"), **options)
    assert jax.jit(call)(jnp.zeros((2, 3, 4))).tolist() == seen


def test_results_have_layouts_and_modes_too(load):
    # The memory of `y`, as the function sees it, is that of `x`.
    x = jnp.arange(6.0).reshape(2, 3)
    call = kj.call(load("transpose"), modes={"y": (1, 0)})
    np.testing.assert_array_equal(jax.jit(call)(x), x)
    for check, error in ((True, ValueError), (False, Error)):
        call = kj.call(load("transpose"), layouts={"y": "row"}, check=check)
        with pytest.raises(error, match=r"Mismatched y\.strides\[0\] .* column-major order"):
            call(x).block_until_ready()


def test_modes_move_memory_where_the_signature_asks(load):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(
        jax.jit(kj.call(load("sums"), modes={"x": (1, 0)}))(x).rows, [3, 5, 7]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layouts": {"x": "diagonal"}}, "is `row`, `col` or one rank a dim"),
        ({"layouts": {"x": (0, 1)}}, "expected a permutation of 3 dims"),
        ({"modes": {"x": (0, 0, 1)}}, "expected a permutation of 3 dims"),
    ],
)
def test_permutations_are_checked(load, options, words):
    with pytest.raises(ValueError, match=words):
        kj.call(load("strides"), **options)(jnp.zeros((2, 3, 4)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layouts": {"z": "row"}}, "layouts: `z` is no parameter of `axpy`"),
        ({"modes": {"alpha": (0,)}}, "modes: `alpha` is no array of `axpy`"),
        ({"static": {"beta": 1}}, "static: `beta` is no parameter of `axpy`"),
        ({"aliases": ["x"]}, "aliases: `x` of `axpy` is no array that it writes"),
        ({"aliases": {"alpha": "out"}}, "aliases: `alpha` and `out`"),
        ({"vmap": "k"}, "`k` of `axpy` can have"),
    ],
)
def test_names_in_options_are_checked(load, options, words):
    with pytest.raises(ValueError, match=words):
        kj.call(load("axpy"), **options)


def test_what_is_written_in_place_is_an_alias(load):
    call = kj.call(load("increment"), aliases=["y"])
    y = jnp.arange(4.0)
    np.testing.assert_array_equal(jax.jit(call)(y), np.arange(4) + 1)
    np.testing.assert_array_equal(y, np.arange(4))  # not donated, so XLA copied it first
    before = y.unsafe_buffer_pointer()
    after = jax.jit(call, donate_argnums=0)(y)
    assert (
        after.tolist() == [1, 2, 3, 4]
        and after.unsafe_buffer_pointer() == before
        and y.is_deleted()
    )


def test_names_that_python_cannot_write():
    text = "lambda(self: Tensor([n], float32)) -> a: Tensor([], float32), is: Tensor([], float32)"
    source = "void k(const float* x, float* a, float* b) { *a = x[1]; *b = x[2]; }"
    package = kp.Package("words")
    package.function(text, kp.Launch(kp.Source.host(source), "k", ["self", "a", "is"]))
    results = kj.call(package.load()["lambda"])(self=jnp.arange(3.0))
    assert type(results).__name__ == "lambda_" and results._fields == ("a", "is_")
    assert (float(results.a), float(results.is_)) == (1, 2)


def test_one_alias_is_a_name(load):
    call = kj.call(load("increment"), aliases="y")
    np.testing.assert_array_equal(call(jnp.arange(4.0)), np.arange(4) + 1)


def test_a_result_takes_the_place_of_another_array(load):
    call = kj.call(load("double"), aliases={"x": "y"})
    x = jnp.arange(4.0)
    before = x.unsafe_buffer_pointer()
    after = jax.jit(call, donate_argnums=0)(x)
    assert after.tolist() == [0, 2, 4, 6] and after.unsafe_buffer_pointer() == before


def test_workspaces_come_with_the_program(load):
    call = kj.call(load("spaced"))
    x = jnp.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(jax.jit(call)(x), 2 * x.sum(1) + 0.5)
    np.testing.assert_array_equal(
        jax.jit(jax.vmap(call))(jnp.stack([x, -x])), [2 * x.sum(1) + 0.5, -2 * x.sum(1) + 0.5]
    )
    assert 175 < kj.last_workspace_peak() <= 3 * 256
    with pytest.raises(
        Error,
        match=r"RESOURCE_EXHAUSTED: MemoryError: .*the workspace has \d+ bytes left, and \d+ are needed",
    ):
        jax.jit(kj.call(load("spaced"), workspace=0))(jnp.zeros((3, 4))).block_until_ready()
    larger = kj.call(load("spaced"), workspace=4096)
    np.testing.assert_array_equal(jax.jit(larger)(x), 2 * x.sum(1) + 0.5)


def test_workspaces_of_the_environment_stay(load):
    """What allocates on this thread outside of programs is what did before."""
    kj.call(load("spaced"))(jnp.ones((3, 4))).block_until_ready()
    y = np.zeros(3, "float32")
    load("spaced")(np.ones((3, 4), "float32"), y)
    assert y.tolist() == [8.5] * 3


# Transformations


def test_in_loops(axpy):
    ones = jnp.ones(4)
    looped = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda _, x: axpy(ones, x, alpha=1.0), x))(
        ones
    )
    np.testing.assert_array_equal(looped, 11 * np.ones(4))
    last, every = jax.lax.scan(lambda x, y: (axpy(x, y), x), ones, jnp.zeros((3, 4)))
    assert last.tolist() == [8] * 4 and every[:, 0].tolist() == [1, 2, 4]


def calls_in(function, *args):
    """How many calls a program makes."""
    return str(jax.make_jaxpr(function)(*args)).count("ffi_call[")


def lowered_calls(function, *args):
    return jax.jit(function).lower(*args).as_text().count("@kernpack.call.v1")


def test_vmap_in_sequence(load, axpy):
    x, y = jnp.arange(12.0).reshape(3, 4), jnp.ones(4)
    np.testing.assert_array_equal(jax.jit(jax.vmap(axpy, (0, None)))(x, y), 2 * x + 1)
    assert "while" in jax.jit(jax.vmap(axpy, (0, None))).lower(x, y).as_text()
    with pytest.raises(NotImplementedError):
        jax.vmap(kj.call(load("axpy"), vmap=None), (0, None))(x, y)


def expected_rows(x, w):
    """Of `rows`, whose numbers say how many rows a call had."""
    return x * w + np.float32(x.shape[0])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", ["rows", "stars"])
def test_vmap_folds_a_batch_into_a_dim(load, name, axis):
    call = kj.call(load(name), vmap="fold")
    assert call.vmap_dim == {"rows": "m", "stars": "*b"}[name]
    x, w = jnp.arange(24.0).reshape(2, 3, 4), jnp.arange(4.0) + 1
    batch = jnp.moveaxis(x, 0, axis)
    mapped = jax.jit(jax.vmap(call, (axis, None)))(batch, w)
    # One call had the rows of both.
    np.testing.assert_array_equal(mapped, x * w + 6)
    assert "while" not in jax.jit(jax.vmap(call, (axis, None))).lower(batch, w).as_text()
    outs = jax.vmap(call, (axis, None), out_axes=2)(batch, w)
    np.testing.assert_array_equal(outs, jnp.moveaxis(x * w + 6, 0, 2))


def test_a_batch_of_none_has_none(load):
    call = kj.call(load("rows"), vmap="fold")
    mapped = jax.vmap(call, (0, None))(jnp.ones((0, 3, 4)), jnp.ones(4))
    assert mapped.shape == (0, 3, 4)


def test_a_batch_of_batches_is_one_call(load):
    call = kj.call(load("rows"), vmap="m")
    x, w = jnp.arange(120.0).reshape(5, 2, 3, 4), jnp.ones(4)
    mapped = jax.jit(jax.vmap(jax.vmap(call, (0, None)), (0, None)))(x, w)
    np.testing.assert_array_equal(mapped, x + 30)


def test_what_cannot_be_folded_is_done_in_sequence(load):
    call = kj.call(load("rows"), vmap="fold")
    x, w = jnp.arange(12.0).reshape(3, 4), jnp.arange(8.0).reshape(2, 4)
    mapped = jax.jit(jax.vmap(call, (None, 0)))(x, w)
    np.testing.assert_array_equal(mapped, x * w[:, None] + 3)


def test_what_has_no_batch_is_broadcast(load):
    both = kj.call(load("axpy"), vmap="n")
    x, y = jnp.arange(12.0).reshape(3, 4), jnp.ones(4)
    np.testing.assert_array_equal(jax.jit(jax.vmap(both, (0, None)))(x, y), 2 * x + 1)
    np.testing.assert_array_equal(jax.jit(jax.vmap(both, (None, 0)))(y, x), 2 + x)


@pytest.mark.parametrize("name", ["sums", "quarter", "tick"])
def test_dims_that_cannot_be_folded_are_refused(load, name):
    with pytest.raises(ValueError, match=f"no dim of `{name}` can have a batch folded into it"):
        kj.call(load(name), vmap="fold")


def test_folding_knows_modes(load):
    call = kj.call(load("rows"), vmap="m", modes={"x": (1, 0)})
    x, w = jnp.arange(24.0).reshape(2, 4, 3), jnp.arange(4.0) + 1
    mapped = jax.jit(jax.vmap(call, (0, None)))(x, w)
    np.testing.assert_array_equal(mapped, jnp.swapaxes(x, 1, 2) * w + 6)


def test_derivatives(load):
    forward = kj.call(load("axpy"), vmap="fold")

    def backward(inputs, outputs, cotangent, alpha):
        x, y = inputs
        np.testing.assert_equal(outputs.shape, x.shape)
        return forward(cotangent, 0 * y, alpha=alpha), cotangent

    call = kj.custom_vjp(forward, backward)
    x, y = jnp.arange(4.0), jnp.ones(4)
    dx, dy = jax.jit(jax.grad(lambda x, y: (call(x, y, alpha=3.0) ** 2).sum(), (0, 1)))(x, y)
    np.testing.assert_array_equal(dy, 2 * (3 * x + y))
    np.testing.assert_array_equal(dx, 3 * dy)
    rows = jnp.stack([x, 2 * x])
    mapped = jax.vmap(jax.grad(lambda x: call(x, y, alpha=3.0).sum()))(rows)
    np.testing.assert_array_equal(mapped, np.full((2, 4), 3))
    through = jax.grad(lambda rows: jax.vmap(lambda x: call(x, y, alpha=3.0))(rows).sum())(rows)
    np.testing.assert_array_equal(through, np.full((2, 4), 3))
    with pytest.raises(ValueError, match="cannot be differentiated"):
        jax.grad(lambda x: kj.call(load("axpy"))(x, y).sum())(x)


def test_derivatives_with_what_the_forward_pass_keeps(load):
    double = kj.call(load("double"))
    call = kj.custom_vjp(
        double, lambda inputs, kept, c: c * kept, forward=lambda x: (double(x), jnp.full(4, 2.0))
    )
    np.testing.assert_array_equal(jax.grad(lambda x: call(x).sum())(jnp.ones(4)), [2] * 4)


def test_effects(load):
    tick, rung = kj.call(load("tick")), kj.call(load("rung"), has_side_effect=True)
    seen = kj.call(load("tick"), has_side_effect=True)
    first, second = sorted(int(each[0]) for each in jax.jit(lambda: (seen(), seen()))())
    assert second == first + 1
    jax.jit(lambda: (tick(), 1)[1])()  # nobody uses what it returns
    assert jax.jit(lambda: (tick(), seen())[1])() == second + 1
    # What returns nothing is called for its effect.
    before = int(rung()[0])
    assert jax.jit(lambda: kj.call(load("ring"))(5))() == ()
    jax.effects_barrier()
    assert int(rung()[0]) == before + 5


SHARDED = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import kernpack as kp, kernpack.jax as kj
if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map
call = kj.call(kp.load_module(sys.argv[1]).rows)
assert len(jax.devices()) == 4
mesh = Mesh(np.array(jax.devices()), ("i",))
x, w = jnp.arange(64.0).reshape(16, 4), jnp.arange(4.0)
sharded = jax.jit(shard_map(call, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i")))
# Each device's call has a quarter of the rows.
np.testing.assert_array_equal(sharded(x, w), x * w + 4)
print("right")
"""


def test_over_devices(package):
    flags = "--xla_force_host_platform_device_count=4"
    assert python(SHARDED, package, XLA_FLAGS=flags) == "right\n"


def test_on_threads(axpy):
    program = jax.jit(lambda x, y: axpy(axpy(x, y), y))
    wrong = []

    def work(number):
        x, y = jnp.full(1000, float(number)), jnp.ones(1000)
        for _ in range(50):
            if not (program(x, y) == 4 * number + 3).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Errors


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (jnp.zeros(3), jnp.zeros(3), "ValueError: .* expected to be divisible by 2, got 3"),
        (
            jnp.zeros(4),
            jnp.zeros(6),
            r"ValueError: Mismatched y\.shape\[0\] on argument #1 .* got 6 \(x\.shape\[0\] is 4\)",
        ),
        (
            jnp.zeros(4, jnp.int32),
            jnp.zeros(4, jnp.int32),
            "TypeError: .* expected dtype=float32 or bfloat16, got int32",
        ),
    ],
)
def test_what_is_refused_at_run_time_keeps_its_kind(load, x, y, words):
    call = kj.call(load("axpy"), check=False)
    with pytest.raises(Error, match=r"INVALID_ARGUMENT: " + words):
        jax.jit(call)(x, y).block_until_ready()
    # The next program runs as if nothing had been.
    np.testing.assert_array_equal(jax.jit(call)(jnp.ones(2), jnp.ones(2)), [3, 3])


def test_a_wrong_number_of_dims_is_refused_while_tracing(axpy):
    words = r"^Mismatched Tensor on argument #1 when calling: `axpy\(x: .*`, expected ndim=1, got 2(\n|$)"
    with pytest.raises(ValueError, match=words):
        jax.eval_shape(axpy, jnp.zeros(4), jnp.zeros((2, 2)))


def test_calls_are_checked_while_tracing(load, monkeypatch):
    asked = []

    def check(signature, arguments, device):
        asked.append((signature, json.loads(json.dumps(arguments)), device))
        return {"kind": "TypeError", "message": "so it is"} if len(asked) > 1 else None

    native = types.SimpleNamespace(check=check)
    monkeypatch.setitem(sys.modules, "kernpack._native", native)
    monkeypatch.setattr(sys.modules["kernpack"], "_native", native, raising=False)
    half = Struct((4,), jnp.bfloat16)
    call = kj.call(load("axpy"), layouts={"x": "col"})
    assert jax.eval_shape(call, half, half).shape == (4,)
    with pytest.raises(TypeError, match="^so it is"):
        jax.eval_shape(lambda x: call(x, x), Struct((6,), jnp.bfloat16))
    tensor = {"tensor": {"dtype": "bfloat16", "shape": [4], "strides": None}}
    assert asked[0] == (load("axpy").signature, [tensor, tensor, 2.0], "cpu")
    assert jax.eval_shape(kj.call(load("axpy"), check=False), half, half).shape == (4,)
    # What comes back is checked too, where it is a parameter.
    asked.clear()
    jax.eval_shape(lambda x: kj.call(load("nested"))((x, (x, 1.0)), None), jnp.ones(2))
    two = {"tensor": {"dtype": "float32", "shape": [2], "strides": None}}
    assert asked[0][1] == [[two, [two, 1.0]], None, [two, two]]


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        (
            Struct((3,), "float32"),
            Struct((3,), "float32"),
            ValueError,
            r"expected to be divisible by 2, got 3",
        ),
        (
            Struct((4,), "float32"),
            Struct((6,), "float32"),
            ValueError,
            r"got 6 \(x\.shape\[0\] is 4\)",
        ),
        (
            Struct((4,), "int32"),
            Struct((4,), "int32"),
            TypeError,
            "expected dtype=float32 or bfloat16, got int32",
        ),
    ],
)
def test_what_is_refused_while_tracing_is_so_in_the_same_words(axpy, x, y, error, words):
    with pytest.raises(
        error, match=r"^(Mismatched|Invalid) .* when calling: `axpy\(x: .*" + words + r"(\n|$)"
    ):
        jax.eval_shape(axpy, x, y)


def test_statics_are_checked_while_tracing(load):
    call = kj.call(load("fill"), output={"y": Struct((3,), jnp.float32)})
    with pytest.raises(ValueError, match='expected mode in {"one", "two or so"}, got "three"'):
        jax.eval_shape(lambda: call("three", "float32"))


def test_other_failures_are_internal(load):
    failing = jax.jit(lambda: kj.call(load("broken"), output=Struct((2,), jnp.float32))(n_wanted=3))
    with pytest.raises(Error, match="INTERNAL: RuntimeError: .* expected status 0, got 3"):
        failing().block_until_ready()


def test_an_error_of_python_keeps_its_kind():
    def fail(*_):
        raise IndexError("too far")

    function = tvm_ffi.convert(fail)
    with pytest.raises(Error, match="OUT_OF_RANGE: IndexError: too far"):
        jax.jit(kj.call(function, output=Struct((2,), jnp.float32)))().block_until_ready()


# Functions without a signature


def test_a_plain_function_takes_what_it_is_passed():
    seen = []

    def note(*values):
        seen.append(
            [type(value).__name__.replace("String", "str") for value in values]
            + [str(values[2]), values[4]]
        )
        np.from_dlpack(values[-1])[:] = 5

    function = tvm_ffi.convert(note)
    # NumPy takes tensors that own themselves, and no views.
    call = kj.call(function, output=Struct((2,), jnp.float32), owned=True)
    x = jnp.ones((2, 2))
    jitted = jax.jit(
        lambda x: call(x, True, jnp.bfloat16.dtype, 7, "a text of some length", None, 1.5, (1, 2))
    )
    assert jitted(x).tolist() == [5, 5]
    kinds = ["Tensor", "bool", "dtype", "int", "str", "NoneType", "float", "Shape", "Tensor"]
    assert seen == [[*kinds, "bfloat16", "a text of some length"]]
    with pytest.raises(ValueError, match="say it by `output=`"):
        kj.call(function)(x)
    with pytest.raises(ValueError, match="cannot be exported"):
        kj.export(lambda x: call(x, True, jnp.bfloat16.dtype, 7, "", None, 1.5, ()))(x)


def test_static_values_of_another_type_are_another_call():
    seen = []
    call = kj.call(
        tvm_ffi.convert(lambda value, y: seen.append(value)), output=Struct((2,), jnp.float32)
    )
    for value in (1, True, 1.0, 0.0, -0.0, 1):
        call(value).block_until_ready()
    assert list(map(repr, seen)) == ["1", "True", "1.0", "0.0", "-0.0", "1"]


def test_many_different_calls(load):
    call = kj.call(load("double"))
    for n in range(140):
        assert call(jnp.ones(n)).shape == (n,)


def test_tensors_can_be_owned():
    kept = []
    function = tvm_ffi.convert(lambda x, y: kept.append(x))
    for owned in (False, True):
        call = kj.call(function, output=Struct((2,), jnp.float32), owned=owned)
        call(jnp.arange(6.0).reshape(2, 3)).block_until_ready()
    assert [type(x).__name__ for x in kept] == ["Tensor"] * 2 and kept[1].shape == (2, 3)


def test_a_function_is_held():
    called = []
    program = jax.jit(
        kj.call(tvm_ffi.convert(lambda y: called.append(y.shape)), output=Struct((2,), jnp.float32))
    )
    program().block_until_ready()
    gc.collect()
    program().block_until_ready()
    assert called == [(2,), (2,)]


# Programs


def test_programs_name_packages_by_digest(load, package):
    text = jax.jit(kj.call(load("axpy"))).lower(jnp.zeros(4), jnp.zeros(4)).as_text()
    assert f'"{kp.load_module(package).digest}/axpy_out"' in text and "module =" not in text
    embedded = (
        jax.jit(kj.call(load("axpy"), embed=True)).lower(jnp.zeros(4), jnp.zeros(4)).as_text()
    )
    assert "module = dense" in embedded and len(embedded) > package.stat().st_size


EXPORTED = """
import sys, jax, jax.numpy as jnp
from jax import export
import kernpack.jax
exported = export.deserialize(open(sys.argv[1], "rb").read())
x, y = jnp.arange(6.0), jnp.ones(6)
try:
    print(exported.call(x, y).tolist())
except Exception as error:
    print(error)
"""


def test_exported_programs_run_in_a_fresh_process(kernpack, tmp_path):
    pytest.importorskip("flatbuffers")
    # A package of its own, which is gone when the program runs.
    path = jax_functions.build(kernpack, tmp_path)
    module = kp.load_module(path)
    call = kj.call(module.axpy)
    program = jax.jit(lambda x, y: call(x, y, alpha=3.0))
    x, y = export.symbolic_args_specs((jnp.zeros(4), jnp.zeros(4)), "2*n")
    program(jnp.zeros(4), jnp.zeros(4))  # compiled before, by digest
    blob = kj.export(program, platforms=["cpu", "cuda"])(x, y).serialize()
    (tmp_path / "program").write_bytes(blob)
    # By digest alone it is another process's.
    plain = export.export(jax.jit(lambda x, y: call(x, y, alpha=4.0)), **kj.export_options())(x, y)
    (tmp_path / "plain").write_bytes(plain.serialize())
    path.unlink()
    assert python(EXPORTED, tmp_path / "program") == "[1.0, 4.0, 7.0, 10.0, 13.0, 16.0]\n"
    missing = python(EXPORTED, tmp_path / "plain")
    assert (
        f"NOT_FOUND: the package {module.digest} with `axpy_out` is not loaded in this process"
        in missing
    )
    assert export.deserialize(bytearray(blob)).call(jnp.ones(2), jnp.ones(2)).tolist() == [4, 4]


def test_a_package_that_has_changed_is_not_exported(kernpack, tmp_path):
    path = jax_functions.build(kernpack, tmp_path)
    call = kj.call(kp.load_module(path).double, embed=True)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ValueError, match="has changed since it was loaded"):
        call(jnp.ones(3))


def test_damaged_packages_are_not_loaded(package):
    key = f"{'0' * 64}/double"
    attributes = {
        "key": key,
        "module": np.frombuffer(package.read_bytes(), np.uint8),
        "plan": np.array([1, 2], np.int64),
    }
    made = jax.ffi.ffi_call(_xla.CAPTURABLE, Struct((4,), jnp.float32))
    with pytest.raises(
        Error, match=f"DATA_LOSS: the program's copy of the package {'0' * 64} is damaged"
    ):
        jax.jit(lambda x: made(x, **attributes))(jnp.zeros(4)).block_until_ready()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ([99], "step 99 is unknown: the program is of a later version"),
        ([1 | 7 << 8], "there is no operand #7"),
        ([2 | 7 << 8], "there is no result #7"),
        ([3], "it ends too early"),
        ([7 | 1 << 8, -1], "a text does not end"),
        ([7], "a text does not end"),
        ([10 | 3 << 8], "it takes back too much"),
        ([12 | 2 << 8, 0, 1, 1, 0, 1], "a buffer has 1 dims, and its view others"),
        ([12 | 1 << 8, 5, 0, 1], "a buffer has 1 dims, and its view others"),
    ],
)
def test_plans_that_do_not_fit_are_refused(load, plan, words):
    key = _xla.key_of(load("double"))
    made = jax.ffi.ffi_call(_xla.CAPTURABLE, Struct((4,), jnp.float32))
    with pytest.raises(Error, match=f"INVALID_ARGUMENT: kernpack's plan of the call: {words}"):
        jax.jit(lambda x: made(x, key=key, plan=np.array(plan, np.int64)))(
            jnp.zeros(4)
        ).block_until_ready()


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "`key` is not a digest, a slash and a name"),
        ({"key": 5}, "`key` is not a digest, a slash and a name"),
        ({"key": "abc/def"}, "the package abc with `def` is not loaded"),
    ],
)
def test_programs_that_are_not_ours_are_refused(attributes, words):
    made = jax.ffi.ffi_call(_xla.CAPTURABLE, Struct((4,), jnp.float32))
    with pytest.raises(Error, match=words):
        jax.jit(lambda x: made(x, **attributes))(jnp.zeros(4)).block_until_ready()


def test_more_arguments_than_fit_the_stack():
    count = []
    function = tvm_ffi.convert(lambda *values: count.append((len(values), values[-2].shape[0])))
    call = kj.call(function, output=Struct((2,), jnp.float32))
    arrays = [jnp.zeros((n, 1, 1, 1)) for n in range(1, 201)]
    jax.jit(call)(*arrays).block_until_ready()
    assert count == [(201, 200)]


CACHED = """
import sys
import jax, jax.numpy as jnp, jax.monitoring
jax.config.update("jax_compilation_cache_dir", sys.argv[2])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event))
import kernpack as kp, kernpack.jax as kj
call = kj.call(kp.load_module(sys.argv[1]).axpy)
print(jax.jit(call)(jnp.ones(4), jnp.ones(4)).tolist(), any("cache_hits" in event for event in hits))
"""


def test_the_compilation_cache_of_jax_works(package, tmp_path):
    assert python(CACHED, package, tmp_path) == "[3.0, 3.0, 3.0, 3.0] False\n"
    assert python(CACHED, package, tmp_path) == "[3.0, 3.0, 3.0, 3.0] True\n"


LEAK = """
import sys
import jax, jax.numpy as jnp
import kernpack as kp, kernpack.jax as kj
load = kp.load_module(sys.argv[1]).__getitem__
n_calls = int(sys.argv[2])
nested, spaced = kj.call(load("nested"), owned=True), kj.call(load("spaced"))
scalars = kj.call(load("scalars"))
@jax.jit
def program(x):
    q = nested((x, (x, 2.0)), None)
    s = scalars(6, 1, True, 2.0, None, s=(2, 3))
    return q.u + spaced(jnp.stack([q.v, x]))[0] + s[0]
refused = jax.jit(kj.call(load("axpy"), check=False))
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def run(count):
    x = jnp.ones(4)
    for at in range(count):
        y = program(x)
        if at % 20 == 0:
            try:
                refused(jnp.ones(3), jnp.ones(3)).block_until_ready()
            except jax.errors.JaxRuntimeError:
                pass
    y.block_until_ready()
run(2000)
before = resident()
run(n_calls)
print(resident() - before)
"""


def test_nothing_leaks(package):
    n_calls = int(os.environ.get("KERNPACK_JAX_CALLS", 20_000))
    grown = int(python(LEAK, package, n_calls))
    # Kilobytes. An object that stays behind in each call would be megabytes.
    assert grown < 1500, f"{grown} kB after {n_calls} calls"


VERSIONS = """
import sys
import jax, jax.numpy as jnp, numpy as np
import kernpack as kp, kernpack.jax as kj
load = kp.load_module(sys.argv[1]).__getitem__
x = jnp.arange(24.0).reshape(2, 3, 4)
w = jnp.arange(4.0) + 1
rows = kj.call(load("rows"), vmap="fold")
np.testing.assert_array_equal(jax.jit(jax.vmap(rows, (0, None)))(x, w), x * w + 6)
np.testing.assert_array_equal(jax.jit(kj.call(load("spaced")))(x[0]), 2 * x[0].sum(1) + 0.5)
np.testing.assert_array_equal(jax.jit(kj.call(load("column_sums")))(x[0]), x[0].sum(0))
assert jax.jit(kj.call(load("increment"), aliases=["y"]), donate_argnums=0)(w).tolist() == [2, 3, 4, 5]
q = kj.call(load("nested"))((x[0, 0], (x[0, 1], 2.0)), None)
assert q.u.tolist() == [8, 11, 14, 17]
axpy = kj.call(load("axpy"), check=False)
try:
    axpy(jnp.ones(3), jnp.ones(3)).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    assert "INVALID_ARGUMENT: ValueError" in str(error), error
else:
    raise SystemExit("not refused")
exported = kj.export(lambda x, y: axpy(x, y))(*[jax.ShapeDtypeStruct((4,), "float32")] * 2)
assert exported.call(jnp.ones(4), jnp.ones(4)).tolist() == [3] * 4
print(jax.__version__)
"""


@pytest.mark.parametrize("number", range(4))
def test_other_versions_of_jax(package, number):
    """`KERNPACK_PYTHON_JAX` lists interpreters with other versions, as PATH lists folders."""
    others = [other for other in os.environ.get("KERNPACK_PYTHON_JAX", "").split(":") if other]
    if number >= len(others):
        pytest.skip("no other version of jax")
    command = [others[number], "-c", VERSIONS, str(package)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_what_the_document_shows(kernpack, tmp_path):
    text = (HERE.parent / "docs/jax.md").read_text()
    blocks = re.findall(r"^```(\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    [toml], [c] = ([block for info, block in blocks if info == wanted] for wanted in ("toml", "c"))
    (tmp_path / "kernels.toml").write_text(toml)
    (tmp_path / "kernels.c").write_text(c)
    subprocess.run(
        [kernpack, "build", "kernels.toml", "-o", "kernels.so"], cwd=tmp_path, check=True
    )
    script = "".join(block for info, block in blocks if info == "python")
    assert script.count("assert ") > 18
    # Kernels are read from their file.
    (tmp_path / "shown.py").write_text(script)
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    command = [sys.executable, "shown.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_jax_is_imported_by_its_own_module_alone():
    script = "import sys, kernpack, kernpack._shape, kernpack._xla; print('jax' in sys.modules)"
    assert python(script) == "False\n"
