# SPDX-License-Identifier: Apache-2.0
"""Short forms of the long runs over jit functions: `scripts/soak` has the long ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def run(script: str, *arguments: object, **environment: str) -> str:
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    ran = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_calls_leave_nothing_behind():
    told = run("soak_jit_calls.py", 20_000)
    assert told.count("objects more") == 4


def test_random_functions_are_answered():
    told = run("soak_random_functions.py", 200, 101_000, KERNPACK_CACHE="off")
    assert "200 texts: " in told and "'CompileError'" in told and "'ok'" in told
