# SPDX-License-Identifier: Apache-2.0
"""Functions as operators of PyTorch: what is registered, what a call does, what is refused, and
what compilers make of it.
"""

import subprocess
import warnings

import kernpack as kp
import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from kernpack import _native
from kernpack import torch as kpt
from torch.library import opcheck
from torch.testing._internal.two_tensor import TwoTensor

KERNELS = """
#include <stdint.h>
#include <string.h>

void scale(const float *x, float *y, int64_t n, float alpha) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * alpha;
}

void split(const float *x, float *low, float *high, int64_t n) {
    for (int64_t i = 0; i < n; ++i) { low[i] = x[i] - 1; high[i] = x[i] + 1; }
}

void accumulate(const float *x, float *total, float *y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) { total[0] += x[i]; y[i] = total[0]; }
}

void maybe_add(const float *x, const float *bias, float *y, float *count, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] + (bias ? bias[i] : 0);
    if (count) count[0] += 1;
}

void conjugate(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) { y[2 * i] = x[2 * i]; y[2 * i + 1] = -x[2 * i + 1]; }
}

#define COPY(BITS)                                                                                                     \\
    void copy##BITS(const void *x, void *y, int64_t n) { memcpy(y, x, n * BITS / 8); }
COPY(8) COPY(16) COPY(32) COPY(64) COPY(128)

void pooled(const float *x, float *y, int64_t n, int64_t window, int64_t s0) {
    for (int64_t i = 0; i < n; ++i) y[i / window] += x[i] + s0;
}

void mixed(const float *x, const float *w, float *y, int64_t n, int64_t k, float f, _Bool flag) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * w[0] + k + f + flag;
}

void iota(int64_t *y, int64_t n, int64_t start) { for (int64_t i = 0; i < n; ++i) y[i] = start + i; }

void ones32(float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 1; }
void ones64(double *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 1; }

void gather(const int64_t *index, const int64_t *x, int64_t *y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[index[i]];
}
"""

BY_BITS = {
    8: [
        "bool",
        "int8",
        "uint8",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
    ]
    + ["float8_e8m0fnu", "float4_e2m1fnx2"],
    16: ["int16", "uint16", "float16", "bfloat16"],
    32: ["int32", "uint32", "float32"],
    64: ["int64", "uint64", "float64", "complex64"],
    128: ["complex128"],
}
COPIES = "".join(
    f"""
[[function]]
signature = "copy{bits}(x: Tensor([*b], T), y: Tensor([*b], T, mut)) where T in {{{", ".join(dtypes)}}}"
source = {{ host = "kernels.c" }}
kernel = "copy{bits}"
args = ["x", "y", "b.numel"]
"""
    for bits, dtypes in BY_BITS.items()
)


def function(signature, kernel, args):
    return f"""
[[function]]
signature = '''{signature}'''
source = {{ host = "kernels.c" }}
kernel = "{kernel}"
args = {args}
"""


