# SPDX-License-Identifier: Apache-2.0
"""Jit functions as operators of PyTorch, as far as there is no GPU: schemas, shapes, and what
compilers see. `tests/gpu/test_torch_jit.py` calls them.
"""

import dataclasses
import os
import subprocess
import sys
import typing

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import kernpack as kp

BLOCK = 64
VECTOR = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))


@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)


@kp.jit("said(x: Tensor([n], float32), y: Tensor([n], float32, mut), by: float32 = 2.0)")
def said(x, y, by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


@kp.jit
def annotated(x: VECTOR, y: kp.mut(VECTOR), by: kp.float16 = 2.0, width: kp.Constexpr = 3):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK * width)


@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y


class Pair(typing.NamedTuple):
    x: VECTOR
    y: kp.mut(VECTOR)


@dataclasses.dataclass
class Other:
    x: VECTOR
    y: kp.mut(VECTOR)


def schema(name, function):
    return str(kp.torch.op(f"kernpack_jit::{name}", function).default._schema)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (said, "(Tensor x, Tensor(a!) y, float by=2.) -> ()"),
        (annotated, "(Tensor x, Tensor(a!) y, float by=2.) -> ()"),
        (kp.compile(scaled, VECTOR), "(Tensor x, float by=2.) -> Tensor"),
    ],
)
def test_an_operator_has_the_types_that_a_function_says(function, expected):
    name = f"typed_{function.name}"
    assert schema(name, function) == f"kernpack_jit::{name}{expected}"
    # The same once more changes nothing.
    schema(name, function)


@pytest.mark.parametrize("kind", [Pair, Other])
def test_tuples_are_those_of_their_annotation(kind):
    @kp.jit
    def of_pair(p: kind):
        scale_elements(p.x, p.y, 2.0).launch(grid=1, block=BLOCK)

    name = f"of_{kind.__name__}"
    assert schema(name, of_pair) == f"kernpack_jit::{name}(Tensor p_x, Tensor(a!) p_y) -> ()"


def test_an_operator_needs_types():
    with pytest.raises(TypeError, match=r"`scaled` does not say what `x` is: annotate it, .*write"):
        kp.torch.op("kernpack_jit::untyped", scaled)

    @kp.jit
    def half(x: VECTOR, y: kp.mut, z):
        scale_elements(x, y, z).launch(grid=1, block=BLOCK)

    with pytest.raises(TypeError, match=r"what `y` and `z` are: .*`kp.compile\(half, …\)`"):
        kp.torch.op("kernpack_jit::untyped", half)


def test_another_constant_is_another_function():
    by = 2.0

    @kp.jit
    def f(x: VECTOR, y: kp.mut(VECTOR)):
        scale_elements(x, y, by).launch(grid=1, block=BLOCK)

    schema("captured", f)
    by = 3.0
    with pytest.raises(ValueError, match="is an operator already, made of another function"):
        schema("captured", f)


def test_compilers_see_operators():
    in_place = kp.torch.op("kernpack_jit::in_place", said)
    functional = kp.torch.op("kernpack_jit::functional", kp.compile(scaled, VECTOR))

    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.zeros_like(x)
            in_place(x, y, 3.0)
            return functional(y, by=0.5) + 1

    with FakeTensorMode():
        x = torch.empty(8, device="cuda")
        y = Model()(x)
        assert (y.shape, y.device.type) == ((8,), "cuda")
        program = torch.export.export(
            Model(), (x,), dynamic_shapes=({0: torch.export.Dim("n", min=2)},)
        )
        with pytest.raises(ValueError, match=r"Mismatched y.shape\[0\].* got 7"):
            in_place(x, x[:7])
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert "kernpack_jit.in_place.default" in called
    assert "kernpack_jit.functional.default" in called


def test_a_whole_graph_has_calls_of_operators():
    functional = kp.torch.op("kernpack_jit::whole", kp.compile(scaled, VECTOR))
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return lambda *args: [torch.empty_like(args[-1])]

    with FakeTensorMode():
        x = torch.empty(8, device="cuda")
        torch.compile(lambda x: functional(x) + 1, backend=backend, fullgraph=True)(x)
        # By itself a jit function is no part of a graph.
        with pytest.raises(torch._dynamo.exc.Unsupported, match="__call__"):
            torch.compile(lambda x: scaled(x) + 1, backend=backend, fullgraph=True)(x)
    (graph,) = graphs
    assert "kernpack_jit.whole" in graph.code


