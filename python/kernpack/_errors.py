# SPDX-License-Identifier: Apache-2.0
"""What kernpack raises by itself. Faults of calls are Python's own TypeError, ValueError and
RuntimeError.
"""

from __future__ import annotations

from typing import Any

from ._shown import Shown


class CompileError(Shown):
    """A package cannot be built: the message shows all that is wrong, each at its place.

    `diagnostics` has the same as data, as `kernpack build --json` prints it: a list of dicts with
    `code`, `severity`, `message`, `labels`, `help` and `detail`. It is empty where no text is at
    fault.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []


class CompileForbidden(CompileError):
    """A package is not in the cache, and `KERNPACK_JIT=forbid` says that nothing is compiled."""


class CompileWarning(UserWarning):
    """Something that a build says beside its result: what compilers of sources warn of, or a cache
    that cannot be used.
    """


class TuneWarning(UserWarning):
    """A tuned function does not tune, and says what is called instead, or cannot keep its timings."""