VECTOR = "Tensor([n], float32)"
PACKAGE = (
    '[package]\nname = "operators"\n'
    + function(
        "scale(x: Tensor([n], float32), y: Tensor([n], float32, mut), alpha: float32 = 2.0)",
        "scale",
        '["x", "y", "n", "alpha"]',
    )
    + function(
        "scaled(x: Tensor([n], float32), alpha: float32 = 2.0) -> y: Tensor([n], float32)",
        "scale",
        '["x", "y", "n", "alpha"]',
    )
    + function(
        "split(x: Tensor([*b], float32)) -> low: Tensor([*b], float32), high: Tensor([*b], float32)",
        "split",
        '["x", "low", "high", "b.numel"]',
    )
    + function(
        "accumulate(x: Tensor([n], float32), total: Tensor([], float32, mut)) -> y: Tensor([n], float32)",
        "accumulate",
        '["x", "total", "y", "n"]',
    )
    + function(
        "maybe_add(x: Tensor([n], float32), bias: Optional[Tensor([n], float32)], y: Tensor([n], float32, mut),"
        " count: Optional[Tensor([], float32, mut)] = None)",
        "maybe_add",
        '["x", "bias", "y", "count", "n"]',
    )
    + function(
        "conjugate(x: Tensor([n], complex64), y: Tensor([n], complex64, mut))",
        "conjugate",
        '["x", "y", "n"]',
    )
    + function(
        "pooled(x: Tensor([n], float32), window: int32, s: Shape([a, _]), y: Tensor([ceildiv(n, window)], float32, mut))"
        " where window > 0, a == 1",
        "pooled",
        '["x", "y", "n", "window: int64", "s[1]"]',
    )
    + function(
        "mixed(x: Tensor([n], float32), p: Tuple(w: Tensor([k], float32), Tuple(int64, f: float32)), mode: 3,"
        ' flag: bool = True, word: String = "relu") -> y: Tensor([n], float32) where word in {"relu", "a \\"long\\" word"}',
        "mixed",
        '["x", "p.w", "y", "n", "p[1][0]", "p[1].f", "flag"]',
    )
    + function(
        "iota(n: int64, start: int64 = 0) -> y: Tensor([n], int64)", "iota", '["y", "n", "start"]'
    )
    + """
[[function]]
signature = "ones_like(x: Tensor([n], float32), out: DataType = float64) -> y: Tensor([min(n, 3), 1], out) where out in {float32, float64}"
[[function.launch]]
when = "out == float32"
source = { host = "kernels.c" }
kernel = "ones32"
args = ["y", "y.numel"]
[[function.launch]]
when = "otherwise"
source = { host = "kernels.c" }
kernel = "ones64"
args = ["y", "y.numel"]
"""
    + function(
        "gather(index: Tensor([n], int64), x: Tensor([m], int64)) -> y: Tensor([n], int64)",
        "gather",
        '["index", "x", "y", "n"]',
    )
    + function(
        "ramp(n: int64, bias: Optional[Tensor([n], int64)] = None) -> y: Tensor([n], int64)",
        "iota",
        '["y", "n", "n"]',
    )
    + function(
        "alias(x: Tensor([n], float32), y: Tensor([n], float32, mut), stream: Stream)",
        "scale",
        '["x", "y", "n", "1: float32"]',
    )
    + COPIES
)

NAMESPACE = "kernpack_operators"


@pytest.fixture(scope="module")
def load(kernpack, tmp_path_factory):
    """A function of the package, by its name."""
    folder = tmp_path_factory.mktemp("operators")
    (folder / "package.toml").write_text(PACKAGE)
    (folder / "kernels.c").write_text(KERNELS)
    subprocess.run([kernpack, "build", "package.toml", "-o", "package.so"], cwd=folder, check=True)
    return lambda name: kp.load_module(folder / "package.so")[name]


@pytest.fixture(scope="module")
def ops(load):
    """The operators of the package."""

    def backward(ctx, gradient):
        return gradient * ctx.alpha, None

    def setup_context(ctx, inputs, output):
        ctx.alpha = inputs[1]

    for name in ("scale", "conjugate"):
        kpt.op(f"{NAMESPACE}::{name}", load(name), functional=True)
    names = [
        "scaled",
        "split",
        "accumulate",
        "maybe_add",
        "pooled",
        "mixed",
        "iota",
        "ramp",
        "ones_like",
        "gather",
    ]
    for name in [*names, *(f"copy{bits}" for bits in BY_BITS)]:
        kpt.op(f"{NAMESPACE}::{name}", load(name))
    kpt.op(f"{NAMESPACE}::smooth", load("scaled"), backward=backward, setup_context=setup_context)
    return getattr(torch.ops, NAMESPACE)


def schema(overload):
    return str(overload._schema).removeprefix(f"{NAMESPACE}::")


# What is registered


def test_the_schema_is_the_signatures(ops):
    assert schema(ops.scale.default) == "scale(Tensor x, Tensor(a!) y, float alpha=2.) -> ()"
    assert (
        schema(ops.scale_functional.default)
        == "scale_functional(Tensor x, Tensor y, float alpha=2.) -> Tensor"
    )
    assert schema(ops.scaled.default) == "scaled(Tensor x, float alpha=2.) -> Tensor"
    assert schema(ops.scaled_out.default) == "scaled_out(Tensor x, float alpha, Tensor(a!) y) -> ()"
    assert schema(ops.split.default) == "split(Tensor x) -> (Tensor, Tensor)"
    assert (
        schema(ops.split_out.default)
        == "split_out(Tensor x, Tensor(a!) low, Tensor(b!) high) -> ()"
    )
    assert schema(ops.accumulate.default) == "accumulate(Tensor x, Tensor(a!) total) -> Tensor"
    assert (
        schema(ops.maybe_add.default)
        == "maybe_add(Tensor x, Tensor? bias, Tensor(a!) y, Tensor(b!)? count=None) -> ()"
    )
    assert (
        schema(ops.pooled.default)
        == "pooled(Tensor x, SymInt window, SymInt[] s, Tensor(a!) y) -> ()"
    )
    assert (
        schema(ops.mixed.default)
        == 'mixed(Tensor x, Tensor p_w, SymInt p_1_0, float p_1_f, bool flag=True, str word="relu") -> Tensor'
    )
    assert schema(ops.iota.default) == "iota(SymInt n, SymInt start=0) -> Tensor"
    assert schema(ops.ones_like.default) == "ones_like(Tensor x, ScalarType? out=None) -> Tensor"


