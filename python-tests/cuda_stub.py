# SPDX-License-Identifier: Apache-2.0
"""Programs that call functions of a GPU on a machine that has none: with the driver of
`tests/cuda-stub`, under which kernels do nothing. cargo builds it with the tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
_BEGUN = "KERNPACK_TEST_STUB"


def begin() -> None:
    """Has this program run with the driver, from its start if need be, and a context of its first
    device current.
    """
    if os.environ.get(_BEGUN) is None:
        _restart()
    driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0


def forget() -> None:
    """Has the driver forget what was called: it keeps a line for each call otherwise."""
    _take()


def log() -> list[dict[str, object]]:
    """What was called since the driver was to forget: `tests/cuda-stub/src/log.rs` describes a call."""
    return [json.loads(line) for line in _take().splitlines()]


def _take() -> str:
    driver = ctypes.CDLL("libcuda.so.1")
    take = driver.kernpack_cuda_stub_take_log
    take.argtypes, take.restype = [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    length = take(None, 0)
    text = ctypes.create_string_buffer(length + 1)
    take(text, length + 1)
    return text.value.decode()


def _restart() -> None:
    """The loader looks for libraries where the environment said when the process began."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    places = [
        target / profile / "deps/libkernpack_cuda_stub.so" for profile in ("debug", "release")
    ]
    built = [path for path in places if path.is_file()]
    if not built:
        sys.exit(f"there is no {places[0]}: run `cargo test -p kernpack-tests` first")
    with tempfile.TemporaryDirectory(prefix="kernpack-stub-") as folder:
        shutil.copy(max(built, key=lambda path: path.stat().st_mtime), f"{folder}/libcuda.so.1")
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, _BEGUN: folder}
        command = [sys.executable, *sys.argv]
        sys.exit(os.spawnve(os.P_WAIT, sys.executable, command, environment))
