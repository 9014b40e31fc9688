# SPDX-License-Identifier: Apache-2.0
"""Times the Python package: calls, builds, the cache, the start of a process.

    python_package.py BENCHES

prints a JSON list of figures: each `name`, `unit`, `ours`, `reference`, `control`, and `ratio` or
`most`, what it is held to. `BENCHES` is the program of the crate, which builds the same package
from Rust. The sides take turns; medians.
"""

import ctypes
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernpack as kp
from kernpack import _library, _native

ADD_ONE = "void add_one(const float* a, float* b, long n, float by) { for (long i = 0; i < n; ++i) b[i] = a[i] + by; }"
SIGNATURE = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut), by: float32 = 1.0)"
ARGS = ["a", "b", "n", "by"]
CUDA = """extern "C" __global__ void add_one(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}
"""
COUNTER = itertools.count()
# Modules are kept compiled, as those are that pip installs.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The interpreter without PyTorch, which `import tvm_ffi` would import: a second for each process.
ALONE = "import sys; sys.modules['torch'] = None; "


def medians(n_rounds, **sides):
    """The median of each side, which take turns; the order rotates."""
    names = list(sides)
    samples = {name: [] for name in names}
    for number in range(n_rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            samples[name].append(sides[name]())
    return {name: statistics.median(values) for name, values in samples.items()}


def figure(name, unit, ours, reference=None, control=None, **target):
    reference = ours if reference is None else reference
    return {
        "name": name,
        "unit": unit,
        "ours": ours,
        "reference": reference,
        "control": control or reference,
        **target,
    }


def caller(function, *args, **keywords):
    """Nanoseconds of a call, over many. The arguments are local variables: the loop unpacks
    nothing.
    """
    names = [f"a{i}" for i in range(len(args))] + [f"{name}=k_{name}" for name in keywords]
    scope = {
        "time": time.perf_counter_ns,
        "f": function,
        **{f"a{i}": arg for i, arg in enumerate(args)},
    }
    scope.update({f"k_{name}": value for name, value in keywords.items()})
    locals_ = ", ".join(f"{name}={name}" for name in scope if name != "time")
    code = f"def sample({locals_}):\n    begin = time()\n    for _ in range(1000): f({', '.join(names)})\n    return (time() - begin) / 1000"
    exec(code, scope)
    return scope["sample"]


def calls():
    import torch

    f = kp.host(ADD_ONE, SIGNATURE, args=ARGS)
    a, b = torch.zeros(16), torch.zeros(16)
    raw, again = f.raw, f.package.raw_function("add_one")
    found = medians(
        301, ours=caller(f, a, b), reference=caller(raw, a, b), control=caller(again, a, b)
    )
    yield figure(
        "call of a kernpack function in Python, by position, beside the raw function",
        "ns",
        **found,
        ratio=1.03,
    )
    found = medians(
        301,
        ours=caller(f, a, b, by=2.0),
        reference=caller(raw, a, b, 2.0),
        control=caller(again, a, b, 2.0),
    )
    extra = (found["ours"] - found["reference"]) / 1000
    yield figure("one keyword more than the same by position", "us", extra, most=0.25)


def timed(action):
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1e3


def new_package(kernel):
    """A package around an object that no other package is like, so that nothing is loaded already."""
    launch = kp.Launch(kp.Source.host(kernel), kernel="add_one_kernel", args=["a", "b", "n"])
    return kp.Package("add_one").function(
        "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))",
        launch,
        doc=str(next(COUNTER)),
    )


def builds(benches, folder):
    """Of an object that is compiled already; nothing is cached."""
    os.environ["KERNPACK_CACHE"] = "off"
    (folder / "kernel.c").write_text(
        "void add_one_kernel(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] + 1; }"
    )
    subprocess.run(
        ["gcc", "-O2", "-fPIC", "-c", "kernel.c", "-o", "kernel.o"], cwd=folder, check=True
    )
    kernel = folder / "kernel.o"
    folders = [str(Path(__file__).parent), *sys.path]
    own = f"{ALONE}sys.path[:0] = {folders!r}; import python_package as p, pathlib; "
    # The libraries of the program in Rust are loaded as it begins.
    own += f"p._native.compiler(); kernel = pathlib.Path({str(kernel)!r}); "
    own += "print([p.timed(p.new_package(kernel).load) for _ in range(12)])"
    firsts, warms = (
        {"ours": [], "reference": [], "control": []},
        {"ours": [], "reference": [], "control": []},
    )
    for _ in range(15):
        for side in firsts:
            command = (
                [sys.executable, "-c", own] if side == "ours" else [benches, "--build", str(kernel)]
            )
            first, *warm = json.loads(
                subprocess.run(command, check=True, capture_output=True, text=True).stdout
            )
            firsts[side].append(first)
            warms[side].append(statistics.median(warm[2:]))
    for name, samples in (("first in a process", firsts), ("later ones", warms)):
        found = {side: statistics.median(values) for side, values in samples.items()}
        yield figure(
            f"package around an object from Python, {name}, beside the same from Rust",
            "ms",
            **found,
            ratio=1.15,
        )
    yield from cuda_builds()
    del os.environ["KERNPACK_CACHE"]


def cuda_builds():
    nvrtc = Nvrtc()

    def package():
        launch = kp.Launch(
            kp.Source.cuda(CUDA + f"// {next(COUNTER)}\n"),
            args=["a", "b", "n: int32"],
            grid="ceildiv(n, 256)",
            block=256,
        )
        signature = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
        kp.Package("add_one", arch="sm_90").function(signature, launch).load()

    found = medians(
        41,
        ours=lambda: timed(package),
        reference=lambda: timed(nvrtc.compile),
        control=lambda: timed(nvrtc.compile),
    )
    yield figure("kp.cuda of add_one, beside NVRTC's own time", "ms", **found, ratio=1.3)


class Nvrtc:
    """NVRTC by itself, with all that it declares."""

    def __init__(self):
        import nvidia.cu13

        folder = Path(next(iter(nvidia.cu13.__path__)))
        self.library = ctypes.CDLL(str(folder / "lib" / "libnvrtc.so.13"))
        self.options = [
            b"--gpu-architecture=sm_90",
            b"--frandom-seed=kernpack",
            b"-I" + str(folder / "include").encode(),
        ]

    def compile(self):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        text = (CUDA + f"// {next(COUNTER)}\n").encode()
        self.require(
            self.library.nvrtcCreateProgram(
                ctypes.byref(program), text, b"add_one.cu", 0, None, None
            )
        )
        self.require(self.library.nvrtcAddNameExpression(program, b"add_one"))
        options = (ctypes.c_char_p * len(self.options))(*self.options)
        self.require(self.library.nvrtcCompileProgram(program, len(self.options), options))
        self.require(self.library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        cubin = ctypes.create_string_buffer(size.value)
        self.require(self.library.nvrtcGetCUBIN(program, cubin))
        self.require(self.library.nvrtcDestroyProgram(ctypes.byref(program)))

    def require(self, status):
        assert status == 0, status


def cache(folder):
    def again():
        kp.host(ADD_ONE, SIGNATURE, args=ARGS)

    headers = folder / "headers"
    headers.mkdir()
    for number in range(50):
        (headers / f"h{number}.h").write_text(f"#define H{number} {number}\n")
    text = "".join(f"#include <h{number}.h>\n" for number in range(50)) + ADD_ONE

    def with_headers():
        kp.host(text, SIGNATURE, args=ARGS, include=headers)

    again(), with_headers()
    time.sleep(3)  # Files that changed just now are read again.
    found = medians(201, one=lambda: timed(again), many=lambda: timed(with_headers))
    yield figure("cache hit in a running process", "ms", found["one"], most=0.5)
    yield figure("cache hit in a running process, 50 headers", "ms", found["many"], most=0.5)
    measured = (
        f"import time; import tvm_ffi, numpy; a, b = numpy.zeros(3, 'float32'), numpy.zeros(3, 'float32'); begin = time.perf_counter(); "
        f"import kernpack as kp; f = kp.host({ADD_ONE!r}, {SIGNATURE!r}, args={ARGS!r}); f(a, b); print((time.perf_counter() - begin) * 1e3)"
    )
    yield figure(
        "cached kernel in a new process, to the end of its first call",
        "ms",
        in_processes(measured),
        most=10,
    )


def in_processes(code, n_rounds=31):
    command = [sys.executable, "-c", ALONE + code]
    return statistics.median(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(n_rounds)
    )


def starts():
    code = "import time; import tvm_ffi; begin = time.perf_counter(); import kernpack as kp; kp.host; print((time.perf_counter() - begin) * 1e3)"
    yield figure("import, beyond that of tvm_ffi", "ms", in_processes(code), most=25)
    help_ = [sys.executable, "-m", "kernpack", "--help"]
    took = statistics.median(
        timed(lambda: subprocess.run(help_, check=True, capture_output=True)) for _ in range(31)
    )
    yield figure("kernpack --help, from the wheel", "ms", took, most=60)
    library = _library.library_path("libkernpack.so")
    import zlib

    packed = len(zlib.compress(library.read_bytes(), 6)) / 1e6
    yield figure("size of the wheel's library, compressed as in the wheel", "MB", packed, most=30)


def main(benches):
    with tempfile.TemporaryDirectory() as name:
        os.environ["KERNPACK_CACHE_DIR"] = str(Path(name) / "cache")
        groups = (calls(), cache(Path(name)), starts(), builds(benches, Path(name)))
        print(json.dumps([each for group in groups for each in group]))


if __name__ == "__main__":
    main(*sys.argv[1:])