def test_an_operator_is_returned_and_made_once(ops, load):
    again = kpt.op(f"{NAMESPACE}::scaled", load("scaled"))
    assert again is ops.scaled
    assert again.default is ops.scaled.default
    for name, options in (
        ("split", {}),
        ("scaled", {"backward": lambda ctx, gradient: (gradient, None)}),
    ):
        with pytest.raises(
            ValueError,
            match="is an operator already, made of another function or with other options",
        ):
            kpt.op(f"{NAMESPACE}::scaled", load(name), **options)
    with pytest.raises(ValueError, match="`aten::mul` is an operator already; choose another name"):
        kpt.op("aten::mul", load("scaled"))


def test_nothing_is_left_of_an_operator_that_could_not_be_made(load):
    with torch.library._scoped_library("kernpack_half", "FRAGMENT") as library:
        library.define("scaled(Tensor x) -> Tensor")
        with pytest.raises(ValueError, match="`kernpack_half::scaled` is an operator already"):
            kpt.op("kernpack_half::scaled", load("scaled"))
        assert not hasattr(torch.ops.kernpack_half, "scaled_out")


def test_an_operator_that_failed_halfway_may_be_made_again(load, monkeypatch):
    held = []

    def differentiate(library, operator, rules):
        held.append(library)
        raise RuntimeError("no autograd today")

    monkeypatch.setattr(kpt, "_differentiate", differentiate)
    with pytest.raises(RuntimeError, match="no autograd today"):
        kpt.op("kernpack_half::again", load("scaled"), backward=print)
    assert held and not hasattr(torch.ops.kernpack_half, "again")
    monkeypatch.undo()
    assert torch.equal(
        kpt.op("kernpack_half::again", load("scaled"))(torch.ones(2)), torch.full((2,), 2.0)
    )


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        (
            "alias",
            {},
            TypeError,
            "`stream` is a stream; leave it out: an operator launches on PyTorch's current stream",
        ),
        (
            "scaled",
            {"functional": True},
            ValueError,
            "is functional as it is; leave `functional=True` out",
        ),
        (
            "scale",
            {"backward": print},
            ValueError,
            "add `functional=True`, and `backward` is that of the functional",
        ),
        ("scaled", {"setup_context": print}, ValueError, "has `setup_context` without `backward`"),
        ("maybe_add", {"functional": True}, ValueError, "`count` is optional"),
    ],
)
def test_what_cannot_be_an_operator_is_told(load, name, options, error, message):
    with pytest.raises(error, match=message):
        kpt.op("kernpack_refused::it", load(name), **options)
    assert not hasattr(torch.ops.kernpack_refused, "it")


@pytest.mark.parametrize("name", ["scaled", "a::b::c", "a::b.c", "a::", "1::b"])
def test_a_name_is_a_namespace_and_a_name(load, name):
    with pytest.raises(
        ValueError, match=f"`{name}` is no name of an operator, expected one such as"
    ):
        kpt.op(name, load("scaled"))


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("f(p: Tuple(x: int32), p_x: int32)", "two of its arguments would be `p_x`"),
        ("f(is: int32)", r"PyTorch takes no operator `kernpack_refused::it\(SymInt is\) -> \(\)`"),
        (
            "f(x: Tensor([n], int8)) -> y: Tensor([n], float6_e2m3fn)",
            "`y` is float6_e2m3fn, which PyTorch .* does not have",
        ),
        ("f(p: Pointer(int8))", "`p` is a pointer; pass a tensor in its place"),
        ("f(p: Optional[Stream])", "`p` is an optional stream; leave it out"),
        (
            "f(p: Optional[Tuple(int8)])",
            "`p` is an optional tuple; give each of its elements a parameter of its own",
        ),
        (
            "f(p: Tuple(a: Optional[3]))",
            "`p_a` is an optional literal; remove the parameter, or the Optional around it",
        ),
    ],
)
def test_signatures_that_an_operator_cannot_have(signature, message):
    with pytest.raises(TypeError, match=message):
        kpt.op("kernpack_refused::it", Other(signature))


