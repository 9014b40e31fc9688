#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls a package with GPU kernels from every host that is available, and compares what they print:

    run.py [--built FOLDER] [--any] [HOST...]

What every host must print is in expected.txt, but for what limits.txt says. A host that is not
named is left out where something that it needs is missing, and so are all of them where there is no
GPU; what is left out is said, with the reason.

--built  FOLDER has the package already: rms_norm.so, .o and .h, and perhaps cuda-host, the Rust host. Otherwise KERNPACK_CLI builds it.
--any    the first host that is available, with what it prints.
"""

import argparse
import ctypes
import difflib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Missing(Exception):
    """Something that a host needs is not there."""


def run(*command, **environment):
    """What a command prints; ends the program where it fails."""
    environment = os.environ | environment
    ran = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=environment
    )
    if ran.returncode != 0:
        sys.exit(
            f"{' '.join(map(str, command))}: status {ran.returncode}\n{ran.stdout}{ran.stderr}"
        )
    return ran.stdout


def build(folder):
    outputs = [
        word for ending in ("so", "o", "h") for word in ("-o", folder / f"rms_norm.{ending}")
    ]
    run(
        os.environ.get("KERNPACK_CLI", "kernpack"),
        "build",
        HERE.parent / "rms_norm_cuda/rms_norm.toml",
        *outputs,
    )


def need_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as reason:
        raise Missing(reason) from None
    count = ctypes.c_int(0)
    if code := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        raise Missing(f"the CUDA driver answers with error {code}")
    if count.value == 0:
        raise Missing("the CUDA driver has no device")


def need_python(script):
    """Whether Python can do this; in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if ran.returncode != 0:
        lines = ran.stderr.strip().splitlines() or [f"status {ran.returncode}"]
        raise Missing(lines[-1])


def config(option):
    return run(sys.executable, "-m", "tvm_ffi.config", option).split()


def cuda_include():
    """The folder of cuda.h: of a CUDA toolkit, or of the Python package nvidia-cuda-runtime."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    if (package := importlib.util.find_spec("nvidia")) is not None:
        homes += [
            folder
            for root in package.submodule_search_locations
            for folder in Path(root).glob("cu*")
        ]
    for home in filter(None, homes):
        if (Path(home) / "include/cuda.h").is_file():
            return Path(home) / "include"
    raise Missing(
        "no cuda.h in CUDA_HOME, in CUDA_PATH, in /usr/local/cuda, or among Python's packages (nvidia-cuda-runtime)"
    )


def python_host(name, script):
    def prints(folder):
        need_python(script)
        return run(sys.executable, HERE / f"python/with_{name}.py", folder / "rms_norm.so")

    return prints


def cpp_program(folder):
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise Missing("no C++ compiler")
    inputs = [HERE / "cpp/host.cc", folder / "rms_norm.o", "-I", folder, "-I", cuda_include()]
    libraries = [
        *config("--ldflags"),
        *config("--libs"),
        "-ldl",
        "-Wl,-rpath," + config("--libdir")[0],
    ]
    program = Path(SCRATCH.name) / "cpp-host"
    run(
        compiler,
        *config("--cxxflags"),
        "-Wall",
        "-Werror",
        "-O0",
        *inputs,
        "-o",
        program,
        *libraries,
    )
    return [program]


def rust_program(folder):
    program = folder / "cuda-host"
    if not program.is_file():
        if shutil.which("cargo") is None:
            raise Missing("no cargo, and no cuda-host that was built before")
        target = Path(os.environ.get("CARGO_TARGET_DIR", SCRATCH.name)).resolve()
        # The crate kernpack asks the `tvm-ffi-config` on PATH, and the build script finds kernpack.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        kernpack = os.environ.get("KERNPACK_CLI", "kernpack")
        command = ["cargo", "build", "--locked", "--manifest-path", HERE / "rust/Cargo.toml"]
        run(*command, "--target-dir", target, PATH=path, KERNPACK=kernpack)
        program = target / "debug/cuda-host"
    return [program, folder / "rms_norm.so"]


def program_host(program):
    def prints(folder):
        command = program(folder)
        # One that was built elsewhere finds libtvm_ffi here.
        libraries = [config("--libdir")[0], *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
        return run(*command, LD_LIBRARY_PATH=":".join(filter(None, libraries)))

    return prints


SCRATCH = tempfile.TemporaryDirectory()
HOSTS = {
    "torch": python_host("torch", "import torch; torch.zeros(1, device='cuda')"),
    "cupy": python_host("cupy", "import cupy, ml_dtypes; cupy.zeros(1)"),
    "jax": python_host("jax", "import jax_tvm_ffi, jax; jax.devices('gpu')"),
    "cpp": program_host(cpp_program),
    "rust": program_host(rust_program),
}


def wanted_of(host):
    """What a host is to print: what is expected, but for what limits.txt says of it."""
    lines = dict(line.split(": ", 1) for line in (HERE / "expected.txt").read_text().splitlines())
    if host == "jax":
        # XLA reports a refused call's message, but not its kind.
        lines["refused"] = lines["refused"].split(": ", 1)[1]
    for line in (HERE / "limits.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, limit = line.split(maxsplit=1)
            if name == host:
                what, reason = limit.split(": ", 1)
                lines[what] = f"not expressible: {reason}"
    return [f"{what}: {text}" for what, text in lines.items()]


def compare(host, printed):
    difference = list(difflib.unified_diff(wanted_of(host), printed, "expected", host, lineterm=""))
    print("\n".join(difference) if difference else f"{host}: as expected")
    return not difference


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--built", type=Path)
    parser.add_argument("--any", action="store_true")
    parser.add_argument("hosts", nargs="*", metavar="HOST")
    options = parser.parse_args()
    folder = options.built
    if folder is None:
        folder = Path(SCRATCH.name)
        build(folder)
    try:
        need_gpu()
    except Missing as reason:
        print(f"no GPU: the CUDA example was built and not run ({reason})")
        sys.exit(bool(options.hosts))

    alike, n_ran = True, 0
    for host in options.hosts or HOSTS:
        try:
            printed = HOSTS[host](folder.resolve()).splitlines()
        except Missing as reason:
            print(f"{host}: left out: {reason}")
            alike &= host not in options.hosts
            continue
        if options.any:
            print("\n".join(printed))
        alike &= compare(host, printed)
        n_ran += 1
        if options.any:
            break
    sys.exit(not alike or n_ran == 0)


if __name__ == "__main__":
    main()
