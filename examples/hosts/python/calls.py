# SPDX-License-Identifier: Apache-2.0
"""Reads calls.txt, and writes outcomes as every host writes them."""

import re
from dataclasses import dataclass
from pathlib import Path


class NotExpressible(Exception):
    """The host has no way to make the call."""


@dataclass
class TensorSpec:
    dtype: str
    shape: tuple[int, ...]
    is_out: bool
    is_null: bool
    offset: int

    @property
    def size(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass
class ShapeSpec:
    extents: tuple[int, ...]


@dataclass
class Call:
    number: int
    text: str
    function: str
    args: list


TENSOR = re.compile(r"(out:|null:)?(float32|float64|int64)\[([\d,]*)\](?:\+(\d+))?")


def parse_arg(words):
    word = words.pop(0)
    if word == "(":
        elements = []
        while words[0] != ")":
            elements.append(parse_arg(words))
        words.pop(0)
        return tuple(elements)
    if word in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[word]
    if word.startswith("Shape["):
        return ShapeSpec(tuple(map(int, word[6:-1].split(","))))
    if found := TENSOR.fullmatch(word):
        prefix, dtype, extents, offset = found.groups()
        shape = tuple(map(int, extents.split(",")))
        return TensorSpec(dtype, shape, prefix == "out:", prefix == "null:", int(offset or 0))
    return float(word) if "." in word else int(word)


def read_calls(path):
    lines = Path(path).read_text().splitlines()
    texts = [line for line in lines if line and not line.startswith("#")]
    for number, text in enumerate(texts, 1):
        words = text.split()
        function, args = words.pop(0), []
        while words:
            args.append(parse_arg(words))
        yield Call(number, text, function, args)


def ok(tensors):
    """`tensors`: the values of each, as flat lists."""
    return " ".join(
        ["ok:"] + ["[" + " ".join(f"{value:g}" for value in values) + "]" for values in tensors]
    )


def show(call, outcome):
    print(f"{call.number:2} {call.text}\n   {outcome}")
