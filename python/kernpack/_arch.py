# SPDX-License-Identifier: Apache-2.0
"""What CUDA C++ is compiled for where nobody says it.

The visible GPUs are asked of NVML, and never of the CUDA driver: what has called `cuInit` cannot
fork and then use CUDA. NVML takes longer than all the rest of a new process that finds its kernels
in the cache, and so its answer is kept too, until the machine is started again or shows other
devices.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Sequence, Union

from . import _module, _native

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_DRIVER = Path("/proc/driver/nvidia")

Archs = Union[str, Sequence[str], None]


def wanted(arch: Archs) -> dict[str, Any]:
    """What a request asks for: `archs` that the user names, `devices` that the machine has, or what
    is `written`.
    """
    named = arch if arch is not None else os.environ.get("KERNPACK_ARCH") or None
    if named is not None:
        archs = named.split(",") if isinstance(named, str) else list(named)
        return {"archs": [each.strip() for each in archs]}
    devices = visible(os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_DEVICE_ORDER"))
    return {"devices": devices} if devices else {}


@functools.lru_cache(maxsize=8)
def visible(names: str | None, order: str | None) -> list[str]:
    """The architectures of the GPUs that CUDA would show, each once: `sm_90`."""
    gpus = _known_gpus()
    if names is not None:
        listed = [name.strip() for name in names.split(",")]
        chosen = [gpu for name in listed for gpu in _named(name, gpus, order)]
        gpus = [] if listed in ([""], ["-1"]) else chosen
    archs = {arch for _, arch in gpus}
    return sorted(archs, key=lambda arch: int(arch[3:]))


def _named(name: str, gpus: list[tuple[str, str]], order: str | None) -> list[tuple[str, str]]:
    """The GPUs that a word of CUDA_VISIBLE_DEVICES may mean."""
    if name.startswith("MIG-"):
        return gpus
    if not name.isdecimal():
        return [gpu for gpu in gpus if gpu[0].startswith(name)]
    # CUDA numbers the fastest first, unless it is told to number as NVML does.
    return gpus[int(name) : int(name) + 1] if order == "PCI_BUS_ID" else gpus


def _known_gpus() -> list[tuple[str, str]]:
    """The GPUs, from a file where they are known; whatever is wrong with that, NVML is asked."""
    kept = _kept_in()
    if kept is not None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return [(str(identity), str(arch)) for identity, arch in json.loads(kept.read_text())]
    gpus = _gpus()
    if kept is not None and gpus:
        with contextlib.suppress(OSError):
            _module.publish(kept, json.dumps(gpus).encode())
    return gpus


def _kept_in() -> Path | None:
    """The file for what NVML says of this machine since it was started; none where nothing tells
    machines apart.
    """
    try:
        texts = [_BOOT.read_text(), _DRIVER.joinpath("version").read_text()]
        names = [
            *os.listdir(_DRIVER / "gpus"),
            *(name for name in os.listdir("/dev") if name.startswith("nvidia")),
        ]
    except OSError:
        return None
    folder = _native.cache_folder()
    digest = hashlib.sha256("\n".join([*texts, *sorted(names)]).encode()).hexdigest()
    return None if folder is None else Path(folder, f"gpus-{digest[:16]}.json")


def _gpus() -> list[tuple[str, str]]:
    """The identity and the architecture of each GPU, in the order of the bus; none where there is
    no driver.
    """
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return []
    if nvml.nvmlInit_v2() != 0:
        return []
    try:
        count = ctypes.c_uint(0)
        nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        return [gpu for index in range(count.value) for gpu in _gpu(nvml, index)]
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: ctypes.CDLL, index: int) -> list[tuple[str, str]]:
    device, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
    identity = ctypes.create_string_buffer(96)
    failed = (
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device))
        or nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
        or nvml.nvmlDeviceGetUUID(device, identity, len(identity))
    )
    return [] if failed else [(identity.value.decode(), f"sm_{major.value}{minor.value}")]
