# SPDX-License-Identifier: Apache-2.0
"""Jit functions in programs of JAX, as far as there is no GPU: what they are compiled for, what comes
back, and what XLA is told to call. `tests/gpu/test_jax_jit.py` runs them.
"""

from __future__ import annotations

import dataclasses
import pickle
import re
import typing

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.sharding import Mesh, PartitionSpec

import kernpack as kp
import kernpack.jax as kj

pytestmark = pytest.mark.filterwarnings("ignore:.*unrelated-extents")

BLOCK = 64
Struct = jax.ShapeDtypeStruct
VECTOR = Struct((8,), jnp.float32)
ANNOTATION = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)


def make_scale():
    """A function that has no variant yet."""

    @kp.jit
    def scale(x, y, by=2.0):
        assert x.shape == y.shape
        scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

    return scale


scale = make_scale()


@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


@kp.jit("said(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 2.0)")
def said(x, y, by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.kernel
def copy_rows(x, y):
    i, j = kp.block_idx()[0], kp.thread_idx()[0]
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]


def make_copied():
    @kp.jit
    def copied(x, y):
        assert x.shape == y.shape
        copy_rows(x, y).launch(grid=x.shape[0], block=BLOCK)

    return copied


class Pair(typing.NamedTuple):
    x: object
    y: object


@dataclasses.dataclass
class Swapped:
    y: object
    x: object


@kp.jit
def scale_pair(p, by: kp.Constexpr):
    assert p.x.shape == p.y.shape
    scale_elements(p.x, p.y, by).launch(grid=1, block=BLOCK)


def lowered(function, *args):
    """What XLA for a GPU is told of a call, with its plan as a list."""
    traced = jax.jit(function).trace(*args)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    (call,) = [line for line in text.splitlines() if "kernpack.call.v1" in line]
    key = re.search(r'key = "\w+/(\w+)"', call)[1]
    plan = re.search(r"plan = dense<\[?([-\d, ]+)\]?>", call)[1]
    return key, [int(word) for word in plan.split(",")], call


def bits(number):
    return int(np.float64(number).view(np.int64))


# What comes back, and what is compiled


def test_arrays_that_nobody_passes_come_back():
    function = make_scale()
    for output in (VECTOR, [VECTOR], {"y": VECTOR}):
        call = kj.call(function, output=output)
        out = jax.eval_shape(call, jnp.ones(8))
        assert jax.tree.leaves(out) == [VECTOR]
        # What comes back has the structure of `output`; where that has names, it is the array.
        assert isinstance(out, list) == isinstance(output, list)
    assert len(function.variants) == 1
    assert function.variants[0].why == "a call of JAX"


def test_an_operand_and_a_result_and_a_number_are_where_the_function_has_them():
    key, plan, _ = lowered(kj.call(scale, output=VECTOR, static={"by": 3}), jnp.ones(8))
    assert (key, plan) == ("scale", [1, 2, 3, 3])
    key, plan, _ = lowered(lambda x: kj.call(scale, output=VECTOR)(x, by=0.5), jnp.ones(8))
    assert (key, plan) == ("scale", [1, 2, 5, bits(0.5)])


def test_what_is_returned_needs_no_output():
    assert jax.eval_shape(kj.call(scaled), jnp.ones(8)) == VECTOR
    out = jax.eval_shape(kj.call(scaled, output=[VECTOR]), jnp.ones(8))
    assert out == [VECTOR]
    key, plan, _ = lowered(kj.call(scaled), jnp.ones(8))
    assert (key, plan) == ("scaled_out", [1, 5, bits(2.0), 2])


def test_a_signature_says_all_of_it():
    call = kj.call(said)
    assert jax.eval_shape(call, jnp.ones(8)) == VECTOR
    assert "said" in repr(call) and call.__name__ == "said"
    with pytest.raises(ValueError, match="aliases: `x` of `said` is no array that it writes"):
        kj.call(said, aliases=["x"])(jnp.ones(8))


def test_each_kind_of_call_is_compiled_once_while_jax_traces():
    function = make_scale()
    call = kj.call(function, output={"y": VECTOR})
    program = jax.jit(call).lower
    program(jnp.ones(8))
    for dtype, n_variants in [("float32", 1), ("float16", 2), ("bfloat16", 3), ("float16", 3)]:
        x = jnp.ones(16, dtype)
        kj.call(function, output=Struct(x.shape, dtype))
        jax.eval_shape(kj.call(function, output=Struct(x.shape, dtype)), x)
        assert len(function.variants) == n_variants
    # A number's value is no other kind; its type is.
    jax.eval_shape(lambda x: call(x, by=7.0), jnp.ones(8))
    assert len(function.variants) == 3
    jax.eval_shape(lambda x: call(x, by=7), jnp.ones(8))
    assert len(function.variants) == 4
    assert "by: int64" in function.variants[-1].signature


