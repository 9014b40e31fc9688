# SPDX-License-Identifier: Apache-2.0
"""What attention in bfloat16 reaches on a GPU, as tables in Markdown.

    speed_attention.py FOLDER

FOLDER is a bundle, or has the packages kernels_attention.so and kernels_paged_decode.so alone. Columns say what is reached
of cuDNN's, which PyTorch calls, and what PyTorch's own flash attention reaches, measured in the same run; the
control is cuDNN's against itself. 16,384 tokens of 16 heads, in numbers of a normal distribution.
Gradients are measured likewise, by autograd. Of one query for each of 64 sequences the table tells how fast keys
and values are read, beside how fast a copy of them reads and writes.
Medians of rounds in an order by chance. `judge` says when a target is missed.
"""

import sys
from pathlib import Path

import torch
import tvm_ffi
from judge import Figure, Round, Table, shuffle
from speed_matrix import MOST_TURNS, ROUNDS, STEADY, sampler
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

sys.path.insert(0, str(Path(__file__).parent / "examples/kernels"))
import attention_torch

TOKENS, HEADS = 16384, 16
# What has to be reached of cuDNN's: of (d, length, whether it is causal).
LEAST = {
    (128, 4096, False): 1.00,
    (128, 16384, False): 1.00,
    (128, 4096, True): 1.05,
    (128, 16384, True): 1.05,
    (64, 4096, False): 0.90,
    (64, 16384, False): 0.90,
    (64, 4096, True): 0.90,
    (64, 16384, True): 0.90,
}
# And of a copy of keys and values, in pages.
LEAST_OF_COPY = 0.85
# Of what gradients are measured: (d, length, whether it is causal, heads of keys).
GRADIENTS = [
    (128, 4096, False, 16),
    (128, 4096, True, 16),
    (128, 16384, True, 16),
    (64, 4096, True, 16),
    (128, 4096, True, 4),
]
GRADIENT_ROUNDS = 15


def calls_of(attention, d, length, is_causal):
    """Calls of cuDNN's, of that again, of PyTorch's own, and of ours."""
    shape = TOKENS // length, HEADS, length, d
    q, k, v = (torch.randn(shape, device="cuda").bfloat16() for _ in range(3))
    out = torch.empty_like(q)

    def torch_by(backend):
        def call():
            with sdpa_kernel(backend):
                scaled_dot_product_attention(q, k, v, is_causal=is_causal)

        return call

    cudnn = torch_by(SDPBackend.CUDNN_ATTENTION)
    right = 0 if is_causal else -1
    return {
        "cuDNN": cudnn,
        "control": cudnn,
        "PyTorch's flash": torch_by(SDPBackend.FLASH_ATTENTION),
        "attention": lambda: attention(q, k, v, out, None, d**-0.5, -1, right),
    }


def measure(attention, case):
    d, length, is_causal = case
    calls = calls_of(attention, *case)
    samples = {name: sampler(call) for name, call in calls.items()}
    for _ in range(MOST_TURNS):
        seconds = shuffle(samples, ROUNDS)
        control = seconds["cuDNN"] / seconds["control"]
        if abs(control - 1) <= STEADY:
            break
    flops = 4 * TOKENS * HEADS * length * d // (2 if is_causal else 1)
    told = lambda name: f"{flops / seconds[name] / 1e12:.0f} TFLOPS"
    reached = {name: seconds["cuDNN"] / seconds[name] for name in seconds}
    others = [f"{told(name)}, {reached[name]:.3f}" for name in ("PyTorch's flash", "attention")]
    figure = Figure("attention", reached["attention"], at_least=LEAST[case])
    return Round([told("cuDNN"), f"{control:.3f}", *others], (figure,), (control,))


