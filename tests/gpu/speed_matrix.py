# SPDX-License-Identifier: Apache-2.0
"""What products of matrices in bfloat16 reach on a GPU, as tables in Markdown.

    speed_matrix.py FOLDER

FOLDER is a bundle, or has the packages gemm.so, gemm_variants.so, kernels_gemm*.so and kernels_grouped_gemm.so alone. Columns say what each
reaches of `torch.matmul`, which is cuBLAS, measured in the same run; the control is that against
itself. Numbers are drawn from a normal distribution, as what a device draws of power depends on them, and
its clock on that; so does it on what ran before, so that each round has an order of its own. Medians.
`judge` says when a target is missed.
"""

import statistics
import sys
from pathlib import Path

import torch
import triton_matmul
import tvm_ffi
from judge import Figure, Round, Table, shuffle

ROUNDS, CALLS = 31, 3
# How far a control may stray before a shape is measured again, and how often that is.
STEADY, MOST_TURNS = 0.01, 3
SQUARES = [
    (8192, 8192, 8192),
    (4096, 4096, 4096),
    (8192, 8192, 1024),
    (2048, 2048, 8192),
    (16384, 4096, 4096),
]
LAYERS = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)]
# Of few rows, some and many, and of sizes that no tile divides.
OTHERS = [(m, n, k) for m in (16, 512, 8192) for n, k in LAYERS] + [(8000, 5000, 4104)]
# Rows of groups: few, some and many for each, as experts of a layer have them.
GROUPS = [
    (256, 8, 4096, 4096),
    (4096, 8, 4096, 4096),
    (32768, 8, 4096, 4096),
    (4096, 64, 2048, 2048),
]
# What functions have to reach of cuBLAS: each of the squares, and their geometric mean.
LEAST = {"gemm": 0.95, "gemm_simple": 0.82}
# What `gemm_simple` as PTX for compute_80 has to reach of the same by Triton, on average.
OF_TRITON = 0.95
PTX, TRITON = "gemm_simple, PTX for compute_80", "tl.dot of Triton, PTX for sm_80"
MEAN = {"gemm": 0.98, "gemm_simple": 0.92, PTX: 0.48}
# The same of other shapes.
OTHERS_LEAST, OTHERS_MEAN = {"gemm": 0.75}, {"gemm": 0.90}
# What `gemm_gelu` has to reach of `gemm`, and of cuBLAS with a bias and a kernel behind it.
OF_GEMM, OF_TWO = 0.97, 1.05


def functions(folder):
    """What is measured, by its name."""
    load = lambda name: tvm_ffi.load_module(str(folder / f"{name}.so"))
    return {
        "examples/gemm": load("gemm").gemm,
        "gemm": load("kernels_gemm").gemm,
        "gemm_simple": load("kernels_gemm").gemm_simple,
        PTX: load("kernels_gemm_ptx").gemm_simple,
    }


def by_the_driver(folder):
    """What the driver makes of PTX: of that of `gemm`, and of Triton's for sm_80, by its name."""
    driver = tvm_ffi.load_module(str(folder / "kernels_gemm_driver.so"))
    return {"gemm, by the driver": driver.gemm, TRITON: triton_matmul.Fastest()}


def sampler(call):
    """A function that says how many seconds of the GPU's time a call takes, once it has made one."""

    def sample():
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        call()
        start.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / CALLS / 1000

    sample()
    return sample


def calls_of(functions, m, n, k):
    """Calls for matrices of that size: of cuBLAS, of cuBLAS again, and of each function."""
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    matmul = lambda: torch.matmul(a, b.T, out=c)
    ours = {name: lambda call=call: call(a, b, c) for name, call in functions.items()}
    return {"cuBLAS": matmul, "control": matmul} | ours


def table_of(title, functions, shapes, leasts, means):
    """A table of shapes, and a row with the geometric mean of what each function reaches; with what
    functions have to."""
    table = Table(title, ["m, n, k", "cuBLAS", "control", *functions])
    reached = {name: {} for name in functions}

    def measure(shape):
        m, n, k = shape
        samples = {name: sampler(call) for name, call in calls_of(functions, m, n, k).items()}
        for _ in range(MOST_TURNS):
            seconds = shuffle(samples, ROUNDS)
            if abs(seconds["cuBLAS"] / seconds["control"] - 1) <= STEADY:
                break
        rate = lambda name: f"{2 * m * n * k / seconds[name] / 1e12:.0f} TFLOPS"
        control = seconds["cuBLAS"] / seconds["control"]
        cells = [rate("cuBLAS"), f"{control:.3f}"]
        for name in functions:
            ratio = seconds["cuBLAS"] / seconds[name]
            reached[name][shape] = ratio
            cells.append(f"{rate(name)}, {ratio:.3f}")
        figures = [
            Figure(name, reached[name][shape], at_least=least) for name, least in leasts.items()
        ]
        return Round(cells, tuple(figures), (control,))

    for shape in shapes:
        table.row(", ".join(map(str, shape)), lambda: measure(shape))

    def mean():
        found = {
            name: statistics.geometric_mean(ratios.values()) for name, ratios in reached.items()
        }
        cells = ["", "", *(f"{ratio:.3f}" for ratio in found.values())]
        figures = [Figure(name, found[name], at_least=least) for name, least in means.items()]
        if TRITON in found:
            of_triton = found[PTX] / found[TRITON]
            figures.append(Figure(f"{PTX}, of Triton's", of_triton, at_least=OF_TRITON))
        return Round(cells, tuple(figures))

    table.row("geometric mean", mean)