class Other:
    """What is known of a function that nobody calls, or of one with another device."""

    def __init__(self, signature, function=None, out=None):
        self.name, self.signature, self.description = "f", signature, _native.describe(signature)
        self.package, self.device_type, self.function, self.out = self, "cuda", function, out
        self.digest = "0"

    def __call__(self, *arguments):
        return self.function(*arguments)


def test_functions_of_several_devices_are_one_operator(load):
    cpu = load("scaled")
    cuda = Other(cpu.signature, cpu, Other(cpu.out.signature, cpu.out))
    with pytest.raises(
        ValueError, match="needs a function for each type of device, found `cpu` and `cpu`"
    ):
        kpt.op("kernpack_devices::scaled", [cpu, cpu])
    with pytest.raises(
        ValueError, match="the functions of `kernpack_devices::scaled` take different arguments"
    ):
        kpt.op("kernpack_devices::scaled", [load("split"), cuda])
    operator = kpt.op("kernpack_devices::scaled", [cuda, cpu])
    assert torch.equal(operator(torch.ones(2)), torch.full((2,), 2.0))
    for key in ("CPU", "CUDA", "Meta"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key("kernpack_devices::scaled", key)


# What a call does


def test_values_defaults_and_keywords(ops):
    x, y = torch.arange(4.0), torch.zeros(4)
    assert ops.scale(x, y) is None
    assert torch.equal(y, x * 2)
    ops.scale(x=x, y=y, alpha=3.0)
    assert torch.equal(y, x * 3)
    assert torch.equal(ops.scaled(x), x * 2)
    assert torch.equal(ops.scaled(x, alpha=-1.0), -x)
    ops.scaled_out(x, 5.0, y)
    assert torch.equal(y, x * 5)
    assert torch.equal(ops.scale_functional(x, y, 7.0), x * 7)
    assert torch.equal(y, x * 5)


def test_several_results(ops):
    x = torch.ones(2, 3)
    low, high = ops.split(x)
    assert torch.equal(low, x - 1) and torch.equal(high, x + 1)
    total = torch.zeros(())
    assert torch.equal(ops.accumulate(torch.ones(3), total), torch.tensor([1.0, 2.0, 3.0]))
    assert total.item() == 3


def test_optional_arguments(ops):
    x, y, count = torch.ones(3), torch.zeros(3), torch.zeros(())
    ops.maybe_add(x, None, y)
    assert torch.equal(y, x)
    ops.maybe_add(x, x, y, count)
    assert torch.equal(y, 2 * x)
    assert count.item() == 1 and count._version == 1


def test_tuples_are_flat_and_literals_are_no_arguments(ops):
    x, w = torch.ones(3), torch.full((5,), 2.0)
    assert torch.equal(ops.mixed(x, w, 10, 0.5), torch.full((3,), 13.5))
    assert torch.equal(
        ops.mixed(x, w, p_1_0=10, p_1_f=0.5, flag=False, word='a "long" word'),
        torch.full((3,), 12.5),
    )
    with pytest.raises(ValueError, match='expected word in .*, got "gelu"$'):
        ops.mixed(x, w, 10, 0.5, word="gelu")


def test_shapes_and_dtypes(ops):
    y = torch.zeros(2)
    ops.pooled(torch.ones(5), 3, [1, 4], y)
    assert torch.equal(y, torch.tensor([15.0, 10.0]))
    assert torch.equal(ops.ones_like(torch.zeros(2)), torch.ones(2, 1, dtype=torch.float64))
    assert torch.equal(ops.ones_like(torch.zeros(5), torch.float32), torch.ones(3, 1))
    assert torch.equal(
        ops.ones_like(torch.zeros(5), out=torch.float64), torch.ones(3, 1, dtype=torch.float64)
    )
    with pytest.raises(TypeError, match="float16"):
        ops.ones_like(torch.zeros(5), torch.float16)


def test_without_tensors(ops):
    assert torch.equal(ops.iota(4), torch.arange(4))
    assert torch.equal(ops.iota(3, start=7), torch.arange(7, 10))
    with torch.device("meta"):
        assert ops.iota(3).device.type == "cpu"
    for bias in (None, torch.zeros(2, dtype=torch.int64)):
        assert torch.equal(ops.ramp(2, bias), torch.tensor([2, 3]))
    with pytest.raises(ValueError, match="expected to match n"):
        ops.ramp(2, torch.zeros(3, dtype=torch.int64))


@pytest.mark.parametrize("name", [name for names in BY_BITS.values() for name in names])
def test_every_dtype_of_the_table(ops, name):
    dtype = kpt.DTYPES[name]
    bits = next(bits for bits, names in BY_BITS.items() if name in names)
    raw = torch.arange(16 * bits // 8, dtype=torch.uint8) % 2
    x = raw.view(dtype) if dtype != torch.bool else raw.bool()
    y = (
        torch.zeros_like(raw).view(dtype)
        if dtype != torch.bool
        else torch.zeros(16, dtype=torch.bool)
    )
    operator = getattr(ops, f"copy{bits}")
    operator(x, y)
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))
    assert y._version == 1
    operator(x.to("meta"), y.to("meta"))


