# SPDX-License-Identifier: Apache-2.0
"""Launches recorded kernels on a GPU, and compares what they leave with what the interpreter left.

    replay_kernels.py FOLDER [DIFFERENCES]

FOLDER is what tests/src/kernel_record wrote, which describes it. Each kernel is launched once for
each image that this device takes. Every NaN counts as the usual one. Behind each tensor lie bytes
that must stay as they are. What differs goes to the folder DIFFERENCES, a file for each tensor,
which `record_kernels --differs` shows where it was recorded. Exits with 1 where something differs.
"""

import ctypes
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

# What lies behind each tensor, and what tensors are aligned to.
GUARD = b"\xa5" * 256
# Memory for the tensors of a launch.
ARENA = 64 << 20
# How many differences are shown.
SHOWN = 20

# Of floats: the integer of as many bits, the mask of the magnitude, infinity and the usual NaN.
FLOATS = {
    "float16": (np.uint16, 0x7FFF, 0x7C00, 0x7E00),
    "bfloat16": (np.uint16, 0x7FFF, 0x7F80, 0x7FC0),
    "float32": (np.uint32, 0x7FFFFFFF, 0x7F800000, 0x7FC00000),
    "float64": (np.uint64, (1 << 63) - 1, 0x7FF << 52, 0xFFF << 51),
}


class Driver:
    """The CUDA driver, by the names of its functions."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self("cuCtxSetCurrent", self.context)
        self.capability = self.attribute(75, device), self.attribute(76, device)
        self.arena = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(self.arena), ctypes.c_size_t(ARENA))

    def __call__(self, function, *args):
        result = getattr(self.library, function)(*args)
        if result != 0:
            raise RuntimeError(f"{function} answers {result}")

    def attribute(self, number, device):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def takes(self, arch):
        """Whether this device takes an image for `sm_90a`, `sm_80` or `compute_80`."""
        kind, number = arch.split("_")
        major, minor = divmod(int(number.rstrip("af")), 10)
        if number.endswith("a"):
            return self.capability == (major, minor)
        if kind == "sm":
            return self.capability[0] == major and self.capability[1] >= minor
        return self.capability >= (major, minor)

    def load(self, image):
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def write(self, address, content):
        self("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, ctypes.c_size_t(len(content)))

    def read(self, address, count):
        content = ctypes.create_string_buffer(count)
        self("cuMemcpyDtoH_v2", content, ctypes.c_uint64(address), ctypes.c_size_t(count))
        return content.raw

    def launch(self, module, kernel, grid, block, params):
        """Launches a kernel with these parameters, each as its bytes, and waits for it."""
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        kept = [ctypes.create_string_buffer(param, len(param)) for param in params]
        places = (ctypes.c_void_p * len(kept))(*map(ctypes.addressof, kept))
        self("cuLaunchKernel", function, *grid, *block, 0, None, places, None)
        self("cuCtxSynchronize")


def quiet(element, content):
    """The bytes, in which every NaN is the usual one."""
    if element not in FLOATS:
        return content
    kind, magnitude, infinity, usual = FLOATS[element]
    numbers = np.frombuffer(content, kind).copy()
    numbers[(numbers & kind(magnitude)) > kind(infinity)] = kind(usual)
    return numbers.tobytes()


def launch(driver, module, described, before):
    """Makes a launch. Gives what differs: a parameter's number, why, and what was found."""
    content, tensors, params = bytearray(), [], []
    for number, param in enumerate(described["params"]):
        if "number" in param:
            params.append(bytes.fromhex(param["number"]))
            continue
        size, start = param["bytes"], len(content)
        first = param.get("before")
        content += bytes(size) if first is None else before[first : first + size]
        content += GUARD + bytes(-len(content) % len(GUARD))
        params.append((driver.arena.value + start).to_bytes(8, "little"))
        tensors.append((number, start, param))
    driver.write(driver.arena.value, bytes(content))
    driver.launch(module, described["kernel"], described["grid"], described["block"], params)
    after = driver.read(driver.arena.value, len(content))
    for number, start, param in tensors:
        end = start + param["bytes"]
        found = after[start:end]
        if hashlib.sha256(quiet(param["element"], found)).hexdigest() != param["after"]:
            yield number, "differs", found
        if after[end : end + len(GUARD)] != GUARD:
            yield number, "is written behind its end", after[start : end + len(GUARD)]


def main(folder, differences):
    driver = Driver()
    before = (folder / "before.bin").read_bytes()
    launched, different = 0, []
    for described in json.loads((folder / "kernels.json").read_text())["modules"]:
        for arch, name in described["images"].items():
            if not driver.takes(arch):
                continue
            module = driver.load((folder / name).read_bytes())
            for one in described["launches"]:
                launched += 1
                for number, why, found in launch(driver, module, one, before):
                    different.append(f"{one['kernel']} for {arch}: parameter {number} {why}")
                    differences.mkdir(parents=True, exist_ok=True)
                    (differences / f"{one['kernel']}.{number}.{arch}.bin").write_bytes(found)
            driver("cuModuleUnload", module)
    print(f"{launched} launches, {len(different)} differences")
    print("\n".join(different[:SHOWN]))
    return 1 if different or not launched else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    sys.exit(main(folder, Path(sys.argv[2]) if len(sys.argv) == 3 else folder / "differences"))
