# SPDX-License-Identifier: Apache-2.0
"""The names of the language of kernels, where Python itself asks for them: functions with the
parameters and the sentences of the stub beside this file, which say where they are called.

So `help(kp.exp)` and completion know them, and a call in the wrong place is told so. Not here: what
Python has too (`_algebra.py`), and what they mean (docs/language.md).
"""

from __future__ import annotations

import ast
import functools
import inspect
from pathlib import Path
from typing import Any, NoReturn

from ._values import Tensor

WARP_SIZE = 32


class AsyncGroup:
    """What copies belong to that go on by themselves."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"kp.{self._name}"


async_group = AsyncGroup("async_group")
bulk_group = AsyncGroup("bulk_group")


class Device:
    """The GPU of a call, of which functions under `@kp.jit` ask."""

    def __repr__(self) -> str:
        return "kp.device"

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"`kp.device.{name}` is for functions under `@kp.jit`, which kernpack compiles and Python "
            "does not run"
        )


device = Device()

_OF_JIT = ("aligned", "empty", "max_blocks", "static", "view", "zeros")
"""The functions that kernels have not."""


_OF_PYTHON = ("AsyncGroup", "Device")
"""The classes of the stub that kernels have no name of."""


@functools.lru_cache(maxsize=None)
def names() -> dict[str, Any]:
    """Every name, with what it is to Python."""
    made: dict[str, Any] = {
        "Tensor": Tensor,
        "WARP_SIZE": WARP_SIZE,
        "async_group": async_group,
        "bulk_group": bulk_group,
        "device": device,
    }
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    for each in stub.body:
        if isinstance(each, ast.FunctionDef) and each.name not in made:
            made[each.name] = _function(each, each.name)
        if isinstance(each, ast.ClassDef) and each.name not in _OF_PYTHON:
            made[each.name] = _class(each)
    return made


def _class(stub: ast.ClassDef) -> Any:
    """A class with the functions and constants of a stub, which makes no objects."""
    functions = [each for each in stub.body if isinstance(each, ast.FunctionDef)]
    members: dict[str, Any] = {
        each.name: staticmethod(_function(each, f"{stub.name}.{each.name}"))
        for each in functions
        if each.name != "__init__"
    }
    for each in stub.body:
        if isinstance(each, ast.AnnAssign) and each.value is not None:
            members[ast.unparse(each.target)] = ast.literal_eval(each.value)
    init = [each for each in functions if each.name == "__init__"]
    for each in init:
        members["__new__"] = staticmethod(_function(each, stub.name))
    return type(stub.name, (), {**members, "__doc__": ast.get_docstring(stub)})


def _function(stub: ast.FunctionDef, name: str) -> Any:
    """A function with the parameters of a stub, which raises, whatever it is given."""
    where = "`@kp.jit`" if stub.name in _OF_JIT else "`@kp.kernel`"

    def refused(*_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"`kp.{name}` is for kernels: functions under {where} call it, which kernpack compiles "
            "and Python does not run"
        )

    made: Any = refused
    made.__name__ = made.__qualname__ = name
    made.__module__, made.__doc__ = "kernpack", ast.get_docstring(stub)
    made.__signature__ = inspect.Signature(_parameters(stub.args))
    return made


def _parameters(args: ast.arguments) -> list[inspect.Parameter]:
    n_required = len(args.args) - len(args.defaults)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    made = [
        inspect.Parameter(
            arg.arg, kind, default=inspect.Parameter.empty if at < n_required else ...
        )
        for at, arg in enumerate(args.args)
    ]
    if args.vararg is not None:
        made.append(inspect.Parameter(args.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    return made