def test_every_dtype_of_the_language_is_in_pytorch_or_known_not_to_be():
    missing = {
        "int4",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float4_e2m1fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
    }
    from kernpack import _dtype

    assert set(_dtype.NAMES) - set(kpt.DTYPES) == missing
    assert {name for names in BY_BITS.values() for name in names} == set(kpt.DTYPES)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: torch.ones(8)[::2], r"ValueError: Mismatched x\.strides\[0\]"),
        (lambda: torch.ones(1).expand(4), r"ValueError: Mismatched x\.strides\[0\]"),
        (
            lambda: torch.ones(2, 2),
            "ValueError: Mismatched Tensor on argument #0 .* expected ndim=1, got 2",
        ),
        (
            lambda: torch.ones(4, dtype=torch.float64),
            "TypeError: Mismatched Tensor .* expected dtype=float32, got float64",
        ),
        (
            lambda: torch.zeros(17, dtype=torch.uint8)[1:].view(torch.uint8)[:16],
            "TypeError: .* got uint8",
        ),
    ],
)
def test_errors_keep_their_kind(ops, make, message):
    kind, message = message.split(": ", 1)
    with pytest.raises({"ValueError": ValueError, "TypeError": TypeError}[kind], match=message):
        ops.scaled(make())


def test_tensors_that_are_nothing_special(ops):
    x = torch.arange(8.0)
    assert torch.equal(ops.scaled(x[2:5]), x[2:5] * 2)
    assert ops.scaled(x[:0]).shape == (0,)
    assert torch.equal(ops.split(torch.tensor(3.0))[1], torch.tensor(4.0))
    assert torch.equal(ops.scaled(torch.ones(1).expand(1)), torch.full((1,), 2.0))


def test_the_version_tells_autograd_of_a_write(ops):
    weight = torch.ones(3, requires_grad=True)
    y = torch.ones(3)
    loss = (weight * y).sum()
    ops.scale(torch.ones(3), y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_only_what_is_written_gets_another_version(ops):
    x, y = torch.ones(3), torch.zeros(3)
    ops.scale(x, y)
    assert (x._version, y._version) == (0, 1)
    ops.scaled_out(x, 2.0, y)
    assert (x._version, y._version) == (0, 2)
    ops.scale_functional(x, y)
    ops.scaled(x)
    assert (x._version, y._version) == (0, 2)


def test_inference_tensors(ops):
    with torch.inference_mode():
        y = torch.zeros(3)
        ops.scale(torch.ones(3), y)
        assert torch.equal(y, torch.full((3,), 2.0))


# Gradients


@pytest.mark.parametrize(
    "call", ["scaled", "scale", "scale_functional", "written", "scaled_out", "maybe_add"]
)
def test_a_gradient_that_nobody_can_give_is_refused(ops, call):
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3)
    calls = {
        "scaled": lambda: ops.scaled(x),
        "scale": lambda: ops.scale(x, y),
        "scale_functional": lambda: ops.scale_functional(y, x),
        "written": lambda: ops.scale(y, x.clone()),
        "scaled_out": lambda: ops.scaled_out(x, 2.0, y),
        "maybe_add": lambda: ops.maybe_add(y, x, torch.zeros(3)),
    }
    with pytest.raises(
        RuntimeError,
        match="has no backward, and `(x|y|bias)` requires grad: call it under `torch.no_grad",
    ):
        calls[call]()
    with torch.no_grad():
        calls[call]()