def gradient_calls(d, length, is_causal, heads):
    """Calls of cuDNN's gradient, of that again, and of the one of attention_torch.py."""
    normal = lambda heads: torch.randn(TOKENS // length, heads, length, d, device="cuda").bfloat16()
    q, k, v = (normal(n).requires_grad_() for n in (HEADS, heads, heads))
    ours, _ = attention_torch.attention(q, k, v, d**-0.5, -1, 0 if is_causal else -1)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        theirs = scaled_dot_product_attention(
            q, k, v, is_causal=is_causal, enable_gqa=heads < HEADS
        )
    grad = torch.randn_like(ours)

    def gradient(out):
        return lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)

    return {
        "cuDNN": gradient(theirs),
        "control": gradient(theirs),
        "attention_torch": gradient(ours),
    }


def measure_gradient(case):
    samples = {name: sampler(call) for name, call in gradient_calls(*case).items()}
    seconds = shuffle(samples, GRADIENT_ROUNDS)
    control = seconds["cuDNN"] / seconds["control"]
    told = [f"{seconds[name] * 1000:.3f} ms" for name in ("cuDNN", "attention_torch")]
    cells = [*told, f"{seconds['cuDNN'] / seconds['attention_torch']:.3f}", f"{control:.3f}"]
    return Round(cells, (), (control,))


def decode_calls(paged_decode, d, page):
    """A call for 64 sequences of 8192 keys, of 64 heads of which 8 share keys, and copies of these."""
    n, length, heads, shared = 64, 8192, 64, 8
    shape = n * length // page, page, shared, d
    q = torch.randn(n, heads, d, device="cuda").bfloat16()
    k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    others = torch.empty_like(k), torch.empty_like(v)
    table = torch.randperm(shape[0], device="cuda", dtype=torch.int32).view(n, length // page)
    lengths = torch.full((n,), length, device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)

    def copy():
        for x, other in zip((k, v), others):
            other.copy_(x)

    decode = lambda: paged_decode(q, k, v, table, lengths, out, d**-0.5)
    return {"copy": copy, "control": copy, "paged_decode": decode}, 4 * k.numel()


def measure_decode(paged_decode, d, page):
    calls, n_bytes = decode_calls(paged_decode, d, page)
    seconds = shuffle({name: sampler(call) for name, call in calls.items()}, ROUNDS)
    control = seconds["copy"] / seconds["control"]
    ratio = seconds["copy"] / seconds["paged_decode"] / 2
    told = lambda n_bytes, name: f"{n_bytes / seconds[name] / 1e9:.0f} GB/s"
    cells = [told(2 * n_bytes, "copy"), f"{control:.3f}"]
    cells.append(f"{told(n_bytes, 'paged_decode')}, {ratio:.3f}")
    figures = (Figure("paged_decode", ratio, at_least=LEAST_OF_COPY),) if d == 128 else ()
    return Round(cells, figures, (control,))


def main(folder):
    torch.manual_seed(0)
    attention = tvm_ffi.load_module(str(folder / "kernels_attention.so")).attention
    columns = ["d, length", "cuDNN", "control", "PyTorch's flash", "attention"]
    table = Table("Attention, forward, beside cuDNN's.", columns)
    for case in LEAST:
        name = f"{case[0]}, {case[1]}{', causal' if case[2] else ''}"
        table.row(name, lambda case=case: measure(attention, case))
    columns = ["d, length", "cuDNN", "attention_torch", "of cuDNN", "control"]
    table = Table("The gradient of attention, beside cuDNN's.", columns)
    for case in GRADIENTS:
        heads = "" if case[3] == HEADS else f", {case[3]} heads of keys"
        name = f"{case[0]}, {case[1]}{', causal' if case[2] else ''}{heads}"
        table.row(name, lambda case=case: measure_gradient(case))
    paged_decode = tvm_ffi.load_module(str(folder / "kernels_paged_decode.so")).paged_decode
    columns = ["d, page", "copy", "control", "paged_decode"]
    table = Table("Attention to keys and values in pages, beside a copy of them.", columns)
    for d, page in [(128, 64), (128, 16), (64, 64), (64, 16)]:
        table.row(f"{d}, {page}", lambda d=d, page=page: measure_decode(paged_decode, d, page))
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
