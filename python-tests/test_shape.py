# SPDX-License-Identifier: Apache-2.0
"""What arguments say of the names in a signature, and what follows from that."""

import pytest

from kernpack import _native
from kernpack import _dtype, _shape
from kernpack._shape import (
    UNKNOWN,
    Binding,
    Mismatch,
    Operations,
    Spec,
    Unsolved,
    byte_count,
    names_in,
    solve,
    spec_of,
    strides_of,
)


def described(dims, dtype="uint8"):
    """A tensor with these dims, as the library describes it."""
    workspace = f"ws: Tensor([{dims}], {dtype})"
    return _native.describe("f()", [workspace])["workspaces"][0]["type"]


def evaluate(text, binding):
    (tree,) = described(text)["extents"]
    return _shape.evaluate(tree, binding)


def solved(signature, *args, **named):
    return solve(_native.describe(signature), named or args)


def spec(*shape, dtype="float32"):
    return Spec(shape, dtype)


@pytest.mark.parametrize(
    ("dims", "shape", "symbols"),
    [
        ("m, n", (3, 4), {"m": 3, "n": 4}),
        ("n, n", (4, 4), {"n": 4}),
        ("2*n", (8,), {"n": 4}),
        ("n*3 - 1, 7", (8, 7), {"n": 3}),
        ("5*n - 2*n + 4", (10,), {"n": 2}),
        ("2*n, n", (8, 4), {"n": 4}),
        ("m, m*n, n", (3, 12, 4), {"m": 3, "n": 4}),
        ("m, ceildiv(m, 4)", (9, 3), {"m": 9}),
        ("_, m, *_", (2, 3, 4, 5), {"m": 3}),
        ("lambda, 2*is", (2, 6), {"lambda": 2, "is": 3}),
    ],
)
def test_symbols(dims, shape, symbols):
    assert solved(f"f(x: Tensor([{dims}], float32))", spec(*shape)).symbols == symbols


@pytest.mark.parametrize(
    ("dims", "shape", "star", "symbols"),
    [
        ("*b, d", (2, 3, 4), (2, 3), {"d": 4}),
        ("*b, d", (4,), (), {"d": 4}),
        ("m, *b", (2, 3, 4), (3, 4), {"m": 2}),
        ("m, *b, 2*d", (5, 1, 6), (1,), {"m": 5, "d": 3}),
    ],
)
def test_stars(dims, shape, star, symbols):
    binding = solved(f"f(x: Tensor([{dims}], float32))", spec(*shape))
    assert (binding.stars, binding.symbols) == ({"b": star}, symbols)


def test_what_is_yet_to_be_made_binds_nothing():
    signature = (
        "f(y: Tensor([n], T, mut), x: Tensor([n], T), k: int64) where T in {float32, float16}"
    )
    for binding in (solved(signature, UNKNOWN, spec(4), 3), solved(signature, x=spec(4), k=3)):
        assert (binding.symbols, binding.dtypes) == ({"n": 4, "k": 3}, {"T": "float32"})
        with pytest.raises(Unsolved, match="no argument says what `y` is"):
            evaluate("y.shape[0]", binding)


def test_elements_of_tuples_and_shapes():
    signature = "f(p: Tuple(a: Tensor([m], float32), s: Shape([_, r]), Tensor([2*q], float32)))"
    for p in (
        (spec(3), (7, 8), spec(4)),
        [spec(3), [7, 8], spec(4)],
        {"a": spec(3), "s": (7, 8), None: spec(4)},
    ):
        binding = solved(signature, p)
        assert binding.symbols == {"m": 3, "r": 8, "q": 2}
        assert evaluate("p.a.shape[0] + p.s[0]*100 + p[2].numel*1000", binding) == 3 + 700 + 4000


def test_dtypes():
    binding = solved(
        "f(x: Tensor([n], S), out: DataType) -> y: Tensor([n], out) where S in {int8}, out in {int8}",
        spec(1, dtype="int8"),
        "int8",
    )
    assert binding.dtypes == {"S": "int8", "out": "int8"}
    assert binding.dtype("S") == "int8" and binding.dtype("float16") == "float16"
    with pytest.raises(Unsolved):
        binding.dtype("U")


def test_strides():
    binding = solved(
        "f(x: Tensor([m, n], float32, strides=[s, 1]))", Spec((2, 3), "float32", (5, 1))
    )
    assert binding.symbols == {"m": 2, "n": 3, "s": 5} and evaluate("x.strides[0]", binding) == 5
    assert strides_of(spec(2, 3, 4)) == (12, 4, 1) and strides_of(spec()) == ()


def test_optionals():
    signature = "f(x: Optional[Tensor([n], float32)], y: Optional[Tensor([n], float32)], z: Optional[Tensor([k], float32)])"
    assert solved(signature, None, spec(4), None).symbols == {"n": 4, "k": 0}
    assert solved(signature, None, None, spec(2)).symbols == {"n": 0, "k": 2}
    assert solved(signature, None, UNKNOWN, UNKNOWN).symbols == {}
    binding = solved(signature, None, spec(4), None)
    assert (evaluate("x.given", binding), evaluate("y.given", binding)) == (0, 1)


