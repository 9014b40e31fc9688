# SPDX-License-Identifier: Apache-2.0
"""What the package `kernpack` costs on a machine with a GPU: its calls, its compiles and what its
cache saves, as tables in Markdown.

    speed_python.py FOLDER

FOLDER is a bundle. Each figure stands next to what it is held against, measured in the same run,
interleaved; medians; the control is the reference, or the figure itself, once more. `judge` says
when a target is missed. Targets in milliseconds are for a machine on which nvJitLink takes 4.1 ms
for `add_one.ptx`, and scale with what it takes here.
"""

import ctypes
import itertools
import os
import sys
import time
from pathlib import Path

import assert_kernels
import dependent_kernels
import jit_kernels
import kernpack as kp
import python_kernels as kernels
import torch
import tvm_ffi
from judge import Figure, Round, Table, interleave
from speed import in_python, on_the_gpu, pairs_of_vectors, timed

LINK_MILLISECONDS = 4.1
COMPILE_RATIO, HIT_MILLISECONDS, FRESH_MILLISECONDS = 1.30, 0.5, 10
# Of jit functions: the first call without its assembler's share, and that of a new process which
# finds it in the cache, behind its imports.
FIRST_MILLISECONDS, FRESH_FIRST_MILLISECONDS = 25, 15
# A keyword may take 250 ns where the raw function takes 2 us.
CALL_RATIO, KEYWORD_RATIO = 1.02, 1.125
# Of jit functions, which find their variants by the classes of arguments.
CLASSES_RATIO, CAPTURED_NANOSECONDS = 1.06, 15
# Of one that has very many variants.
VARIANTS_RATIO = 1.02
# Of a chain of launches that may begin early, and of a call that looks at an assertion's record.
DEPENDENT_RATIO, ASSERTS_RATIO = 1.02, 1.01


def add_one_of(function, pair):
    """Whether a call with a pair of tensors does what it should, and has been made often enough to
    be what it will be.
    """
    a, b = pair
    b.fill_(7)
    for _ in range(100):
        function()
    if b.item() != a.item() + 1:
        sys.exit("speed_python: a call does not add one")


def calls(folder):
    """Functions against those that tvm_ffi loads from the same file: one library, and so one state
    behind both.
    """
    ours, raw = (
        kp.load_module(folder / "add_one.so").add_one,
        tvm_ffi.load_module(str(folder / "add_one.so")),
    )
    (a, b), (x, y) = pairs = pairs_of_vectors()
    prepared = [ours.prepare(*pair) for pair in pairs]
    # Of the same library in memory: which graphs it has decides what a prepared call costs.
    raw_prepare = ours.package.raw_function("kernpack_prepare_add_one")
    raw_prepared = [raw_prepare(*pair) for pair in pairs]
    for call in (
        lambda: ours(a, b),
        lambda: ours(a, b=b),
        lambda: raw.add_one(a, b),
        prepared[0],
        raw_prepared[0],
    ):
        add_one_of(call, pairs[0])
    # As calls that come again and again, each has a graph of its own.
    for call in prepared + raw_prepared:
        for _ in range(200):
            call()
    in_turn = "first()\nsecond()"
    sides = {
        "positional": in_python(ours, *pairs),
        "raw": in_python(raw.add_one, *pairs),
        "keyword": timed(
            "function(a, b=b)\nfunction(x, b=y)", 2, function=ours, a=a, b=b, x=x, y=y
        ),
        "prepared": timed(in_turn, 2, first=prepared[0], second=prepared[1]),
        "raw prepared": timed(in_turn, 2, first=raw_prepared[0], second=raw_prepared[1]),
    }
    # Ours is sampled as often as what it is held against: a kernel keeps graphs for those that use
    # it most.
    sides |= {f"{name} again": sides[name] for name in ("raw", "raw prepared", "prepared")}
    table = Table(
        "Calls of `add_one` with two PyTorch tensors, n = 1, host time, arguments changing from call to call, against those of what "
        "`tvm_ffi.load_module` makes of the same file; what was prepared by kernpack asks PyTorch for its current stream.",
        ["call", "kernpack", "tvm_ffi", "ratio", "more", "target", "control"],
    )

    for title, name, reference, target in [
        ("positional", "positional", "raw", CALL_RATIO),
        ("one keyword", "keyword", "raw", KEYWORD_RATIO),
        ("prepared", "prepared", "raw prepared", None),
    ]:
        table.row(title, lambda: call_round(sides, name, reference, target))