def test_integers_have_no_gradients(ops):
    index, x = torch.tensor([1, 0]), torch.tensor([5, 6])
    assert torch.equal(ops.gather(index, x), torch.tensor([6, 5]))
    assert torch.equal(
        torch.func.vmap(lambda i: ops.gather(i, x))(index[None]), torch.tensor([[6, 5]])
    )


def test_where_nothing_has_to_be_seen_to_the_function_itself_is_called(load):
    for name, options in (
        ("gather", {}),
        ("scaled", {"backward": print}),
        ("scaled", {}),
        ("scale", {}),
    ):
        function = load(name)
        asked = kpt._Asked((function,), kpt.Rules(**options), False)
        operator = kpt._operators("a::b", asked)[-1]
        is_bare = name == "gather" or bool(options)
        assert (kpt._kernel(operator, function) is function) == is_bare


@pytest.mark.parametrize(
    ("dtype", "rule", "is_checked"),
    [
        ("int8", "", False),
        ("bool", "", False),
        ("T", " where T in {int32, int64, uint8}", False),
        ("T", " where T in {int32, bfloat16}", True),
        ("float8_e4m3fn", "", True),
        ("complex64", "", True),
    ],
)
def test_dtypes_that_have_gradients(dtype, rule, is_checked):
    function = Other(f"f(n: int32, x: Tensor([n], {dtype})){rule}")
    [operator] = kpt._operators("a::b", kpt._Asked((function,), kpt.Rules(), False))
    assert operator.checked == ([1] if is_checked else [])


def test_a_backward_of_ones_own(ops):
    x = torch.arange(3.0, requires_grad=True)
    y = ops.smooth(x, 3.0)
    assert torch.equal(y, x * 3)
    y.sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 3.0))
    compiled = torch.compile(
        lambda x: ops.smooth(x, 3.0).sum(), fullgraph=True, backend="aot_eager"
    )
    (gradient,) = torch.autograd.grad(compiled(x), x)
    assert torch.equal(gradient, torch.full((3,), 3.0))
    opcheck(ops.smooth.default, (x, 3.0))


def test_a_backward_of_the_functional_variant(load):
    def backward(ctx, gradient):
        return gradient * 2, None, None

    kpt.op("kernpack_backward::scale", load("scale"), functional=True, backward=backward)
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3)
    torch.ops.kernpack_backward.scale_functional(x, y).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match="`kernpack_backward::scale` has no backward"):
        torch.ops.kernpack_backward.scale(x, y)


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: torch.func.grad(lambda x: f(x).sum())(x),
        lambda f, x: torch.func.jacrev(f)(x),
        lambda f, x: torch.func.jvp(f, (x,), (x,)),
        lambda f, x: torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(x[None]),
        lambda f, x: torch.func.grad(lambda x: torch.func.vmap(f)(x[None]).sum())(x),
    ],
)
def test_transforms_that_differentiate_are_refused(ops, call):
    with pytest.raises(
        RuntimeError, match="`kernpack_operators::scaled` has no backward, and `x` requires grad"
    ):
        call(ops.scaled, torch.ones(3))


def test_what_transforms_do_not_differentiate_is_called(ops):
    x = torch.ones(3)
    gradient = torch.func.grad(lambda z: (ops.scaled(x) * z).sum())(x)
    assert torch.equal(gradient, torch.full((3,), 2.0))


def test_forward_derivatives_are_refused(ops):
    x = torch.ones(3)
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="has no backward, and `x` requires grad"):
            ops.scaled(forward_ad.make_dual(x, x))
        assert torch.equal(ops.scaled(x), x * 2)


# Views, subclasses, transforms


def test_negated_and_conjugated_views(ops):
    x = torch.full((3,), 1 + 2j, dtype=torch.complex64)
    negative = x.conj().imag
    assert negative.is_neg()
    assert torch.equal(ops.split(negative.contiguous())[1], torch.full((3,), -1.0))
    viewed = torch._neg_view(torch.ones(3))
    assert torch.equal(ops.scaled(viewed), torch.full((3,), -2.0))
    y = torch.zeros(3, dtype=torch.complex64)
    ops.conjugate(x.conj(), y)
    assert torch.equal(y, x)
    assert torch.equal(ops.conjugate_functional(x.conj(), y), x)


