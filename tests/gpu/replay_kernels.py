# SPDX-License-Identifier: Apache-2.0
"""Launches recorded kernels on a GPU, and compares what they leave in memory, bit for bit, with what
the interpreter of kernels has there. One NaN is like any other.

    replay_kernels.py FOLDER

FOLDER, or an archive of what is in it, is what `kernels record` wrote (tests/src/gpu_proof/record.rs):
images, `manifest.json` with the launches, and `outcomes.bin` with what buffers hold behind them.
What they hold before is made here, by the rules of tests/src/gpu_proof/input.rs. Around each buffer
are bytes that no kernel may change.

Needs a driver and no library of Python. Exits with 1 where something differs.
"""

import ctypes
import hashlib
import json
import os
import struct
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from cuda_driver import CLUSTER, COOPERATIVE, Place, call, config, pointers

# What a kernel is given at most, in seconds. The longest takes some milliseconds.
PATIENCE = 20
# What lies between buffers.
BETWEEN = bytes([0xA5]) * 256
# How many cases that differ are shown, and how many elements of each.
SHOWN, SHOWN_ELEMENTS = 20, 4
MAX_DYNAMIC_SHARED = 8
MASK = (1 << 64) - 1

SIZES = {"bool": 1, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
SIZES |= {f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}
# The bits of the mantissa, and what the exponent's bits are for 1.
FLOATS = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}
FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}
# What maps of tensors call types and swizzles, and the bytes of a map.
MAP_TYPES = {"uint8": 0, "int8": 0, "uint16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5}
MAP_TYPES |= {"float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}
MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
MAP_BYTES = 128


# ---- what buffers hold before a launch


def random_bits(seed):
    """SplitMix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        yield bits ^ (bits >> 31)


def float_bits(element, number):
    """The bits of a number that the type has."""
    if element == "bfloat16":
        return struct.unpack("<I", struct.pack("<f", number))[0] >> 16
    letter = {"float16": "e", "float32": "f", "float64": "d"}[element]
    return int.from_bytes(struct.pack("<" + letter, number), "little")


def small(element, choice, bits):
    if element == "bool" or choice % 4 == 0:
        return bits
    if element in FLOATS:
        return float_bits(element, (bits % 257 - 128) / 16)
    return bits % 33 - 16


def wide(element, choice, bits):
    if element not in FLOATS or choice % 2 == 0:
        return bits
    mantissa_bits, bias = FLOATS[element]
    most = min(24, bias - 1)
    exponent = bias - most + (choice >> 1) % (2 * most)
    sign = bits >> 63 << (8 * SIZES[element] - 1)
    return sign | exponent << mantissa_bits | bits & ((1 << mantissa_bits) - 1)


def packed(element, numbers):
    size = SIZES[element]
    mask = 1 if element == "bool" else (1 << 8 * size) - 1
    return struct.pack(f"<{len(numbers)}{FORMATS[size]}", *(number & mask for number in numbers))


class Inputs:
    """The rules of a manifest, with what they have given so far."""

    def __init__(self, rules):
        self.rules = rules
        self.known = {}

    def bytes(self, element, count, number):
        """The first elements that a rule gives."""
        size, rule = SIZES[element], self.rules[number]
        if "listed" in rule:
            return self.listed(element, count, number)
        # Of a drawn one, those of fewer elements are the first of more.
        name = element, number
        source, held = self.known.setdefault(name, (random_bits(rule["seed"]), bytearray()))
        make = {"small": small, "wide": wide}[rule["drawn"]]
        missing = count - len(held) // size
        if missing > 0:
            held += packed(
                element, [make(element, next(source), next(source)) for _ in range(missing)]
            )
        return bytes(held[: count * size])

    def listed(self, element, count, number):
        name = element, count, number
        if name not in self.known:
            rule, digits = self.rules[number], 2 * SIZES[element]
            text, each = rule["listed"], rule["each"]
            listed = [int(text[at : at + digits], 16) for at in range(0, len(text), digits)]
            numbers = [listed[i // each % len(listed)] for i in range(count)]
            self.known[name] = packed(element, numbers)
        return self.known[name]


# ---- cases


class Case:
    """A launch: its memory before and behind it, in one piece."""

    def __init__(self, recorded, inputs, outcomes):
        self.recorded = recorded
        self.buffers = []
        pieces, at = [BETWEEN], len(BETWEEN)
        expected = [BETWEEN]
        for name, argument in zip(recorded["names"], recorded["arguments"], strict=True):
            if "scalar" in argument:
                continue
            content = inputs.bytes(argument["element"], argument["count"], argument["input"])
            behind = content
            if "outcome" in argument:
                first = argument["outcome"]
                behind = outcomes[first : first + len(content)]
            self.buffers.append((name, argument["element"], at, content, behind))
            gap = BETWEEN + bytes(-len(content) % 256)
            pieces += [content, gap]
            expected += [behind, gap]
            at += len(content) + len(gap)
        self.before, self.behind = b"".join(pieces), b"".join(expected)

    def parameters(self, base, encode):
        """What the kernel is passed. `encode(element, map, address)` makes the map of a tensor."""
        places = iter(self.buffers)
        for argument in self.recorded["arguments"]:
            if "scalar" in argument:
                yield bytes.fromhex(argument["scalar"])
                continue
            address = base + next(places)[2]
            if "map" in argument:
                yield encode(argument["element"], argument["map"], address)
            else:
                yield address.to_bytes(8, "little")

    def differences(self, got):
        """Lines about what differs."""
        if got == self.behind:
            return []
        found, covered = [], set()
        for name, element, at, content, behind in self.buffers:
            covered.add((at, at + len(content)))
            for index, (expected, real) in elements(element, behind, got[at : at + len(content)]):
                found.append(
                    f"{name}[{index}]: {expected} expected, {real} found{self.given(index)}"
                )
        at = 0
        for first, last in [*sorted(covered), (len(got), len(got))]:
            if got[at:first] != self.behind[at:first]:
                found.append(f"memory between buffers was written, before byte {first}")
            at = last
        return found

    def given(self, index):
        """The elements of other buffers that a thread has, where each has one."""
        texts = []
        for name, element, _, content, _ in self.buffers:
            size = SIZES[element]
            if name.startswith("x") and len(content) >= (index + 1) * size:
                bits = int.from_bytes(content[index * size : (index + 1) * size], "little")
                texts.append(f"{name} = {bits:#x}")
        return f" of {', '.join(texts)}" if texts else ""


def elements(element, expected, got):
    """The elements that differ, with their indices."""
    if expected == got:
        return
    size = SIZES[element]
    letters = f"<{len(expected) // size}{FORMATS[size]}"
    pairs = zip(struct.unpack(letters, expected), struct.unpack(letters, got), strict=True)
    for index, pair in enumerate(pairs):
        if pair[0] != pair[1] and not all(is_nan(element, bits) for bits in pair):
            yield index, tuple(f"{bits:#0{2 * size + 2}x}" for bits in pair)


def is_nan(element, bits):
    if element not in FLOATS:
        return False
    mantissa_bits, bias = FLOATS[element]
    magnitude = bits & ((1 << (8 * SIZES[element] - 1)) - 1)
    return magnitude > (2 * bias + 1) << mantissa_bits


# ---- the driver


class Device:
    """The first GPU, with memory for any case."""

    def __init__(self, room):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.must("cuInit", 0)
        context, device, memory = Place(), Place(), Place()
        self.must("cuDeviceGet", device, 0)
        self.must("cuDevicePrimaryCtxRetain", context, device.number(ctypes.c_int32))
        self.must("cuCtxSetCurrent", context.number())
        self.must("cuMemAlloc_v2", memory, room)
        self.base = memory.number()

    def call(self, name, *arguments):
        """What went wrong, if something did."""
        code = call(self.driver, name, *arguments)
        if code == 0:
            return None
        text = Place()
        call(self.driver, "cuGetErrorName", code, text)
        return f"{name}: {text.text() or code}"

    def must(self, name, *arguments):
        if problem := self.call(name, *arguments):
            sys.exit(f"replay_kernels.py: {problem}")

    def load(self, path):
        """A library of kernels."""
        library, image = Place(), path.read_bytes()
        content = Place(len(image) + 1, content=image)
        self.must("cuLibraryLoadData", library, content, *[None] * 2, 0, *[None] * 2, 0)
        return library.number()

    def encode(self, element, described, address):
        """The map of a tensor."""

        def numbers(kind, values):
            return (kind * max(len(values), 1))(*values)

        extents, strides = described["extents"], described["strides"]
        made, rank = Place(MAP_BYTES), len(extents)
        self.must(
            "cuTensorMapEncodeTiled",
            made,
            MAP_TYPES[element],
            rank,
            address,
            numbers(ctypes.c_uint64, extents),
            numbers(ctypes.c_uint64, strides),
            numbers(ctypes.c_uint32, described["box"]),
            numbers(ctypes.c_uint32, [1] * rank),
            0,
            MAP_SWIZZLES[described["swizzle"]],
            *(0, 0),
        )
        return ctypes.string_at(made.address, MAP_BYTES)

    def run(self, library, case):
        """What a launch leaves in memory, or nothing and what went wrong."""
        recorded, kernel = case.recorded, Place()
        if problem := self.call("cuLibraryGetKernel", kernel, library, recorded["symbol"].encode()):
            return None, problem
        kernel = kernel.number()
        shared = recorded["shared"]
        if shared > 48 << 10:
            self.must("cuKernelSetAttribute", MAX_DYNAMIC_SHARED, shared, kernel, 0)
        before, got = ctypes.c_char_p(case.before), ctypes.create_string_buffer(len(case.before))
        address = ctypes.cast(before, ctypes.c_void_p).value
        self.must("cuMemcpyHtoD_v2", self.base, address, len(case.before))
        values = [
            Place(len(value), content=value) for value in case.parameters(self.base, self.encode)
        ]
        params = pointers([value.address for value in values])
        attributes = [(CLUSTER, recorded["cluster"])] if recorded["cluster"] != [1, 1, 1] else []
        if recorded["cooperative"]:
            attributes.append((COOPERATIVE, (1,)))
        shape = config(recorded["grid"], recorded["block"], shared, 0, attributes)
        problem = self.call("cuLaunchKernelEx", shape, kernel, params, None)
        problem = problem or self.call("cuCtxSynchronize")
        if not problem:
            self.must("cuMemcpyDtoH_v2", ctypes.addressof(got), self.base, len(case.before))
        return got.raw, problem


class Watch:
    """Ends the process where a kernel does not end."""

    def __init__(self):
        self.since, self.of = time.monotonic(), "the start"
        threading.Thread(target=self.look, daemon=True).start()

    def begin(self, of):
        self.since, self.of = time.monotonic(), of

    def look(self):
        while time.monotonic() - self.since < PATIENCE:
            time.sleep(1)
        print(f"replay_kernels.py: {self.of} does not end", flush=True)
        os._exit(1)


def read(folder):
    """Images, each with its cases."""
    manifest = json.loads((folder / "manifest.json").read_text())
    inputs, outcomes = Inputs(manifest["inputs"]), (folder / "outcomes.bin").read_bytes()
    for image in manifest["images"]:
        cases = [Case(recorded, inputs, outcomes) for recorded in image["cases"]]
        digest = hashlib.sha256(
            b"".join(content for case in cases for *_, content, _ in case.buffers)
        )
        if digest.hexdigest() != image["digest"]:
            sys.exit(f"replay_kernels.py: {image['file']}: other inputs than when it was recorded")
        yield folder / image["file"], cases


def replay(folder):
    """Launches everything: the cases, and those that differ with what does."""
    images = list(read(folder))
    device = Device(max(len(case.before) for _, cases in images for case in cases))
    watch, n_cases, wrong = Watch(), 0, []
    for path, cases in images:
        watch.begin(path.name)
        library = device.load(path)
        for case in cases:
            watch.begin(case.recorded["origin"])
            got, problem = device.run(library, case)
            n_cases += 1
            if found := [problem] if problem else case.differences(got):
                wrong.append((case.recorded, found))
            if problem and problem.startswith("cuCtxSynchronize"):
                return n_cases, wrong
    return n_cases, wrong


def main(folder):
    start = time.monotonic()
    n_cases, wrong = replay(folder)
    for recorded, found in wrong[:SHOWN]:
        print(f"{recorded['origin']} (`{recorded['symbol']}`): {len(found)} differ")
        print(*(f"    {line}" for line in found[:SHOWN_ELEMENTS]), sep="\n")
    if len(wrong) > SHOWN:
        print("also:", *(recorded["origin"] for recorded, _ in wrong[SHOWN:]), sep="\n    ")
    seconds = time.monotonic() - start
    print(
        f"{n_cases} kernels launched, {len(wrong)} of them differ from the interpreter ({seconds:.0f} s)"
    )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    given = Path(sys.argv[1])
    if given.is_dir():
        main(given)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(given) as archive:
        # Pythons before 3.11.4 have no filters.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safely)
        main(Path(folder))
