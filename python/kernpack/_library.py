# SPDX-License-Identifier: Apache-2.0
"""Where the two libraries of this package lie. The command line needs that too, which imports
nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path


def library_path(name: str) -> Path:
    """The library of that name: beside this file, or where `KERNPACK_NATIVE` says."""
    path = Path(os.environ.get("KERNPACK_NATIVE") or Path(__file__).resolve().parent, name)
    if not path.is_file():
        raise ImportError(
            f"{path} is missing; build it and this package by `pip install .` in the folder of "
            "the project"
        )
    return path
