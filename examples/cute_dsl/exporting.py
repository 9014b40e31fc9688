# SPDX-License-Identifier: Apache-2.0
"""Functions in files: an object to link, a library to load, a header to include. One file may have
several functions.
"""

import sys
import tempfile
from pathlib import Path

import kernpack as kp
import torch
import tvm_ffi

import add_one
import tuples

ARCHS = ("sm_90", "compute_80")


def exported(folder: Path) -> list[str]:
    """The files of `add_one`, and one with two functions."""
    function = add_one.compiled()
    for suffix in (".o", ".so", ".h"):
        function.export(folder / f"add_one{suffix}")
    kp.export([function, tuples.compiled()], folder / "both.so")
    return sorted(path.name for path in folder.iterdir())


def loaded(folder: Path) -> None:
    """What is in them, and a call where there is a GPU."""
    module = kp.load_module(folder / "both.so")
    print(module.functions)
    print(module.add_one.signature)
    if torch.cuda.is_available():
        a = torch.arange(10.0, device="cuda")
        b = torch.empty_like(a)
        # Whoever has TVM-FFI alone can load it as well, and then knows functions by their names.
        tvm_ffi.load_module(str(folder / "add_one.so")).add_one(a, b)
        module.add_of_tuple((b, a, 5.0))
        print(a)


def main(folder: Path) -> None:
    print(exported(folder))
    loaded(folder)


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
