# SPDX-License-Identifier: Apache-2.0
"""Typed calls from Rust, with memory and streams of cudarc: the program of examples/cudarc, which
was built before. `scripts/gpu-test` runs this where there is a GPU.
"""

import os
import subprocess
from pathlib import Path

import torch
import tvm_ffi.libinfo

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])


def lines(*words):
    libraries = str(Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent)
    program = [str(FOLDER / "cudarc-example"), *words]
    ran = subprocess.run(
        program, env=os.environ | {"LD_LIBRARY_PATH": libraries}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_calls_are_in_order_and_give_what_the_cpu_does():
    expected = (FOLDER / "examples/cudarc/expected.txt").read_text().splitlines()
    if torch.cuda.device_count() == 1:
        expected = ["devices: one" if line.startswith("devices: ") else line for line in expected]
    assert lines() == expected


def test_without_events_a_call_waits_for_nobody():
    """So the calls above would not be in order by accident."""
    assert lines("--unordered")[1].startswith("order: wrong: ")
