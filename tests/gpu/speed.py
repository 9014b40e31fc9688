# SPDX-License-Identifier: Apache-2.0
"""What the examples' kernels reach on a GPU, and what calls from Python cost, as tables in
Markdown.

    speed.py FOLDER BARE

FOLDER is a bundle, BARE the library made of bare.cc. Each figure stands next to what it is held
against, measured in the same run, interleaved; medians; the control is the reference against
itself. `judge` says when a target is missed.
"""

import ctypes
import itertools
import json
import sys
import textwrap
import time
from pathlib import Path

import torch
import tvm_ffi
from judge import Figure, Round, Table, interleave

N_LAUNCHES = 200  # between two synchronisations: more would fill the driver's queue, and time the GPU instead


# What a plain call may take of a least function, beside which it may miss its target. After a launch,
# both find less in the caches than calls that launch nothing.
BEYOND_LEAST = 1.05


def on_the_gpu(call, n_calls):
    """A function that says how many seconds of the GPU's time a call takes."""

    def sample():
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(n_calls):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / n_calls / 1000

    call()
    return sample


def beside(sides, reference, rate, target, first=()):
    """Measures ours beside a reference, and the reference once more: both rates, and what ours is of
    the other's.
    """
    seconds = interleave(sides, 31)
    ratio = seconds[reference] / seconds["ours"]
    control = seconds[reference] / seconds["control"]
    cells = [*first, rate(seconds["ours"]), rate(seconds[reference]), f"{ratio:.3f}"]
    cells += [f"{control:.3f}", f"{target or ''}"]
    return Round(cells, (Figure("ratio", ratio, at_least=target),), (control,))


def rms_norm(folder):
    rms = tvm_ffi.load_module(str(folder / "rms_norm.so")).rms
    n_bytes = 1 << 30
    table = Table(
        "RMSNorm of 1 GiB against a device-to-device copy of it; bytes read and written.",
        ["rows", "dtype", "RMSNorm", "copy", "ratio", "control", "target"],
    )
    for d, dtype, target in [
        (128, torch.float16, 0.9),
        (1024, torch.float16, 0.9),
        (4096, torch.float16, 0.9),
        (4096, torch.bfloat16, 0.9),
        (8192, torch.bfloat16, 0.9),
        (16_384, torch.bfloat16, 0.9),
        (32_768, torch.bfloat16, 0.9),
        (65_536, torch.bfloat16, None),
    ]:
        m = n_bytes // 2 // d
        x, w = (
            torch.randn(m, d, device="cuda", dtype=dtype),
            torch.randn(d, device="cuda", dtype=dtype),
        )
        out = torch.empty_like(x)
        copy = on_the_gpu(lambda: out.copy_(x), 3)
        sides = {"ours": on_the_gpu(lambda: rms(x, w, out), 3), "copy": copy, "control": copy}
        rate = lambda seconds: f"{2 * n_bytes / seconds / 1e9:.0f} GB/s"
        measure = lambda: beside(sides, "copy", rate, target, [str(dtype)[6:]])
        table.row(f"{m} of {d}", measure)


def gemm(folder):
    gemm = tvm_ffi.load_module(str(folder / "gemm.so")).gemm
    table = Table(
        "GEMM in bfloat16 against `torch.matmul`.",
        ["m, n, k", "GEMM", "torch.matmul", "ratio", "control", "target"],
    )
    for m, n, k, target in [
        (8192, 8192, 8192, 0.6),
        (4096, 4096, 4096, None),
        (8000, 5000, 4104, None),
    ]:
        a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        matmul = on_the_gpu(lambda: torch.matmul(a, b.T, out=c), 3)
        sides = {"ours": on_the_gpu(lambda: gemm(a, b, c), 3), "torch": matmul, "control": matmul}
        rate = lambda seconds: f"{2 * m * n * k / seconds / 1e12:.0f} TFLOPS"
        table.row(f"{m}, {n}, {k}", lambda: beside(sides, "torch", rate, target))


class Bare:
    """Launches of a kernel without an entry point, with the ones and with the other values in turn:
    `launch` and `graph` say how many nanoseconds one takes, and `least` is a function of libtvm_ffi
    that makes them with the ones.
    """

    def __init__(self, path, ptx, name, values, threads):
        library = ctypes.CDLL(str(path))
        library.bare_kernel.restype = library.bare.restype = ctypes.c_void_p
        kernel = ctypes.c_void_p(library.bare_kernel(ptx.read_bytes() + b"\0", name.encode()))
        if not kernel:
            raise RuntimeError(f"{ptx} does not load")
        params = [(ctypes.c_void_p * len(some))(*map(ctypes.addressof, some)) for some in values]
        self.kept = values, params
        bare = ctypes.c_void_p(library.bare(kernel, *params, ctypes.c_uint(threads)))
        library.bare_launches.restype = library.bare_graphs.restype = ctypes.c_double
        self.launch, self.graph = (
            (lambda: library.bare_launches(bare, N_LAUNCHES)),
            (lambda: library.bare_graphs(bare, N_LAUNCHES)),
        )
        library.least_launches(kernel, params[0], ctypes.c_uint(threads))
        self.least = tvm_ffi.load_module(str(path)).least


