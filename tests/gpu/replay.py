# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of recorded logs again, on the real driver, and compares what it answers with
what `tests/cuda-stub` answered.

    replay.py FOLDER

FOLDER has logs of the stub (`*.jsonl`, the form is described in tests/cuda-stub/src/log.rs) and the
images that were loaded, in `images`. record.py makes it. Each log is replayed in a process of its
own, on as many devices as it was recorded for, or else is left out. Handles and addresses are those
that the real driver gave where the stub gave the recorded ones. Result codes are compared, and of
what calls wrote: numbers, texts, and which handle it is where that is known already.

Exits with 1 where something differs that KNOWN does not explain.
"""

import collections
import concurrent.futures
import ctypes
import functools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cuda_driver import CLUSTER, Place, call, config, node_params, pointers

# Where the stub and a driver differ for a reason: the function, a pattern of the difference's line,
# the reason.
KNOWN = [
    (
        "cuDeviceGetAttribute",
        r'"attribute": 14[89],',
        "cuda.h has these attributes, and the driver of the 580 series does not know them yet",
    ),
    (
        "cuDeviceGetAttribute",
        r'"attribute": 132,',
        "whether GPUs can multicast to each other is the machine's",
    ),
    (
        "cuKernelGetAttribute",
        r'"attribute": 4,',
        "the registers are what the driver's compiler makes of PTX, which the stub does not compile",
    ),
    (
        "cuFuncGetAttribute",
        r'"attribute": 4,',
        "the registers are what the driver's compiler makes of PTX, which the stub does not compile",
    ),
    (
        "cuKernelGetParamInfo",
        "offset:",
        "the driver's compiler places the parameters of PTX, which the stub does not compile",
    ),
    (
        "cuThreadExchangeStreamCaptureMode",
        r'"capture_mode": 3|capture_mode: .* 3 from',
        "the driver takes a mode that does not exist",
    ),
    (
        "cuKernelGetAttribute",
        r'"attribute": 14,.*: 1 from the stub, 0 from',
        "the stub keeps one value for a kernel and its functions",
    ),
    (
        "cuOccupancyMaxActiveClusters",
        "n_clusters:",
        "the stub reckons from blocks alone, and the driver counts fewer clusters",
    ),
    (
        "cuTensorMapEncodeTiled",
        '"unaligned"',
        "cuda.h wants 64 bytes, and the driver does not look",
    ),
]
# The same for a card that is none of those that the stub is like.
OF_MEMORY = [
    (
        "cuDeviceGetAttribute",
        r'"attribute": (36|37|38|108|139|140),',
        "the stub has the clock, the bus and the caches of an H200",
    ),
]

HANDLE = re.compile(r"(context|stream|library|kernel|function|module|graph|node|exec|event)\d+$")
# What tells handles apart that have the same value, so that no two are the same.
ID = re.compile(r"(context|stream)-id\d+$")
ADDRESS = re.compile(r"(memory\d+)(?:\+(\d+))?$")
STREAMS = {"legacy": 1, "per-thread": 2}
# Results that are no `int`.
WIDE = {("cuKernelGetParamInfo", "offset"), ("cuKernelGetParamInfo", "size")}
TEXTS = {"cuKernelGetName", "cuGetErrorName", "cuGetErrorString"}
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
# How the stub's own form of a tensor map begins.
MAP = b"KPSTUB".hex()
ENOUGH = 4096


class LeftOut(Exception):
    """A call that cannot be made again, and why."""


class Replay:
    """One log on one process's driver."""

    def __init__(self, images):
        self.images = images
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.names = {code: self.name(code) for code in range(1000)}
        self.codes = {name: code for code, name in self.names.items()}
        # What the recorded names stand for here.
        self.values = {}
        self.maps = {}
        # Which handle a kernel or function comes from, and which handles are gone and would be
        # followed.
        self.origins = {}
        self.gone = set()
        # What must live as long as the process: images may be read late.
        self.kept = []
        self.threads = collections.defaultdict(lambda: concurrent.futures.ThreadPoolExecutor(1))

    def name(self, code):
        place = Place()
        call(self.driver, "cuGetErrorName", code, place)
        return place.text() or str(code)

    def value(self, text):
        """What a recorded text stands for."""
        if text in STREAMS:
            return STREAMS[text]
        if HANDLE.match(text):
            if self.is_gone(text):
                raise LeftOut(
                    "it names something of an unloaded library, which the driver would follow"
                )
            if text not in self.values:
                raise LeftOut("the driver gave no such handle")
            return self.values[text]
        if found := ADDRESS.match(text):
            if found[1] not in self.values:
                raise LeftOut("the driver gave no such memory")
            return self.values[found[1]] + int(found[2] or 0)
        if text in self.codes:
            return self.codes[text]
        return int(text, 16)

    def is_gone(self, text):
        return text in self.gone or (text in self.origins and self.is_gone(self.origins[text]))

    def again(self, line):
        """Makes a call, in its thread: its code, and the places of its results."""
        if line.get("told"):
            raise LeftOut("the stub was told to fail")
        if "crash" in line:
            raise LeftOut(line["crash"])
        name, given = line["call"], line["args"]
        places = {key: Place() for key, value in given.items() if value == "out"}
        arguments = [self.argument(line, key, value, places) for key, value in given.items()]
        work = self.threads[line["thread"]].submit(call, self.driver, name, *arguments)
        return work.result(), places

    def argument(self, line, key, value, places):
        name = line["call"]
        if key in places:
            if line.get("unaligned"):
                places[key] = Place(offset=32)
            return places[key]
        if value is None or isinstance(value, int) and not isinstance(value, bool):
            return self.plain(line, key, value, places)
        if isinstance(value, dict):
            return self.node(line, value) if key == "node_params" else self.config(value)
        if key == "dependencies_of":
            return pointers([self.value(node) for node in line["after"]])
        if (name, key) in {
            ("cuGraphKernelNodeSetAttribute", "value"),
            ("cuStreamSetAttribute", "given"),
        }:
            return Place(content=bytes.fromhex(value))
        if (name, key) in {("cuLibraryGetKernel", "name"), ("cuGetProcAddress_v2", "symbol")}:
            return value.encode()
        if value == "given":
            return self.given(line, key)
        # Handles that were never given are followed by the driver.
        if value.startswith("0x") and not self.is_address(name, key):
            raise LeftOut("it names a handle that was never given, which the driver would follow")
        return self.value(value)

    def is_address(self, name, key):
        return (
            name.startswith(("cuMem", "cuPointer", "cuTensorMap"))
            and key in {"address", "to", "from"}
            or key == "data"
        )

    def plain(self, line, key, value, places):
        """Numbers and NULL; numbers that stand for what a pointer leads to."""
        tensor = line.get("tensor", {})
        listed = {"dims": "dims", "strides": "strides", "boxes": "box", "steps": "steps"}
        if line["call"] == "cuTensorMapEncodeTiled" and key in listed and value is not None:
            kind = ctypes.c_uint64 if key in ("dims", "strides") else ctypes.c_uint32
            # Where the stub read no more, it refused for another reason.
            numbers = tensor.get(listed[key], [value])
            return (kind * 8)(*(numbers + [numbers[-1] if numbers else 16] * (8 - len(numbers))))
        if line["call"] == "cuThreadExchangeStreamCaptureMode" and value is not None:
            places[key] = Place(content=value.to_bytes(4, "little"))
            return places[key]
        return value

    def config(self, recorded):
        stream = recorded["stream"]
        stream = 0 if stream is None else self.value(stream)
        attributes = []
        for attribute in recorded["attributes"]:
            value = attribute["value"]
            if isinstance(value, str):
                words = [
                    int.from_bytes(bytes.fromhex(value[at : at + 8]), "little")
                    for at in range(0, 128, 8)
                ]
            else:
                words = value if attribute["id"] == CLUSTER else [value]
            attributes.append((attribute["id"], words + [0] * (16 - len(words))))
        made = config(recorded["grid"], recorded["block"], recorded["shared"], stream, attributes)
        self.kept.append(made)
        return made

    def node(self, line, recorded):
        """What a node is to launch."""
        params = self.params(line) if recorded["params"] else None
        extra = pointers([0]) if recorded["extra"] else None
        handles = [
            self.value(recorded[key]) if recorded[key] else 0
            for key in ("function", "kernel", "context")
        ]
        function, kernel, context = handles
        return node_params(
            function,
            recorded["grid"],
            recorded["block"],
            recorded["shared"],
            params,
            extra,
            kernel,
            context,
        )

    def given(self, line, key):
        """What the log says of memory of the caller's, elsewhere in the line."""
        size = line["args"].get("size", 256)
        match line["call"], key:
            case "cuLibraryLoadData", "code":
                image = (self.images / line["image"]["digest"]).read_bytes()
                self.kept.append(Place(len(image), content=image))
                return self.kept[-1]
            case "cuMemcpyHtoD_v2" | "cuMemcpyHtoDAsync_v2", "from":
                return Place(size, content=bytes.fromhex(line.get("data", "")))
            case "cuLaunchHostFunc", "function":
                return ctypes.cast(CALLBACK, ctypes.c_void_p).value
            case _, "params":
                return self.params(line)
            case _, "to" | "value" | "name":
                return Place(max(size, 256))
        raise LeftOut(f"the log does not say what `{key}` was")

    def params(self, line):
        """The addresses of a launch's arguments; of zeros, where the launch was refused before the
        stub looked at them.
        """
        recorded = line.get("launch", line.get("node", {})).get("arguments")
        if recorded is None:
            return pointers([Place(ENOUGH).address] * 64)
        contents = []
        for argument in recorded:
            content = bytes.fromhex(argument["bytes"])
            if "address" in argument:
                content = self.value(argument["address"]).to_bytes(8, "little")
            elif argument["bytes"].startswith(MAP):
                if argument["bytes"] not in self.maps:
                    raise LeftOut("the driver gave no such tensor map")
                content = self.maps[argument["bytes"]]
            contents.append(Place(len(content), content=content))
        self.kept.append(contents)
        return pointers([content.address for content in contents])

    def compare(self, line, code, places):
        """What is different: nothing, or a text."""
        name = self.names.get(code, str(code))
        if name != line["result"]:
            return f"{line['result']} from the stub, {name} from the driver"
        problems = [
            self.result(line, key, value, places) for key, value in line.get("out", {}).items()
        ]
        if code == 0:
            self.notice(line)
        return "; ".join(filter(None, problems))

    def result(self, line, key, value, places):
        """Remembers or compares what a call wrote."""
        place, function = places.get(key), line["call"]
        if place is None or (function, key) == ("cuGetProcAddress_v2", "function"):
            return None
        if function == "cuTensorMapEncodeTiled":
            self.maps[value] = place.bytes(128)
            return None
        if function in TEXTS:
            got = place.text()
        elif function == "cuStreamGetAttribute":
            got = place.bytes(64).hex()
        elif isinstance(value, str) and ID.match(value):
            return self.id(key, value, place.number())
        elif isinstance(value, str):
            real = place.number()
            got = (
                value
                if self.values.setdefault(value, real) == real
                else f"{real:#x} instead of {self.values[value]:#x}"
            )
        elif value is None:
            got = place.number() or None
        else:
            got = place.number(ctypes.c_uint64 if (function, key) in WIDE else ctypes.c_int32)
        return None if got == value else f"{key}: {value} from the stub, {got} from the driver"

    def id(self, key, value, real):
        """Whether a number is another one for each recorded id, and the same wherever that stands."""
        kind = ID.match(value)[1]
        same = [
            name
            for name, known in self.values.items()
            if known == real and name != value and name.startswith(f"{kind}-id")
        ]
        if same:
            return f"{key}: {value} from the stub, that of {same[0]} from the driver"
        known = self.values.setdefault(value, real)
        return (
            None
            if known == real
            else f"{key}: {value} from the stub, another than before from the driver"
        )

    def notice(self, line):
        """What a call that succeeded says about handles."""
        given, out = line["args"], line.get("out", {})
        match line["call"]:
            case "cuLibraryGetKernel":
                self.origins[out["kernel"]] = given["library"]
            case "cuKernelGetFunction":
                self.origins[out["function"]] = given["kernel"]
            case "cuLibraryGetModule":
                self.origins[out["module"]] = given["library"]
            case "cuLibraryUnload":
                self.gone.add(given["library"])
            case "cuGraphDestroy":
                self.gone.add(given["graph"])
            case "cuGraphExecDestroy":
                self.gone.add(given["executable"])


