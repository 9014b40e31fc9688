#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a package, calls it from every host, and compares what they print: run.py [HOST...]

Each host makes the calls of calls.txt and prints their outcomes, which are in expected.txt. A call
that a host cannot make prints `not expressible: REASON`; which those are is in limits.txt.
KERNPACK_CLI names the command line tool. Run it with an interpreter that has what
python-tests/requirements.txt lists, and with its `tvm-ffi-config` on PATH.
"""

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KERNPACK = os.environ.get("KERNPACK_CLI", "kernpack")
CALLS = HERE / "calls.txt"


def run(*command, **options):
    """What a command prints; ends the program where it fails."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if ran.returncode != 0:
        sys.exit(
            f"{' '.join(map(str, command))}: status {ran.returncode}\n{ran.stdout}{ran.stderr}"
        )
    return ran.stdout


def build(package, folder, *endings):
    outputs = [word for ending in endings for word in ("-o", folder / f"{package.stem}{ending}")]
    run(KERNPACK, "build", package, *outputs)


def config(*options):
    return run("tvm-ffi-config", *options).split()


def library_flags():
    return [*config("--ldflags"), *config("--libs"), "-Wl,-rpath," + config("--libdir")[0]]


def cxx(source, folder, *inputs):
    program = folder / source.stem
    flags = [*config("--cxxflags"), "-Wall", "-Werror", "-O0", "-I", folder]
    run(os.environ.get("CXX", "g++"), *flags, source, *inputs, "-o", program, *library_flags())
    return program


def cc(source, folder, *inputs):
    program = folder / f"{source.stem}-c"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I", folder]
    run(os.environ.get("CC", "gcc"), *flags, source, *inputs, "-o", program, *library_flags())
    return program


def numpy_host(folder):
    return run(sys.executable, HERE / "python/eager.py", "numpy", folder / "table.so", CALLS)


def torch_host(folder):
    return run(sys.executable, HERE / "python/eager.py", "torch", folder / "table.so", CALLS)


def jax_host(folder):
    return run(sys.executable, HERE / "python/with_jax.py", folder / "table.so", CALLS)


def cpp_static_host(folder):
    return run(cxx(HERE / "cpp/static.cc", folder, folder / "table.o"), CALLS)


def cpp_dynamic_host(folder):
    return run(cxx(HERE / "cpp/dynamic.cc", folder), folder / "table.so", CALLS)


def c_host(folder):
    return run(cc(HERE / "c/host.c", folder, folder / "table.o"), CALLS)


def rust_host(folder):
    target = Path(os.environ.get("CARGO_TARGET_DIR", folder / "rust")).resolve()
    manifest = HERE / "rust/Cargo.toml"
    # `cargo run` lets the program find libtvm_ffi, and the build script finds kernpack.
    command = ["cargo", "run", "--quiet", "--locked", "--manifest-path", manifest]
    environment = os.environ | {"KERNPACK": KERNPACK}
    return run(*command, "--target-dir", target, "--", CALLS, env=environment)


def two_in_a_program(folder):
    for name in ("left", "right"):
        build(HERE / f"two/{name}.toml", folder, ".o", ".h")
    return run(cc(HERE / "two/main.c", folder, folder / "left.o", folder / "right.o"))


def two_in_a_library(folder):
    for name in ("left", "right"):
        build(HERE / f"two/{name}.toml", folder, ".o")
    objects = [folder / "left.o", folder / "right.o"]
    run(os.environ.get("CC", "gcc"), "-shared", *objects, "-o", folder / "both.so")
    return run(sys.executable, HERE / "two/main.py", folder / "both.so")


HOSTS = {
    "numpy": numpy_host,
    "torch": torch_host,
    "jax": jax_host,
    "c": c_host,
    "cpp-static": cpp_static_host,
    "cpp-dynamic": cpp_dynamic_host,
    "rust": rust_host,
}
TWO = {"two-program": two_in_a_program, "two-library": two_in_a_library}


def wanted_of(host):
    """What a host is to print: what is expected, but for what limits.txt says of it."""
    lines = (HERE / "expected.txt").read_text().splitlines()
    if host == "jax":
        # XLA reports a refused call's message, but not its kind.
        kinds = ("TypeError: ", "ValueError: ", "RuntimeError: ")
        lines = [
            line if not line.strip().startswith(kinds) else "   error: " + line.split(": ", 1)[1]
            for line in lines
        ]
    for line in (HERE / "limits.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, number, reason = line.split(maxsplit=2)
            if name == host:
                lines[2 * int(number) - 1] = f"   not expressible: {reason}"
    return lines


def compare(host, wanted, printed):
    difference = list(
        difflib.unified_diff(wanted, printed.splitlines(), "expected", host, lineterm="")
    )
    print("\n".join(difference) if difference else f"{host}: as expected")
    return not difference


def main():
    hosts = sys.argv[1:] or [*HOSTS, *TWO]
    alike = True
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        build(HERE / "table.toml", folder, ".so", ".o", ".h")
        for host in hosts:
            if host in TWO:
                wanted, printed = (
                    (HERE / "two/expected.txt").read_text().splitlines(),
                    TWO[host](folder),
                )
            else:
                wanted, printed = wanted_of(host), HOSTS[host](folder)
            alike &= compare(host, wanted, printed)
    sys.exit(not alike)


if __name__ == "__main__":
    main()