def test_constants_are_keywords():
    @kp.kernel
    def fill(y, by):
        y[0] = y.element_type(by)

    @kp.jit
    def filled(y: kp.mut, mode, by: kp.Constexpr):
        if mode == "fill":
            fill(y, by).launch(grid=1, block=1)

    call = kj.call(filled, output=VECTOR)
    text = [str(jax.make_jaxpr(lambda by=by: call(mode="fill", by=by))()) for by in (1, 2, 1)]
    assert text[0] == text[2] != text[1]
    signatures = [variant.signature for variant in filled.variants]
    assert [re.search(r'mode: "fill", by: (\d)', each)[1] for each in signatures] == ["1", "2"]
    bound = kj.call(filled, output=VECTOR, static={"mode": "fill", "by": 1})
    assert jax.eval_shape(bound) == VECTOR and len(filled.variants) == 2
    with pytest.raises(TypeError, match="`by` is static: .*`static_argnames`"):
        jax.jit(lambda by: call("fill", by))(1)


def test_numbers_of_numpy_keep_their_dtype():
    function = make_scale()
    call = kj.call(function, output=VECTOR)
    for by, dtype in [(np.float16(2), "float16"), (np.int8(2), "int8"), (np.float32(2), "float32")]:
        jax.eval_shape(lambda x, by=by: call(x, by=by), jnp.ones(8))
        assert f"by: {dtype}" in function.variants[-1].signature
    with pytest.raises(TypeError, match="`by` is static"):
        jax.jit(lambda x, by: call(x, by=by))(jnp.ones(8), 2.0)
    by = jnp.float32(3)
    _, plan, _ = lowered(lambda x: call(x, by=by), jnp.ones(8))
    assert plan[-1] == bits(3.0)


def test_dtypes_are_constants():
    @kp.jit
    def cast(x, kind):
        y = kp.empty(x.shape, kind)
        cast_elements(x, y).launch(grid=1, block=BLOCK)
        return y

    @kp.kernel
    def cast_elements(x, y):
        i = kp.thread_idx()[0]
        if i < x.shape[0]:
            y[i] = y.element_type(x[i])

    for kind in (jnp.float16, np.dtype("float16"), "float16", kp.float16):
        out = jax.eval_shape(lambda x, kind=kind: kj.call(cast)(x, kind), jnp.ones(8))
        assert out == Struct((8,), jnp.float16)
    assert len(cast.variants) == 1


# Pytrees


@pytest.mark.parametrize(
    "make",
    [
        Pair,
        lambda x, y: Swapped(y, x),
        lambda x, y: {"x": x, "y": y},
        lambda x, y: {"y": y, "x": x},
    ],
)
def test_tuples_have_the_names_that_their_class_gives_them(make):
    call = kj.call(scale_pair, aliases=["p.y"])
    out = jax.eval_shape(lambda x, y: call(make(x, y), by=3), jnp.ones(8), jnp.zeros(8))
    assert jax.tree.leaves(out) == [VECTOR]
    _, plan, text = lowered(lambda x, y: call(make(x, y), by=3), jnp.ones(8), jnp.zeros(8))
    # A dict's names are in order, as JAX has them.
    is_swapped = isinstance(make(1, 2), Swapped)
    assert f"operand_index = {0 if is_swapped else 1}" in text
    assert plan[:2] == ([2, 257] if is_swapped else [1, 2])


def test_tuples_without_names_are_taken_apart():
    @kp.jit
    def scale_all(xs, ys):
        scale_elements(xs[0], ys[0], 2.0).launch(grid=1, block=BLOCK)
        scale_elements(xs[1], ys[1], 3.0).launch(grid=1, block=BLOCK)

    other = Struct((4,), jnp.float16)
    call = kj.call(scale_all, output={"ys": (VECTOR, other)})
    arrays = [jnp.ones(8), jnp.ones(4, "float16")]
    assert tuple(jax.eval_shape(call, arrays)) == (VECTOR, other)
    # Without a name, what comes back is of the structure that is said.
    out = jax.eval_shape(kj.call(scale_all, output=(Pair(VECTOR, other),)), tuple(arrays))
    assert out == (Pair(VECTOR, other),)


def test_several_arrays_come_back():
    @kp.jit
    def both(x, y, z):
        total = kp.empty((1,), x.element_type)
        scale_elements(x, y, 1.0).launch(grid=1, block=BLOCK)
        scale_elements(x, z, 2.0).launch(grid=1, block=BLOCK)
        scale_elements(x, total, 3.0).launch(grid=1, block=1)
        return total

    one = Struct((1,), jnp.float32)
    out = jax.eval_shape(kj.call(both, output={"y": VECTOR, "z": VECTOR}), jnp.ones(8))
    assert (out.y, out.z, out.total) == (VECTOR, VECTOR, one)
    out = jax.eval_shape(kj.call(both, output=(VECTOR, VECTOR, one)), jnp.ones(8))
    assert out == (VECTOR, VECTOR, one)
    with pytest.raises(ValueError, match="output: `both` writes `y`, `z`, which .* there is 1"):
        kj.call(both, output=VECTOR)(jnp.ones(8))