@pytest.mark.parametrize(
    ("dims", "shape", "words"),
    [
        ("m, n", (3,), "ndim=2, got 1"),
        ("m, *b, n", (3,), "ndim>=2, got 1"),
        ("", (3,), "ndim=0, got 1"),
    ],
)
def test_another_number_of_dims_is_refused(dims, shape, words):
    with pytest.raises(Mismatch) as refused:
        solved(f"f(k: int32, x: Tensor([{dims}], float32))", 1, spec(*shape))
    short = _native.describe(f"f(k: int32, x: Tensor([{dims}], float32))")["short"]
    assert (
        str(refused.value)
        == f"Mismatched Tensor on argument #1 when calling: `{short}`, expected {words}"
    )


@pytest.mark.parametrize("p", [(spec(1),), (spec(1), spec(1), spec(1))])
def test_another_number_of_elements_is_refused(p):
    with pytest.raises(Mismatch, match=f"expected tuple size=2, got {len(p)}"):
        solved("f(p: Tuple(Tensor([n], float32), Tensor([n], float32)))", p)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("m + n*2 - 1", 12),
        ("(m + n)*2", 16),
        ("m // 2 % 2", 1),
        ("-m % 4", 1),
        ("-m // 2", -2),
        ("ceildiv(m, 2)", 2),
        ("ceildiv(n, 5)", 1),
        ("min(min(m, n), 4)", 3),
        ("max(m, n)", 5),
        ("b.numel*b.ndim", 12),
        ("x.shape[-1]", 5),
        ("x.numel", 90),
        ("7", 7),
    ],
)
def test_expressions(text, value):
    binding = Binding(symbols={"m": 3, "n": 5}, stars={"b": (2, 3)}, values={"x": spec(3, 2, 3, 5)})
    assert evaluate(text, binding) == value


@pytest.mark.parametrize("text", ["k", "x.shape[3]", "m.shape[0]", "b.shape[2]", "p.c", "s[2]"])
def test_what_nothing_says_is_told(text):
    binding = Binding(
        symbols={"m": 3},
        stars={"b": (2,)},
        values={"x": spec(2), "s": (1, 2), "p": _shape.Group(())},
    )
    with pytest.raises(Unsolved):
        evaluate(text, binding)


def test_names_of_an_expression():
    (tree,) = described("ceildiv(m, 4)*b.numel + lambda")["extents"]
    assert names_in(tree) == {"m", "b", "lambda"}
    assert names_in(described("*b")["extents"][0]) == {"b"}
    assert [names_in(tree) for tree in described("3, _, *_")["extents"]] == [set(), set(), set()]


def test_results_and_their_bytes():
    binding = solved(
        "f(x: Tensor([*b, m], T)) where T in {float16, float4_e2m1fnx2}",
        spec(2, 3, 5, dtype="float16"),
    )
    result = described("m, *b, 2*m", "T")
    assert (
        spec_of(result, binding) == Spec((5, 2, 3, 10), "float16")
        and byte_count(spec_of(result, binding)) == 600
    )
    assert (
        byte_count(spec(3, dtype="int4")) == 2 and byte_count(spec(3, dtype="float4_e2m1fnx2")) == 3
    )
    assert byte_count(spec(0, 7)) == 0
    with pytest.raises(Unsolved, match=r"`\*c`"):
        spec_of(described("*c", "T"), binding)


def test_every_dtype_of_the_signature_language_has_its_bits():
    assert list(_native.dtypes()) and set(_native.dtypes()) == set(_dtype.NAMES)
    for name in _dtype.NAMES:
        assert _native.describe(f"f(x: Tensor([n], {name}))")["params"][0]["type"]["dtype"] == name


class Size:
    """As little as a framework's symbolic dim may be able to."""

    def __init__(self, text):
        self.text = str(text)

    def __repr__(self):
        return self.text

    def __add__(self, other):
        return Size(f"({self} + {other})")

    def __mul__(self, other):
        return Size(f"({self} * {other})")

    def __sub__(self, other):
        return Size(f"({self} - {other})")

    def __floordiv__(self, other):
        return Size(f"({self} // {other})")

    def __neg__(self):
        return Size(f"-{self}")

    __radd__ = __add__
    __rmul__ = __mul__


def test_dims_need_be_no_numbers():
    operations = Operations(
        minimum=lambda of: Size(f"least{tuple(of)}"), maximum=lambda of: Size(f"most{tuple(of)}")
    )
    binding = solve(
        _native.describe("f(x: Tensor([m, 2*n + 1], float32))"),
        [spec(Size("a"), Size("b"))],
        operations,
    )
    assert str(binding.symbols) == "{'m': a, 'n': ((b - 1) // 2)}"
    assert str(evaluate("ceildiv(m, 4)", binding)) == "-(-a // 4)"
    assert str(evaluate("max(m, 3)", binding)) == "most(a, 3)"
    assert str(evaluate("min(m, n)", binding)) == "least(a, ((b - 1) // 2))"
    assert str(evaluate("x.numel", binding)) == "((a * 1) * b)"