def test_what_is_written_through_a_view_arrives(ops):
    x, base = torch.ones(3), torch.zeros(3)
    ops.scale(x, torch._neg_view(base))
    assert torch.equal(base, torch.full((3,), -2.0))
    assert base._version == 1
    z, base = torch.full((3,), 1 + 2j, dtype=torch.complex64), torch.zeros(3, dtype=torch.complex64)
    ops.conjugate(z, base.conj())
    assert torch.equal(base, z)


def test_meta_and_fake_tensors(ops):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        low, high = ops.split(torch.ones(2, 3))
        assert low.shape == high.shape == (2, 3) and low.device.type == "cpu"
    x = torch.ones(5, device="meta")
    assert ops.ones_like(x, torch.float32).shape == (3, 1)
    assert ops.ones_like(x).dtype == torch.float64
    assert ops.mixed(x, x, 1, 2.0).device.type == "meta"
    assert ops.scale(x, x) is None
    assert ops.scale_functional(x, x).shape == (5,)
    with pytest.raises(ValueError, match="expected ndim=1, got 2"):
        ops.scaled(torch.ones(2, 2, device="meta"))


def test_subclasses(ops):
    class Tagged(torch.Tensor):
        pass

    x = torch.ones(3)
    assert type(ops.scaled(x.as_subclass(Tagged))) is Tagged
    assert torch.equal(ops.scaled(torch.nn.Parameter(x, requires_grad=False)), x * 2)
    both = ops.scaled(TwoTensor(x, 3 * x))
    assert torch.equal(both.a, 2 * x) and torch.equal(both.b, 6 * x)


def test_vmap_calls_once_for_each_element(ops):
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(torch.func.vmap(ops.scaled)(x), x * 2)
    assert torch.equal(torch.func.vmap(ops.scaled, in_dims=1, out_dims=1)(x), x * 2)
    low, high = torch.func.vmap(ops.split)(x)
    assert torch.equal(low, x - 1) and torch.equal(high, x + 1)
    assert torch.equal(torch.func.vmap(torch.func.vmap(ops.scaled))(x[None]), x[None] * 2)
    y = torch.zeros(2, 3)
    torch.func.vmap(lambda x, y: (ops.scale(x, y), y)[1])(x, y)
    assert torch.equal(y, x * 2)
    with pytest.raises(RuntimeError, match="would write `y`, which is no batch"):
        torch.func.vmap(lambda x: (ops.scale(x, y[0]), x)[1])(x)
    with pytest.raises(RuntimeError, match="under vmap needs a batch with elements, found none"):
        torch.func.vmap(ops.scaled)(x[:0])


# Compilers


OPCHECKS = {
    "scale": lambda: (torch.ones(3), torch.zeros(3)),
    "scale_functional": lambda: (torch.ones(3), torch.zeros(3), 3.0),
    "scaled": lambda: (torch.ones(3), 3.0),
    "scaled_out": lambda: (torch.ones(3), 3.0, torch.zeros(3)),
    "split": lambda: (torch.ones(2, 3),),
    "split_out": lambda: (torch.ones(2), torch.zeros(2), torch.zeros(2)),
    "accumulate": lambda: (torch.ones(3), torch.zeros(())),
    "maybe_add": lambda: (torch.ones(3), None, torch.zeros(3), torch.zeros(())),
    "conjugate": lambda: (
        torch.ones(3, dtype=torch.complex64),
        torch.ones(3, dtype=torch.complex64),
    ),
    "pooled": lambda: (torch.ones(5), 2, [1, 0], torch.zeros(3)),
    "mixed": lambda: (torch.ones(3), torch.ones(2), 4, 0.5),
    "iota": lambda: (3,),
    "ones_like": lambda: (torch.ones(3), torch.float32),
    "gather": lambda: (torch.tensor([0, 1]), torch.tensor([3, 4])),
    "copy16": lambda: (torch.ones(3, dtype=torch.bfloat16), torch.zeros(3, dtype=torch.bfloat16)),
    "ramp": lambda: (3,),
    "smooth": lambda: (torch.ones(3, requires_grad=True), 3.0),
}


@pytest.mark.parametrize("name", OPCHECKS)
def test_opcheck(ops, name):
    outcome = opcheck(getattr(ops, name).default, OPCHECKS[name]())
    assert set(outcome.values()) == {"SUCCESS"}, outcome


