# SPDX-License-Identifier: Apache-2.0
"""Derivatives of operators that have a backward: those of `torch.func`, and forward ones."""

import pytest
import torch
from torch.autograd import forward_ad

import kernpack as kp
import kernpack.torch as kpt

func = torch.func

SQUARE = "void square(const float *x, float *y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i] * x[i]; }"
SCALE = """
void scale(const float *x, const float *w, float by, long n, float *y, float *z) {
    for (long i = 0; i < n; ++i) {
        y[i] = x[i] * w[i] * by;
        z[i] = x[i] + w[i];
    }
}
"""
X = torch.arange(4.0)


@pytest.fixture(scope="module")
def square():
    return kp.host(
        SQUARE,
        "square(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
        args=["x", "y", "n"],
    )


def _setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.save_for_forward(inputs[0])


def _backward(ctx, gradient):
    (x,) = ctx.saved_tensors
    assert len(ctx.needs_input_grad) == 1
    return 2 * x * gradient


def _jvp(ctx, tangent):
    (x,) = ctx.saved_tensors
    return 2 * x * tangent


@pytest.fixture(scope="module")
def backward_only(square):
    return kpt.op("kernpack_derivatives::square", square, backward=_backward, setup_context=_setup)


@pytest.fixture(scope="module")
def both_ways(square):
    return kpt.op(
        "kernpack_derivatives::square_both",
        square,
        backward=_backward,
        setup_context=_setup,
        jvp=_jvp,
    )


def total(f):
    return lambda x: f(x).sum()


# What each computes of x * x, elementwise.
REVERSE = {
    "grad": (lambda f: func.grad(total(f))(X), 2 * X),
    "vjp": (lambda f: func.vjp(f, X)[1](X)[0], 2 * X * X),
    "jacrev": (lambda f: func.jacrev(f)(X), torch.diag(2 * X)),
    "grad of grad": (
        lambda f: func.grad(total(func.grad(total(f))))(X),
        torch.full((4,), 2.0),
    ),
    "jacrev of jacrev": (lambda f: func.jacrev(func.jacrev(total(f)))(X), 2 * torch.eye(4)),
    "vmap of grad": (
        lambda f: func.vmap(func.grad(total(f)))(X.reshape(2, 2)),
        2 * X.reshape(2, 2),
    ),
    "grad of vmap": (
        lambda f: func.grad(total(func.vmap(f)))(X.reshape(2, 2)),
        2 * X.reshape(2, 2),
    ),
    "vmap of jacrev over columns": (
        lambda f: func.vmap(func.jacrev(f), in_dims=1)(X.reshape(2, 2)),
        torch.stack([torch.diag(2 * X[0::2]), torch.diag(2 * X[1::2])]),
    ),
    "vmap of vmap of grad": (
        lambda f: func.vmap(func.vmap(func.grad(total(f))))(X.reshape(2, 1, 2)),
        2 * X.reshape(2, 1, 2),
    ),
    "grad without recording": (lambda f: _without_grad(lambda: func.grad(total(f))(X)), 2 * X),
    "jacobian": (lambda f: torch.autograd.functional.jacobian(f, X), torch.diag(2 * X)),
    "batched gradients": (
        lambda f: torch.autograd.functional.jacobian(f, X, vectorize=True),
        torch.diag(2 * X),
    ),
    "grad of functionalize": (lambda f: func.grad(total(func.functionalize(f)))(X), 2 * X),
    "vmap of functionalize": (lambda f: func.vmap(func.functionalize(f))(X[None]), X[None] * X),
    "functionalize of vmap": (lambda f: func.functionalize(func.vmap(f))(X[None]), X[None] * X),
    "functionalize what writes": (
        lambda f: func.functionalize(lambda x: f(x.clone().add_(1)))(X),
        (X + 1) * (X + 1),
    ),
    "autograd around functionalize": (
        lambda f: torch.autograd.functional.vjp(func.functionalize(f), X, X)[1],
        2 * X * X,
    ),
    "of a constant": (lambda f: func.grad(lambda z: (f(X) * z).sum())(X), X * X),
}

