# SPDX-License-Identifier: Apache-2.0
"""How launches were submitted, and calls that give them a graph."""

import json

import torch

# After so many calls a use has a graph, where graphs are wanted.
A_FEW = 8


def launched(module, name):
    """How many kernels were launched `plain` and by `graph`, and how many `graphs` there are."""
    return json.loads(module[f"kernpack_launched_{name}"]())


def vectors(n=1000):
    a = torch.arange(n, device="cuda", dtype=torch.float32)
    return a, torch.zeros_like(a)


def is_through_graphs(module, name, call):
    """Whether calls are, now that there have been a few."""
    for _ in range(A_FEW):
        call()
    before = launched(module, name)
    call()
    after = launched(module, name)
    return after["graph"] > before["graph"] and after["plain"] == before["plain"]
