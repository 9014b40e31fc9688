# SPDX-License-Identifier: Apache-2.0
"""Descriptions of signatures, which the library gives as data: the parts that many ask for. Not here:
what extents are in a call (`_shape.py`).
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._argument import is_dict, is_list


def passed_params(description: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parameters that a caller passes: all but `EnvStream`s."""
    return [param for param in description["params"] if param["type"]["kind"] != "env_stream"]


def paths_of(path: str, fields: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of a tuple's elements, as messages have them."""
    names = [part["name"] for part in fields]
    return [f"{path}[{at}]" if name is None else f"{path}.{name}" for at, name in enumerate(names)]


def says(of: Any, word: str) -> bool:
    """Whether a part of a description says something, or one within it does."""
    if is_dict(of):
        return bool(of.get(word)) or any(says(each, word) for each in of.values())
    return is_list(of) and any(says(each, word) for each in of)