def jit_calls():
    """Jit functions against the raw functions that they are compiled to, with what they have
    captured watched.
    """
    pairs = pairs_of_vectors()
    for pair in pairs:
        for function in (jit_kernels.add_one, jit_kernels.add_one_said):
            add_one_of(lambda function=function, pair=pair: function(*pair), pair)
    raw = {
        name: function.variants[0].function.raw for name, function in jit_kernels.FUNCTIONS.items()
    }
    sides = {name: in_python(one, *pairs) for name, one in jit_kernels.FUNCTIONS.items()}
    sides |= {f"raw {name}": in_python(one, *pairs) for name, one in raw.items()}
    sides |= {f"raw {name} again": sides[f"raw {name}"] for name in raw}
    table = Table(
        "Calls of jit functions with two PyTorch tensors, n = 1, host time, against the raw functions that they are compiled to. Each has "
        f"captured {jit_kernels.N_CAPTURED} names, of which each may cost {CAPTURED_NANOSECONDS} ns.",
        ["call", "jit", "raw", "ratio without names", "more", "target", "control"],
    )
    for name, target in [("by classes", CLASSES_RATIO), ("by signature", CALL_RATIO)]:
        table.row(name, lambda name=name, target=target: jit_round(sides, name, target))


def variants():
    """A jit function with very many variants against itself with one."""
    pairs = [(*pair, 7) for pair in pairs_of_vectors()]
    one, many = jit_kernels.numbered(), jit_kernels.numbered()
    for number in range(jit_kernels.N_VARIANTS):
        many.warmup(*pairs[0][:2], number)
    for a, b, number in pairs:
        for function in (one, many):
            add_one_of(lambda function=function: function(a, b, number), (a, b))
    if (len(one.variants), len(many.variants)) != (1, jit_kernels.N_VARIANTS):
        sys.exit("speed_python: the functions do not have the variants that they should have")
    sides = {"one": in_python(one, *pairs), "many": in_python(many, *pairs)}
    sides["one again"] = sides["one"]
    table = Table(
        f"Calls of a jit function that has {jit_kernels.N_VARIANTS} variants, host time, against the same function with one.",
        ["variants", "many", "one", "ratio", "more", "target", "control"],
    )
    name = str(jit_kernels.N_VARIANTS)
    table.row(name, lambda: call_round(sides, "many", "one", VARIANTS_RATIO))


def dependent_chains():
    """A chain of dependent launches against the same chain of others, on the host and on the GPU."""
    chains = {"dependent": dependent_kernels.dependent, "behind": dependent_kernels.behind}
    first, second = ([torch.randn(n, device="cuda") for _ in range(3)] for n in (1000, 1000))
    for chain in chains.values():
        x, w, y = (one.clone() for one in first)
        for _ in range(100):
            x.copy_(first[0])
            chain(x, w, y)
        if not torch.equal(x, dependent_kernels.expected(first[0], w)):
            sys.exit("speed_python: a chain gives wrong numbers")
    table = Table(
        f"A chain of {dependent_kernels.N_LAUNCHES} small kernels that may begin before the one in front has ended (`pdl=`), against the "
        "same chain without that, n = 1,000, as the package chooses.",
        ["time", "dependent", "one behind another", "ratio", "more", "target", "control"],
    )
    on_host = {name: in_python(chain, first, second) for name, chain in chains.items()}
    on_gpu = {name: in_nanoseconds(lambda c=chain: c(*first)) for name, chain in chains.items()}
    for title, sides in [("of the host", on_host), ("of the GPU", on_gpu)]:
        sides["behind again"] = sides["behind"]
        table.row(title, lambda s=sides: call_round(s, "dependent", "behind", DEPENDENT_RATIO))