FORWARD = {
    "jvp of functionalize": (
        lambda f: func.jvp(func.functionalize(f), (X,), (X,))[1],
        2 * X * X,
    ),
    "jvp": (lambda f: func.jvp(f, (X,), (X,))[1], 2 * X * X),
    "jacfwd": (lambda f: func.jacfwd(f)(X), torch.diag(2 * X)),
    "hessian": (lambda f: func.hessian(total(f))(X), 2 * torch.eye(4)),
    "jacrev of jacfwd": (lambda f: func.jacrev(func.jacfwd(total(f)))(X), 2 * torch.eye(4)),
    "vmap of jvp": (
        lambda f: func.vmap(lambda x: func.jvp(f, (x,), (x,))[1])(X.reshape(2, 2)),
        2 * (X * X).reshape(2, 2),
    ),
    "jvp of vmap": (
        lambda f: func.jvp(func.vmap(f), (X.reshape(2, 2),), (X.reshape(2, 2),))[1],
        2 * (X * X).reshape(2, 2),
    ),
    "a dual tensor": (lambda f: _tangent(f, X), 2 * X * X),
    "a dual tensor that requires grad": (
        lambda f: _tangent(f, X.clone().requires_grad_()),
        2 * X * X,
    ),
    "a dual tensor without recording": (
        lambda f: _without_grad(lambda: _tangent(f, X)),
        2 * X * X,
    ),
}


def _without_grad(call):
    with torch.no_grad():
        return call()


def _tangent(f, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, X))).tangent


@pytest.mark.parametrize("name", REVERSE)
def test_transforms_that_differentiate_backward(backward_only, both_ways, name):
    call, expected = REVERSE[name]
    assert torch.equal(call(torch.square), expected)
    assert torch.equal(call(backward_only), expected)
    assert torch.equal(call(both_ways), expected)


@pytest.mark.parametrize("name", FORWARD)
def test_forward_derivatives_are_those_of_jvp(both_ways, name):
    call, expected = FORWARD[name]
    assert torch.equal(call(torch.square), expected)
    assert torch.equal(call(both_ways), expected)


@pytest.mark.parametrize("name", FORWARD)
def test_forward_derivatives_are_refused_without_jvp(backward_only, name):
    with pytest.raises(
        RuntimeError,
        match="`kernpack_derivatives::square` has no forward derivative, and `x` has a tangent: .*"
        "make the operator with `jvp=`",
    ):
        FORWARD[name][0](backward_only)


def test_a_forward_derivative_of_a_forward_derivative_is_refused(both_ways):
    for call in (
        lambda: func.jacfwd(func.jacfwd(total(both_ways)))(X),
        lambda: func.jvp(lambda x: func.jvp(both_ways, (x,), (X,))[1], (X,), (X,)),
    ):
        with pytest.raises(RuntimeError, match="has no forward derivative itself"):
            call()


def test_what_has_no_tangent_is_called(backward_only):
    with forward_ad.dual_level():
        assert torch.equal(backward_only(X), X * X)
        weight = X.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(backward_only(weight).sum(), weight)
    assert torch.equal(gradient, 2 * X)
    _, tangent = func.jvp(lambda z: backward_only(X) * z, (X,), (X,))
    assert torch.equal(tangent, X * X * X)


def test_autograd_agrees_with_differences(both_ways):
    def wide(x):
        return both_ways(x.float()).double()

    x = X.double().requires_grad_()
    assert torch.autograd.gradcheck(
        wide, x, eps=1e-2, atol=1e-2, check_forward_ad=True, check_batched_grad=True
    )


def test_several_operands_and_results():
    function = kp.host(
        SCALE,
        "scale(x: Tensor([n], float32), w: Tensor([n], float32), by: float32 = 2.0)"
        " -> y: Tensor([n], float32), z: Tensor([n], float32)",
        args=["x", "w", "by", "n", "y", "z"],
    )

    def setup(ctx, inputs, output):
        x, w, ctx.by = inputs
        assert len(output) == 2
        ctx.save_for_backward(x, w)
        ctx.save_for_forward(x, w)

    def backward(ctx, of_y, of_z):
        (x, w), by = ctx.saved_tensors, ctx.by
        return of_y * w * by + of_z, of_y * x * by + of_z, None

    def jvp(ctx, of_x, of_w, of_by):
        assert of_by is None
        (x, w), by = ctx.saved_tensors, ctx.by
        return (of_x * w + x * of_w) * by, of_x + of_w

    op = kpt.op(
        "kernpack_derivatives::scale", function, backward=backward, setup_context=setup, jvp=jvp
    )
    w = X + 1

    def plain(x, w, by=2.0):
        return x * w * by, x + w

    def summed(f):
        return lambda x, w: sum(part.sum() * at for at, part in enumerate(f(x, w, 3.0), 1))

    for numbers in ((0,), (1,), (0, 1)):
        found, expected = (func.grad(summed(f), numbers)(X, w) for f in (op, plain))
        assert all(map(torch.equal, found, expected))
    found, expected = (func.jvp(f, (X, w), (w, X)) for f in (op, plain))
    assert all(torch.equal(a, b) for a, b in zip(found[0] + found[1], expected[0] + expected[1]))
    batch = torch.stack([X, w])
    found, expected = (func.vmap(func.grad(summed(f)), (0, None))(batch, w) for f in (op, plain))
    assert torch.equal(found, expected)
    weight = X.clone().requires_grad_()
    y, z = op(weight, w)  # by its default
    (y.sum() + z.sum()).backward()
    assert torch.equal(weight.grad, 2 * w + 1)


