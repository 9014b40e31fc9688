# SPDX-License-Identifier: Apache-2.0
"""The texts of functions that a program defines, for the compiler to read.

A function's text is what stands in its file, notebook cell or interpreter session, decorators
included; it is read once, when the decorator runs. A lambda's is the expression alone. Not here:
what the names in it are (`_captured.py`).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from typing import NamedTuple


class SourceText(NamedTuple):
    """The text of a function, with the file that it stands in and its first line."""

    name: str
    """The name of the function in the text."""
    text: str
    file: str
    line: int

    @property
    def place(self) -> tuple[str, int]:
        """Its file and its first line."""
        return self.file, self.line


def read(function: types.FunctionType) -> SourceText:
    """The text of a function.

    Raises `TypeError`, which says what to do, where Python does not have it.
    """
    if function.__name__ == "<lambda>":
        return _lambda(function)
    try:
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError, IndentationError, SyntaxError) as error:
        raise TypeError(_unread(function, str(error))) from None
    file = function.__code__.co_filename
    text = "".join(lines)
    if not _defines(text, function.__name__):
        reason = f"line {line} of it does not define it any more"
        raise TypeError(_unread(function, reason))
    if text[:1].isspace():
        # It stands in a class or in another function: a block that always runs keeps its columns.
        return SourceText(function.__name__, f"if True:\n{text}", file, line - 1)
    return SourceText(function.__name__, text, file, line)


def _defines(text: str, name: str) -> bool:
    """Whether a text is the definition of a function of that name."""
    try:
        tree = ast.parse(textwrap.dedent(text) if text[:1].isspace() else text)
    except SyntaxError:
        # The compiler says what is wrong with it.
        return True
    first = tree.body[0] if tree.body else None
    return isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) and first.name == name


def _lambda(function: types.FunctionType) -> SourceText:
    """The text of a lambda: of those that begin in its line, the one that compiles to the same."""
    name, file = "function", function.__code__.co_filename
    line = function.__code__.co_firstlineno
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    except SyntaxError as error:
        raise TypeError(_unread(function, str(error))) from None
    pieces = {ast.get_source_segment(text, node) or "" for node in nodes if node.lineno == line}
    found = [piece for piece in pieces if _is_same(function, piece)]
    if len(found) != 1:
        raise TypeError(_unread(function, f"line {line} has {len(found)} lambdas like it"))
    return SourceText(name, f"{name} = ({found[0]})\n", file, line)


def as_statement(text: SourceText) -> SourceText:
    """The text of a function that is called for what it does: a lambda's body is a statement."""
    node = ast.parse(text.text).body[0] if text.text.startswith(f"{text.name} = (lambda") else None
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Lambda):
        return text
    parameters, body = ast.unparse(node.value.args), node.value.body
    piece = ast.get_source_segment(text.text, body)
    return SourceText(text.name, f"def {text.name}({parameters}): ({piece})\n", *text.place)


def _is_same(function: types.FunctionType, piece: str) -> bool:
    """Whether a text compiles to the function's own code, but for where names are."""
    try:
        code = compile(f"({piece})", "<lambda>", "eval")
    except SyntaxError:
        return False
    codes = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    own = function.__code__
    return any(
        each.co_varnames == own.co_varnames
        and _constants(each) == _constants(own)
        and {*each.co_names, *each.co_freevars} == {*own.co_names, *own.co_freevars}
        for each in codes
    )


def _constants(code: types.CodeType) -> list[object]:
    return [const for const in code.co_consts if not isinstance(const, (types.CodeType, str))]


def _unread(function: types.FunctionType, reason: str) -> str:
    name = function.__qualname__
    file = function.__code__.co_filename
    return (
        f"the text of `{name}` cannot be read from {file} ({reason}), and kernels are compiled "
        "from their text: write it in a module, in a notebook, or in `exec` with a text that "
        "`linecache` has"
    )