def in_nanoseconds(call):
    """Times 200 calls, until the GPU is done."""
    seconds = on_the_gpu(call, 200)
    return lambda: seconds() * 1e9


def assertions():
    """A call of a kernel that asserts something against one of the same kernel without that."""
    pairs = [(torch.rand(1024, device="cuda"), torch.empty(1024, device="cuda")) for _ in range(2)]
    for function in (assert_kernels.halved, assert_kernels.bare):
        for x, y in pairs * 100:
            function(x, y)
        if any(not torch.equal(y, x / 2) for x, y in pairs):
            sys.exit("speed_python: a call does not halve")
    table = Table(
        "A call of a kernel that asserts something as it runs, against the same kernel without that, n = 1,024.",
        ["call", "with assertions", "without", "ratio", "more", "target", "control"],
    )
    sides = {
        "asserts": in_python(assert_kernels.halved, *pairs),
        "bare": in_python(assert_kernels.bare, *pairs),
    }
    sides["bare again"] = sides["bare"]
    table.row("of the host", lambda: call_round(sides, "asserts", "bare", ASSERTS_RATIO))


def jit_round(sides, name, target):
    took = interleave(sides, 201)
    own, raw = took[name], took[f"raw {name}"]
    control = took[f"raw {name} again"] / raw
    ratio = (own - jit_kernels.N_CAPTURED * CAPTURED_NANOSECONDS) / raw
    cells = [f"{own:.0f} ns", f"{raw:.0f} ns", f"{ratio:.3f}", f"{own - raw:.0f} ns"]
    figures = (Figure("ratio", ratio, at_most=target),)
    return Round([*cells, f"{target}", f"{control:.3f}"], figures, (control,))


def call_round(sides, name, reference, target):
    """Measures a call by one way beside another."""
    took = interleave(sides, 201)
    control = took[f"{reference} again"] / took[reference]
    ratio, more = took[name] / took[reference], took[name] - took[reference]
    cells = [f"{took[name]:.0f} ns", f"{took[reference]:.0f} ns", f"{ratio:.3f}", f"{more:.0f} ns"]
    figures = (Figure("ratio", ratio, at_most=target),)
    return Round([*cells, f"{target or ''}", f"{control:.3f}"], figures, (control,))


def must(status, what):
    if status != 0:
        sys.exit(f"speed_python: {what} answers {status}")


def word(pointer):
    """Where a handle is, or an array of texts."""
    return ctypes.cast(pointer, ctypes.c_void_p)