def test_the_functional_variant_is_differentiated():
    function = kp.host(
        SQUARE.replace("y[i] =", "y[i] +="),
        "square(x: Tensor([n], float32), y: Tensor([n], float32, mut))",
        args=["x", "y", "n"],
    )

    def backward(ctx, gradient):
        return 2 * ctx.x * gradient, gradient

    def setup(ctx, inputs, output):
        ctx.x = inputs[0]

    kpt.op(
        "kernpack_derivatives::add_square",
        function,
        functional=True,
        backward=backward,
        setup_context=setup,
    )
    op = torch.ops.kernpack_derivatives.add_square_functional
    of_x, of_y = func.grad(lambda x, y: op(x, y).sum(), (0, 1))(X, X)
    assert torch.equal(of_x, 2 * X) and torch.equal(of_y, torch.ones(4))
    assert torch.equal(func.vmap(op)(X[None], X[None]), (X * X + X)[None])


def test_rules_may_call_operators_that_have_no_derivatives(square):
    plain = kpt.op("kernpack_derivatives::plain", square)

    def backward(ctx, gradient):
        return plain(gradient.contiguous()) * 2 * ctx.x

    def jvp(ctx, tangent):
        return plain(tangent) * 2 * ctx.x

    def setup(ctx, inputs, output):
        ctx.x = inputs[0].detach()

    op = kpt.op(
        "kernpack_derivatives::by_rules", square, backward=backward, setup_context=setup, jvp=jvp
    )
    ones = torch.ones(4)
    assert torch.equal(func.grad(total(op))(X), 2 * X)
    assert torch.equal(func.vmap(func.grad(total(op)))(X.reshape(2, 2)), 2 * X.reshape(2, 2))
    assert torch.equal(func.jvp(op, (X,), (ones,))[1], 2 * X)
    # Whoever differentiates the rule itself is told.
    for call in (
        lambda: func.jvp(lambda t: func.jvp(op, (X,), (t,))[1], (ones,), (ones,)),
        lambda: func.grad(lambda t: func.jvp(op, (X,), (t,))[1].sum())(ones),
        lambda: func.grad(lambda g: func.vjp(op, X)[1](g)[0].sum())(ones),
        lambda: func.jvp(lambda x: func.grad(lambda z: (plain(x) + z).sum())(x), (X,), (ones,)),
        lambda: func.jvp(lambda x: func.jvp(lambda z: plain(x) + z, (x,), (x,))[0], (X,), (X,)),
        lambda: func.jvp(func.vmap(plain), (X[None],), (X[None],)),
    ):
        with pytest.raises(RuntimeError, match="has no (backward|forward derivative)"):
            call()


@pytest.mark.parametrize("name", ["grad", "vmap of grad", "jacrev"])
def test_transforms_are_compiled(backward_only, name):
    call, expected = REVERSE[name]
    compiled = torch.compile(lambda: call(backward_only), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(), expected)


def test_forward_derivatives_are_compiled(both_ways):
    compiled = torch.compile(
        lambda x: func.jvp(both_ways, (x,), (x,))[1], backend="aot_eager", fullgraph=True
    )
    assert torch.equal(compiled(X), 2 * X * X)


def test_opcheck(both_ways):
    for x in (X, X.clone().requires_grad_()):
        torch.library.opcheck(both_ways.default, (x,))


def test_rules_come_with_a_backward(square):
    for word in ("setup_context", "jvp"):
        with pytest.raises(ValueError, match=f"has `{word}` without `backward`"):
            kpt.op("kernpack_derivatives::wrong", square, **{word: _jvp})
