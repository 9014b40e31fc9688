# SPDX-License-Identifier: Apache-2.0
"""Errors in a notebook: what is wrong with a kernel, at its lines, behind the lines of the user's that
led there, and none of kernpack's own.

IPython asks an exception for that by a method of its own name. Not here: what Python prints elsewhere,
which is the message below all frames.
"""

from __future__ import annotations

import re
import sys
import traceback
from typing import Any

_HIDDEN = ("kernpack", "tvm_ffi", "IPython")
"""The packages whose frames tell nobody anything."""


class Shown(Exception):
    """An exception whose message shows lines of a text."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints in the place of a traceback."""
        frames = [
            (frame, line)
            for frame, line in traceback.walk_tb(self.__traceback__)
            if str(frame.f_globals.get("__name__")).partition(".")[0] not in _HIDDEN
        ]
        led = traceback.StackSummary.extract(iter(frames)).format()
        text = "".join([*led, f"{type(self).__name__}:\n{self}"])
        return with_cells(text).splitlines()


def with_cells(text: str) -> str:
    """A text in which cells go by their numbers, and not by the files that IPython makes up."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return text
    named = {*re.findall(r'File "(.+?)", line', text), *re.findall(r"[>:] (\S+?):\d+:\d", text)}
    for name in sorted(named):
        label = shell.compile.format_code_name(name)
        if label is not None:
            cell = " ".join(label)
            text = text.replace(f'File "{name}",', f"{cell},").replace(f"{name}:", f"{cell}:")
    return text
