# SPDX-License-Identifier: Apache-2.0
"""Machine code for GPUs as text, by NVIDIA's disassemblers, where one is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

# The programs, each with what it is told.
_PROGRAMS: Sequence[tuple[str, Sequence[str]]] = (("nvdisasm", ()), ("cuobjdump", ("--dump-sass",)))


def disassemble(cubin: bytes) -> str:
    """What a disassembler prints of a cubin."""
    command = _command()
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        ran = subprocess.run([*command, file.name], capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{command[0]} refused the code: {ran.stderr.strip()}")
    return ran.stdout


def _command() -> list[str]:
    """A disassembler on the path, or of the toolkit in CUDA_HOME."""
    homes = [
        os.path.join(os.environ.get(name, ""), "bin")
        for name in ("CUDA_HOME", "CUDA_PATH")
        if os.environ.get(name)
    ]
    path = os.pathsep.join([os.environ.get("PATH", ""), *homes, "/usr/local/cuda/bin"])
    for program, options in _PROGRAMS:
        found = shutil.which(program, path=path)
        if found is not None:
            return [found, *options]
    raise FileNotFoundError(
        "neither nvdisasm nor cuobjdump is found; install a CUDA toolkit, or set CUDA_HOME to one"
    )
