# SPDX-License-Identifier: Apache-2.0
"""Kernels and jit functions at random: whatever Python has, and changes of the kernels of this
repository. `soak_random_functions.py` compiles them, and `test_random_functions.py` some of them.

A text is made from a seed. It is Python; whether it is a kernel is what is asked.
"""

from __future__ import annotations

import ast
import copy
import functools
import random
import re
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
FOLDERS = ["examples/kernels/*.py", "tests/suite/kernels/*.md", "docs/*.md"]
BLOCK = re.compile(r"^```(?:kernels|python)\n(.*?)^```$", re.M | re.S)

# What generated functions find around them: a value of each kind, and what no kernel can hold.
AROUND = """\
import dataclasses, enum, math
import numpy as np

@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4
    names: tuple = ("a", 2.5, None)

class Size(enum.IntEnum):
    SMALL = 3

def helper(a, b=2, *, c=1.5):
    return a * b + c

N, BY, NAME, PAIR, CONFIG, TABLE = 8, 0.5, "float16", (1, (2.0, True)), Config(), {"a": 1}
ARRAY, LAMBDA, größe = np.zeros(3), lambda v: v + BY, 2
LAYOUT = kp.make_layout((2, 4), stride=(4, 1))
"""
NAMES = ["x", "y", "n", "i", "v", "N", "BY", "NAME", "PAIR", "CONFIG", "TABLE", "ARRAY", "LAMBDA"]
NAMES += ["helper", "größe", "LAYOUT", "Size", "math", "np", "kp", "range", "len", "min", "print"]
TEXTS = ["", "a", "float32", "ß🦀", "x[0]\n", "{}", "\\", "\t", "é" * 40]
NUMBERS: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    31,
    32,
    255,
    2**31,
    2**63,
    2**64,
    -(2**63),
    10**40,
    2**300,
]
NUMBERS += [0.0, -0.0, 0.5, 1e-40, 3.4e38, 1e308, 1e999, 1j, True, False, None, ..., b"b"]


@functools.lru_cache(maxsize=None)
def corpus() -> list[ast.Module]:
    """The kernels of this repository, as far as they are functions and constants."""
    found = []
    for pattern in FOLDERS:
        for path in sorted(REPOSITORY.glob(pattern)):
            text = path.read_text()
            blocks = BLOCK.findall(text) if path.suffix == ".md" else [text]
            found += [made for made in map(_kernels_of, blocks) if made is not None]
    return found


def _kernels_of(text: str) -> ast.Module | None:
    if "@kp.kernel" not in text:
        return None
    try:
        module = ast.parse(text)
    except SyntaxError:
        return None
    kept = [each for each in module.body if _is_kept(each)]
    return ast.Module(body=kept, type_ignores=[])


def _is_kept(stmt: ast.stmt) -> bool:
    """Whether it only defines something: all else would run."""
    if isinstance(stmt, ast.FunctionDef):
        decorators = [ast.unparse(each) for each in stmt.decorator_list]
        return all(each.startswith(("kp.kernel", "kp.jit")) for each in decorators)
    is_value = isinstance(stmt, ast.Assign) and isinstance(stmt.value, (ast.Constant, ast.Tuple))
    return is_value or isinstance(stmt, ast.ImportFrom) and stmt.module == "kernpack"


@functools.lru_cache(maxsize=None)
def members() -> list[str]:
    """The members of kernpack that kernels use."""
    texts = (ast.unparse(module) for module in corpus())
    return sorted({name for text in texts for name in re.findall(r"\bkp\.(\w+)", text)})


@functools.lru_cache(maxsize=None)
def donors() -> list[ast.expr]:
    """The expressions of the corpus."""
    return [node for module in corpus() for node in ast.walk(module) if isinstance(node, ast.expr)]


