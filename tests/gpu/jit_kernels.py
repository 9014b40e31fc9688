# SPDX-License-Identifier: Apache-2.0
"""Jit functions whose calls and compiles are measured."""

import itertools
import os

import kernpack as kp

BLOCK = 256
N_CAPTURED = 2
"""The names that each has captured: the kernel, and BLOCK."""
N_VARIANTS = 1000
COUNTER = itertools.count(2)


@kp.kernel
def add_one_to_elements(a, b):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < a.shape[0]:
        b[i] = a[i] + 1.0


@kp.jit
def add_one(a, b):
    assert a.shape == b.shape
    add_one_to_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], BLOCK), block=BLOCK)


@kp.jit("add_one_said(a: Tensor([n], float32), b: Tensor([n], float32, mut))")
def add_one_said(a, b):
    add_one_to_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], BLOCK), block=BLOCK)


def numbered():
    """A jit function that is compiled anew for each of its numbers."""

    @kp.jit(arch="compute_80", max_variants=N_VARIANTS)
    def add_one_numbered(a, b, number: kp.Constexpr):
        assert a.shape == b.shape
        add_one_to_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], BLOCK), block=BLOCK)

    return add_one_numbered


def adding(number):
    """A jit function that adds a number, which it has captured."""

    @kp.kernel
    def add_to_elements(a, b):
        i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
        if i < a.shape[0]:
            b[i] = a[i] + number

    @kp.jit
    def add(a, b):
        assert a.shape == b.shape
        add_to_elements(a, b).launch(grid=kp.ceil_div(a.shape[0], BLOCK), block=BLOCK)

    return add


def like_no_other():
    """A jit function that no cache has."""
    return adding(float(f"{next(COUNTER)}.{os.getpid()}"))


FUNCTIONS = {"by classes": add_one, "by signature": add_one_said}
