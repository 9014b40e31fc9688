# SPDX-License-Identifier: Apache-2.0
"""What `kernpack.torch.op` is given, and operators that replace others."""

import gc
import re
import subprocess
import sys
import threading

import pytest
import torch
import tvm_ffi

import kernpack as kp
import kernpack.torch as kpt
from kernpack import _operator_registry

NAMESPACE = "kernpack_registry"
SIGNATURE = "times(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
X = torch.ones(3)


def make(factor, signature=SIGNATURE):
    body = f"for (long i = 0; i < n; ++i) y[i] = x[i] * {factor};"
    return kp.host(
        f"void times(const float *x, float *y, long n) {{ {body} }}",
        signature,
        args=["x", "y", "n"],
    )


@pytest.mark.parametrize(
    ("make_call", "error", "message"),
    [
        (lambda f: kpt.op(5, f), TypeError, "the name of an operator is a text such as .* got 5"),
        (lambda f: kpt.op(["a"], f), TypeError, r"is a text such as .* got \['a'\]"),
        (lambda f: kpt.op(b"a::b", f), TypeError, "is a text such as .* got b'a::b'"),
        (lambda f: kpt.op("a::class", f), ValueError, "`a::class` is no name of an operator"),
        (lambda f: kpt.op("a::ö", f), ValueError, "`a::ö` is no name of an operator"),
        (lambda f: kpt.op("a::b", 5), TypeError, "takes a function of a package, .* got 5"),
        (lambda f: kpt.op("a::b", None), TypeError, "takes a function of a package, .* got None"),
        (lambda f: kpt.op("a::b", "f"), TypeError, "takes a function of a package, .* got 'f'"),
        (lambda f: kpt.op("a::b", print), TypeError, "takes a function of a package, .* print"),
        (lambda f: kpt.op("a::b", [f, 5]), TypeError, "takes a function of a package, .* got 5"),
        (lambda f: kpt.op("a::b", f.package), TypeError, "got <kernpack.Module"),
        (lambda f: kpt.op("a::b", f.raw), TypeError, "use `kernpack.load_module`"),
        (
            lambda f: kpt.op("a::b", tvm_ffi.convert(print)),
            TypeError,
            "`tvm_ffi.load_module` knows no signature",
        ),
        (lambda f: kpt.op("a::b", torch.ops.aten.add), TypeError, "takes a function of a package"),
        (lambda f: kpt.op("a::b", []), ValueError, "needs a function for each type of device"),
        (
            lambda f: kpt.op("a::b", f, backward=5),
            TypeError,
            "`backward` of `a::b` is a function, got 5",
        ),
        (
            lambda f: kpt.op("a::b", f, backward=print, setup_context="x"),
            TypeError,
            "`setup_context` of `a::b` is a function, got 'x'",
        ),
        (
            lambda f: kpt.op("a::b", f, backward=print, jvp=X),
            TypeError,
            "`jvp` of `a::b` is a function",
        ),
    ],
)
def test_wrong_arguments_are_told(make_call, error, message):
    with pytest.raises(error, match=message):
        make_call(make(2))
    assert "a::b" not in kpt._OPERATORS


def test_the_same_again_changes_nothing_with_replace_too():
    name = f"{NAMESPACE}::same"
    op = kpt.op(name, make(2))
    assert kpt.op(name, make(2), replace=True) is op
    with pytest.raises(ValueError, match="or say `replace=True`"):
        kpt.op(name, make(3))


def _scaling(by, scale=None, *, plus=0):
    def backward(ctx, gradient, plus=plus):
        return gradient * (scale(by) if scale else by) + plus

    return backward


class Scaling:
    def __init__(self, by):
        self.by = by

    def backward(self, ctx, gradient):
        return gradient * self.by


MAKERS = [
    lambda by: _scaling(by),
    lambda by: _scaling(2, scale=_scaled(by)),
    lambda by: _scaling(2, plus=by - 2),
    lambda by: Scaling(by).backward,
]


def _scaled(by):
    return lambda value: value * by / 2