class Maker:
    """Makes parts of programs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.choice, self.chance = self.random.choice, lambda part: self.random.random() < part

    # Expressions

    def name(self) -> str:
        return self.choice(NAMES)

    def constant(self) -> ast.expr:
        return ast.Constant(self.choice(TEXTS) if self.chance(0.15) else self.choice(NUMBERS))

    def leaf(self) -> ast.expr:
        if self.chance(0.3):
            return self.constant()
        if self.chance(0.3):
            return ast.Attribute(ast.Name("kp", ast.Load()), self.choice(members()), ast.Load())
        return ast.Name(self.name(), ast.Load())

    def expr(self, depth: int) -> ast.expr:
        if depth <= 0 or self.chance(0.2):
            return self.leaf()
        if self.chance(0.2):
            return copy.deepcopy(self.choice(donors()))
        return self.choice(EXPRESSIONS)(self, depth - 1)

    def exprs(self, depth: int, most: int = 3) -> list[ast.expr]:
        return [self.expr(depth) for _ in range(self.random.randint(0, most))]

    def binary(self, depth: int) -> ast.expr:
        operator = self.choice(ast.operator.__subclasses__())()
        return ast.BinOp(self.expr(depth), operator, self.expr(depth))

    def unary(self, depth: int) -> ast.expr:
        return ast.UnaryOp(self.choice(ast.unaryop.__subclasses__())(), self.expr(depth))

    def truth(self, depth: int) -> ast.expr:
        values = [self.expr(depth), self.expr(depth), *self.exprs(depth, 1)]
        return ast.BoolOp(self.choice([ast.And, ast.Or])(), values)

    def compare(self, depth: int) -> ast.expr:
        count = self.random.randint(1, 3)
        operators = [self.choice(ast.cmpop.__subclasses__())() for _ in range(count)]
        return ast.Compare(self.expr(depth), operators, [self.expr(depth) for _ in range(count)])

    def call(self, depth: int) -> ast.expr:
        args = self.exprs(depth)
        if self.chance(0.05):
            args.append(ast.Starred(self.expr(depth), ast.Load()))
        keywords = []
        if self.chance(0.2):
            name = self.choice(["grid", "block", "dtype", "a", None])
            keywords.append(ast.keyword(name, self.expr(depth)))
        return ast.Call(self.expr(min(depth, 1)), args, keywords)

    def attribute(self, depth: int) -> ast.expr:
        names = ["shape", "stride", "element_type", "width", "to", "launch", "real", "fill"]
        return ast.Attribute(self.expr(depth), self.choice([*names, *members()]), ast.Load())

    def subscript(self, depth: int) -> ast.expr:
        of = ast.Name(self.choice(["x", "y"]), ast.Load()) if self.chance(0.6) else self.expr(depth)
        return ast.Subscript(of, self.index(depth), ast.Load())

    def index(self, depth: int) -> ast.expr:
        if self.chance(0.2):
            ends = [self.expr(depth) if self.chance(0.6) else None for _ in range(3)]
            return ast.Slice(*ends)
        return self.expr(depth)

    def conditional(self, depth: int) -> ast.expr:
        return ast.IfExp(self.expr(depth), self.expr(depth), self.expr(depth))

    def function(self, depth: int) -> ast.expr:
        return ast.Lambda(self.arguments(depth), self.expr(depth))

    def walrus(self, depth: int) -> ast.expr:
        return ast.NamedExpr(ast.Name(self.name(), ast.Store()), self.expr(depth))

    def collection(self, depth: int) -> ast.expr:
        items = self.exprs(depth)
        if self.chance(0.2):
            return ast.Dict([self.expr(depth) for _ in items], items)
        if self.chance(0.1):
            return ast.Set([self.expr(depth), *items])
        return self.choice([ast.List, ast.Tuple])(items, ast.Load())

    def comprehension(self, depth: int) -> ast.expr:
        target = ast.Name(self.choice(["i", "v", "größe"]), ast.Store())
        loop = ast.comprehension(target, self.expr(depth), self.exprs(depth, 1), 0)
        if self.chance(0.1):
            return ast.DictComp(self.expr(depth), self.expr(depth), [loop])
        kind = self.choice([ast.ListComp, ast.SetComp, ast.GeneratorExp])
        return kind(self.expr(depth), [loop])

    def text(self, depth: int) -> ast.expr:
        shown = ast.FormattedValue(self.leaf(), -1, None)
        return ast.JoinedStr([ast.Constant("ß"), shown])

    def made_later(self, depth: int) -> ast.expr:
        if self.chance(0.5):
            return ast.Yield(self.expr(depth))
        return ast.YieldFrom(self.expr(depth))

    # Statements

    def block(self, depth: int, in_loop: bool = False) -> list[ast.stmt]:
        return [self.stmt(depth, in_loop) for _ in range(self.random.randint(1, 4))]

    def stmt(self, depth: int, in_loop: bool = False) -> ast.stmt:
        if in_loop and self.chance(0.1):
            return self.choice([ast.Break, ast.Continue])()
        kinds = SIMPLE if depth <= 0 or self.chance(0.6) else COMPOUND
        return self.choice(kinds)(self, depth - 1, in_loop)

    def target(self) -> ast.expr:
        if self.chance(0.4):
            return ast.Name(self.choice(["i", "v", "n", "größe", "x"]), ast.Store())
        if self.chance(0.7):
            of = ast.Name(self.choice(["x", "y", "v"]), ast.Load())
            return ast.Subscript(of, self.index(1), ast.Store())
        if self.chance(0.5):
            return ast.Tuple([self.target(), self.target()], ast.Store())
        return ast.Attribute(self.leaf(), "width", ast.Store())

    def assign(self, depth: int, _: bool) -> ast.stmt:
        targets = [self.target() for _ in range(self.choice([1, 1, 1, 2]))]
        return ast.Assign(targets, self.expr(depth + 2), lineno=1)

    def change(self, depth: int, _: bool) -> ast.stmt:
        target = self.target()
        if isinstance(target, ast.Tuple):
            target = ast.Name("v", ast.Store())
        operator = self.choice(ast.operator.__subclasses__())()
        return ast.AugAssign(target, operator, self.expr(depth + 2))

    def annotate(self, depth: int, _: bool) -> ast.stmt:
        name, value = ast.Name("v", ast.Store()), self.expr(depth + 1)
        return ast.AnnAssign(name, self.leaf(), value if self.chance(0.8) else None, 1)

    def lone(self, depth: int, _: bool) -> ast.stmt:
        return ast.Expr(self.expr(depth + 2))

    def foreign(self, depth: int, _: bool) -> ast.stmt:
        """What kernels have not."""
        return self.choice(
            [
                lambda: ast.Raise(self.leaf(), None),
                lambda: ast.Delete([self.target()]),
                lambda: ast.Import([ast.alias("math", None)]),
                lambda: ast.ImportFrom("math", [ast.alias("pi", "v")], 0),
                lambda: ast.Global([self.name()]),
                lambda: ast.Nonlocal([self.name()]),
                lambda: ast.Pass(),
                lambda: ast.Expr(self.made_later(depth)),
            ]
        )()

    def require(self, depth: int, _: bool) -> ast.stmt:
        return ast.Assert(self.compare(depth + 1), self.constant() if self.chance(0.2) else None)

    def give(self, depth: int, _: bool) -> ast.stmt:
        return ast.Return(self.expr(depth + 1) if self.chance(0.6) else None)

    def branch(self, depth: int, in_loop: bool) -> ast.stmt:
        otherwise = self.block(depth, in_loop) if self.chance(0.4) else []
        return ast.If(self.expr(depth + 1), self.block(depth, in_loop), otherwise)

    def loop(self, depth: int, in_loop: bool) -> ast.stmt:
        otherwise = self.block(depth, in_loop) if self.chance(0.1) else []
        if self.chance(0.15):
            return ast.While(self.compare(depth), self.block(depth, True), otherwise)
        over = self.choice(["range", "kp.range", "kp.range_constexpr", "enumerate", "zip"])
        count = self.choice([ast.Constant(self.choice([0, 1, 2, 5])), self.leaf()])
        iterable = ast.Call(ast.parse(over, mode="eval").body, [count], [])
        if self.chance(0.2):
            iterable = self.expr(depth)
        return ast.For(self.target(), iterable, self.block(depth, True), otherwise, lineno=1)

    def odd_block(self, depth: int, in_loop: bool) -> ast.stmt:
        body = self.block(depth, in_loop)
        kind = self.random.randrange(6)
        if kind == 0:
            return ast.With([ast.withitem(self.expr(depth), None)], body, lineno=1)
        if kind == 1:
            handler = ast.ExceptHandler(self.leaf(), "v", self.block(depth, in_loop))
            return ast.Try(body, [handler], [], self.block(depth) if self.chance(0.3) else [])
        if kind == 2:
            return ast.ClassDef("v", [], [], body, [], **_PARAMS)
        if kind == 3 and sys.version_info >= (3, 10):
            case = ast.match_case(ast.MatchValue(ast.Constant(1)), None, body)
            return ast.Match(self.expr(depth), [case, ast.match_case(ast.MatchAs(), None, body)])
        kind_of = ast.AsyncFunctionDef if kind == 4 else ast.FunctionDef
        return kind_of("v", self.arguments(depth), body, [], None, lineno=1, **_PARAMS)

    def arguments(self, depth: int) -> ast.arguments:
        names = self.random.sample(["i", "v", "größe", "x"], self.random.randint(0, 3))
        defaults = [self.leaf() for _ in names] if self.chance(0.2) else []
        rest = ast.arg("rest") if self.chance(0.05) else None
        return ast.arguments([], [ast.arg(name) for name in names], rest, [], [], None, defaults)

    # Texts

    def made(self) -> str:
        """Functions of whatever Python has."""
        kernel = self.definition("k", self.block(3))
        sides = [self.launch() if self.chance(0.8) else self.stmt(1) for _ in range(2)]
        packed = self.definition("f", sides if self.chance(0.5) else [self.launch()])
        return f"{AROUND}\n@kp.kernel\n{kernel}\n\n@kp.jit\n{packed}\n"

    def launch(self) -> ast.stmt:
        numbers = ["1", "2", "N", "(2, 3)", "n", "x.shape[0]", "kp.ceil_div(x.shape[0], 4)"]
        grid, block = self.choice(numbers), self.choice(numbers)
        return ast.parse(f"k(x, y, n).launch(grid={grid}, block={block})").body[0]

    def definition(self, name: str, body: list[ast.stmt]) -> str:
        if self.chance(0.1):
            body.insert(0, ast.Expr(ast.Constant("Ein Kern. 🦀")))
        return _text(ast.parse(f"def {name}(x, y, n): pass").body[0], body)

    def mutated(self) -> str:
        """A text of this repository with some changes."""
        module = copy.deepcopy(self.choice(corpus()))
        for _ in range(self.random.randint(1, 4)):
            functions = [each for each in module.body if isinstance(each, ast.FunctionDef)]
            if functions:
                self.mutate(self.choice(functions))
        kernels = [each for each in module.body if _is_kernel(each)]
        launches = "".join(map(_launching, kernels))
        return f"{AROUND}\n{ast.unparse(ast.fix_missing_locations(module))}\n{launches}"

    def mutate(self, function: ast.FunctionDef) -> None:
        if self.chance(0.4):
            self.mutate_block(self.choice(_blocks(function)))
        else:
            _Replace(self).of(function)

    def mutate_block(self, block: list[ast.stmt]) -> None:
        at = self.random.randrange(len(block))
        kind = self.random.randrange(5)
        if kind == 0 and len(block) > 1:
            del block[at]
        elif kind == 1:
            block.insert(at, copy.deepcopy(self.choice(block)))
        elif kind == 2:
            self.random.shuffle(block)
        elif kind == 3:
            block.insert(at, self.stmt(2))
        else:
            block[at] = ast.If(self.expr(2), [block[at]], [])


_PARAMS: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
EXPRESSIONS = [Maker.binary, Maker.unary, Maker.truth, Maker.compare, Maker.call, Maker.attribute]
EXPRESSIONS += [Maker.subscript, Maker.conditional, Maker.function, Maker.walrus, Maker.collection]
EXPRESSIONS += [Maker.comprehension, Maker.text, Maker.call, Maker.subscript, Maker.binary]
SIMPLE = [Maker.assign] * 4 + [Maker.change] * 2 + [Maker.lone, Maker.annotate, Maker.foreign]
SIMPLE += [Maker.require, Maker.give]
COMPOUND = [Maker.branch] * 3 + [Maker.loop] * 3 + [Maker.odd_block]


def _is_kernel(stmt: ast.stmt) -> bool:
    decorators = getattr(stmt, "decorator_list", [])
    return any(ast.unparse(each) == "kp.kernel" for each in decorators)


def _launching(kernel: ast.FunctionDef) -> str:
    """A jit function that launches a kernel."""
    names = [each.arg for each in kernel.args.args]
    head = f"def launch_{kernel.name}({', '.join(names)})"
    return f"\n@kp.jit\n{head}:\n    {kernel.name}({', '.join(names)}).launch(grid=2, block=8)\n"


def _text(function: ast.stmt, body: list[ast.stmt]) -> str:
    function.body = body
    return ast.unparse(ast.fix_missing_locations(function))


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """The blocks within a function."""
    nodes = [node for stmt in function.body for node in ast.walk(stmt)]
    parts = [getattr(node, name, None) for node in nodes for name in ("body", "orelse")]
    return [function.body, *(part for part in parts if isinstance(part, list) and part)]


class _Replace(ast.NodeTransformer):
    """Replaces an expression of a function's body."""

    def __init__(self, maker: Maker) -> None:
        self.maker, self.at = maker, -1

    def of(self, function: ast.FunctionDef) -> None:
        nodes = [node for stmt in function.body for node in ast.walk(stmt)]
        self.at = self.maker.random.randrange(sum(map(_is_read, nodes)) or 1)
        function.body = [self.visit(stmt) for stmt in function.body]

    def visit(self, node: ast.AST) -> Any:
        if _is_read(node):
            self.at -= 1
            if self.at == -1:
                return self.other(node)
        return self.generic_visit(node)

    def other(self, node: Any) -> ast.expr:
        maker = self.maker
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and maker.chance(0.5):
            node.op = maker.choice(type(node.op).__bases__[0].__subclasses__())()
            return node
        if isinstance(node, ast.Constant) and maker.chance(0.7):
            return maker.constant()
        return maker.choice([maker.leaf, lambda: maker.expr(2), lambda: maker.expr(1)])()


def _is_read(node: ast.AST) -> bool:
    """Whether it is an expression that another one can stand for."""
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Slice, ast.Starred)):
        return False
    is_part = isinstance(node, (ast.JoinedStr, ast.FormattedValue))
    return not is_part and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def text_of(seed: int) -> str:
    """The text of a seed: it is Python, and begins in its first line."""
    maker = Maker(seed)
    while True:
        try:
            text = maker.made() if maker.chance(0.5) else maker.mutated()
            compile(text, "<random>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, TypeError, AttributeError):
            # Not all that can be put together is Python.
            continue
        return text
