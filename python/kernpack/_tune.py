# SPDX-License-Identifier: Apache-2.0
"""`kernpack tune FILE --shapes shapes.toml`: tunes functions of a file for calls that another file
names, and writes the winners into the file that `kp.autotune(file=)` names.

Each table of the shapes is a call, or several, where it has lists. Arguments are made of a function's
signature, or by a function of the file. Not here: tuning itself (`_tuned.py`).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import statistics
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from . import _native, _winners
from ._argument import is_dict, is_list, parts_of
from ._config import Config
from ._description import passed_params
from ._tuned import TunedFunction, Tuning

_MAKER = "arguments"
"""The word of a table for a function of the file that makes the arguments."""
_N_SHOWN = 3


class _Wrong(Exception):
    """Something that the user has said is wrong."""


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    parser = argparse.ArgumentParser(prog="kernpack tune")
    parser.add_argument("file", type=Path)
    parser.add_argument("--shapes", type=Path, required=True)
    parser.add_argument("--seconds", type=float)
    given = parser.parse_args(words)
    try:
        for name, function, values, module in _calls(given.file, given.shapes):
            _tune(name, function, _arguments(name, function, values, module), given.seconds)
    except _Wrong as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _calls(file: Path, shapes: Path) -> Iterator[tuple[str, TunedFunction, dict[str, Any], Any]]:
    """The calls to tune for: a function by its name, and the values of its symbols."""
    try:
        tables = _native.read_toml(shapes.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _Wrong(f"{shapes}: {error}") from None
    module = _module(file)
    for name, given in tables.items():
        function = getattr(module, name, None)
        if not isinstance(function, TunedFunction):
            raise _Wrong(f"{shapes} names `{name}`, which is no tuned function of {file}")
        if function.how.file is None:
            raise _Wrong(f"`{name}` has no file for its winners: write `kp.autotune(…, file=…)`")
        tables_of: Sequence[Any] = given if is_list(given) else [given]
        for table in tables_of:
            if not is_dict(table):
                raise _Wrong(f"{shapes}: expected tables `[[{name}]]`")
            for values in _combinations(table):
                yield name, function, values, module


def _combinations(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A table with each item of its lists."""
    choices: list[Sequence[Any]] = [
        value if is_list(value) else [value] for value in table.values()
    ]
    for values in itertools.product(*choices):
        yield dict(zip(table, values))


def _module(file: Path) -> Any:
    sys.path.insert(0, str(file.absolute().parent))
    found = importlib.util.spec_from_file_location(file.stem, file)
    if found is None or found.loader is None or not file.is_file():
        raise _Wrong(f"{file} is no Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[file.stem] = module
    found.loader.exec_module(module)
    return module


def _arguments(
    name: str, function: TunedFunction, values: dict[str, Any], module: Any
) -> tuple[Any, ...]:
    """The arguments of a call."""
    maker = values.pop(_MAKER, None)
    if maker is not None:
        make = getattr(module, maker, None)
        if not callable(make):
            raise _Wrong(f"`{maker}`, which makes the arguments of `{name}`, is not in the file")
        made: Any = make(**values)
        parts = parts_of(made)
        return (made,) if parts is None else parts
    if not function.is_signed:
        raise _Wrong(
            f"`{name}` has no signature to make arguments of: name a function of the file that makes "
            f"them, `{_MAKER} = …`"
        )
    return tuple(_made(name, param, values) for param in passed_params(_description(function)))


def _description(function: TunedFunction) -> Mapping[str, Any]:
    return _native.describe(function.signature)


def _made(function: str, param: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """An argument: a tensor of random numbers, or zeros of integers, or a value."""
    name, kind = param["name"], param["type"]
    if kind["kind"] == "optional":
        if not values.get(name, False):
            return None
        kind = kind["type"]
    if kind["kind"] != "tensor":
        value = values.get(name, param.get("default"))
        if value is None:
            raise _Wrong(f"a call of `{function}` lacks `{name}`")
        return value
    shape = [_extent(function, text, values) for text in kind["extents"]]
    dtype = values.get(kind["dtype"], kind["dtype"])
    torch = _torch()
    known = getattr(torch, str(dtype), None)
    if known is None:
        raise _Wrong(f"PyTorch has no dtype {dtype}, which `{name}` of `{function}` has")
    is_col = kind["order"] == "col"
    shape = shape[::-1] if is_col else shape
    if known.is_floating_point:
        made = torch.randn(shape, device="cuda").to(known)
    else:
        made = torch.zeros(shape, device="cuda", dtype=known)
    return made.permute(*range(len(shape))[::-1]) if is_col else made


def _torch() -> Any:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise _Wrong("arguments are made by PyTorch, which is not installed") from None
    if not torch.cuda.is_available():
        raise _Wrong("there is no GPU to tune for")
    return torch


def _extent(function: str, text: str, values: Mapping[str, Any]) -> int:
    """The value of an extent of a signature, which is an expression of symbols."""
    try:
        return int(eval(text, {"__builtins__": {}}, dict(values)))
    except NameError as error:
        raise _Wrong(f"a call of `{function}` lacks `{error.name or text}`") from None
    except (SyntaxError, TypeError) as error:
        raise _Wrong(f"`{text}` of `{function}` cannot be computed: {error}") from None


_found: dict[str, list[Tuning]] = {}


def _tune(name: str, function: TunedFunction, args: tuple[Any, ...], seconds: float | None) -> None:
    """Tunes for a call, shows what was found, and writes it down."""
    try:
        tuning = function.tune(*args, seconds=seconds)
    except (RuntimeError, TypeError, ValueError) as error:
        raise _Wrong(f"{name}: {error}") from None
    lines = str(tuning).splitlines()
    print("\n".join(lines[: 1 + _N_SHOWN]), flush=True)
    of_function = _found.setdefault(name, [])
    of_function.append(tuning)
    file = function.how.file
    assert file is not None
    try:
        winners = [*map(_winner, of_function), _otherwise(of_function)]
        _winners.write(file, _winners.merge(_winners.read(file), winners))
    except (OSError, ValueError) as error:
        raise _Wrong(f"cannot write {file}: {error}") from None


def _winner(tuning: Tuning) -> _winners.Winner:
    return _winners.Winner(
        tuning.function,
        tuning.device,
        tuning.kernel,
        tuning.signature,
        tuning.key,
        tuning.config.plain,
        tuning.seconds,
    )


def _otherwise(tunings: Sequence[Tuning]) -> _winners.Winner:
    """The config that is best over all keys: of those that were measured for each, the one with the
    least mean.
    """
    ratios: dict[Config, list[float]] = {}
    for tuning in tunings:
        for each in tuning.contenders:
            if each.ratio is not None:
                ratios.setdefault(each.config, []).append(each.ratio)
    means = {
        config: statistics.geometric_mean(of)
        for config, of in ratios.items()
        if len(of) == len(tunings)
    }
    best = min(means, key=lambda config: means[config]) if means else tunings[-1].config
    return _winner(tunings[-1])._replace(signature=None, key=None, config=best.plain, seconds=None)


if __name__ == "__main__":
    sys.exit(main())
