# SPDX-License-Identifier: Apache-2.0
"""Builds the two libraries of the wheel: cargo does the work, and what it needs is looked for
before.

As a program it does so too, and prints the folder. `KERNPACK_NATIVE`, where it is set, is a folder
that has them already. The wheel is for any Python 3, and for every Linux whose C library has the
symbols that the libraries need.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("libkernpack.so", "libkernpack_call.so")


class Native(BuildHookInterface):
    """Puts the libraries into the wheel, and its tag."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it writes the wheel."""
        given = os.environ.get("KERNPACK_NATIVE")
        folder = Path(given) if given else build()
        package = ROOT / "python" / "kernpack"
        for name in LIBRARIES:
            if version == "editable":
                shutil.copyfile(folder / name, package / name)
            else:
                build_data["force_include"][str(folder / name)] = f"kernpack/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag([folder / name for name in LIBRARIES])}"


def build() -> Path:
    """Builds the libraries by a profile of the manifests: `KERNPACK_QUICK_WHEEL` asks for the quick one."""
    missing = missing_tools()
    if missing:
        raise SystemExit(
            "kernpack cannot be built here:\n" + "\n".join(f"  {line}" for line in missing)
        )
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    profile = "quick-wheel" if os.environ.get("KERNPACK_QUICK_WHEEL") else "wheel"
    for arguments in (
        ["--package", "kernpack-python", "--features", "static-llvm"],
        ["--manifest-path", "crates/call-type/Cargo.toml"],
    ):
        command = ["cargo", "build", "--profile", profile, "--locked", "--target-dir", str(target)]
        subprocess.run([*command, *arguments], cwd=ROOT, check=True)
    return target / profile


def missing_tools() -> list[str]:
    """What is needed and not there, each with what brings it."""
    prefix = os.environ.get("LLVM_SYS_221_PREFIX")
    llvm_config = f"{prefix}/bin/llvm-config" if prefix else "llvm-config-22"
    programs = {
        "cargo": "Rust 1.95: https://rustup.rs",
        llvm_config: "LLVM 22: apt-get install llvm-22-dev",
        "c++": "a C++ compiler: apt-get install g++",
    }
    missing = [
        f"{name} is not found; install {what}"
        for name, what in programs.items()
        if shutil.which(name) is None
    ]
    if shutil.which(llvm_config):
        folder = Path(ask(llvm_config, "--libdir"))
        for library, what in {
            "liblldELF.a": "liblld-22-dev",
            "libLLVMCore.a": "llvm-22-dev",
        }.items():
            if not (folder / library).is_file():
                missing.append(f"{library} is not in {folder}; apt-get install {what}")
    for library, what in {"libz.a": "zlib1g-dev", "libzstd.a": "libzstd-dev"}.items():
        # A compiler that does not have the file answers with the bare name.
        if shutil.which("c++") and ask("c++", f"-print-file-name={library}") == library:
            missing.append(f"{library} is not found; apt-get install {what}")
    return missing


def ask(*command: str) -> str:
    """What a program answers."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def tag(libraries: list[Path]) -> str:
    """The platform's tag: the newest version of the C library that a symbol of theirs asks for."""
    # The names of versions stand in the library as texts: `GLIBC_2.34`.
    content = b"".join(library.read_bytes() for library in libraries)
    versions = [
        tuple(map(int, found.split(b".")))
        for found in re.findall(rb"\0GLIBC_(\d+\.\d+)(?=\0)", content)
    ]
    major, minor = max(versions, default=(2, 17))[:2]
    return f"manylinux_{major}_{max(minor, 17)}_{platform.machine()}"


if __name__ == "__main__":
    print(build())
