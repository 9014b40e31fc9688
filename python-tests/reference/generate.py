# SPDX-License-Identifier: Apache-2.0
"""Writes random signatures, calls and their outcomes as JSON lines, for a compiler to be compared
with.

    python generate.py --seed 1 --signatures 1000 --calls 10 --out calls.jsonl

A line is `{"signature": text, "calls": [{"args": [...], "expect": null | {"kind": ..., "message":
...}}]}`, and depends on the seed alone. Signatures have no diagnostics. About a third of the calls
are accepted, the others are accepted ones with up to three mutations.
"""

import argparse
import ast
import itertools
import json
import math
import multiprocessing
import random
import re
import sys

from checker import DEVICES, Call, Fault, check, holds_with, spread
from signature import (
    COMPARISONS,
    DTYPES,
    FLOAT_RANGES,
    INT_RANGES,
    SIZES,
    DataType,
    Float,
    Literal,
    Optional,
    Pointer,
    Scalar,
    Shape,
    Signature,
    Stream,
    Star,
    String,
    Tensor,
    Tuple,
    fit,
    is_symbol,
    literal_text,
    parse_expr,
    parts,
)

SYMBOLS = ["m", "n", "k", "d", "hq", "hkv", "batch", "rows"]
OPTIONAL_SYMBOLS = ["i", "j", "q", "r", "p0", "p1"]
STRIDE_SYMBOLS = ["s", "t", "ld", "s0"]
STARS = ["lead", "rest", "batches"]
DTYPE_VARIABLES = ["T", "TA", "TB", "U"]
PARAMS = [
    "x",
    "y",
    "z",
    "a",
    "b",
    "c",
    "w",
    "out",
    "bias",
    "alpha",
    "beta",
    "count",
    "flag",
    "extra",
    "aux",
    "state",
    "eps",
    "gamma",
]
ELEMENTS = ["u", "v", "left", "right", "inner", "scale", "size"]
COMMON_DTYPES = [
    "float16",
    "float32",
    "float32",
    "bfloat16",
    "int32",
    "int64",
    "float64",
    "uint8",
    "bool",
]
FLOAT_LITERALS = [0.0, 1.0, 0.5, -2.0, 1e-05, 0.1, 1.5, -0.25, 1e20]
EDGE_FLOATS = [
    math.inf,
    -math.inf,
    math.nan,
    -0.0,
    1e-8,
    5e-324,
    65504.0,
    65519.99,
    65520.0,
    -65520.0,
    3.3895313892515355e38,
    3.3961775292304601e38,
    3.4028234663852886e38,
    3.4028235677973362e38,
    3.4028235677973366e38,
    -3.5e38,
    1e39,
    1.7976931348623157e308,
    0.1,
    2.5,
    1e16,
    123456789.0,
]
EDGE_INTS = [
    0,
    1,
    -1,
    2,
    3,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32767,
    32768,
    -32769,
    65504,
    65519,
    65520,
    65535,
    65536,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**32 - 1,
    2**32,
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
]
EDGE_BIGINTS = [
    [-(2**63), 0],
    [-1, 0],
    [0, 1],
    [5],
    [-1],
    [0, -1],
    [2**63 - 1, 0],
    [1, 2, 3],
    [0, 0, 1],
]
TEXTS = [
    "relu",
    "relu",
    "gelu",
    "gelu_tanh",
    "none",
    "",
    "a",
    "größe",
    'a: "b" -> \\ # where\n\t=',
    "7 bytes",
    "exactly 26 characters long",
]
OTHER_INDICES = [6, 9, 10, 12, 13, 63, 64, 66, 67, 68, 72, 73, 74, 76, 77, 79, 127, 128, 130]
ODD_DTYPES = [
    [2, 128, 1],
    [0, 2, 1],
    [99, 8, 1],
    [6, 1, 1],
    [3, 64, 1],
    [2, 32, 4],
    [2, 16, 2],
    [2, 32, 0],
    [17, 4, 4],
    [17, 4, 1],
    [17, 4, 2],
    [0, 8, 16],
]
GAP = 2**32  # between the addresses of two tensors


class Unsolvable(Exception):
    """A draft that is no valid signature, or values that no argument can have."""


def evaluate(text, values):
    return parse_expr(ast.parse(text, mode="eval").body).value(values)


