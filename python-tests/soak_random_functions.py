# SPDX-License-Identifier: Apache-2.0
"""Compiles and checks random functions in one process, and tells of each that is not answered as it
should be: by a result, by a `CompileError` whose places lie within the text, or by an exception of a
call. A process that is gone, or takes too long for one function, is told with the function.

    soak_random_functions.py [COUNT] [SEED]

`random_functions.text_of(SEED + number)` is the text of each; without a seed a new one is drawn.
"""

from __future__ import annotations

import faulthandler
import linecache
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.modules["torch"] = None  # type: ignore[assignment]

import numpy as np
import random_functions

import kernpack as kp

FOUND = 3
"""The status of a process that has gone through all, and found something."""
LIMIT_S = 120
"""How long one function may take; on a machine that has much else to do, too."""
ANSWERS = (kp.CompileError, TypeError, ValueError, BufferError)
"""The last one is NumPy's, of what it hands to nobody."""
ARRAYS = {1: (8,), 2: (8, 8), 3: (2, 4, 8)}


def tensor(text: str) -> Any:
    """An array for a tensor of a signature."""
    match = re.match(r"Tensor\(\[([^\]]*)\](?:, (\w+))?", text)
    dims = [each for each in match[1].split(",") if each.strip()] if match else ["n"]
    shape = [int(each) if each.strip().isdigit() else 8 for each in dims]
    name = match[2] if match and match[2] else "float32"
    try:
        return np.ones(shape, name)
    except TypeError:
        return np.ones(shape, "float32")


def arguments(function: kp.JitFunction, seed: int) -> list[Any]:
    """Arguments that may fit."""
    names = function.parameters.names
    said = function.options.signature
    if said is None:
        shapes = [ARRAYS[1 + (seed + number) % 2] for number in range(len(names))]
        given: list[Any] = [np.ones(shape, "float32") for shape in shapes]
        if len(given) == 3:
            given[2] = [3, 2.5, True, (1, 2.0)][seed % 4]
        return given
    given = []
    for name in names:
        at = re.search(rf"\b{name}: ", said)
        rest = said[at.end() :] if at else ""
        if rest.startswith("Tensor"):
            given.append(tensor(rest))
        else:
            given.append(1.5 if rest.startswith(("float", "bfloat")) else 3)
    return given


def wrong_place(error: kp.CompileError, file: str, lines: list[str]) -> str | None:
    """A place of an error that is none of the text. What is wrong with a function of another file
    has its place there, and a place in the text, from where it is called.
    """
    for problem in error.diagnostics:
        files = [label["file"] for label in problem["labels"]]
        if files and file not in files:
            return f"{problem['code']}: places in {', '.join(files)} alone"
        for label in problem["labels"]:
            if label["file"] != file:
                continue
            if label["line"] is None:
                continue
            if not 1 <= label["line"] <= len(lines):
                return f"{problem['code']}: line {label['line']} of {len(lines)}"
            if not 1 <= label["column"] <= len(lines[label["line"] - 1]) + 1:
                return f"{problem['code']}: column {label['column']} of line {label['line']}"
    return None


def try_one(function: kp.JitFunction, seed: int, file: str, lines: list[str]) -> tuple[str, str]:
    """What becomes of a function, and what is wrong with that."""
    try:
        checked = function.check(*arguments(function, seed), seed=seed % 97)
    except ANSWERS as error:
        is_compile = isinstance(error, kp.CompileError)
        wrong = wrong_place(error, file, lines) if is_compile else None
        if is_compile and not error.diagnostics:
            wrong = f"an error without a diagnostic: {error}"
        return type(error).__name__, wrong or ""
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    for finding in checked.findings:
        if finding.line is not None and not 1 <= finding.line <= len(lines):
            return "finding", f"{finding.code}: line {finding.line} of {len(lines)}"
    return "ok" if checked.ok else "finding", ""


def run(seed: int) -> list[tuple[str, str]]:
    """What becomes of the functions of a seed."""
    text, file = random_functions.text_of(seed), f"<random {seed}>"
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = (len(text), None, lines, file)
    scope: dict[str, Any] = {"kp": kp}
    try:
        exec(compile(text, file, "exec", dont_inherit=True), scope)
    except (TypeError, ValueError, NameError) as error:
        # What decorators refuse, and what Python itself does as it defines functions.
        return [(f"decorator: {type(error).__name__}", "")]
    except Exception as error:
        return [("decorator", f"{type(error).__name__}: {error}")]
    functions = [each for each in scope.values() if isinstance(each, kp.JitFunction)]
    bare = [each.rstrip("\n") for each in lines]
    told = [try_one(function, seed, file, bare) for function in functions]
    del linecache.cache[file]
    return told


def work(first: int, count: int, journal: Path) -> int:
    """Tries seeds; a journal has the last one."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    n_wrong, slowest = 0, (0.0, first)
    for seed in range(first, first + count):
        journal.write_text(str(seed))
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        begin = time.perf_counter()
        for outcome, wrong in run(seed):
            outcomes[outcome] += 1
            if wrong:
                n_wrong += 1
                print(f"seed {seed}: {wrong}", flush=True)
        slowest = max(slowest, (time.perf_counter() - begin, seed))
        faulthandler.cancel_dump_traceback_later()
    print(
        f"{count} texts: {dict(outcomes.most_common())}; slowest {slowest[0]:.1f} s: {slowest[1]}"
    )
    return FOUND if n_wrong else 0


def main(count: int, seed: int | None) -> int:
    """Has a process do the work, and another one go on behind a text that ended it."""
    first = int(time.time_ns() // 1000 % 10**9) if seed is None else seed
    print(f"seed {first}", flush=True)
    end, n_gone = first + count, 0
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        while first < end:
            command = [sys.executable, __file__, "work", str(first), str(end - first), str(journal)]
            returned = subprocess.run(command).returncode
            if returned in (0, FOUND):
                return max(status, returned)
            first, n_gone, status = int(journal.read_text()) + 1, n_gone + 1, 1
            print(f"seed {first - 1}: the process ended with {returned}", flush=True)
            if n_gone == 20:
                break
    return status


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        sys.exit(work(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
    numbers = [int(each) for each in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else 10_000, numbers[1] if len(numbers) > 1 else None))
