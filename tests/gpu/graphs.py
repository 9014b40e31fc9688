# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs for the tests: capturing what a function launches, and replaying it."""

import torch


def captured(launch, capture=torch.cuda.graph):
    """A CUDA graph of what a function launches."""
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        launch()
    return graph


def assert_replayed(graph, x, is_right):
    """What the graph does is right for whatever `x` holds when it is replayed."""
    for factor in (1, 2):
        x.mul_(factor)
        graph.replay()
        torch.cuda.synchronize()
        assert is_right()
