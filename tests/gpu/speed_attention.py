# SPDX-License-Identifier: Apache-2.0
"""What attention in bfloat16 reaches on a GPU, as tables in Markdown.

    speed_attention.py FOLDER

FOLDER is a bundle, or has the package kernels_attention.so alone. Columns say what is reached
of cuDNN's, which PyTorch calls, and what PyTorch's own flash attention reaches, measured in the same run; the
control is cuDNN's against itself. 16,384 tokens of 16 heads, in numbers of a normal distribution.
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


def main(folder):
    torch.manual_seed(0)
    attention = tvm_ffi.load_module(str(folder / "kernels_attention.so")).attention
    columns = ["d, length", "cuDNN", "control", "PyTorch's flash", "attention"]
    table = Table("Attention, forward, beside cuDNN's.", columns)
    for case in LEAST:
        name = f"{case[0]}, {case[1]}{', causal' if case[2] else ''}"
        table.row(name, lambda case=case: measure(attention, case))
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
