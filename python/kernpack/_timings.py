# SPDX-License-Identifier: Apache-2.0
"""Timings that were taken, in the cache: a file for each kernel and device, to which lines are added.

A line is an event of a race (`_race.py`) with the calls that it is about, in JSON. What was killed
while it wrote leaves a line that nobody can read, which counts as if it were not there. Who measures
holds a lock, one for each kind of calls: others wait for it. Not here: what lines say (`_tuner.py`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import time
import warnings
from pathlib import Path
from typing import Any, Generator, Mapping

from . import _errors, _native
from ._argument import is_dict
from ._build import level
from ._race import Event, Race

_log = logging.getLogger("kernpack")
_FOLDER = "timings"
_LOOK_SECONDS = 0.05


class Timings:
    """The timings of one kernel on one device. Without a cache they are kept by this object alone."""

    def __init__(self, identity: str) -> None:
        self._hash = hashed(identity, 32)
        self._lines: list[dict[str, Any]] = []
        self._is_kept = True

    def _path(self, suffix: str) -> Path | None:
        folder = _native.cache_folder() if self._is_kept else None
        return None if folder is None else Path(folder, _FOLDER, self._hash + suffix)

    def _read(self) -> list[dict[str, Any]]:
        path = self._path(".jsonl")
        if path is None:
            return self._lines
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError:
            return self._lines
        lines: list[dict[str, Any]] = []
        for line in text.splitlines():
            with contextlib.suppress(ValueError):
                said: Any = json.loads(line)
                lines += [said] if is_dict(said) else []
        return lines

    def race(self, calls: Mapping[str, Any]) -> Race:
        """The race between what was measured for such calls."""
        race = Race()
        for line in self._read():
            if line.get("calls") == calls:
                with contextlib.suppress(AttributeError, KeyError, TypeError):
                    race.apply(line)
        return race

    def add(self, calls: Mapping[str, Any], event: Event) -> None:
        """Writes an event down, at once."""
        line = {"calls": calls, **event}
        self._lines.append(line)
        path = self._path(".jsonl")
        if path is None:
            return
        try:
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                end = os.lseek(file, 0, os.SEEK_END)
                is_torn = end > 0 and os.pread(file, 1, end - 1) != b"\n"
                text = ("\n" if is_torn else "") + json.dumps(line) + "\n"
                os.write(file, text.encode())
            finally:
                os.close(file)
        except OSError as error:
            self._is_kept = False
            message = f"timings are not kept: {path}: {error}"
            warnings.warn(message, _errors.TuneWarning, stacklevel=level())

    @contextlib.contextmanager
    def lock(self, calls: Mapping[str, Any], seconds: float) -> Generator[bool, None, None]:
        """Holds the lock of such calls, for which it waits so many seconds. Gives whether it does."""
        file = self._lock_file(calls)
        if file is None:
            # Where nothing can be written down, nobody else would find it.
            yield True
            return
        try:
            yield _locked(file, seconds)
        finally:
            os.close(file)

    def _lock_file(self, calls: Mapping[str, Any]) -> int | None:
        path = self._path("-" + hashed(json.dumps(calls, sort_keys=True), 16) + ".lock")
        if path is None:
            return None
        try:
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None


def _locked(file: int, seconds: float) -> bool:
    end, is_told = time.monotonic() + seconds, False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > end:
                return False
            if not is_told:
                _log.info("waiting for another one, which tunes for the same calls")
            is_told = True
            time.sleep(_LOOK_SECONDS)
        else:
            return True


def hashed(text: str, n_digits: int) -> str:
    """The first digits of a hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:n_digits]