# Functions


def test_methods_know_their_object():
    class Scaler:
        def __init__(self, tile):
            self.tile = tile

        @kp.jit
        def run(self, x, y):
            scale_elements(x, y, self.tile).launch(grid=self.tile, block=BLOCK)

    three, four = Scaler(3), Scaler(4)
    keys = {
        jax.jit(kj.call(each.run, output=VECTOR)).trace(jnp.ones(8)).jaxpr.pretty_print()
        for each in (three, four, three)
    }
    assert len(keys) == 2
    three.tile = 4
    jax.eval_shape(kj.call(three.run, output=VECTOR), jnp.ones(8))
    assert len(three.run.variants) == 2


def test_lambdas_put_arguments_in_another_order():
    call = kj.call(lambda by, x, out: scale(x, out, by), output=VECTOR)
    _, plan, _ = lowered(lambda x: call(4.0, x), jnp.ones(8))
    assert plan == [5, bits(4.0), 1, 2]

    def plain(x, y):
        scale(x, y, 3.0)

    assert jax.eval_shape(kj.call(plain, output=VECTOR), jnp.ones(8)) == VECTOR


def test_streams_are_the_programs():
    @kp.jit
    def on(stream: kp.fake_stream(), x, y):
        scale_elements(x, y, 2.0).launch(grid=1, block=BLOCK, stream=stream)

    _, plan, _ = lowered(kj.call(on, output=VECTOR), jnp.ones(8))
    assert plan == [8, 1, 2]


def test_annotations_say_what_comes_back():
    @kp.jit
    def f(x: ANNOTATION, y: kp.mut(ANNOTATION)):
        scale_elements(x, y, 2.0).launch(grid=1, block=BLOCK)

    call = kj.call(f, vmap="fold")
    assert jax.eval_shape(call, jnp.ones(8)) == VECTOR
    batch = jax.jit(jax.vmap(call))
    assert lowered(batch, jnp.ones((4, 8)))[2].count("tensor<32xf32>") == 2
    assert call.specialised(VECTOR).vmap_dim == "n"


# Memory


def test_aliases_come_back_in_their_place():
    call = kj.call(scale, aliases=["y"])
    out, text = (f(call, jnp.ones(8), jnp.ones(8)) for f in (jax.eval_shape, lowered))
    assert out == VECTOR and "output_operand_aliases" in text[2]
    call = kj.call(scale, aliases={"x": "y"})
    assert jax.eval_shape(call, jnp.ones(8)) == VECTOR
    assert "operand_index = 0" in lowered(call, jnp.ones(8))[2]


@pytest.mark.parametrize(
    ("options", "signature", "layouts"),
    [
        ({}, "x: Tensor([n0, n1], float32)", "[dense<[1, 0]>"),
        ({"layouts": {"x": "col"}}, "x: Tensor([n0, n1], float32, order=col)", "[dense<[0, 1]>"),
        ({"modes": {"x": (1, 0)}}, "x: Tensor([n0, n1], float32, order=col)", "[dense<[1, 0]>"),
        (
            {"modes": {"x": (1, 0)}, "layouts": {"x": "col"}},
            "x: Tensor([n0, n1], float32)",
            "[dense<[0, 1]>",
        ),
    ],
)
def test_layouts_and_modes_are_what_is_compiled_for(options, signature, layouts):
    function = make_copied()
    is_turned = "modes" in options
    output = Struct((6, 4) if is_turned else (4, 6), jnp.float32)
    call = kj.call(function, output=output, **options)
    _, _, text = lowered(call, jnp.ones((4, 6)))
    (variant,) = function.variants
    assert signature in variant.signature
    assert f"operand_layouts = {layouts}" in text


def test_other_orders_have_strides():
    @kp.kernel
    def first(x, y):
        y[0] = x[0, 0, 0]

    @kp.jit
    def f(x, y):
        first(x, y).launch(grid=1, block=1)

    orders = [(0, 2, 1), (1, 0, 2)]
    for modes in orders:
        jax.eval_shape(kj.call(f, output=VECTOR, modes={"x": modes}), jnp.ones((2, 3, 4)))
    strided, inner = (variant.signature for variant in f.variants)
    assert re.search(r"x: .* strides=\[n\d, n\d, n\d\]", strided)
    assert re.search(r"x: .* strides=\[n\d, n\d, 1\]", inner)