def test_a_tensor_of_the_host_is_refused_as_by_the_function():
    op = kp.torch.op("kernpack_jit::on_host", said)
    x = torch.ones(4)
    with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
        op(x, x)
    with pytest.raises(RuntimeError, match="has no backward, and `x` requires grad"):
        op(torch.ones(4, requires_grad=True), x)


INTERPRETED = """
import kernpack as kp
import torch

BLOCK = 64
VECTOR = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))

@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * x.element_type(by)

@kp.jit
def scale(x: VECTOR, y: kp.mut(VECTOR), by=2.0):
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

@kp.jit
def scaled(x, by=2.0):
    y = kp.empty(x.shape, x.element_type)
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)
    return y

in_place = kp.torch.op("shown::scale", scale)
functional = kp.torch.op(
    "shown::scaled",
    kp.compile(scaled, VECTOR),
    backward=lambda ctx, gradient: (functional(gradient.contiguous(), 3.0), None),
)
x, y = torch.arange(5.0), torch.zeros(5)
in_place(x, y, by=3.0)
assert y.tolist() == [0, 3, 6, 9, 12] and y._version > 0
for operator, args, more in ((in_place, (x, y), {"by": 0.5}), (functional, (x, 3.0), {})):
    verdicts = torch.library.opcheck(operator.default, args, more)
    assert set(verdicts.values()) == {"SUCCESS"}, verdicts
weight = torch.ones(5, requires_grad=True)
functional(weight, 3.0).sum().backward()
assert weight.grad.tolist() == [3] * 5

@torch.compile(backend="aot_eager", fullgraph=True, dynamic=True)
def whole(x):
    y = torch.zeros_like(x)
    in_place(x, y, 4.0)
    return functional(y, 0.5) + 1

assert whole(x).tolist() == [1, 3, 5, 7, 9]

@torch.compile(backend="aot_eager")
def parts(x):
    return scaled(x + 1) + 1

# By itself, a call of a jit function is made between two graphs.
assert parts(x).tolist() == [3, 5, 7, 9, 11]
print("passed")
"""


def test_operators_compute_what_their_functions_do(tmp_path):
    """On the interpreter, as there is no GPU."""
    (tmp_path / "shown.py").write_text(INTERPRETED)
    environment = {**os.environ, "KERNPACK_INTERPRET": "1"}
    command = [sys.executable, tmp_path / "shown.py"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.stdout == "passed\n", ran.stderr


def test_an_error_between_graphs_is_the_functions_own():
    @torch.compile(backend="eager")
    def model(x):
        return scaled(x) + 1

    with pytest.raises(ValueError, match="expected cuda, got cpu"):
        model(torch.ones(4))


CALLED_BEFORE = """
import contextlib
import sys
import numpy
import torch
import kernpack as kp

sizes = [1.0]

@kp.kernel
def put(x, by):
    x[0] = by

@kp.jit
def by_class(x):
    pass

# What is captured is looked at before each call, as it may change.
@kp.jit("by_signature(x: Tensor([n], float32, mut))")
def by_signature(x):
    put(x, sizes[0]).launch(grid=1, block=1)

function, first = {
    "class": (by_class, 1),
    "signature": (by_signature, numpy.ones(4, "float32")),
}[sys.argv[1]]
with contextlib.suppress(ValueError):
    function(first)
assert "torch._dynamo" not in sys.modules

@torch.compile(backend="eager")
def model(x):
    function(x + 1)

try:
    model(torch.ones(4))
except ValueError as error:
    print(str(error).partition("expected ")[2].partition(":")[0])
"""


@pytest.mark.parametrize("by", ["class", "signature"])
def test_a_function_that_was_called_before_pytorch_compiles_is_left_alone(by, tmp_path):
    (tmp_path / "shown.py").write_text(CALLED_BEFORE)
    command = [sys.executable, tmp_path / "shown.py", by]
    ran = subprocess.run(command, capture_output=True, text=True)
    # PyTorch warns of what it does not know how to trace.
    assert "expected" not in ran.stdout and "cuda, got cpu" in ran.stdout, ran.stderr
    assert "kernpack" not in ran.stderr and "trace" not in ran.stderr