def described(line):
    """A call, with what its arguments say."""
    notes = {key: line[key] for key in ("tensor", "unaligned", "image") if key in line}
    if launch := line.get("launch", line.get("node")):
        notes["kernel"] = launch["kernel"]
    return f"{line['call']} {json.dumps(line['args'] | notes)}"


def replay_one(log, images):
    """Replays a log and tells about it in lines of JSON."""
    replay = Replay(images)
    for number, text in enumerate(log.read_text().splitlines(), 1):
        line = json.loads(text)
        print(json.dumps({"at": number, "line": line}), flush=True)
        try:
            code, places = replay.again(line)
            told = {"differs": replay.compare(line, code, places)}
        except LeftOut as reason:
            told = {"left_out": str(reason)}
        print(json.dumps(told), flush=True)
    print(json.dumps({"end": True}), flush=True)
    for thread in replay.threads.values():
        thread.shutdown()


def devices_of(lines):
    """How many devices a log was recorded with: at least as many as calls name with success."""
    named = [line["device"] for line in lines] + [
        line["args"].get("device") for line in lines if line["result"] == "CUDA_SUCCESS"
    ]
    return 1 + max((index for index in named if isinstance(index, int)), default=0)


def n_devices():
    driver, place = ctypes.CDLL("libcuda.so.1"), Place()
    if call(driver, "cuInit", 0) or call(driver, "cuDeviceGetCount", place):
        sys.exit("replay.py: there is no GPU")
    return place.number(ctypes.c_int32)


