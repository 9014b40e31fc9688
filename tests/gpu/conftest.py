# SPDX-License-Identifier: Apache-2.0
"""Packages that nobody has called before, and figures that tests want told."""

import os
import shutil
from pathlib import Path

import pytest
import torch
import tvm_ffi

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
TOLD = []


@pytest.fixture(autouse=True)
def first_device():
    """JAX, as it starts, leaves the last device as the current one of the thread."""
    torch.cuda.set_device(0)


@pytest.fixture
def tell():
    """A function that has a line printed at the end."""
    return TOLD.append


def pytest_terminal_summary(terminalreporter):
    for line in TOLD:
        terminalreporter.write_line(line)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A function that loads a copy of a package, whose launches are submitted in this way."""

    def fresh(name, launch="graph", device=0):
        copy = tmp_path / f"{name}{len(list(tmp_path.iterdir()))}.so"
        shutil.copy(FOLDER / f"{name}.so", copy)
        module = tvm_ffi.load_module(str(copy))
        # The environment is read when the package first needs the driver.
        monkeypatch.setenv("KERNPACK_LAUNCH", launch)
        package = "triton" if name == "triton_versions" else name
        module[f"kernpack_preload_{package}"](device)
        return module

    return fresh
