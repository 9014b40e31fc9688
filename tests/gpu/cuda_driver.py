# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver through ctypes, for record.py and replay.py: structs, and memory aligned as the
driver demands. No functions: those are called by their names, with numbers of 64 bits for
everything, which is how the C ABI of x86-64 passes arguments.
"""

import ctypes

WINDOW, COOPERATIVE, CLUSTER, PROGRAMMATIC, PRIORITY = 1, 2, 4, 6, 8


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_uint64),
        ("attributes", ctypes.POINTER(Attribute)),
        ("n_attributes", ctypes.c_uint32),
    ]


def config(grid, block, shared, stream, attributes):
    """A launch's config. Attributes are pairs of a number and its value's first numbers of 32 bits."""
    made = (Attribute * len(attributes))()
    for place, (number, words) in zip(made, attributes, strict=True):
        place.id = number
        place.value = tuple(word & 0xFFFF_FFFF for word in words)
    return Config(tuple(grid), tuple(block), shared, stream, made, len(made))


class NodeParams(ctypes.Structure):
    """What the node of a graph launches."""

    _fields_ = [
        ("function", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("params", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_uint64),
        ("context", ctypes.c_uint64),
    ]


def node_params(function, grid, block, shared, params=None, extra=None, kernel=0, context=0):
    """What a node launches. Params and extra are arrays, or nothing."""
    address = lambda array: None if array is None else ctypes.addressof(array)
    made = NodeParams(
        function,
        tuple(grid),
        tuple(block),
        shared,
        address(params),
        address(extra),
        kernel,
        context,
    )
    made.kept = params, extra
    return made


class Place:
    """Memory for a result, aligned to 128 bytes as a tensor map demands, or to fewer if it is to be
    refused.
    """

    def __init__(self, size=256, offset=0, content=b""):
        self.memory = ctypes.create_string_buffer(size + 256)
        self.address = (ctypes.addressof(self.memory) + 127) // 128 * 128 + offset
        ctypes.memmove(self.address, content, len(content))

    def number(self, kind=ctypes.c_uint64):
        return kind.from_address(self.address).value

    def bytes(self, n):
        return ctypes.string_at(self.address, n)

    def text(self):
        return ctypes.string_at(self.number()).decode() if self.number() else None


def pointers(addresses):
    """An array of addresses."""
    return (ctypes.c_uint64 * max(len(addresses), 1))(*addresses)


def call(library, name, *arguments):
    """The code that a function of the driver gives. Arguments are numbers and None, objects of
    ctypes whose address is meant, and places.
    """

    def word(argument):
        if isinstance(argument, (int, type(None))):
            return ctypes.c_uint64((argument or 0) & 0xFFFF_FFFF_FFFF_FFFF)
        if isinstance(argument, Place):
            return ctypes.c_uint64(argument.address)
        if isinstance(argument, bytes):
            return ctypes.c_char_p(argument)
        return ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p)

    return getattr(library, name)(*map(word, arguments))