def variants(folder):
    """`gemm` by each size of tiles alone, by what it is, in the order of gemm_variants.py."""
    variant = tvm_ffi.load_module(str(folder / "gemm_variants.so")).variant
    parts = [(256, 1), (224, 1), (192, 1), (128, 1), (128, 2), (128, 4)]
    names = [f"{width} columns, {n}" for width, n in parts]
    names += ["256 columns, two share", "192 columns, two share", "of b @ a.T"]
    return {
        name: lambda a, b, c, number=number: variant(a, b, c, number)
        for number, name in enumerate(names)
    }


def epilogue(folder):
    """A product with a bias and GELU, beside the product alone, and beside cuBLAS and a kernel of PyTorch's behind it."""
    m = n = k = 8192
    fused = tvm_ffi.load_module(str(folder / "kernels_gemm_epilogue.so")).gemm_gelu
    gemm = tvm_ffi.load_module(str(folder / "kernels_gemm.so")).gemm
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    bias, c = torch.randn(n, device="cuda").bfloat16(), torch.empty(m, n, device="cuda").bfloat16()

    def two():
        torch.addmm(bias, a, b.T, out=c)
        torch.nn.functional.gelu(c)

    calls = {
        "gemm": lambda: gemm(a, b, c),
        "control": lambda: gemm(a, b, c),
        "gemm_gelu": lambda: fused(a, b, bias, c, None, 1.0),
        "two": two,
    }
    table = Table(
        "A product with a bias and GELU.", ["m, n, k", "gemm_gelu", "of gemm", "control", "of two"]
    )

    def measure():
        samples = {name: sampler(call) for name, call in calls.items()}
        for _ in range(MOST_TURNS):
            seconds = shuffle(samples, ROUNDS)
            control = seconds["gemm"] / seconds["control"]
            if abs(control - 1) <= STEADY:
                break
        of_gemm, of_two = (seconds[name] / seconds["gemm_gelu"] for name in ("gemm", "two"))
        rate = 2 * m * n * k / seconds["gemm_gelu"] / 1e12
        cells = [f"{rate:.0f} TFLOPS", f"{of_gemm:.3f}", f"{control:.3f}", f"{of_two:.3f}"]
        figures = (
            Figure("gemm_gelu of gemm", of_gemm, at_least=OF_GEMM),
            Figure("gemm_gelu of two", of_two, at_least=OF_TWO),
        )
        return Round(cells, figures, (control,))

    table.row(f"{m}, {n}, {k}", measure)


def grouped(folder):
    """Products of groups of as many rows each, beside a product of cuBLAS for each, whose sizes the host knows."""
    ours = tvm_ffi.load_module(str(folder / "kernels_grouped_gemm.so")).grouped_gemm
    columns = ["rows, groups, n, k", "grouped_gemm", "of cuBLAS, group by group", "control"]
    table = Table("Products of groups of rows.", columns)
    for m, groups, n, k in GROUPS:
        a, b = torch.randn(m, k, device="cuda").bfloat16(), torch.randn(groups, n, k, device="cuda")
        b, c = b.bfloat16(), torch.empty(m, n, device="cuda").bfloat16()
        each = m // groups
        offsets = torch.arange(groups + 1, device="cuda", dtype=torch.int32) * each

        def one_by_one(a=a, b=b, c=c, each=each):
            for group in range(b.shape[0]):
                rows = slice(group * each, (group + 1) * each)
                torch.matmul(a[rows], b[group].T, out=c[rows])

        calls = {
            "ours": lambda a=a, b=b, c=c, offsets=offsets: ours(a, b, offsets, c),
            "cuBLAS": one_by_one,
            "control": one_by_one,
        }

        def measure(calls=calls, work=2 * m * n * k):
            samples = {name: sampler(call) for name, call in calls.items()}
            seconds = shuffle(samples, ROUNDS)
            control = seconds["cuBLAS"] / seconds["control"]
            ratio = seconds["cuBLAS"] / seconds["ours"]
            rate = work / seconds["ours"] / 1e12
            cells = [f"{rate:.0f} TFLOPS", f"{ratio:.3f}", f"{control:.3f}"]
            return Round(cells, (), (control,))

        table.row(f"{m}, {groups}, {n}, {k}", measure)


def main(folder):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    found = functions(folder)
    title = "Products in bfloat16, beside cuBLAS."
    table_of(title, found | by_the_driver(folder), SQUARES, LEAST, MEAN)
    table_of(
        "Products in bfloat16 of other shapes, beside cuBLAS.",
        found,
        OTHERS,
        OTHERS_LEAST,
        OTHERS_MEAN,
    )
    title = "Products in bfloat16 by one size of tiles each, and how many blocks share one, beside cuBLAS."
    table_of(title, variants(folder), SQUARES + OTHERS, {}, {})
    epilogue(folder)
    grouped(folder)
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
