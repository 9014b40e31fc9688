# SPDX-License-Identifier: Apache-2.0
"""What kernels in Python need, and those who look into functions, by the names that users know. Not
here: packages and signatures (`_api_packages.py`), and the names of kernels alone (`_language.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _algebra
from ._algebra import *
from ._algebra import make_identity_layout, shape
from ._bench import Comparison, Figure, Measured, bench, compare
from ._check import CheckError, Checked, Finding, Traffic
from ._config import Config, Prune, prune
from ._emitted import Resources
from ._jit import JitFunction, Variant, compile, jit
from ._layout import Layout, Swizzle, draw
from ._program import Kernel, kernel
from ._suggest import Suggestion, Suggestions, suggest
from ._tuned import Contender, TunedFunction, Tuning, autotune

if TYPE_CHECKING:
    from ._values import Constexpr
else:
    from ._specialise import Constexpr

__all__ = [
    "CheckError",
    "Checked",
    "Comparison",
    "Config",
    "Constexpr",
    "Contender",
    "Figure",
    "Finding",
    "JitFunction",
    "Kernel",
    "Layout",
    "Measured",
    "Prune",
    "Resources",
    "Suggestion",
    "Suggestions",
    "Swizzle",
    "Traffic",
    "TunedFunction",
    "Tuning",
    "Variant",
    "autotune",
    "bench",
    "compare",
    "compile",
    "draw",
    "jit",
    "kernel",
    "make_identity_layout",
    "prune",
    "shape",
    "suggest",
]
__all__ += _algebra.__all__
