# SPDX-License-Identifier: Apache-2.0
"""The texts of functions and classes that a program defines, for the compiler to read.

A function's text is what stands in its file, notebook cell or interpreter session, decorators
included; it is read once, when the decorator runs. A lambda's is the expression alone. Not here:
what the names in it are (`_captured.py`).
"""

from __future__ import annotations

import __future__

import ast
import functools
import inspect
import linecache
import os
import textwrap
import time
import types
from typing import Any, Iterator, NamedTuple, Sequence


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


def read_def(function: types.FunctionType, what: str) -> SourceText:
    """The text of a function that a decorator makes a kernel or a jit function of."""
    if function.__code__.co_name == _LAMBDA:
        raise TypeError(f"a lambda has no statements: write {what} as a `def`")
    return read(function)


def read(function: types.FunctionType) -> SourceText:
    """The text of a function.

    Raises `TypeError`, which says what to do, where Python does not have it.
    """
    code = function.__code__
    # A function may have been given another name.
    name, file = code.co_name, code.co_filename
    if code.co_flags & _ASYNC:
        raise TypeError(f"`{function.__qualname__}` is an async function: write `def`")
    if name == _LAMBDA:
        return _lambda(function)
    try:
        lines, line = inspect.getsourcelines(function)
    except (OSError, TypeError, IndentationError, SyntaxError) as error:
        raise TypeError(_unread(function, str(error))) from None
    text = "".join(lines)
    if not _defines(text, name):
        raise TypeError(_unread(function, f"line {line} of it does not define it any more"))
    if _is_edited(file) and not is_that(code, "".join(linecache.getlines(file))):
        raise TypeError(_unread(function, "it was edited, and has not been imported anew"))
    return _in_its_columns(name, text, file, line)


def read_class(owner: type, methods: Sequence[types.FunctionType]) -> SourceText:
    """The text of a class that has these functions.

    Raises `TypeError`, which says what to do, where Python does not have it.
    """
    name = owner.__name__
    try:
        lines, line = inspect.getsourcelines(owner)
        file = inspect.getsourcefile(owner) or ""
    except (OSError, TypeError, IndentationError, SyntaxError) as error:
        raise TypeError(_without_text(owner.__qualname__, owner.__module__, str(error))) from None
    text = "".join(lines)
    file_text = "".join(linecache.getlines(file)) if _is_edited(file) else None
    if file_text is not None and not all(is_that(each.__code__, file_text) for each in methods):
        reason = "it was edited, and has not been imported anew"
        raise TypeError(_without_text(owner.__qualname__, file, reason))
    return _in_its_columns(name, text, file, line)


def without_decorators(text: SourceText) -> SourceText:
    """The text of a function from its `def` on."""
    try:
        node: Any = ast.parse(text.text).body[0]
    except SyntaxError:
        # The compiler says what is wrong with it.
        return text
    is_inner = isinstance(node, ast.If)
    node = node.body[0] if is_inner else node
    if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
        return text
    lines, n_before = text.text.splitlines(keepends=True), node.lineno - 1
    kept = [*lines[: int(is_inner)], *lines[n_before:]]
    return text._replace(text="".join(kept), line=text.line + n_before - int(is_inner))


def _in_its_columns(name: str, text: str, file: str, line: int) -> SourceText:
    """A text that may stand in a class or in a function: a block that always runs keeps its columns."""
    if text[:1].isspace():
        return SourceText(name, f"if True:\n{text}", file, line - 1)
    return SourceText(name, text, file, line)


_LAMBDA = "<lambda>"
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_BEGAN = time.time()


def _is_edited(file: str) -> bool:
    """Whether a file may be another one than what was imported."""
    try:
        return os.stat(file).st_mtime >= _BEGAN
    except OSError:
        return False


def _defines(text: str, name: str) -> bool:
    """Whether a text is the definition of a function of that name."""
    try:
        tree = ast.parse(textwrap.dedent(text) if text[:1].isspace() else text)
    except SyntaxError:
        # The compiler says what is wrong with it.
        return True
    first = tree.body[0] if tree.body else None
    return isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) and first.name == name


def is_that(own: types.CodeType, file_text: str) -> bool:
    """Whether the text of a file is the one that a function was compiled from. Where something else
    than Python compiles files, as pytest does those with `assert`, that is not known, and taken to
    be so.
    """
    try:
        found = _functions(file_text, own.co_flags & _FUTURE)
    except (SyntaxError, ValueError, RecursionError):
        return False
    place = (own.co_name, own.co_firstlineno)
    there = [each for each in found if (each.co_name, each.co_firstlineno) == place]
    return "assert" in file_text or any(_said_by(each) == _said_by(own) for each in there)


@functools.lru_cache(maxsize=8)
def _functions(file_text: str, flags: int) -> list[types.CodeType]:
    """The code of all functions of a file."""
    made: Any = compile(file_text, "<text>", "exec", flags, dont_inherit=True)
    return list(_codes(made))


_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of the functions within another one."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _codes(const)


def _said_by(code: types.CodeType) -> Any:
    """All of a code but for where it stands."""
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_code, names, [_constant(const) for const in code.co_consts]


def _constant(const: object) -> Any:
    if isinstance(const, types.CodeType):
        return _said_by(const)
    if isinstance(const, str):
        # Of the name of a function within others, which some Pythons keep, the last part.
        return const.rpartition(".<locals>.")[2]
    return repr(const)


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
    found = [piece for piece in pieces if _is_compiled_to(function.__code__, piece)]
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


def _is_compiled_to(own: types.CodeType, piece: str) -> bool:
    """Whether the text of a lambda compiles to the very same code."""
    around = f"def _({', '.join(own.co_freevars)}):\n    return ({piece})\n"
    try:
        made = _functions(around, 0)[0]
    except SyntaxError:
        return False
    # Lambdas among its defaults stand before it.
    codes = [const for const in made.co_consts if isinstance(const, types.CodeType)]
    return any(_said_by(each) == _said_by(own) for each in codes[-1:])


def _unread(function: types.FunctionType, reason: str) -> str:
    return _without_text(function.__qualname__, function.__code__.co_filename, reason)


def _without_text(name: str, file: str, reason: str) -> str:
    return (
        f"the text of `{name}` cannot be read from {file} ({reason}), and kernels are compiled "
        "from their text: write it in a module, in a notebook, or in `exec` with a text that "
        "`linecache` has"
    )
