# SPDX-License-Identifier: Apache-2.0
"""The hosts of examples/hosts_cuda that are programs, where there is no GPU: without a driver, and
with that of `tests/cuda-stub`, under which kernels do nothing. `scripts/gpu-test` runs all hosts
where there is one.
"""

import importlib.util
import itertools
import json
import os
import shutil
import subprocess
import sys

import ml_dtypes
import numpy
import pytest

from conftest import REPOSITORY, needs_no_driver

EXAMPLE = REPOSITORY / "examples/hosts_cuda"


def load(path):
    spec = importlib.util.spec_from_file_location(f"hosts_cuda_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


DRIVER, REPORT = load(EXAMPLE / "run.py"), load(EXAMPLE / "python/report.py")
PROGRAMS = {"cpp": DRIVER.cpp_program, "rust": DRIVER.rust_program}


@pytest.fixture(scope="module")
def folder(kernpack, tmp_path_factory):
    """With the package that all hosts call."""
    folder = tmp_path_factory.mktemp("hosts_cuda")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(
            "CARGO_TARGET_DIR", os.environ.get("CARGO_TARGET_DIR", str(REPOSITORY / "target"))
        )
        # As the workspace's own tests have dependencies built.
        debug = os.environ.get("CARGO_PROFILE_DEV_DEBUG", "1")
        environment.setenv("CARGO_PROFILE_DEV_DEBUG", debug)
        environment.setenv("KERNPACK_PYTHON", sys.executable)
        environment.setenv("KERNPACK_CLI", str(kernpack))
        DRIVER.build(folder)
        yield folder


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request, folder):
    """The command that runs a host."""
    return [str(word) for word in PROGRAMS[request.param](folder)]


def ran(command, **environment):
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


@needs_no_driver
def test_without_a_driver_a_host_says_so(program):
    # The C++ host has been told where libtvm_ffi is; what cargo builds, only cargo tells.
    told = ran(program, LD_LIBRARY_PATH=DRIVER.config("--libdir")[0])
    assert told.returncode == 1
    assert told.stdout.startswith(
        "loaded ahead: RuntimeError: cannot load the CUDA driver when calling: `kernpack_preload_"
    )
    assert ": libcuda.so.1: " in told.stdout
    assert told.stdout.endswith("; this function needs a GPU and its driver\n")


def halves(array):
    return array.astype("float16").tobytes().hex()[: 2 * 256]


def calls_on_the_stub(program, kernpack, folder):
    """What a program prints there, and the calls that it makes."""
    stub = kernpack.parent / "deps/libkernpack_cuda_stub.so"
    assert stub.is_file(), "run `cargo test -p kernpack-tests` first"
    shutil.copy(stub, folder / "libcuda.so.1")
    log, told = folder / "calls.jsonl", folder / "stub.txt"
    # Memory is not allocated in a stream's turn: the stub has no functions for that.
    told.write_text(f"device 0 attribute 115 0\nlog {log}\n")
    libraries = f"{folder}:{DRIVER.config('--libdir')[0]}"
    printed = ran(program, LD_LIBRARY_PATH=libraries, KERNPACK_CUDA_STUB=str(told))
    assert printed.returncode == 0, printed.stderr
    return printed.stdout, [json.loads(line) for line in log.read_text().splitlines()]