def reason_for(function, text):
    reasons = [
        reason
        for name, pattern, reason in KNOWN + (OF_MEMORY if is_another_card() else [])
        if name == function and re.search(pattern, text)
    ]
    return reasons[0] if reasons else None


@functools.lru_cache(maxsize=None)
def is_another_card():
    """Whether the GPU is another one than the stub is. Where there is none, the driver is a stub."""
    if shutil.which("nvidia-smi") is None:
        return False
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    return "H200" not in listed


class Table:
    """What came of the calls of all logs."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.unknown, self.known, self.left_out = [], collections.Counter(), collections.Counter()

    def take(self, log, told):
        """The lines of one replay."""
        at = None
        for entry in told:
            if "line" in entry:
                at = entry
                continue
            if "end" in entry:
                return
            function = at["line"]["call"]
            where = f"{log.name}:{at['at']}: {described(at['line'])}"
            self.counts[function]["calls"] += 1
            if reason := entry.get("left_out"):
                self.counts[function]["left out"] += 1
                self.left_out[f"{function}: {reason}"] += 1
            elif problem := entry["differs"]:
                self.differs(function, where, problem)
            at = None
        if at is not None:
            self.differs(
                at["line"]["call"],
                f"{log.name}:{at['at']}: {described(at['line'])}",
                "the replay ended here",
            )

    def differs(self, function, where, problem):
        reason = reason_for(function, f"{where}: {problem}")
        self.counts[function]["known" if reason else "differ"] += 1
        if reason:
            self.known[f"{function}: {reason}"] += 1
        else:
            self.unknown.append(f"{where}\n    {problem}")

    def print(self):
        columns = ("calls", "differ", "known", "left out")
        print(f"{'function':<46}" + "".join(f"{column:>10}" for column in columns))
        for function, counts in sorted(self.counts.items()):
            print(f"{function:<46}" + "".join(f"{counts[column]:>10}" for column in columns))
        total = sum(self.counts.values(), collections.Counter())
        print(f"{'all':<46}" + "".join(f"{total[column]:>10}" for column in columns))
        for title, reasons in (("known difference", self.known), ("left out", self.left_out)):
            for reason, count in reasons.items():
                print(f"{title}, {count} times: {reason}")
        if self.unknown:
            print("\ndifferences:", *self.unknown, sep="\n  ")


def main(folder):
    table, there = Table(), n_devices()
    logs = sorted(folder.glob("*.jsonl"))
    if not logs:
        sys.exit(f"replay.py: no logs in {folder}")
    for log in logs:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        if (needed := devices_of(lines)) > there:
            print(
                f"{log.name}: left out, {len(lines)} calls: it needs {needed} devices, and there are {there}"
            )
            continue
        ran = subprocess.run(
            [sys.executable, __file__, folder, log], stdout=subprocess.PIPE, text=True
        )
        table.take(log, map(json.loads, ran.stdout.splitlines()))
        if ran.returncode != 0:
            print(f"{log.name}: the replay ended with {ran.returncode}")
            table.unknown.append(f"{log.name}: the replay ended with {ran.returncode}")
    table.print()
    sys.exit(1 if table.unknown else 0)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        replay_one(Path(sys.argv[2]), Path(sys.argv[1]) / "images")
    else:
        main(Path(sys.argv[1]))