@pytest.mark.parametrize("number", range(len(MAKERS)))
def test_a_backward_of_the_same_code_is_another_one(number):
    name, make_backward = f"{NAMESPACE}::same_code_{number}", MAKERS[number]
    x = torch.ones(3, requires_grad=True)
    function = make(2)
    op = kpt.op(name, function, backward=make_backward(2))
    if number < 3:  # Methods of two objects differ.
        assert kpt.op(name, function, backward=make_backward(2)) is op
    with pytest.raises(ValueError, match="or say `replace=True`"):
        kpt.op(name, function, backward=make_backward(5))
    kpt.op(name, function, backward=make_backward(5), replace=True)
    (gradient,) = torch.autograd.grad(op(x).sum(), x)
    assert gradient.tolist() == [5] * 3


class Model(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def forward(self, x):
        return self.op(x) + 1


def test_what_has_a_replaced_operator_calls_the_new_one():
    name = f"{NAMESPACE}::times"
    op = kpt.op(name, make(2))
    default, out = op.default, getattr(torch.ops, NAMESPACE).times_out
    compiled = torch.compile(lambda x: op(x) + 1, backend="aot_eager", fullgraph=True)
    program = torch.export.export(Model(op), (X,)).module()
    for factor, signature in (
        (2, SIGNATURE),
        (3, SIGNATURE),
        # Another schema, and other shapes.
        (4, SIGNATURE.replace("float32))", "float32), k: int32 = 3)")),
        (5, SIGNATURE.replace("[n]", "[n + 0]", 1)),
    ):
        new = kpt.op(name, make(factor, signature), replace=True)
        gc.collect()
        # However often it is replaced, none of them leads to another one.
        assert new is op and new.default is default
        for call in (op, default, new, new.default, torch.ops.kernpack_registry.times):
            assert call(X).tolist() == [factor] * 3
        assert compiled(X).tolist() == program(X).tolist() == [factor + 1] * 3
        assert torch.vmap(op)(X[None]).tolist() == [[factor] * 3]
        torch.library.opcheck(new.default, (X,))
        y = torch.zeros(3)
        out(*(X, 3, y) if factor == 4 else (X, y))
        assert y.tolist() == [factor] * 3


# Three threads that call while the operator is replaced. What hangs or fails ends soon, and says
# where it was.
CALLERS = """
import faulthandler, sys, threading, time
import torch, kernpack as kp, kernpack.torch as kpt

faulthandler.dump_traceback_later(120, exit=True)

def make(factor):
    body = f"for (long r = 0; r < n * 100; ++r) y[r % n] = x[r % n] * {factor};"
    return kp.host(
        f"void times(const float *x, float *y, long n) {{ {body} }}",
        "times(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
        args=["x", "y", "n"],
    )

functions, x, seen, is_over = [make(2), make(3)], torch.ones(100), set(), []
op = kpt.op("callers::times", functions[0])

def call():
    seen.add(op(x)[0].item())
    seen.add(torch.vmap(op)(x.reshape(2, 50))[1, 1].item())

def call_again():
    while not is_over:
        try:
            call()
        except Exception as error:
            seen.add(repr(error))

call()  # What PyTorch makes at a first call is no matter of threads.
threads = [threading.Thread(target=call_again) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for number in range(1, 31):
        kpt.op("callers::times", functions[number % 2], replace=True)
        time.sleep(0.002)
finally:
    is_over.append(True)
for thread in threads:
    thread.join()
print(*sorted(seen))
"""


def test_threads_call_an_operator_while_it_is_replaced():
    ran = subprocess.run([sys.executable, "-c", CALLERS], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["2.0", "3.0"], ran.stdout


def test_a_call_that_does_not_end_stands_against_replacing(monkeypatch):
    name = f"{NAMESPACE}::endless"
    op = kpt.op(
        name, make(2), backward=lambda ctx, gradient: gradient, setup_context=lambda **_: wait()
    )
    began, goes_on = threading.Event(), threading.Event()

    def wait():
        began.set()
        goes_on.wait()

    thread = threading.Thread(target=lambda: op(torch.ones(3, requires_grad=True)))
    thread.start()
    began.wait()
    monkeypatch.setattr(_operator_registry, "_PATIENCE", 0.05)
    with pytest.raises(RuntimeError, match="a call of it .* on another thread has not ended"):
        kpt.op(name, make(3), replace=True)
    assert op(X).tolist() == [2] * 3
    goes_on.set()
    thread.join()
    assert kpt.op(name, make(3), replace=True)(X).tolist() == [3] * 3


def test_shapes_of_compiled_programs_follow():
    name = f"{NAMESPACE}::shaped"
    op = kpt.op(name, make(2))
    compiled = torch.compile(lambda x: op(x).shape[0] + op(x), backend="aot_eager")
    assert compiled(X).tolist() == [5] * 3
    kpt.op(name, make(2, SIGNATURE.replace("y: Tensor([n]", "y: Tensor([2 * n]")), replace=True)
    assert compiled(X)[:3].tolist() == [8] * 3


def test_variants_that_the_new_one_has_not_are_gone():
    name = f"{NAMESPACE}::variant"
    op = kpt.op(name, make(2))
    out, program = torch.ops.kernpack_registry.variant_out, torch.export.export(Model(op), (X,))
    writing = make(5, "times(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
    kpt.op(name, writing, replace=True)
    y = torch.zeros(3)
    op(X, y)
    assert y.tolist() == [5] * 3
    for call in (out, out.default):
        with pytest.raises(RuntimeError, match="`kernpack_registry::variant_out` is gone"):
            call(X, y)
    with pytest.raises(RuntimeError, match="missing value for argument 'y'"):
        program.module()(X)
    # And they come back.
    kpt.op(name, make(2), replace=True)
    assert torch.ops.kernpack_registry.variant_out(X, y) is None and y.tolist() == [2] * 3


def test_an_operator_that_cannot_be_replaced_stays(monkeypatch):
    name = f"{NAMESPACE}::stays"
    op = kpt.op(name, make(2))
    with pytest.raises(ValueError, match="has `jvp` without `backward`"):
        kpt.op(name, make(3), jvp=print, replace=True)
    assert op(X).tolist() == [2] * 3
    define, calls = kpt._define, []

    def failing(library, operator):
        calls.append(operator.name)
        if len(calls) == 2:
            raise RuntimeError("no more")
        define(library, operator)

    monkeypatch.setattr(kpt, "_define", failing)
    with pytest.raises(RuntimeError, match="no more"):
        kpt.op(name, make(3), replace=True)
    gc.collect()
    assert op(X).tolist() == [2] * 3
    assert kpt.op(name, make(2)) is torch.ops.kernpack_registry.stays


def test_others_operators_are_not_replaced():
    refusal = re.escape("`kernpack_registry::theirs` is an operator")
    # Left to the collector, it would leave a name behind that PyTorch's compiler falls over.
    with torch.library._scoped_library(NAMESPACE, "FRAGMENT") as library:
        library.define("theirs(Tensor x) -> Tensor")
        with pytest.raises(ValueError, match=refusal):
            kpt.op(f"{NAMESPACE}::theirs", make(2), replace=True)


def test_gradients_are_those_of_the_new_operator():
    name = f"{NAMESPACE}::differentiated"
    op = kpt.op(name, make(2), backward=lambda ctx, gradient: 2 * gradient)
    x = torch.ones(3, requires_grad=True)
    before = op(x).sum()
    kpt.op(
        name, make(3), backward=lambda ctx, gradient: gradient + gradient + gradient, replace=True
    )
    before.backward()
    assert x.grad.tolist() == [2] * 3
    assert torch.func.grad(lambda x: op(x).sum())(X).tolist() == [3] * 3
    kpt.op(name, make(4), replace=True)
    with pytest.raises(RuntimeError, match="has no backward"):
        op(x)
    assert op(X).tolist() == [4] * 3