class Nvrtc:
    """The NVRTC that kernpack has loaded, by itself."""

    def __init__(self, architecture):
        with open("/proc/self/maps") as maps:
            loaded = {line.split(maxsplit=5)[5].strip() for line in maps if "libnvrtc.so" in line}
        if len(loaded) != 1:
            sys.exit(f"speed_python: expected one NVRTC to be loaded, and found {sorted(loaded)}")
        [self.path] = loaded
        self.library = ctypes.CDLL(self.path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        must(self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
        self.version = major.value, minor.value
        options = [f"--gpu-architecture={architecture}".encode()]
        # As kernpack has it: NVRTC's own cache is in the way of processes that fork.
        options += [b"--no-cache"] * (self.version >= (12, 9))
        self.options = (ctypes.c_char_p * len(options))(*options)

    def compile(self, text):
        """Machine code of a text."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        must(
            self.library.nvrtcCreateProgram(
                ctypes.byref(program), text.encode(), b"add_one.cu", 0, None, None
            ),
            "nvrtcCreateProgram",
        )
        must(
            self.library.nvrtcCompileProgram(program, len(self.options), word(self.options)),
            "nvrtcCompileProgram",
        )
        must(self.library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
        code = ctypes.create_string_buffer(size.value)
        must(self.library.nvrtcGetCUBIN(program, code), "nvrtcGetCUBIN")
        must(self.library.nvrtcDestroyProgram(ctypes.byref(program)), "nvrtcDestroyProgram")
        return code.raw


class Linker:
    """nvJitLink, which says how fast a machine is."""

    PTX = 2

    def __init__(self, nvrtc, architecture):
        folder = Path(nvrtc.path).parent
        found = sorted(folder.glob("libnvJitLink.so.*")) or ["libnvJitLink.so.13"]
        self.library = ctypes.CDLL(str(found[0]))
        self.options = (ctypes.c_char_p * 1)(f"-arch={architecture}".encode())

    def link(self, ptx):
        """Machine code of PTX, which is never the same: what is the same may come out of a cache of
        NVIDIA's.
        """
        ptx = ptx.replace(b"\0", b"\n// %d\n\0" % time.time_ns())
        linker, size = ctypes.c_void_p(), ctypes.c_size_t()
        must(
            self.library.nvJitLinkCreate(ctypes.byref(linker), 1, word(self.options)),
            "nvJitLinkCreate",
        )
        must(
            self.library.nvJitLinkAddData(
                linker, self.PTX, ptx, ctypes.c_size_t(len(ptx)), b"add_one"
            ),
            "nvJitLinkAddData",
        )
        must(self.library.nvJitLinkComplete(linker), "nvJitLinkComplete")
        must(
            self.library.nvJitLinkGetLinkedCubinSize(linker, ctypes.byref(size)),
            "nvJitLinkGetLinkedCubinSize",
        )
        code = ctypes.create_string_buffer(size.value)
        must(self.library.nvJitLinkGetLinkedCubin(linker, code), "nvJitLinkGetLinkedCubin")
        must(self.library.nvJitLinkDestroy(ctypes.byref(linker)), "nvJitLinkDestroy")
        return code.raw


def milliseconds(work):
    """A function that says how long some work takes."""

    def sample():
        start = time.perf_counter_ns()
        work()
        return (time.perf_counter_ns() - start) / 1e6

    return sample


FRESH = """
import time, tvm_ffi, torch
start = time.perf_counter_ns()
import kernpack as kp
import sys
f = kp.cuda(sys.argv[1], sys.argv[2], args=["a", "b", "n: int32"], grid="ceildiv(n, 256)", block=256)
print((time.perf_counter_ns() - start) / 1e6)
"""


FRESH_JIT = """
import sys, time, tvm_ffi, torch
sys.path.insert(0, sys.argv[1])
import kernpack as kp
kp.jit
a, b = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda")
b.fill_(7)
torch.cuda.synchronize()
start = time.perf_counter_ns()
import jit_kernels
jit_kernels.add_one(a, b)
print((time.perf_counter_ns() - start) / 1e6)
assert b.item() == 1
"""


def fresh(code, *arguments, **environment):
    """A function that says how long a new process needs for a kernel that is in the cache, when it
    has imported what comes before.
    """

    def sample():
        ran = kernels.python(code, *arguments, **environment)
        return float(ran.splitlines()[-1])

    return sample


def first_jit_calls():
    """Functions that say how long a jit function takes that was never compiled: its first call, and
    all of that but the assembler and the call, as for PTX that the driver compiles.
    """
    a, b = pairs_of_vectors()[0]

    def sample_of(work):
        def sample():
            first = jit_kernels.like_no_other()
            return milliseconds(lambda: work(first))()

        return sample

    to_ptx = sample_of(lambda first: kp.compile(first, a, b, arch="compute_80"))
    return sample_of(lambda first: first(a, b)), to_ptx


def builds(folder):
    """Compiles against NVRTC, and what is found against a share of what nvJitLink takes."""
    architecture = kernels.arch()
    numbers = itertools.count()
    new = lambda: f"{kernels.ADD_ONE}// {os.getpid()}, {next(numbers)}\n"
    kernels.add_one()
    nvrtc = Nvrtc(architecture)
    linker = Linker(nvrtc, architecture)
    ptx = (folder / "add_one.ptx").read_bytes() + b"\0"
    compile = milliseconds(lambda: nvrtc.compile(new()))
    sides = {
        "kernpack": milliseconds(lambda: kernels.add_one(new())),
        "NVRTC": compile,
        "NVRTC again": compile,
        "link": milliseconds(lambda: linker.link(ptx)),
    }
    for sample in sides.values():
        sample()
    version = ".".join(map(str, nvrtc.version))
    table = Table(
        f"`kp.cuda` of `add_one` for {architecture}, NVRTC {version}. Limits in milliseconds scale with what nvJitLink takes for "
        f"`add_one.ptx`, and are stated for {LINK_MILLISECONDS} ms.",
        ["what", "kernpack", "against", "ratio", "target", "control"],
    )
    table.row("compiled, warm", lambda: compile_round(sides))
    # Not in turns with compiles, which leave the processor's caches to whoever comes next.
    hit = milliseconds(kernels.add_one)
    of_text = FRESH, kernels.ADD_ONE, kernels.SIGNATURE
    new_process, named = (
        fresh(*of_text, KERNPACK_JIT="forbid"),
        fresh(*of_text, KERNPACK_ARCH=architecture),
    )
    first_call, to_ptx = first_jit_calls()
    jit_kernels.add_one(*pairs_of_vectors()[0])
    for title, sample, limit, n_rounds in [
        ("found in the cache", hit, HIT_MILLISECONDS, 201),
        ("found by a new process", new_process, FRESH_MILLISECONDS, 5),
        ("the same, where KERNPACK_ARCH says for what", named, None, 5),
        ("first call of a jit function", first_call, None, 11),
        ("a jit function as PTX, without an assembler", to_ptx, FIRST_MILLISECONDS, 11),
        (
            "first call of a jit function, found by a new process behind its imports",
            fresh(FRESH_JIT, Path(__file__).parent, KERNPACK_JIT="forbid"),
            FRESH_FIRST_MILLISECONDS,
            5,
        ),
    ]:
        table.row(title, lambda: found_round(sample, limit, n_rounds, sides["link"]))


def compile_round(sides):
    """Measures a compile beside NVRTC's own."""
    took = interleave(sides, 61)
    ratio, control = took["kernpack"] / took["NVRTC"], took["NVRTC again"] / took["NVRTC"]
    cells = [f"{took['kernpack']:.2f} ms", f"NVRTC: {took['NVRTC']:.2f} ms", f"{ratio:.3f}"]
    figures = (Figure("ratio", ratio, at_most=COMPILE_RATIO),)
    return Round([*cells, f"{COMPILE_RATIO:.2f}", f"{control:.3f}"], figures, (control,))


def found_round(sample, limit, n_rounds, link):
    """Measures what it takes to find a kernel, against a limit that is scaled by what nvJitLink
    takes meanwhile.
    """
    took = interleave({"found": sample, "again": sample}, n_rounds)
    control = took["again"] / took["found"]
    scaled = None
    figures = ()
    if limit is not None:
        scaled = limit * interleave({"link": link}, 11)["link"] / LINK_MILLISECONDS
        figures = (Figure("of its limit", took["found"] / scaled, at_most=1.0),)
    shown = "" if scaled is None else f"{scaled:.3f} ms"
    cells = [f"{took['found']:.3f} ms", "", "", shown, f"{control:.3f}"]
    return Round(cells, figures, (control,))


def main(folder):
    torch.zeros(1, device="cuda")
    calls(folder)
    jit_calls()
    variants()
    assertions()
    if torch.cuda.get_device_capability() >= (9, 0):
        dependent_chains()
    builds(folder)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
