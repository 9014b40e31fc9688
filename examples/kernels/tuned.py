# SPDX-License-Identifier: Apache-2.0
"""Kernels of this folder with the fastest of several configs for each size. `tuned.toml` has those
that were found on an H200, by

    kernpack tune tuned.py --shapes shapes.toml

Other sizes are tuned at their first call.
"""

import attention as attentions
import gemm as products
import layer_norm as layer_norms
import rms_norm as rms_norms
import softmax as softmaxes

import kernpack as kp

FILE = "tuned.toml"

# The first config of each chooses by rules. Parts of k are for results of few columns; what is `few` is
# for those of few rows, and compiles one shape for all others.
shared = [((width, 1, n),) for width in (96, 128, 160, 192, 224, 256) for n in (1, 2)]
parts = [((128, 2, 1),), ((128, 4, 1),), ((64, 4, 1),), ((64, 8, 1),)]
few = [((128, 1, 1),)]
gemm = kp.autotune(
    [
        kp.Config(),
        *kp.Config.grid(SHAPES=shared, GROUP=(8, 32)),
        *kp.Config.grid(SHAPES=parts),
        *kp.Config.grid(ROWS=(64, 128), FEW_PARTS=(1,), MEMORY=(192 << 10, 208 << 10), SHAPES=few),
        *kp.Config.grid(
            ROWS=(64, 128),
            FEW_PARTS=(2, 4),
            PARTS_MEMORY=(64 << 10, 96 << 10, 128 << 10),
            SHAPES=few,
        ),
    ],
    key=["m", "n", "k", "T"],
    file=FILE,
)(products.gemm)

attention = kp.autotune(
    [kp.Config(), *kp.Config.grid(STAGES=(1, 3))],
    key=["b", "h", "s", "t", "d", "T", "left", "right"],
    file=FILE,
)(attentions.attention)


def rows(parts, shared):
    """Configs that hold a row in a block of so many threads, each with so many vectors."""
    choices = [(threads, each, False) for threads in (64, 128, 256, 512) for each in parts]
    choices += [(512, each, True) for each in shared]
    return [kp.Config(), *kp.Config.grid(FORWARD=[(choice,) for choice in choices])]


rms_norm = kp.autotune(rows((1, 2, 4), (4, 8)), key=["d", "T"], file=FILE)(rms_norms.rms_norm)
layer_norm = kp.autotune(rows((1, 2, 4), (4, 8)), key=["d", "T"], file=FILE)(layer_norms.layer_norm)
softmax = kp.autotune(rows((1, 2, 4), (4, 8)), key=["n", "T"], file=FILE)(softmaxes.softmax)