# Transformations


def test_a_batch_is_many_calls_or_a_longer_one():
    batch = jnp.ones((4, 8))
    assert jax.eval_shape(jax.vmap(kj.call(scaled)), batch).shape == (4, 8)
    call = kj.call(scaled, vmap="fold")
    assert "tensor<32xf32>" in lowered(jax.vmap(call), batch)[2]
    assert "tensor<64xf32>" in lowered(jax.vmap(jax.vmap(call)), jnp.ones((2, 4, 8)))[2]


def test_derivatives_are_other_calls():
    call = kj.call(scaled)

    def backward(inputs, outputs, cotangent, by=2.0):
        return call(cotangent, by=by)

    program = jax.grad(lambda x: kj.custom_vjp(call, backward)(x, by=3.0).sum())
    assert jax.eval_shape(program, jnp.ones(8)) == VECTOR
    assert str(jax.make_jaxpr(program)(jnp.ones(8))).count("scaled_out") == 2


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="jax.shard_map is of later JAX")
def test_each_device_has_its_own_part():
    mesh = Mesh(jax.devices()[:1], ("rows",))
    spec = PartitionSpec("rows")
    sharded = jax.shard_map(kj.call(scaled), mesh=mesh, in_specs=spec, out_specs=spec)
    assert jax.eval_shape(sharded, jnp.ones(8)).shape == (8,)


def test_programs_are_exported_for_gpus_from_anywhere():
    (n,) = export.symbolic_shape("n")
    exported = kj.export(kj.call(scaled), platforms=["cuda"])(Struct((n,), jnp.float32))
    assert exported.platforms == ("cuda",) and "module = " in exported.mlir_module()
    assert str(exported.out_avals[0].shape) == "(n,)"


def test_a_captured_value_is_that_of_the_trace():
    by = 2.0

    @kp.jit
    def f(x, y):
        scale_elements(x, y, by).launch(grid=1, block=BLOCK)

    call = kj.call(f, output=VECTOR)
    first = str(jax.make_jaxpr(call)(jnp.ones(8)))
    by = 3.0
    assert str(jax.make_jaxpr(lambda x: call(x))(jnp.ones(8))) != first
    assert len(f.variants) == 2


def test_a_call_is_pickled_by_its_function():
    again = pickle.loads(pickle.dumps(kj.call(scaled, static={"by": 3.0})))
    assert jax.eval_shape(again, jnp.ones(8)) == VECTOR


# What is refused


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: kj.call(scale)(x, x), ValueError, "`y` is passed and `scale` writes it, but"),
        (lambda x: kj.call(scale)(x), TypeError, "missing 1 required argument: 'y'"),
        (lambda x: kj.call(scale, output=VECTOR)(x, x, 1, 2), TypeError, "takes 3 positional"),
        (lambda x: kj.call(scale, output=VECTOR)(x, z=1), TypeError, "unexpected keyword .* 'z'"),
        (lambda x: kj.call(scale, output={"x": VECTOR})(y=x), ValueError, "`x` is to come back"),
        (
            lambda x: kj.call(scale, output={"q": VECTOR, "y": VECTOR})(x),
            ValueError,
            "`q` does not",
        ),
        (
            lambda x: kj.call(scale, layouts={"z": "col"}),
            ValueError,
            "`z` is no parameter of `scale`",
        ),
        (
            lambda x: kj.call(scale, output=VECTOR)(object()),
            TypeError,
            "`x` takes an array, a number",
        ),
        (lambda x: kj.call(scale, output=VECTOR)(x[:3]), ValueError, r"Mismatched y.shape\[0\]"),
        (lambda x: kj.call(scaled)(x.astype("int4")), kp.CompileError, "kernels have no int4"),
    ],
)
def test_wrong_calls(call, error, words):
    with pytest.raises(error, match=words):
        call(jnp.ones(8))


def test_what_comes_back_has_to_be_said():
    @kp.jit
    def f(x, y: kp.mut):
        scale_elements(x, y, 2.0).launch(grid=1, block=BLOCK)

    with pytest.raises(ValueError, match="nothing says what `y` of `f` is, .*`output="):
        kj.call(f)(jnp.ones(8))
    assert jax.eval_shape(kj.call(f, output=VECTOR), jnp.ones(8)) == VECTOR


def test_a_kernel_does_not_run_on_the_cpu():
    with pytest.raises(jax.errors.JaxRuntimeError, match="expected device_type=cuda, got cpu"):
        kj.call(scaled)(jnp.ones(8))


def test_compiles_can_be_forbidden(monkeypatch):
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    with pytest.raises(kp.CompileForbidden):
        jax.eval_shape(kj.call(lambda x, y: scale(x, y, 7.25), output=VECTOR), jnp.ones(8))
