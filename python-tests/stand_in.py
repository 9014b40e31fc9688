# SPDX-License-Identifier: Apache-2.0
"""Functions of packages with what `kernpack.torch` asks of one, made of the command line tool's answers."""

import hashlib
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import tvm_ffi

PYTHON = Path(__file__).resolve().parent.parent / "python"


def install() -> None:
    """Makes the modules of `python/kernpack` importable without the libraries of the package."""
    package = types.ModuleType("kernpack")
    package.__path__ = [str(PYTHON / "kernpack")]
    sys.modules.setdefault("kernpack", package)


class Package:
    """The shared object that a function is from."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()

    def read(self) -> bytes:
        return Path(self.path).read_bytes()


class Function(tvm_ffi.Function):
    """A function of a package."""

    name: str
    signature: str
    description: dict[str, Any]
    out: "Function | None"
    package: Package
    device_type: str


def load(kernpack: Path, path: Path, name: str) -> Function:
    """The function of that name, with its twin."""
    module = tvm_ffi.load_module(str(path))
    metadata = module.get_function_metadata(name)["kernpack"]
    function = Function.__new__(Function)
    function.__move_handle_from__(module.get_function(name))
    function.name = name
    function.signature = metadata["signature"]
    function.description = describe(kernpack, metadata["signature"])
    function.out = load(kernpack, path, f"{name}_out") if metadata["results"] else None
    function.package = Package(path)
    function.device_type = "cuda" if any(launch.get("layout") for launch in metadata["launches"]) else "cpu"
    return function


def describe(kernpack: Path, signature: str) -> dict[str, Any]:
    """The signature as data."""
    ran = subprocess.run([kernpack, "plan", "--json", signature], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    return json.loads(ran.stdout)["description"]
