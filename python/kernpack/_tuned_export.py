# SPDX-License-Identifier: Apache-2.0
"""A tuned function as one that is compiled ahead: winners behind conditions on what calls are tuned
for, and behind all of them what any other call takes.

It is a jit function like any other, whose text is written here. Not here: which winners there are
(`_tuned.py`).
"""

from __future__ import annotations

import ast
import dataclasses
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import _jit, _source
from ._program import parameters
from ._tuning_key import Items, Key

if TYPE_CHECKING:
    from ._config import Config
    from ._jit import JitFunction
    from ._tuned import TunedFunction


def joined(
    of: TunedFunction,
    items: Items,
    part: Callable[[Config], JitFunction],
    winners: Sequence[tuple[Key, Config]],
    otherwise: Config,
) -> JitFunction:
    """The function that is called with a winner where a call has its key."""
    keys: dict[Config, list[Key]] = {}
    for key, config in winners:
        if config != otherwise:
            keys.setdefault(config, []).append(key)
    names: dict[str, Any] = dict(items.functions)
    calls: list[str] = []
    for number, config in enumerate([*keys, otherwise]):
        names[f"{_PREFIX}{number}"] = part(config)
        calls.append(_call(of, config, f"{_PREFIX}{number}", names))
    conditions = [" or ".join(map(items.condition, of_config)) for of_config in keys.values()]
    text = _text(of, conditions, calls)
    place = _source.SourceText(of.__name__, text, f"<winners of {of.__name__}>", 1)
    options = dataclasses.replace(of.options, given={})
    return _jit.made(_function(of, text, names), place, options)


_PREFIX = "_with_"


def _call(of: TunedFunction, config: Config, callee: str, names: dict[str, Any]) -> str:
    """A call with a config, whose constants are names."""
    args = list(_own(of))
    for name in parameters(of.function):
        if name in config.values:
            names[f"{callee}_{name}"] = config.values[name]
            args.append(f"{name}={callee}_{name}")
    word = "return " if _returns(of) else ""
    return f"{word}{callee}({', '.join(args)})"


def _text(of: TunedFunction, conditions: Sequence[str], calls: Sequence[str]) -> str:
    """The text: results are among the parameters that a function with a signature has itself."""
    lines, word = [f"def {of.__name__}({', '.join(_own(of))}):"], "if"
    for condition, call in zip(conditions, calls):
        lines += [f"    {word} {condition}:", f"        {call}"]
        word = "elif"
    lines += ["    else:", f"        {calls[-1]}"] if conditions else [f"    {calls[-1]}"]
    return "\n".join([*lines, ""])


def _own(of: TunedFunction) -> Sequence[str]:
    """The parameters of the function, but for those that configs give and the object of a method."""
    own = parameters(of.function)[int(of.owner is not None) :]
    return own if of.is_signed else of.parameters.names


def _returns(of: TunedFunction) -> bool:
    """Whether a call returns something that its arguments are not."""
    tree = ast.parse(of.__kernpack_source__.text)
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree))


def _function(of: TunedFunction, text: str, names: Mapping[str, Any]) -> types.FunctionType:
    kp = sys.modules[str(__package__)]
    scope: dict[str, Any] = {**names, "kp": kp, "__name__": of.__module__}
    exec(compile(text, f"<winners of {of.__name__}>", "exec"), scope)
    made: types.FunctionType = scope[of.__name__]
    known, of_callers = of.function.__annotations__, of.parameters
    made.__annotations__ = {name: known[name] for name in _own(of) if name in known}
    made.__defaults__ = tuple(
        of_callers.defaults[name] for name in of_callers.names if name in of_callers.defaults
    )
    return made