def timed(body, n_per_round, **scope):
    """A function that says how many nanoseconds a call takes, of which the body makes so many."""
    source = f"""
def time_calls({", ".join(scope)}):
    synchronize()
    start = clock()
    for _ in repeat(None, {N_LAUNCHES // n_per_round}):
{textwrap.indent(textwrap.dedent(body).strip(), " " * 8)}
    elapsed = clock() - start
    synchronize()
    return elapsed / {N_LAUNCHES}
"""
    names = {
        "clock": time.perf_counter_ns,
        "repeat": itertools.repeat,
        "synchronize": torch.cuda.synchronize,
    }
    exec(source, names)
    return lambda: names["time_calls"](**scope)


def in_python(function, args, others):
    """Times calls with the ones and with the other arguments in turn. They are local variables: the
    loop unpacks nothing.
    """
    first, second = (
        {f"{letter}{i}": value for i, value in enumerate(values)}
        for letter, values in (("a", args), ("b", others))
    )
    body = f"function({', '.join(first)})\nfunction({', '.join(second)})"
    return timed(body, 2, function=function, **first, **second)


def through_graphs(module, name, before=None):
    """How many kernels were launched by graphs, and in all; or the part of it since then."""
    counts = json.loads(module[f"kernpack_launched_{name}"]())
    now = counts["graph"], counts["graph"] + counts["plain"]
    if before is None:
        return now
    graph, whole = (after - earlier for after, earlier in zip(now, before))
    return f"{100 * graph // max(whole, 1)} %"


def c_value(value):
    """What a kernel is passed for an argument."""
    match value:
        case int():
            return ctypes.c_int(value)
        case float():
            return ctypes.c_float(value)
        case tensor:
            return ctypes.c_void_p(tensor.data_ptr())


def pairs_of_vectors():
    return [[torch.zeros(1, device="cuda") for _ in range(2)] for _ in range(2)]


def bare_add_one(bare, folder, pairs):
    return Bare(
        bare,
        folder / "add_one.ptx",
        "add_one",
        [[*map(c_value, pair), ctypes.c_int(1)] for pair in pairs],
        256,
    )


def calls(folder, path):
    nop = tvm_ffi.get_global_func("testing.nop")
    pairs = pairs_of_vectors()
    tensors = [[torch.zeros(2, 3, 4, 8, device="cuda") for _ in range(5)] for _ in range(2)]
    ints, floats = list(range(-4, 5)), [i / 2 for i in range(5)]
    many = [tensors[0] + ints + floats, tensors[1] + ints[::-1] + floats[::-1]]
    bare_blend = lambda: Bare(
        path, folder / "blend.ptx", "blend", [[*map(c_value, args)] for args in many], 32
    )
    subjects = {
        "add_one, n = 1": ("add_one", pairs, lambda: bare_add_one(path, folder, pairs), 0.70),
        "19 arguments, empty kernel": ("blend", many, bare_blend, 0.75),
    }
    table = Table(
        "Calls from Python with PyTorch tensors, host time, arguments changing from call to call: as the package chooses (auto), with "
        '`submit = "plain"`, a least function, `testing.nop` with the same arguments, a bare `cuLaunchKernelEx`, a bare graph: '
        "`cuCtxGetCurrent`, `cuStreamIsCapturing`, `cuCtxGetId`, `cuGraphExecKernelNodeSetParams`, `cuGraphLaunch`. `auto / plain` misses its "
        "target only where it is also above `possible`: (plain - bare launch + bare graph) / plain; and `plain` only "
        f"where it also takes more than {BEYOND_LEAST:.2f} times what the least function does.",
        [
            *["function", "auto", "plain", "least", "nop", "bare launch", "bare graph"],
            *[
                "auto / plain",
                "target",
                "possible",
                "plain / (nop + bare launch)",
                "target",
                "least",
                "control",
                "plain again / plain",
            ],
            "through graphs",
        ],
    )
    for title, (name, args, make_bare, target) in subjects.items():
        module, plain = (
            tvm_ffi.load_module(str(folder / f"{name}{ending}.so")) for ending in ("", "_plain")
        )
        bare, no_call = make_bare(), in_python(nop, *args)
        ours, told = in_python(module[name], *args), in_python(plain[name], *args)
        for _ in range(100):
            ours()
        sides = {
            "auto": ours,
            "plain": told,
            "least": in_python(bare.least, *args),
            "nop": no_call,
            "bare": bare.launch,
            "graph": bare.graph,
        }
        sides |= {"nop again": no_call, "bare again": bare.launch, "plain again": told}
        table.row(title, lambda: call_round(sides, target, module, name))


