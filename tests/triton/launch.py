# SPDX-License-Identifier: Apache-2.0
"""Launches kernels with tensor descriptors through the launcher of the Triton that is installed, on
the driver of `tests/cuda-stub`, and leaves what the driver was asked next to this file:
launches_VERSION.json. Tests make the same calls of packages, and compare.

    launch.py STUB

STUB is the stub as cargo built it. A C compiler and Python's headers are needed, as Triton compiles
its launcher.
"""

import atexit
import ctypes
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(__file__).resolve().parent
WORK = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, WORK)
for name in ("libcuda.so.1", "libcuda.so"):
    os.symlink(Path(sys.argv[1]).resolve(), WORK / name)
(WORK / "stub").write_text(f"devices 2\ndevice 1 compute 8.0\nlog {WORK}/log\n")
os.environ |= {
    "TRITON_LIBCUDA_PATH": str(WORK),
    "TRITON_CACHE_DIR": str(WORK),
    "KERNPACK_CUDA_STUB": str(WORK / "stub"),
}
DRIVER = ctypes.CDLL(str(WORK / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
# The stub has what packages call; of Triton's modules, nothing else is called.
sys.setdlopenflags(os.RTLD_LAZY)

import kernels
import torch
import triton
from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.nvidia.driver import CudaDriver
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor

triton.runtime.driver.set_active(CudaDriver())


class Memory(int):
    """The address of a tensor. Triton takes numbers as they are, where it would ask the driver what
    else an address is.
    """

    dtype = torch.float32

    def data_ptr(self):
        return int(self)


class Halves(Memory):
    dtype = torch.bfloat16


def start(device):
    """Makes the device's context current."""
    context = ctypes.c_void_p()
    assert (
        DRIVER.cuInit(0)
        == DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        == DRIVER.cuCtxSetCurrent(context)
        == 0
    )


def load(path, name):
    library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    assert (
        DRIVER.cuLibraryLoadData(
            ctypes.byref(library), path.read_bytes(), None, None, 0, None, None, 0
        )
        == 0
    )
    assert DRIVER.cuLibraryGetKernel(ctypes.byref(kernel), library, name.encode()) == 0
    return kernel.value


def asked(lines):
    """What of a log is no address and no handle: the tensor maps, and the launch."""
    maps = [line for line in lines if line["call"] == "cuTensorMapEncodeTiled"]
    [launch] = [line["launch"] for line in lines if line["call"] == "cuLaunchKernelEx"]
    # Maps are compared as what they were made of: their bytes are the stub's.
    made = [line["out"]["map"] for line in maps]
    arguments = [argument["bytes"] for argument in launch["arguments"]]
    return {
        "maps": [line["args"] | line["tensor"] for line in maps],
        "arguments": [
            f"map {made.index(argument)}" if argument in made else argument
            for argument in arguments
        ],
        "config": launch["config"],
    }


def launch(kernel, signature, grid, arguments, file=None):
    signature |= {name: "constexpr" for name in kernel.arg_names if name.isupper()}
    constants = {name: 1 for name in signature if name.isupper()}
    base = f"{file or kernel.__name__}_{triton.__version__}"
    described = json.loads((FOLDER / f"{base}.json").read_text())
    metadata = SimpleNamespace(**described | {"target": SimpleNamespace(**described["target"])})
    launcher = triton.runtime.driver.active.launcher_cls(
        ASTSource(kernel, signature, constants), metadata
    )
    packed = CUDABackend(metadata.target).pack_metadata(metadata)
    function = load(FOLDER / f"{base}.cubin", kernel.__name__)
    log = WORK / "log"
    n_before = len(log.read_text().splitlines())
    launcher(*grid, 0, function, packed, None, None, None, *arguments, *constants.values())
    return asked([json.loads(line) for line in log.read_text().splitlines()[n_before:]])


X, Y = 0x10000, 0x20000


def shift(file, **options):
    x = TensorDescriptor(Memory(X), [100, 200], [256, 1], [16, 64], **options)
    y = TensorDescriptor(Memory(Y), [100, 200], [200, 1], [16, 64], **options)
    tile = "tensordesc<fp32[16, 64]>"
    return launch(kernels.shift, {"x": tile, "by": "fp32", "y": tile}, (7, 4, 1), [x, 2.5, y], file)


def pad(**options):
    x = TensorDescriptor(Halves(X), [3, 20, 72], [2000, 80, 1], [1, 8, 32], **options)
    return launch(
        kernels.pad, {"y": "*bf16", "x": "tensordesc<bf16[1, 8, 32]>"}, (3, 3, 3), [Memory(Y), x]
    )


start(0)
launches = {"shift": shift("shift")}
nan = {} if triton.__version__.startswith("3.4.") else {"padding": "nan"}
if nan:
    launches |= {"shift_nan": shift("shift", **nan)}
if triton.__version__.startswith("3.6."):
    launches |= {"pad": pad(), "pad_nan": pad(**nan)}
start(1)
launches |= {"shift_sm80": shift("shift_sm80")}
if nan:
    launches |= {"shift_sm80_nan": shift("shift_sm80", **nan)}
lines = [f'"{name}": {json.dumps(record)}' for name, record in launches.items()]
(FOLDER / f"launches_{triton.__version__}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