def test_a_host_gives_the_same_numbers_and_uses_its_streams(program, kernpack, tmp_path):
    printed, calls = calls_on_the_stub(program, kernpack, tmp_path)

    # Kernels do nothing here, and results are zeros.
    zeros = {"float16": 1, "bfloat16": 1, "own stream": 1, "prepared": 2}
    lines = [line.split(": ", 1) for line in DRIVER.wanted_of("cpp")]
    wanted = [
        f"{what}: " + (" ".join(["00000000"] * zeros[what]) if what in zeros else text)
        for what, text in lines
    ]
    assert printed.splitlines() == wanted

    to_device = ("cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2")
    given = [call["data"] for call in calls if call["call"] in to_device]
    for numbers in (
        REPORT.x(4, 136),
        REPORT.w(136),
        REPORT.x(4, 100),
        *(REPORT.x(8, 1024, shift) for shift in (11, 22, 33)),
    ):
        assert halves(numbers) in given
    bits = (REPORT.x(3, 4104).view("uint32") >> 16).astype("uint16")
    assert bits.tobytes().hex()[: 2 * 256] in given

    launches = [
        call["args"]["config"]["stream"] for call in calls if call["call"] == "cuLaunchKernelEx"
    ]
    assert launches == [None, None, "stream1", "stream1", "stream1"]
    # Results are copied in the stream's turn, or when the stream has been waited for.
    order = {
        "cuLaunchHostFunc": "late",
        "cuMemcpyDtoDAsync_v2": "copy",
        "cuLaunchKernelEx": "launch",
        "cuMemcpyDtoHAsync_v2": "result",
        "cuStreamSynchronize": "result",
    }
    on_stream = [
        order[call["call"]]
        for call in calls
        if '"stream1"' in json.dumps(call["args"]) and call["call"] in order
    ]
    on_stream = [what for what, _ in itertools.groupby(on_stream)]
    assert on_stream == 3 * ["late", "copy", "launch", "result"]
    loads = [i for i, call in enumerate(calls) if call["call"] == "cuLibraryLoadData"]
    first_launch = next(i for i, call in enumerate(calls) if call["call"] == "cuLaunchKernelEx")
    assert loads and max(loads) < first_launch


def test_a_typed_call_waits_for_events_of_its_memory_and_records_them(folder, kernpack, tmp_path):
    """Of each tensor: on another stream there would be something to wait for."""
    log = calls_on_the_stub(DRIVER.rust_program(folder), kernpack, tmp_path)[1]
    of_order = ("cuStreamWaitEvent", "cuLaunchKernelEx", "cuEventRecord")
    log = [call for call in log if call["call"] in of_order]
    launches = [i for i, call in enumerate(log) if call["call"] == "cuLaunchKernelEx"]
    for launch in launches[-3:]:
        around = log[launch - 4 : launch + 4]
        assert [call["call"] for call in around] == [
            *4 * ["cuStreamWaitEvent"],
            "cuLaunchKernelEx",
            *3 * ["cuEventRecord"],
        ]
        # `x` and `w` when they were written, `out` when it was read and written.
        waited, recorded = (
            {call["args"]["event"] for call in part} for part in (around[:4], around[5:])
        )
        assert len(waited) == 4
        assert len(recorded) == 3
        assert len(waited & recorded) == 1


def test_what_is_expected_is_what_rms_norm_is():
    """What a GPU printed, against the same arithmetic in NumPy."""

    def checksum(rows, d, dtype, eps=1e-6, shift=0):
        x = REPORT.x(rows, d, shift)
        mean = (x * x).sum(axis=1, dtype="float32") / numpy.float32(d) + numpy.float32(eps)
        scale = (1 / numpy.sqrt(mean.astype("float64"))).astype("float32")
        return REPORT.checksum((x * scale[:, None] * REPORT.w(d)).astype(dtype).view("uint16"))

    wanted = dict(line.split(": ", 1) for line in DRIVER.wanted_of("cpp"))
    assert wanted["float16"] == checksum(4, 136, "float16")
    assert wanted["bfloat16"] == checksum(3, 4104, ml_dtypes.bfloat16, 0.5)
    assert wanted["own stream"] == checksum(8, 1024, "float16", shift=11)
    assert wanted["prepared"].split() == [
        checksum(8, 1024, "float16", shift=shift) for shift in (22, 33)
    ]


def test_what_has_a_limit_is_expected():
    wanted = DRIVER.wanted_of("jax")
    assert [line.split(": ")[0] for line in wanted] == [
        line.split(": ")[0] for line in DRIVER.wanted_of("torch")
    ]
    assert wanted[-1].startswith("prepared: not expressible: ")


@needs_no_driver
def test_the_demo_builds_without_a_gpu(folder):
    demo = ran([str(EXAMPLE / "demo.sh")], KERNPACK_PYTHON=sys.executable)
    assert demo.returncode == 0, demo.stderr
    assert demo.stdout.startswith("no GPU: the CUDA example was built and not run (libcuda.so.1: ")
    named = ran([sys.executable, str(EXAMPLE / "run.py"), "--built", str(folder), "cpp"])
    assert named.returncode == 1 and named.stdout == demo.stdout
