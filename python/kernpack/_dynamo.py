# SPDX-License-Identifier: Apache-2.0
"""What `torch.compile` is told of this package: its Python is not traced.

A call of a jit function breaks a graph, and is made between the parts. What runs inside of such a
call is Python with tensors in its frames, which PyTorch would compile otherwise, and some of which
it cannot. Not here: operators, which stand in graphs (`torch.py`).
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

_TOLD: set[Any] = set()
"""The modules of PyTorch that were told, of which there is one."""


def leave_alone() -> None:
    """Has PyTorch leave the frames of this package alone, once it compiles."""
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    if rules is None or rules in _TOLD:
        return
    _TOLD.add(rules)
    # PyTorch may have another way one day; then frames are traced as those of any other package.
    with contextlib.suppress(AttributeError, TypeError):
        rules.add(__package__)
