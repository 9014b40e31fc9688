# SPDX-License-Identifier: Apache-2.0
"""What the driver makes of programmatic edges in graphs: whether a graph of dependent launches can be
made with them, instantiated, given other arguments, and what it takes beside one with plain edges.

    programmatic_edges.py

Prints a line for each thing that was tried. A failure is an answer too: what ends this with an error
is a wrong number alone.
"""

import ctypes
import sys
import time

import dependent_kernels as kernels
import torch
from cuda_driver import Place, call, node_params, pointers

N = 1000
# CUgraphEdgeData: from_port, to_port, type, and reserved bytes.
PORT_PROGRAMMATIC, PORT_LAUNCH_ORDER, TYPE_PROGRAMMATIC = 1, 2, 1
PLAIN = bytes(8)
EDGES = {
    "plain edges": PLAIN,
    "programmatic edges": bytes([PORT_PROGRAMMATIC, 0, TYPE_PROGRAMMATIC, 0, 0, 0, 0, 0]),
    "edges of the order of launches": bytes(
        [PORT_LAUNCH_ORDER, 0, TYPE_PROGRAMMATIC, 0, 0, 0, 0, 0]
    ),
}
N_CALLS = 2000


class Refused(Exception):
    """The driver's answer."""


class Chain:
    """A graph of the ten launches, with edges of one kind."""

    def __init__(self, driver, function, edge):
        self.driver, self.function = driver, function
        graph, self.nodes = Place(), []
        self.must("cuGraphCreate", graph, 0)
        for _ in range(kernels.N_LAUNCHES):
            node, params = Place(), self.params(0, 0, 0)
            self.must("cuGraphAddKernelNode_v2", node, graph.number(), 0, 0, params)
            self.nodes.append(node.number())
        data = Place(content=edge)
        for before, node in zip(self.nodes, self.nodes[1:]):
            ends = [Place(content=one.to_bytes(8, "little")) for one in (before, node)]
            self.must("cuGraphAddDependencies_v2", graph.number(), *ends, data, 1)
        made = Place()
        self.must("cuGraphInstantiateWithFlags", made, graph.number(), 0)
        self.made = made.number()

    def must(self, name, *arguments):
        code = call(self.driver, name, *arguments)
        if code != 0:
            raise Refused(f"{name} answers {code}")

    def params(self, x, w, y):
        """A node that is passed these addresses, as the kernel has its parameters: `x`, how many
        elements that has, `w` and `y`.
        """
        values = [ctypes.c_uint64(x), ctypes.c_int64(N), ctypes.c_uint64(w), ctypes.c_uint64(y)]
        args = pointers([ctypes.addressof(value) for value in values])
        made = node_params(
            self.function, [-(-N // kernels.BLOCK), 1, 1], [kernels.BLOCK, 1, 1], 0, args
        )
        made.values = values
        return made

    def set(self, x, w, y):
        for place, node in enumerate(self.nodes):
            pair = (x, w, y) if place % 2 == 0 else (y, w, x)
            params = self.params(*(one.data_ptr() for one in pair))
            self.must("cuGraphExecKernelNodeSetParams_v2", self.made, node, params)

    def launch(self, stream):
        self.must("cuGraphLaunch", self.made, stream)


def function_of(driver):
    """The kernel of the chain, as the driver has it."""
    x, w = torch.randn(N, device="cuda"), torch.rand(N, device="cuda")
    kernels.dependent(x, w, torch.empty_like(x))
    [text] = kernels.dependent.ptx.values()
    library, kernel, function = Place(), Place(), Place()

    def must(name, *arguments):
        code = call(driver, name, *arguments)
        if code != 0:
            sys.exit(f"programmatic_edges: {name} answers {code}")

    must("cuLibraryLoadData", library, text.encode() + b"\0", 0, 0, 0, 0, 0, 0)
    must("cuLibraryGetKernel", kernel, library.number(), b"scale_and_add")
    must("cuKernelGetFunction", function, kernel.number())
    return function.number()


def tried(driver, function, name, edge):
    """Makes the graph, launches it with several arguments, holds what it computes to be right, and says
    what a call takes on the host and until the device is done.
    """
    stream = torch.cuda.Stream()
    try:
        chain = Chain(driver, function, edge)
        for _ in range(5):
            x, w = torch.randn(N, device="cuda"), torch.rand(N, device="cuda")
            given, y = x.clone(), torch.empty_like(x)
            torch.cuda.synchronize()
            chain.set(given, w, y)
            chain.launch(stream.cuda_stream)
            stream.synchronize()
            if not torch.equal(given, kernels.expected(x, w)):
                sys.exit(f"programmatic_edges: {name}: a wrong number")
        start = time.perf_counter()
        for _ in range(N_CALLS):
            chain.launch(stream.cuda_stream)
        host = time.perf_counter() - start
        stream.synchronize()
        whole = time.perf_counter() - start
        print(
            f"{name}: {host / N_CALLS * 1e6:.2f} us on the host, {whole / N_CALLS * 1e6:.2f} to the end"
        )
    except Refused as refused:
        print(f"{name}: {refused}")


def main():
    if torch.cuda.get_device_capability() < (9, 0):
        return print("programmatic edges: this GPU has no dependent launches")
    driver = ctypes.CDLL("libcuda.so.1")
    function = function_of(driver)
    for _ in range(3):
        for name, edge in EDGES.items():
            tried(driver, function, name, edge)


if __name__ == "__main__":
    main()
