# SPDX-License-Identifier: Apache-2.0
"""Kernel files, read by themselves and by a Python program that has run them: the functions of the
suite, of the page of the language and of the examples become the same operations, at the same
lines, or have the same mistakes.
"""

import linecache
import re
import sys
import types
from pathlib import Path

import pytest
from kernpack import _native
from kernpack._jit import JitFunction
from kernpack._program import Program

REPOSITORY = Path(__file__).resolve().parents[1]
# Where files take in others from.
EXAMPLES = REPOSITORY / "examples/kernels"
sys.path.insert(0, str(EXAMPLES))
CASE = str(EXAMPLES / "case.py")
PAGES = sorted((REPOSITORY / "tests/suite/kernels").glob("*.md"))


def blocks(page, words):
    """The blocks of a page that begin with one of these words, each with the line it is in."""
    text = page.read_text()
    pattern = rf"^```({'|'.join(words)})\n(.*?)^```$"
    for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start()) + 1, found[2]


def cases():
    pages = [(page, ["kernels"]) for page in PAGES]
    pages.append((REPOSITORY / "docs/language.md", ["python packed"]))
    for page, words in pages:
        for line, text in blocks(page, words):
            yield pytest.param("import kernpack as kp\n" + text, id=f"{page.stem}:{line}")
    for example in sorted(EXAMPLES.glob("*.py")):
        if "@kp.jit" in example.read_text():
            yield pytest.param(example.read_text(), id=example.stem)


def operations(request, name):
    """What the kernels of a function become, or what is wrong, each with its line."""
    answer = _native.emit(request, {}, "ir", name)
    if "error" not in answer:
        return "\n".join(part["text"] for part in answer["kernels"])
    told = answer["error"]["diagnostics"]
    assert told or "no kernel of it is written here" in answer["error"]["text"]
    return {(each["code"], each["message"], each["labels"][0]["line"]) for each in told}


def of_file(text, name):
    return operations({"name": CASE, "text": text, "base": str(EXAMPLES)}, name)


def of_program(function):
    program = Program(function.function, function.__kernpack_source__, function.owner)
    request = {
        "name": program.name,
        "text": program.text(function._said([])),
        "base": str(EXAMPLES),
        "places": list(program.places),
    }
    return operations(request, function.name)


def run(text):
    """The functions of a text that has a signature each; none where Python does not run it."""
    linecache.cache[CASE] = (len(text), None, text.splitlines(True), CASE)
    # Python finds the text of a class by way of its module.
    module = sys.modules["case"] = types.ModuleType("case")
    module.__file__ = CASE
    names = vars(module)
    try:
        exec(compile(text, CASE, "exec"), names)
    except Exception:
        return []
    found = [value for value in names.values() if isinstance(value, JitFunction)]
    return [each for each in found if each.options.signature is not None]


@pytest.mark.parametrize("text", cases())
def test_a_file_means_the_same_with_and_without_python(text):
    for function in run(text):
        expected, found = of_file(text, function.name), of_program(function)
        if isinstance(expected, str):
            assert found == expected
        else:
            # A file is read as a whole.
            assert not isinstance(found, str) and found <= expected, (found, expected)


def test_most_of_the_suite_is_run_by_python():
    n_functions = [len(run(case.values[0])) for case in cases()]
    assert n_functions.count(0) < len(n_functions) / 10