def everything(x, y, bias):
    namespace = getattr(torch.ops, NAMESPACE)
    total = torch.zeros(())
    namespace.scale(x, y, 3.0)
    low, high = namespace.split(y)
    namespace.maybe_add(low, bias, y)
    z = namespace.mixed(namespace.scaled(high), low, x.shape[0], 0.5)
    return namespace.accumulate(z, total) + total, namespace.ones_like(y, torch.float32), y + 1


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_with_any_extents(ops, backend):
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(everything, fullgraph=True, dynamic=True, backend=counter)
    for n in (4, 7, 12):
        x, y, bias = torch.rand(n), torch.zeros(n), torch.ones(n)
        expected_y = y.clone()
        expected = everything(x, expected_y, bias)
        found = compiled(x, y, bias)
        for a, b in zip([*found, y], [*expected, expected_y], strict=True):
            torch.testing.assert_close(a, b)
    assert counter.frame_count == 1


def test_what_a_compiler_lays_out_stays_as_it_is(ops):
    tags = {torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides}
    assert tags <= set(ops.split.default.tags)


def test_a_gradient_is_refused_while_compiling(ops):
    compiled = torch.compile(lambda x: ops.scaled(x), fullgraph=True, backend="aot_eager")
    with pytest.raises(
        Exception, match="`kernpack_operators::scaled` has no backward, and `x` requires grad"
    ):
        compiled(torch.ones(3, requires_grad=True))


def test_export_with_a_dim(ops):
    class Model(torch.nn.Module):
        def forward(self, x):
            y = torch.zeros_like(x)
            ops.scale(x, y, 3.0)
            return ops.split(ops.scaled(y))[0]

    n = torch.export.Dim("n", min=2)
    program = torch.export.export(Model(), (torch.ones(4),), dynamic_shapes=({0: n},))
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert f"{NAMESPACE}.scaled.default" in targets
    for size in (4, 9):
        x = torch.rand(size)
        torch.testing.assert_close(program.module()(x), x * 6 - 1)


def test_calls_are_checked_while_they_are_traced(ops, load, monkeypatch):
    asked = []

    def check(signature, arguments, device):
        asked.append((signature.split("(")[0], arguments, device))
        return {"kind": "ValueError", "message": "Mismatched y.shape[0]"}

    monkeypatch.setattr(_native, "check", check)
    with pytest.raises(ValueError, match=r"^Mismatched y\.shape\[0\]$"):
        ops.mixed(
            torch.ones(3, device="meta"),
            torch.ones(2, dtype=torch.float64)[::2],
            1,
            float("inf"),
            word="x",
        )
    tensor = {"dtype": "float32", "shape": [3], "strides": [1], "device": None}
    other = {"dtype": "float64", "shape": [1], "strides": [2], "device": ["cpu", 0]}
    arguments = [{"tensor": tensor}, [{"tensor": other}, [1, {"float": "inf"}]], 3, True, "x"]
    assert asked == [("mixed", arguments, "cpu")]
    asked.clear()
    with pytest.raises(ValueError, match="Mismatched"):
        ops.ones_like(torch.ones(3, device="meta"))
    assert asked[0][1][1] == {"dtype": "float64"}


def test_a_call_is_refused_while_it_is_traced_as_it_is_when_it_is_made(ops):
    x, y = torch.ones(3), torch.zeros(4)
    with pytest.raises(ValueError, match="^Mismatched y") as made:
        ops.scale(x, y)
    with pytest.raises(ValueError, match="^Mismatched y") as traced:
        ops.scale(x.to("meta"), y.to("meta"))
    assert str(traced.value) == str(made.value)
    with pytest.raises(TypeError, match="expected dtype=float32, got float64"):
        ops.scaled(torch.ones(3, device="meta", dtype=torch.float64))
    with pytest.raises(Exception, match=r"expected to match x\.shape\[0\], got 4"):
        torch.compile(lambda x, y: ops.scale(x, y), fullgraph=True, backend="eager")(x, y)


def test_extents_that_are_not_known_are_not_checked(ops, monkeypatch):
    asked = []
    monkeypatch.setattr(_native, "check", lambda *call: asked.append(call))
    compiled = torch.compile(lambda x: ops.scaled(x), fullgraph=True, dynamic=True, backend="eager")
    compiled(torch.ones(6))
    assert not asked


def test_no_call_warns(ops):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(2, 3)
        ops.split(x)
        torch.func.vmap(ops.scaled)(x)
        ops.smooth(torch.ones(3, requires_grad=True), 2.0).sum().backward()