class Draft:
    """The parameters of a random signature as text, and values of its symbols that fit them."""

    def __init__(self, rng):
        self.rng = rng
        self.absences = self.chance(0.2)  # many Optionals and symbols of strides
        self.symbols = {
            name: self.extent()
            for name in rng.sample(SYMBOLS, rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))
        }
        self.strides = {
            name: rng.choice([1, 2, 3, 4, 8, 12, 16, 64, 100])
            for name in rng.sample(
                STRIDE_SYMBOLS, rng.choice([1, 1, 2] if self.absences else [0, 0, 0, 1, 1, 2])
            )
        }
        self.stars = {
            name: [self.extent() for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
            for name in rng.sample(STARS, rng.choice([0, 0, 0, 1, 1, 2]))
        }
        self.values = with_counts({**self.symbols, **self.strides, **self.stars})
        self.spare_symbols, self.spare_names = (
            rng.sample(OPTIONAL_SYMBOLS, 6),
            rng.sample(PARAMS, len(PARAMS)),
        )
        self.own = []  # the symbols that Optionals hold, and may share
        self.due = None  # one of them, to be the next dim
        self.scope = [*self.symbols]  # the symbols that may be used where the draft is
        self.cuda = self.chance(0.2)  # as where a launch is for CUDA
        self.depth = 0  # of Optionals
        self.integer_params = []
        self.rules = []  # of dtype variables
        self.unbound_variables = []
        self.choices = {}  # from a dtype variable to dtypes that it may be
        self.variables = self.draft_dtype_rules()
        params = [
            self.param()
            for _ in range(
                rng.choices(range(14), [1, 14, 22, 20, 16, 12, 8, 2, 2, 1, 1, 1, 1, 1])[0]
            )
        ]
        own = [
            variable for variable in self.variables if self.chance(0.3)
        ]  # those that are parameters
        self.unbound_variables = [
            variable for variable in self.unbound_variables if variable not in own
        ]
        params += [
            [self.spare_names.pop(), self.tensor(variable), ""]
            for variable in [*self.unbound_variables]
        ]
        for variable in own:
            params.insert(rng.randint(0, len(params)), [variable, "DataType", ""])
        self.add_defaults(params)
        if self.chance(0.08):
            at = rng.randint(0, sum(not default for _, _, default in params))
            params.insert(at, [self.spare_names.pop(), "EnvStream", ""])
        params = ", ".join(
            f"{name}:{self.space() or ' '}{kind}{default}" for name, kind, default in params
        )
        comma = "," if params and self.chance(0.05) else ""
        self.head = (
            f"{rng.choice(['f', 'scale', 'rms_norm'])}({self.space()}{params}{comma}{self.space()})"
        )

    def text(self, rules=()):
        rules = [*self.rules, *rules]
        return self.head + (f" where {', '.join(rules)}" if rules else "")

    def chance(self, probability):
        return self.rng.random() < probability

    def extent(self):
        return self.rng.choice(
            [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16, 16, 32, 64, 100]
        )

    def space(self):
        return self.rng.choices(["", " ", "\n    ", "  # a: [n -> (\n    "], [60, 6, 2, 1])[0]

    def draft_dtype_rules(self):
        names, variables = self.rng.sample(DTYPE_VARIABLES, 4), []
        for size in self.rng.choice([[], [], [], [1], [1], [2], [2], [3], [1, 2], [1, 1]]):
            group = [names.pop() for _ in range(size)]
            pool = (
                self.rng.sample([*DTYPES], 3)
                if self.chance(0.15)
                else ["float16", "bfloat16", "float32", "int8"]
            )
            choices = dict.fromkeys(
                tuple(self.rng.choice(pool) for _ in group) for _ in range(self.rng.randint(1, 4))
            )
            shown = [choice[0] if size == 1 else f"({', '.join(choice)})" for choice in choices]
            if size == 1 and self.chance(0.5 if len(shown) == 1 else 0.2):
                self.rules.append(" or ".join(f"{group[0]} == {dtype}" for dtype in shown))
            else:
                self.rules.append(
                    f"{group[0] if size == 1 else '(' + ', '.join(group) + ')'} in {{{', '.join(shown)}}}"
                )
            variables += group
            self.choices |= {
                variable: column for variable, column in zip(group, map(list, zip(*choices)))
            }
        self.unbound_variables += variables
        return variables

    def param(self):
        """[name, type, default]: all text."""
        kind = self.rng.choices(
            [
                self.tensor,
                self.integer,
                self.scalar,
                self.shape,
                self.tuple,
                self.optional,
                self.pointer,
                self.stream,
                self.literal,
                self.string,
            ],
            [56, 10, 9, 5, 8, 80 if self.absences else 10, 5, 3, 4, 7],
        )[0]
        if (
            kind == self.integer
            and self.chance(0.3)
            and (names := [name for name in self.own if name not in self.integer_params])
        ):
            self.integer_params.append(self.rng.choice(names))
            return [self.integer_params[-1], f"Optional[{self.rng.choice(SIZES[:-1])}]", ""]
        return [self.integer_name() if kind == self.integer else self.spare_names.pop(), kind(), ""]

    def integer_name(self):
        """Of a parameter that is a symbol, which dims may have used before."""
        free = [name for name in self.symbols if name not in self.integer_params]
        name = self.rng.choice(free) if free and self.chance(0.7) else self.spare_names.pop()
        self.integer_params.append(name)
        self.symbols.setdefault(name, self.extent())
        self.values[name] = self.symbols[name]
        self.scope = [*self.symbols]
        return name

    def integer(self):
        kind = self.rng.choice(SIZES[:-1] + ["int32", "int64"])
        return f"Optional[{kind}]" if self.chance(0.1) else kind

    def element(self, depth, names):
        kind = self.rng.choices(
            [
                self.tensor,
                self.scalar,
                self.shape,
                self.tuple,
                self.optional,
                self.pointer,
                self.stream,
                self.literal,
                self.string,
            ],
            [55, 18, 8, 8 if depth < 2 else 0, 8, 4, 2, 5, 5],
        )[0]
        text = kind(depth + 1) if kind in (self.tuple, self.optional) else kind()
        return f"{names.pop()}: {text}" if self.chance(0.6) else text

    def tuple(self, depth=0):
        names = self.rng.sample(ELEMENTS, len(ELEMENTS))
        return f"Tuple({', '.join(self.element(depth, names) for _ in range(self.rng.choices(range(5), [3, 25, 40, 25, 7])[0]))})"

    def optional(self, depth=0):
        kind = self.rng.choices(
            [
                self.tensor,
                self.scalar,
                self.shape,
                self.tuple,
                self.pointer,
                self.literal,
                self.string,
            ],
            [55, 15, 8, 15 if depth < 2 else 0, 4, 6, 10],
        )[0]
        outer, self.scope, self.depth = self.scope, [*self.scope], self.depth + 1
        if self.spare_symbols and self.chance(0.8 if self.absences else 0.5):
            shares = self.own and self.chance(0.8 if self.absences else 0.4)
            own = self.due = self.rng.choice(self.own) if shares else self.spare_symbols.pop()
            self.own.append(own)
            self.values.setdefault(own, self.extent())
            self.scope = [own, own] + (outer if self.chance(0.5) else [])
        text = kind(depth + 1) if kind == self.tuple else kind()
        self.scope, self.depth, self.due = outer, self.depth - 1, None
        return "Optional[float32]" if text == "None" else f"Optional[{text}]"

    def scalar(self):
        return self.rng.choice(
            [*INT_RANGES, *FLOAT_RANGES, *FLOAT_RANGES, "bool", "bool", "bool", "uint64"]
        )

    def shape(self):
        return f"Shape({self.dims(self.rng.choices(range(5), [4, 25, 40, 20, 11])[0])[0]})"

    def pointer(self):
        if self.chance(0.3):
            return "Pointer"
        options = [
            option
            for option in self.rng.choice([("nonnull", "align=16"), ("align=8", "nonnull")])
            if self.chance(0.6)
        ]
        return f"Pointer({', '.join([self.rng.choice([*DTYPES]), *options])})"

    def stream(self):
        return "Stream"

    def string(self):
        return "String"

    def literal(self):
        return literal_text(
            self.rng.choice(
                [None, True, False, 0, 1, 3, -1, 128, 2**40, *FLOAT_LITERALS, *TEXTS[::3]]
            )
        )

    def add_defaults(self, params):
        for param in reversed(params):
            values = self.default_values(*param[:2])
            if not values or self.chance(0.3):
                return
            value = self.rng.choice(values)
            param[2] = f" = {value if param[1] == 'DataType' else literal_text(value)}"

    def default_values(self, name, kind):
        if kind.startswith(("Tensor", "Shape", "Tuple")) or "nonnull" in kind:
            return []
        if kind == "DataType":
            return self.choices[name]
        if kind.endswith(("String", "String]")):
            return TEXTS + [None] * 9 * kind.startswith("Optional")
        if kind.startswith(("Optional", "Pointer", "Stream")):
            return [None]
        if kind in FLOAT_RANGES:
            return FLOAT_LITERALS[:-1] + [1, 3]
        if kind in SIZES:
            return [self.values[name]] if name in self.values else [0, 1, 100]
        return [True, False] if kind == "bool" else [ast.literal_eval(kind)]

    def dims(self, rank):
        """As text, with a star now and then; and how many are written."""
        dims = [self.dim() for _ in range(rank)]
        if self.due and dims and self.chance(0.8):
            dims[self.rng.randrange(rank)], self.due = self.due, None
        if self.chance(0.5 if self.stars else 0.03):
            star = self.rng.choice([*self.stars, *self.stars, "_"]) if self.stars else "_"
            dims.insert(self.rng.randint(0, len(dims)), f"*{star}")
        return f"[{', '.join(dims)}{',' if dims and self.chance(0.03) else ''}]", len(dims)

    def dim(self):
        sort = self.rng.choices(["symbol", "constant", "any", "expr"], [45, 18, 8, 24])[0]
        if sort == "any" or sort == "constant" or not self.scope:
            return "_" if sort == "any" else str(self.extent())
        if self.stars and self.depth == 0 and self.chance(0.05):
            return (
                f"{self.rng.choice([*self.stars])}.{self.rng.choice(['numel', 'ndim'])}"
                + self.rng.choice(["", "", " + 1", "*2"])
            )
        return self.rng.choice(self.scope) if sort == "symbol" else self.expr(self.scope)

    def expr(self, names, limit=2**20):
        """With each name at most once, and a value that an extent can have."""
        for _ in range(20):
            pool = self.rng.sample(sorted({*names}), len({*names}))
            text = (
                self.affine(pool)
                if self.chance(0.4)
                else self.operation(pool, self.rng.choice([1, 1, 2, 2, 3]))
            )
            value = evaluate(text, self.values)
            if value is not None and 0 <= value <= limit:
                return text
        return pool[0] if pool else self.rng.choice(names)

    def affine(self, pool):
        n, a, c = pool.pop(), self.rng.randint(2, 4), self.rng.randint(1, 9)
        return self.rng.choice(
            [
                f"{a}*{n}",
                f"{n}*{a}",
                f"{a}*{n} + {c}",
                f"{n}*{a} - {c}",
                f"{c} + {a}*{n}",
                f"{n} + {c}",
                f"{n} - {c}",
                f"{c} + {n}",
                f"({n} + {c})*{a}",
                f"{a}*({n} + {c})",
                f"({n} - {c})*{a} + {c}",
                f"2*{a}*{n} + 1",
                f"{n}*ceildiv({a}, {c}) + {c} % {a}",
                f"{a}*{n} - {n}",
                f"{n} + max({c}, {a})*{n} + {c} // {a}",
                f"{n} - ({c} - {n})",
            ]
        )

    def operation(self, pool, depth):
        if depth == 0 or not pool:
            return pool.pop() if pool and self.chance(0.7) else str(self.rng.randint(1, 9))
        left = (
            self.operation(pool[1:], depth - 1) if len(pool) > 1 and self.chance(0.4) else pool[0]
        )
        pool[:] = [name for name in pool if name not in left]
        right = self.operation(pool, depth - 1)
        operator = self.rng.choice(
            ["+", "-", "*", "//", "%", "ceildiv", "min", "max", "+", "*", "//", "ceildiv"]
        )
        if operator.isalpha():
            return f"{operator}({left}, {right})"
        left, right = (
            f"({side})" if self.chance(0.6) and not side.isalnum() else side
            for side in (left, right)
        )
        return f"{left}{operator}{right}" if self.chance(0.3) else f"{left} {operator} {right}"

    def tensor(self, variable=None):
        rng = self.rng
        rank = rng.choices(range(6), [6, 25, 38, 20, 8, 3])[0]
        dtype = variable or (
            rng.choice(self.variables)
            if self.variables and self.chance(0.5)
            else rng.choice([*DTYPES])
            if self.chance(0.2)
            else rng.choice(COMMON_DTYPES)
        )
        if dtype in self.unbound_variables and self.depth == 0:
            self.unbound_variables.remove(dtype)
        size = 16 if dtype not in DTYPES else max(1, math.prod(DTYPES[dtype][1:]) // 8)
        (dims, rank), options, mut = self.dims(rank), [], self.chance(0.2)
        if self.chance(0.55 if mut or self.absences else 0.25):
            options.append(f"strides={self.stride_list(rank, mut) if self.chance(0.75) else 'any'}")
        elif self.chance(0.2):
            order = f"({', '.join(map(str, rng.sample(range(rank), rank)))})"
            options.append(f"order={rng.choice(['row', 'col', 'col', order if rank else 'col'])}")
        if self.chance(0.15):
            options.append(
                f"align={rng.choice([align for align in (2, 4, 8, 16, 64, 256) if align >= size])}"
            )
        if self.chance(0.8 if self.cuda else 0.15):
            devices = rng.sample(
                ["cpu", "cuda", "cuda_host", "cuda_managed"], rng.choice([2, 2, 3, 4])
            )
            usual = (
                ["cuda"]
                if self.cuda
                else rng.choice([["cuda"], ["cuda_managed"], ["cuda_host"], ["cpu"]])
            )
            devices = devices if self.chance(0.2) else usual
            options.append(
                f"device={devices[0] if len(devices) == 1 and self.chance(0.8) else '{' + ', '.join(devices) + '}'}"
            )
            if {*devices} & {"cuda", "cuda_managed"} and self.chance(0.15):
                options.append("peer")
        options += ["mut"] * mut
        rng.shuffle(options)
        return f"Tensor({', '.join([dims, dtype, *options])})"

    def stride_list(self, rank, mut):
        known = [*self.strides, *self.scope]
        strides = []
        for i in range(rank):
            constant = (
                "1"
                if i == rank - 1 or self.chance(0.3)
                else str(self.rng.choice([1, 2, 8, 64] + [0] * (not mut)))
            )
            sort = self.rng.choices(
                ["constant", "any", "symbol", "dim", "expr"],
                [40 if i == rank - 1 else 15, 15, 40, 10, 20],
            )[0]
            strides.append(
                "_"
                if sort == "any"
                else self.rng.choice([*self.strides])
                if sort == "symbol" and self.strides
                else self.rng.choice(self.scope)
                if sort == "dim" and self.scope
                else self.expr([*self.strides] * 3 + self.scope if self.chance(0.7) else known)
                if sort == "expr" and known
                else constant
            )
        return f"[{', '.join(strides)}]"


class Builder:
    """Arguments that a signature accepts, from values of its symbols (unless a rule forbids them)."""

    def __init__(self, rng, signature, values):
        self.rng, self.signature, self.values = rng, signature, values
        self.addresses = itertools.count(rng.randint(1, 64) * GAP, GAP)
        self.device_index = rng.choice([0, 0, 0, 1, 3])
        self.dtypes = rng.choice(signature.combinations)

    def chance(self, probability):
        return self.rng.random() < probability

    def args(self):
        args = [self.value(param.type, param.name) for param in self.signature.arguments]
        return (
            args[: self.rng.randint(self.signature.required, len(args))]
            if self.chance(0.4)
            else args
        )

    def value(self, kind, path):
        match kind:
            case Tensor():
                return {"tensor": self.tensor(kind)}
            case Scalar(dtype):
                return self.scalar(dtype, path)
            case Shape(dims):
                return self.shape(dims)
            case Tuple(elements):
                return {
                    self.rng.choice(["array", "list"]): [
                        self.value(inner, "") for _, inner in elements
                    ]
                }
            case Optional(inner):
                return {"none": 1} if self.chance(0.35) else self.value(inner, path)
            case Pointer(_, nonnull, align):
                address = self.rng.choice([0, align, next(self.addresses)]) or align * nonnull
                return (
                    {"none": 1}
                    if address == 0 and self.chance(0.5)
                    else {self.rng.choice(["ptr", "ptr", "int"]): address}
                )
            case Stream():
                return self.rng.choice(
                    [
                        {"none": 1},
                        {"ptr": next(self.addresses)},
                        {"int": self.rng.choice([0, 1, 2, -5])},
                    ]
                )
            case String():
                return self.string(self.text(path))
            case DataType():
                return (
                    {"dtype": [*DTYPES[self.dtypes[path]]]}
                    if self.chance(0.6)
                    else self.string(self.dtypes[path])
                )
            case Literal(value):
                return self.literal(value)

    def literal(self, value):
        if value is None:
            return {"none": 1}
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, float) and (
            not value.is_integer() or abs(value) > 2**62 or self.chance(0.7)
        ):
            return {"float": value.hex()}
        if value in (0, 1) and self.chance(0.6 if isinstance(value, bool) else 0.2):
            return {"bool": int(value)}
        return {"int": int(value)}

    def text(self, path):
        """One that a rule asks about, if there is any."""
        asked = [
            rule.right
            for rule in map_parts(self.signature.rules)
            if rule.op == "texts" and rule.left.left == path
        ]
        return self.rng.choice(self.rng.choice(asked) if asked and self.chance(0.8) else TEXTS)

    def string(self, text):
        return {
            "str": [
                self.rng.choice([65, 8, *[11] * 2 * (len(text.encode()) <= 7)]),
                text.encode().hex(),
            ]
        }

    def scalar(self, dtype, path):
        if dtype in FLOAT_RANGES:
            edges = [
                x for x in EDGE_FLOATS if not math.isfinite(x) or abs(x) < FLOAT_RANGES[dtype][1]
            ]
            return self.rng.choice(
                [
                    {"int": self.rng.randint(-9, 9)},
                    {"bool": 1},
                    {"float": self.rng.uniform(-9, 9).hex()},
                    {"float": self.rng.choice(edges).hex()},
                ]
            )
        low, high = INT_RANGES[dtype]
        value = (
            self.values[path]
            if is_symbol(path, dtype) and path in self.values
            else self.rng.choice(
                [
                    low,
                    high,
                    self.rng.randint(low, high),
                    self.rng.randint(0, 1),
                    min(high, self.rng.randint(0, 100)),
                ]
            )
        )
        if value >= 2**63 or dtype == "uint64" and self.chance(0.1):
            return {"bigint": [value - 2**64 * (value >= 2**63), 0]}
        return (
            {"bool": value}
            if value in (0, 1) and self.chance(0.3 if dtype != "bool" else 0.7)
            else {"int": value}
        )

    def extents(self, dims):
        extents = [extent for dim in dims for extent in self.extents_of(dim)]
        if None in extents or min(extents, default=0) < 0:
            raise Unsolvable
        return extents

    def extents_of(self, dim):
        match dim:
            case None:
                return [self.rng.choice([0, 1, 1, 2, 3, 4, 5, 8, 17])]
            case Star(None):
                return [
                    self.rng.choice([0, 1, 1, 2, 3])
                    for _ in range(self.rng.choice([0, 1, 1, 2, 3]))
                ]
            case Star(name):
                return self.values[name]
        return [dim.value(self.values)]

    def shape(self, dims):
        extents = self.extents(dims)
        if self.chance(0.5):
            return {"shape": extents}
        return {
            self.rng.choice(["array", "list"]): [
                {"bool" if n in (0, 1) and self.chance(0.1) else "int": n} for n in extents
            ]
        }

    def tensor(self, kind):
        shape, rng = self.extents(kind.dims), self.rng
        dtype = DTYPES[self.dtypes.get(kind.dtype, kind.dtype)]
        device = rng.choice(kind.devices or ["cpu"])
        number = next(number for number, name in DEVICES.items() if name == device)
        index = (
            self.device_index
            if device in ("cuda", "cuda_managed") and not kind.peer
            else rng.choice([0, 0, 0, 1, 2])
        )
        strides = self.strides(kind, shape)
        if math.prod(shape) * math.prod(dtype[1:]) > 8 * GAP // 64:
            raise Unsolvable  # beyond the gap between two addresses
        if strides == row_major(shape) and self.chance(0.5):
            strides = None
        align, data = kind.align or max(1, (math.prod(dtype[1:]) + 7) // 8), next(self.addresses)
        byte_offset = rng.choice([0, 0, 0, align, 3 * align, rng.randint(0, align - 1)])
        if 0 in shape and self.chance(0.5):
            data = rng.choice([0, 1, data + 1])
        return {
            "index": rng.choice([70, 70, 7]),
            "data": data - byte_offset % align if data > align else data,
            "device": [number, index],
            "dtype": list(dtype),
            "shape": shape,
            "strides": strides,
            "byte_offset": byte_offset,
        }

    def strides(self, kind, shape):
        rng, compact = self.rng, row_major(shape)
        wanted = [*compact]
        places = spread(kind.dims, len(shape))
        if isinstance(kind.strides, list):
            for numbers, stride in zip(places, kind.strides):
                for k, number in enumerate(
                    numbers[::-1]
                ):  # within a star, the others follow from the innermost above 1
                    inner = next((n for n in numbers[::-1][:k][::-1] if shape[n] != 1), None)
                    wanted[number] = (
                        self.stride(stride, compact[number])
                        if inner is None
                        else (wanted[inner] or 0) * shape[inner]
                    )
        elif kind.strides == "any" and self.chance(0.6):
            wanted = [
                rng.choice([compact[i], -compact[i], compact[i] + 1, rng.randint(-3, 9)])
                for i in range(len(shape))
            ]
            wanted = [stride or 2 for stride in wanted] if kind.mut else wanted
        elif kind.strides is None and kind.order != "row":
            ranks, within = (range(len(kind.dims)), 1) if kind.order == "col" else (kind.order, -1)
            speeds = [
                (rank, within * number)
                for rank, numbers in zip(ranks, places)
                for number in numbers
            ]
            wanted = [
                math.prod(extent for extent, speed in zip(shape, speeds) if speed < speeds[i])
                for i in range(len(shape))
            ]
        junk = self.chance(0.3)
        for i, extent in enumerate(shape):
            if extent == 1 or 0 in shape:
                wanted[i] = rng.choice([0, 1, -1, 7, 2**40]) if junk else compact[i]
            elif isinstance(kind.strides, list) and (
                wanted[i] is None or wanted[i] < 0 or kind.mut and wanted[i] == 0
            ):
                raise Unsolvable
        return wanted

    def stride(self, stride, compact):
        return (
            self.rng.choice([compact, compact, compact + 1, self.rng.randint(1, 9)])
            if stride is None
            else stride.value(self.values)
        )


def map_parts(rules):
    return [part for rule in rules for part in parts(rule)]


def with_counts(values):
    """The values of symbols and stars, and what the latter count."""
    counts = {name: extents for name, extents in values.items() if isinstance(extents, list)}
    counts = {
        f"{star}.{field}": count
        for star, extents in counts.items()
        for field, count in (("numel", fit(math.prod(extents))), ("ndim", len(extents)))
    }
    return values | counts


def row_major(shape):
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class Mutator:
    """Random changes of a call's arguments. Each method makes one in place, and says whether it
    found where.
    """

    def __init__(self, rng, signature, args):
        self.rng, self.signature, self.args = rng, signature, args
        self.noalias = any(part.op == "noalias" for part in map_parts(signature.rules))
        used = [kind.dtype for kind in tensors_in(signature)]
        self.dtypes = [DTYPES[name] for name in used if name in DTYPES]
        self.dtypes += [DTYPES[name] for row in signature.combinations for name in row.values()] * 3

    def mutate(self):
        methods = [
            (self.tensor, 65),
            (self.number, 18),
            (self.replace, 8),
            (self.length, 5),
            (self.shape_element, 5),
            (self.arity, 2),
            (self.string, 8),
            (self.data_type, 8),
        ]
        while not self.rng.choices(
            [method for method, _ in methods], [weight for _, weight in methods]
        )[0]():
            pass

    def spots(self):
        """(list, index) of each argument and each part of an Array or List."""
        spots, lists = [], [self.args]
        for values in lists:
            spots += [(values, i) for i in range(len(values))]
            lists += [
                next(iter(value.values())) for value in values if {*value} & {"array", "list"}
            ]
        return spots

    def pick(self, *keys):
        """One of the values of these sorts, or None."""
        found = [(values, i) for values, i in self.spots() if not keys or {*values[i]} & {*keys}]
        return self.rng.choice(found) if found else None

    def arity(self):
        sort = self.rng.choice(["more", "more", "less", "less", "none"])
        if sort == "more":
            self.args.insert(self.rng.choice([0, len(self.args), len(self.args)]), self.any_value())
        elif not self.args:
            return False
        elif sort == "less":
            self.args.pop()
        else:
            self.args.clear()
        return True

    def any_value(self):
        rng = self.rng
        sort = rng.choice(
            [
                "none",
                "none",
                "none",
                "int",
                "bool",
                "float",
                "ptr",
                "bigint",
                "object",
                "object",
                "str",
                "dtype",
                "shape",
                "array",
                "list",
                "tensor",
            ]
        )
        return {
            sort: {
                "none": 1,
                "int": rng.choice(EDGE_INTS),
                "bool": rng.choice([0, 1, 1]),
                "float": rng.choice(EDGE_FLOATS).hex(),
                "ptr": rng.choice([0, 8, 4096, 4100]),
                "bigint": rng.choice(EDGE_BIGINTS),
                "object": rng.choice(OTHER_INDICES),
                "str": [rng.choice([8, 11, 65]), rng.choice(["", "72656c75"])],
                "dtype": [*rng.choice([*DTYPES.values()])],
                "shape": [rng.randint(0, 4) for _ in range(rng.randint(0, 3))],
                "array": [{"int": 2}] * rng.randint(0, 2),
                "list": [],
                "tensor": {
                    "index": 70,
                    "data": 4096,
                    "device": [1, 0],
                    "dtype": [2, 32, 1],
                    "shape": [2, 2],
                    "strides": None,
                    "byte_offset": 0,
                },
            }[sort]
        }

    def data_type(self):
        if not (spot := self.pick("dtype")):
            return False
        name = self.rng.choice([*DTYPES])
        spot[0][spot[1]] = self.rng.choice(
            [
                {"dtype": [*DTYPES[name]]},
                {"dtype": self.rng.choice(ODD_DTYPES)},
                {"str": [65, name.encode().hex()]},
            ]
        )
        return True

    def string(self):
        if not (spot := self.pick("str")):
            return False
        index, text = spot[0][spot[1]]["str"]
        text = self.rng.choice(
            [
                text[:-2],
                text + "61",
                "00" * (index != 8) + text,
                "fffefd",
                "61" * 26,
                "e2" * 7,
                self.rng.choice(TEXTS).encode().hex(),
            ]
        )
        spot[0][spot[1]] = {"str": [index if index != 11 or len(text) <= 14 else 65, text]}
        return True

    def replace(self):
        if spot := self.pick():
            spot[0][spot[1]] = self.any_value()
        return bool(spot)

    def length(self):
        if not (spot := self.pick("array", "list", "shape")):
            return False
        [(key, values)] = spot[0][spot[1]].items()
        if self.rng.random() < 0.5 or not values:
            values.append(3 if key == "shape" else self.any_value())
        else:
            values.pop(self.rng.randrange(len(values)))
        return True

    def shape_element(self):
        spot = self.pick("shape")
        shape = spot and spot[0][spot[1]]["shape"]
        if shape:
            self.extent(shape)
        return bool(shape)

    def extent(self, shape):
        i = self.rng.randrange(len(shape))
        shape[i] = self.rng.choice(
            [shape[i] + 1, shape[i] - 1, shape[i] * 2, -1, -7, 0, 1, 3, 2**62, 2**63 - 1, 17]
        )
        shape[:] = fitting(shape)

    def number(self):
        if not (spot := self.pick("int", "bool", "float", "ptr", "bigint")):
            return False
        rng, [(key, payload)] = self.rng, spot[0][spot[1]].items()
        spot[0][spot[1]] = rng.choice(
            [
                {"int": rng.choice(EDGE_INTS)},
                {"int": rng.choice(EDGE_INTS)},
                {"float": rng.choice(EDGE_FLOATS).hex()},
                {"bigint": rng.choice(EDGE_BIGINTS)},
                {"bool": rng.choice([0, 1, 1, 2, -1, 300])},
                {"ptr": rng.choice([0, 4, 8, 4104, 4097])},
                *[{"ptr": 0} for _ in range(4) if key == "ptr"],
                *[
                    {
                        key: max(-(2**63), min(payload + rng.choice([-1, 1, 4, 8]), 2**63 - 1))
                        if key != "ptr"
                        else payload + rng.choice([1, 4, 8])
                    }
                    for _ in range(4)
                    if key in ("int", "ptr")
                ],
            ]
        )
        return True

    def tensor(self):
        if not (spot := self.pick("tensor")):
            return False
        tensor = spot[0][spot[1]]["tensor"]
        changes = [
            (self.change_extent, 26),
            (self.change_strides, 24),
            (self.change_dtype, 12),
            (self.change_device, 11),
            (self.change_data, 8),
            (self.change_rank, 4),
            (self.overlap, 40 if self.noalias else 2),
            (self.change_index, 2),
        ]
        return self.rng.choices(
            [change for change, _ in changes], [weight for _, weight in changes]
        )[0](tensor)

    def change_extent(self, tensor):
        if tensor["shape"]:
            self.extent(tensor["shape"])
            if tensor["strides"] is not None and self.rng.random() < 0.4:
                tensor["strides"] = self.rng.choice([None, fitting(row_major(tensor["shape"]))])
        return bool(tensor["shape"])

    def change_strides(self, tensor):
        rng, shape = self.rng, tensor["shape"]
        if not shape:
            return False
        if rng.random() < 0.12:
            tensor["strides"] = (
                None if tensor["strides"] is not None else fitting(row_major(shape[::-1])[::-1])
            )
            return True
        strides = tensor["strides"] = tensor["strides"] or fitting(row_major(shape))
        i = rng.choice(
            [i for i, extent in enumerate(shape) if extent != 1 or rng.random() < 0.2] or [0]
        )
        strides[i] = rng.choice(
            [strides[i] + 1, strides[i] - 1, 0, 0, 0, -1, -strides[i], 1, 2 * strides[i], 2**62, 5]
        )
        tensor["strides"] = fitting(strides)
        return True

    def change_dtype(self, tensor):
        tensor["dtype"] = list(
            self.rng.choice([*self.dtypes * 2, *DTYPES.values(), *map(tuple, ODD_DTYPES)])
        )
        return True

    def change_device(self, tensor):
        rng = self.rng
        if rng.random() < 0.5:
            tensor["device"] = [tensor["device"][0], rng.choice([0, 1, 2, 7])]
        else:
            tensor["device"] = [
                rng.choice([1, 2, 3, 13, 2, 1, *DEVICES, 5, 99]),
                tensor["device"][1],
            ]
        return True

    def change_data(self, tensor):
        if self.rng.random() < 0.4:
            tensor["data"] = 0
        elif self.rng.random() < 0.5:
            tensor["byte_offset"] += self.rng.choice([1, 2, 4, 8, 16])
        else:
            tensor["data"] += self.rng.choice([1, 2, 4, 8, 12, 16])
        return True

    def change_rank(self, tensor):
        shape, strides = tensor["shape"], tensor["strides"]
        if self.rng.random() < 0.05:
            shape[:0] = [1] * (64 - len(shape) + self.rng.choice([0, 1]))
            tensor["strides"] = None
        elif self.rng.random() < 0.5 or not shape:
            shape.insert(self.rng.randint(0, len(shape)), self.rng.choice([1, 2]))
            if strides is not None:
                strides.append(1)
        else:
            shape.pop()
            if strides is not None:
                strides.pop()
        return True

    def overlap(self, tensor):
        """Puts a tensor where another one is, or just before or after it."""
        others = [
            values[i]["tensor"]
            for values, i in self.spots()
            if "tensor" in values[i] and values[i]["tensor"] is not tensor
        ]
        if not others:
            return False
        other = self.rng.choice(others)
        sizes = [
            max(0, math.prod(t["shape"])) * t["dtype"][1] * t["dtype"][2] // 8
            for t in (other, tensor)
        ]
        address = other["data"] + other["byte_offset"] - tensor["byte_offset"]
        address += self.rng.choice(
            [0, 0, sizes[0], sizes[0] - 16, -sizes[1], 16 - sizes[1], sizes[0] // 2]
        )
        tensor["data"] = min(max(0, address), 2**61)
        return True

    def change_index(self, tensor):
        tensor["index"] = 77 - tensor["index"]
        return True


def fitting(values):
    return [max(-(2**63), min(value, 2**63 - 1)) for value in values]


def tensors_in(signature):
    kinds = [param.type for param in signature.arguments]
    for kind in kinds:
        kinds += (
            [inner for _, inner in kind.elements]
            if isinstance(kind, Tuple)
            else [kind.inner]
            if isinstance(kind, Optional)
            else []
        )
    return [kind for kind in kinds if isinstance(kind, Tensor)]


class Rules:
    """Random rules that hold for one accepted call."""

    def __init__(self, rng, signature, values):
        self.rng = rng
        required = {
            use.expr.left
            for use in signature.uses
            if use.expr and use.expr.op == "name" and not use.optionals
        }
        solved = {binding.symbol for binding in signature.bindings.values() if binding.solved}
        optional = {
            signature.bindings[use.path].symbol
            for use in signature.uses
            if use.optionals and use.path in signature.bindings
        } & {*values}
        self.symbols = [
            name for name in signature.bound_at if name in required | solved | optional
        ] + [*signature.stride_uses, *signature.shared]
        self.symbols = [name for name in self.symbols if name in values]
        self.tensors = [
            param.name
            for param in signature.arguments
            if isinstance(getattr(param.type, "inner", param.type), Tensor)
        ]
        stars = [*signature.stars]
        fields = [
            name
            for name in values
            if "." in name
            and name.split(".")[0] in self.tensors + stars
            and "*" not in name
            and ".given" not in name
        ]
        self.fields = [name for name in fields if values[name] is not None]
        kinds = {
            param.name: getattr(param.type, "inner", param.type) for param in signature.arguments
        }
        self.fields += [
            name
            for name in values
            if "[" in name and "." not in name and isinstance(kinds[name.split("[")[0]], Shape)
        ]
        bools = [name for name, kind in kinds.items() if kind == Scalar("bool") and name in values]
        self.floats = [
            name
            for name, kind in kinds.items()
            if isinstance(kind, Scalar) and kind.dtype in FLOAT_RANGES and name in values
        ]
        self.truths = bools + [f"{path}.given" for path in signature.optionals]
        self.strings = [
            name for name, kind in kinds.items() if isinstance(kind, String) and name in values
        ]
        self.values = values
        self.variables = signature.dtypes

    def rule(self):
        rng, names = self.rng, self.symbols * 3 + self.fields
        if rng.random() < 0.35:
            return self.joined()
        if self.tensors and rng.random() < 0.1:
            return f"aligned({rng.choice(self.tensors)}, {rng.choice([1, 4, 16, 32])})"
        if len(self.tensors) > 1 and rng.random() < 0.3:
            return f"noalias({', '.join(rng.sample(self.tensors, 2))})"
        if self.strings and rng.random() < 0.3:
            return self.string()
        if self.truths and rng.random() < 0.25:
            return self.truth()
        if self.floats and rng.random() < 0.25:
            return self.float()
        if not names:
            return None
        symbol = rng.choice(self.symbols) if self.symbols else None
        sort = rng.choice(["divisible", "in", "constant", "constant", "names", "names", "multiple"])
        if sort == "divisible" and symbol:
            elements = [name for name in self.fields if "." not in name]
            if elements and rng.random() < 0.3:
                return f"{rng.choice(elements)} % {rng.choice([1, 2, 3])} == 0"
            return f"{symbol} % {rng.choice([c for c in (1, 2, 3, 4, 5, 7, 8, 16) if self.values[symbol] % c == 0][-3:])} == 0"
        if sort == "in" and symbol:
            choices = [
                self.values[symbol],
                *rng.sample([-1, 0, 1, 2, 4, 8, 64, 128], rng.randint(0, 3)),
            ]
            return f"{symbol} in {{{', '.join(map(str, dict.fromkeys(rng.sample(choices, len(choices)))))}}}"
        if sort == "multiple" and len(names) > 1:
            a, b = rng.sample(names, 2)
            return f"{a} % {b} == 0"
        left, right = self.side(names), self.side(names)
        a, b = (evaluate(side, self.values) for side in (left, right))
        if a is None or b is None or a == b and left == right:
            return None
        holding = [sign for sign, holds in COMPARISONS.items() if holds(a, b)]
        if sort == "names":
            return f"{left} {rng.choice(holding)} {right}"
        sign = rng.choice([*COMPARISONS])
        constant = {
            "==": a,
            "!=": a + 1,
            "<": a + rng.randint(1, 9),
            "<=": a + rng.randint(0, 9),
            ">": a - rng.randint(1, 9),
            ">=": a - rng.randint(0, 9),
        }[sign]
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
        return (
            f"{left} {sign} {constant}" if rng.random() < 0.8 else f"{constant} {mirrored} {left}"
        )

    def string(self):
        rng, name = self.rng, self.rng.choice(self.strings)
        texts = [
            literal_text(rng.choice(TEXTS + [self.values[name].decode()] * 8))
            for _ in range(rng.randint(1, 3))
        ]
        return rng.choice(
            [f"{name} == {texts[0]}", f"{name} != {texts[0]}", f"{name} in {{{', '.join(texts)}}}"]
        )

    def truth(self):
        rng, a, b = self.rng, self.rng.choice(self.truths), self.rng.choice(self.truths)
        return (
            f"{a} == {b}"
            if a != b and rng.random() < 0.3
            else f"{a} {rng.choice(['==', '!='])} {rng.choice(['0', '1', 'True', 'False'])}"
        )

    def float(self):
        rng, a, b = self.rng, self.rng.choice(self.floats), self.rng.choice(self.floats)
        received = self.values[a].received
        near = [received] if math.isfinite(received) else []
        constant = rng.choice([0, 1, -3, 0.0, 0.1, -0.5, 1e-8, 1e20, 65504.0, 2049, *near * 3])
        sides = [a, b if a != b and rng.random() < 0.3 else repr(constant)]
        return f" {rng.choice([*COMPARISONS])} ".join(sides if rng.random() < 0.7 else sides[::-1])

    def joined(self, depth=2):
        """Parts that `and`, `or` and `not` join. By the bounds of its names, each may hold and may
        not.
        """
        word = self.rng.choice(["and", "or", "not"])
        texts = [
            self.joined(depth - 1) if depth and self.rng.random() < 0.3 else self.part()
            for _ in range(1 if word == "not" else self.rng.randint(2, 3))
        ]
        if None in texts:
            return None
        joined = [text for text in texts if re.search(r"\b(and|or)\b", text)]
        keeps = {text for text in joined if word == "or" and self.rng.random() < 0.5}
        texts = [f"({text})" if text in joined and text not in keeps else text for text in texts]
        return f"not {texts[0]}" if word == "not" else f" {word} ".join(texts)

    def part(self):
        rng, names = self.rng, self.symbols + self.fields
        sort = rng.choice(
            ["simple"] * 4 + ["divisor", "divisor", "product", "dtype", "aligned", "noalias"]
        )
        if sort == "dtype" and self.variables:
            variable, dtypes = rng.choice([*self.variables.items()])
            return f"{variable} {rng.choice(['==', '!='])} {rng.choice([*dtypes, 'float64'])}"
        if sort == "aligned" and self.tensors:
            return f"aligned({rng.choice(self.tensors)}, {rng.choice([1, 2, 16, 64, 4096])})"
        if sort == "noalias" and len(self.tensors) > 1:
            return f"noalias({', '.join(rng.sample(self.tensors, 2))})"
        if self.strings and rng.random() < 0.3:
            return self.string()
        if self.truths and rng.random() < 0.2:
            return self.truth()
        if self.floats and rng.random() < 0.2:
            return self.float()
        if not names:
            return None
        a, b, c = rng.choice(names), rng.choice(names), rng.choice([0, 0, 1, 2, 3, 4, 8, 16, 100])
        c = min(c, 3) if ".ndim" in a + b else c  # no more than 64 can be
        near = rng.choice([self.values[a], self.values[a] + 1, c])
        if sort == "divisor":
            return (
                f"{a} {rng.choice(['//', '%'])} {b} {rng.choice(['==', '!='])} {c}"
                if a != b
                else f"{a} % {c + 2} == {rng.randint(0, c + 1)}"
            )
        if sort == "product":
            return f"{a}*{b} {rng.choice(['>', '<='])} {c}"
        if a in self.symbols and rng.random() < 0.2:
            return f"{a} in {{{max(near, 0)}, {c + 3}}}"
        return f"{a} {rng.choice(['==', '!=', '>', '<='])} {max(near, 0)}"

    def side(self, names):
        a, c = self.rng.choice(names), self.rng.randint(1, 9)
        b = self.rng.choice([name for name in names if name != a] or [c])
        return self.rng.choice(
            [
                a,
                a,
                a,
                f"{a} + {c}",
                f"{c}*{a}",
                f"{a} - {b}",
                f"{a}*{b}",
                f"{a} + {c}*{b}",
                f"{a} % {c}",
                f"{a} // {c}",
                f"ceildiv({a}, {c})",
                f"min({a}, {b})",
                f"max({a} - 2, {b})",
                f"({a} + {b}) % {c} + 1",
                f"{a} // {c} - {b}",
            ]
        )


def refuses_a_default(signature):
    """Whether a rule over one parameter alone does not hold for its default, which is a diagnostic."""
    defaults = {param.name: param.default.value for param in signature.arguments if param.default}
    defaults |= {
        f"{param.name}.given": int(param.default.value is not None)
        for param in signature.arguments
        if param.default and isinstance(param.type, Optional)
    }
    alone = [
        rule for rule in signature.rules if len({*rule.names}) == 1 and rule.names[0] in defaults
    ]
    defaults |= {name: value.encode() for name, value in defaults.items() if isinstance(value, str)}
    for param in signature.arguments:
        if isinstance(param.type, Scalar) and param.type.dtype in FLOAT_RANGES and param.default:
            defaults[param.name] = Float(param.default.value, param.type.dtype)
    return any(
        not holds_with(rule, defaults)
        for rule in alone
        if isinstance(defaults[rule.names[0]], (int, Float, bytes))
    )


def generate_signature(rng):
    """A random signature without diagnostics, and values of its symbols that an accepted call can
    have.
    """
    while True:
        draft = Draft(rng)
        try:
            signature = Signature(draft.text())
            args = Builder(rng, signature, draft.values).args()
            call = Call(signature, "cpu")
            call.check(args)
        except (ValueError, Unsolvable, Fault):
            continue
        if any(
            use.role != "stride"
            for use in signature.uses
            if use.expr and {*use.expr.names} & signature.stride_uses.keys()
        ):
            continue  # the language leaves dims over symbols that only strides bind
        rules, kept = Rules(rng, signature, call.values), []
        for _ in range(rng.choice([0, 0, 1, 1, 2, 2, 3, 4])):
            rule = rules.rule()
            try:
                longer = rule and Signature(draft.text([*kept, rule]))
            except ValueError:  # no combination of dtypes is left
                continue
            if longer and not refuses_a_default(longer) and check(longer, args) is None:
                kept.append(rule)
        text = draft.text(kept)
        return text, Signature(text), draft.values, args


def other_values(rng, values):
    def other(value):
        return rng.choice(
            [value, value, value, value + 1, 2 * value, 3 * value, 1, 0, 2, rng.randint(0, 9), 16]
        )

    def changed(value):
        if not isinstance(value, list):
            return other(value)
        return [other(extent) for extent in value][: rng.choice([0, 1, 2, 9])] + [
            rng.choice([1, 2])
        ] * rng.choice([0, 0, 1])

    keep = rng.choice([0, 0.5, 0.8])
    own = {name: value for name, value in values.items() if "." not in name}
    return with_counts(
        {name: value if rng.random() < keep else changed(value) for name, value in own.items()}
    )


def generate_args(rng, signature, values):
    """As the values of symbols ask, or others if they can be had; rules may forbid them."""
    for attempt in range(4):
        try:
            return Builder(
                rng, signature, other_values(rng, values) if attempt < 3 else values
            ).args()
        except Unsolvable:
            pass
    return None


def generate_call(rng, signature, values, known):
    """Arguments and their outcome. `known` are arguments that are accepted."""
    if rng.random() < 0.25:
        for _ in range(3):
            args = generate_args(rng, signature, values)
            if args is not None and check(signature, args) is None:
                return args, None
        return known, None
    args = generate_args(rng, signature, values)
    if args is None or rng.random() < 0.4 and check(signature, args):
        args = known if args is None or rng.random() < 0.5 else args
    args = json.loads(json.dumps(args))
    mutator = Mutator(rng, signature, args)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutator.mutate()
    return args, check(signature, args)


def generate_line(seed, index, n_calls):
    rng = random.Random(f"{seed}/{index}")  # so that a line does not depend on the others
    text, signature, values, known = generate_signature(rng)
    calls = []
    for _ in range(n_calls):
        args, outcome = generate_call(rng, signature, values, known)
        calls.append(
            {"args": args, "expect": outcome and {"kind": outcome[0], "message": outcome[1]}}
        )
    return json.dumps({"signature": text, "calls": calls})


def generate(seed, n_signatures, n_calls):
    """The lines, in order."""
    with multiprocessing.Pool() as pool:
        jobs = zip(itertools.repeat(seed), range(n_signatures), itertools.repeat(n_calls))
        yield from pool.starmap(generate_line, jobs, chunksize=32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signatures", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args()
    for line in generate(options.seed, options.signatures, options.calls):
        print(line, file=options.out)


if __name__ == "__main__":
    main()