def call_round(sides, target, module, name):
    """Measures what calls of a function take by each way."""
    before = through_graphs(module, name)
    took = interleave(sides, 101)
    reference = took["nop"] + took["bare"]
    chosen, ratio = took["auto"] / took["plain"], took["plain"] / reference
    control = (took["nop again"] + took["bare again"]) / reference
    plain_again = took["plain again"] / took["plain"]
    least = took["least"] / reference
    possible = (took["plain"] - took["bare"] + took["graph"]) / took["plain"]
    cells = [f"{took[side]:.0f} ns" for side in ("auto", "plain", "least", "nop", "bare", "graph")]
    cells += [f"{chosen:.3f}", f"{target:.2f}", f"{possible:.3f}", f"{ratio:.3f}", "1.10"]
    cells += [f"{least:.3f}", f"{control:.3f}", f"{plain_again:.3f}"]
    cells.append(through_graphs(module, name, before))
    figures = (
        Figure("auto / plain", chosen, at_most=max(target, possible)),
        Figure("plain / (nop + bare launch)", ratio, at_most=max(1.10, BEYOND_LEAST * least)),
    )
    return Round(cells, figures, (control, plain_again))


def beside_others(folder, path):
    """Calls of add_one by several ways to have a kernel launched, each of which is first seen to do
    it.
    """
    pairs = pairs_of_vectors()
    (a, b), (x, y) = pairs
    module, plain = (
        tvm_ffi.load_module(str(folder / f"add_one{ending}.so")) for ending in ("", "_plain")
    )
    bare = bare_add_one(path, folder, pairs)
    prepared = [module.kernpack_prepare_add_one(*pair) for pair in pairs]
    sides = {
        "kernpack": in_python(module.add_one, *pairs),
        "kernpack, prepared": timed("first()\nsecond()", 2, first=prepared[0], second=prepared[1]),
        'kernpack, `submit = "plain"`': in_python(plain.add_one, *pairs),
        "C++ by hand through TVM-FFI, no argument looked at": in_python(bare.least, *pairs),
        "`torch.add(a, 1, out=b)`": timed(
            "add(a, 1, out=b)\nadd(x, 1, out=y)", 2, add=torch.add, a=a, b=b, x=x, y=y
        ),
    }
    try:
        from triton_test_kernels import add as kernel
    except ImportError:
        print("\nspeed: there is no Triton here", file=sys.stderr)
    else:
        body = "kernel[(1,)](a, b, 1, BLOCK=256)\nkernel[(1,)](x, y, 1, BLOCK=256)"
        sides["Triton, `kernel[grid](a, b, n, BLOCK=256)`"] = timed(
            body, 2, kernel=kernel, a=a, b=b, x=x, y=y
        )
    for name, sample in sides.items():
        b.zero_()
        sample()
        if b.item() != 1:
            sys.exit(f"speed: {name} does not add one")
        for _ in range(100):
            sample()
    took = interleave(sides | {f"{name} again": sample for name, sample in sides.items()}, 101)
    table = Table(
        "What a call costs beside others: `add_one`, n = 1, from Python with PyTorch tensors, host time, arguments changing from call to call.",
        ["call", "time", "kernpack / it", "control"],
    )
    for name in sides:
        cells = [f"{took[name]:.0f} ns", f"{took['kernpack'] / took[name]:.2f}"]
        cells.append(f"{took[f'{name} again'] / took[name]:.3f}")
        table.row(name, lambda: Round(cells))


def refused_calls(folder):
    """Calls that raise: ours, and one of libtvm_ffi's, which walks the stack."""
    functions = {
        ending: tvm_ffi.load_module(str(folder / f"add_one{ending}.so")).add_one
        for ending in ("", "_plain")
    }
    a, b = torch.zeros(8, device="cuda"), torch.zeros(7, device="cuda")
    try:
        functions[""](a, b)
        sys.exit("speed: the call is not refused")
    except ValueError as error:
        message = str(error)
    throw = tvm_ffi.get_global_func("testing.test_raise_error")
    refused = """
        try:
            function(a, b)
        except ValueError:
            pass
    """
    sides = {
        "auto": timed(refused, 1, function=functions[""], a=a, b=b),
        "plain": timed(refused, 1, function=functions["_plain"], a=a, b=b),
        "raise": timed(refused, 1, function=throw, a="ValueError", b=message),
    }
    sides["raise again"] = sides["raise"]
    took = interleave(sides, 31)
    table = Table(
        "Refused calls from Python, an extent that does not match; and `testing.test_raise_error` of libtvm_ffi with the same message.",
        ["call", "auto", "plain", "libtvm_ffi", "auto / libtvm_ffi", "control"],
    )
    cells = [f"{took[side]:.0f} ns" for side in ("auto", "plain", "raise")]
    cells += [f"{took[side] / took['raise']:.3f}" for side in ("auto", "raise again")]
    table.row("add_one", lambda: Round(cells))


def main(folder, bare):
    torch.zeros(1, device="cuda")
    beside_others(folder, bare)
    calls(folder, bare)
    refused_calls(folder)
    rms_norm(folder)
    gemm(folder)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
