# SPDX-License-Identifier: Apache-2.0
"""The handler of XLA's custom calls, and the plans that it reads.

The handler is in `libkernpack.so`; in development `KERNPACK_XLA_LIBRARY` names a library of the
crate `kernpack-xla`. What it does is told in that crate. Not here: anything of JAX.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, cast

from kernpack import _shape
from kernpack._forks import LOCK
from kernpack._tvm_ffi import tvm_ffi

CAPTURABLE: Final = "kernpack.call.v1"
"""The name under which XLA knows the handler. The number changes where programs would be read
otherwise.
"""

PLAIN: Final = "kernpack.plain.v1"
"""The same, whose calls stay out of XLA's command buffers."""

HANDLERS: Final = (
    (CAPTURABLE, "cpu", "kernpack_xla_cpu"),
    (CAPTURABLE, "CUDA", "kernpack_xla_cuda"),
    (PLAIN, "cpu", "kernpack_xla_cpu"),
    (PLAIN, "CUDA", "kernpack_xla_cuda_plain"),
)
"""Target names, platforms, and the symbols of their handlers."""

ALIGNMENT: Final = 256
"""What allocations from a workspace are aligned to, in bytes."""


class _Package(Protocol):
    """The shared object that a function is from."""

    @property
    def digest(self) -> str: ...


@functools.cache
def library() -> ctypes.CDLL:
    """The library with the handler."""
    found: ctypes.CDLL
    if named := os.environ.get("KERNPACK_XLA_LIBRARY"):
        found = ctypes.CDLL(named)
    else:
        from kernpack import _native

        found = _native.compiler()
    found.kernpack_xla_know.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    found.kernpack_xla_know.restype = None
    found.kernpack_xla_know_package.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
    ]
    found.kernpack_xla_know_package.restype = None
    found.kernpack_xla_knows.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    found.kernpack_xla_knows.restype = ctypes.c_int32
    found.kernpack_xla_workspace_peak.argtypes = []
    found.kernpack_xla_workspace_peak.restype = ctypes.c_uint64
    return found


def know(key: str, function: tvm_ffi.Function) -> None:
    """Has the handler find a function under a key, and hold it for the rest of the process."""
    data = key.encode()
    # The function is held while its address is on the way: the handler takes a reference of its
    # own.
    library().kernpack_xla_know(data, len(data), cast(Any, function).__chandle__())


def know_package(digest: str, handle: int) -> None:
    """Has the handler find the functions of a package by its digest: programs that another process
    has traced name them so. `handle` is the loader's.
    """
    data = digest.encode()
    library().kernpack_xla_know_package(data, len(data), handle)


def knows(key: str) -> bool:
    """Whether the handler finds a function under that key."""
    data = key.encode()
    return bool(library().kernpack_xla_knows(data, len(data)))


def key_of(function: Any) -> str:
    """The key of a function, under which the handler finds it."""
    package: _Package | None = getattr(function, "package", None)
    key = f"{package.digest}/{function.name}" if package else _key_of_object(function)
    if not knows(key):
        know(key, function)
    return key


_OBJECTS: Final[dict[int, tuple[str, Any]]] = {}
_NUMBERS: Final = itertools.count()


def _key_of_object(function: Any) -> str:
    """The key of a function that is in no package: a number of this process."""
    with LOCK:
        if id(function) not in _OBJECTS:
            _OBJECTS[id(function)] = (f"object/{next(_NUMBERS)}", function)
        return _OBJECTS[id(function)][0]


def workspace_peak() -> int:
    """The bytes that the last call with a workspace needed of it."""
    return int(library().kernpack_xla_workspace_peak())


# Plans: `crates/xla/src/plan.rs` has the steps.

_NONE, _OPERAND, _RESULT, _INT, _BOOL, _FLOAT, _DTYPE, _TEXT = range(8)
_STREAM, _SHAPE, _ARRAY, _WORKSPACE, _VIEW, _OWNED = range(8, 14)


class Plan:
    """The arguments of a call, written one after the other."""

    def __init__(self) -> None:
        self.words: list[int] = []

    def _step(self, number: int, operand: int = 0, words: Iterable[int] = ()) -> None:
        self.words.append(number | operand << 8)
        self.words.extend(words)

    def none(self) -> None:
        """None."""
        self._step(_NONE)

    def operand(self, index: int) -> None:
        """An operand of the program."""
        self._step(_OPERAND, index)

    def result(self, index: int) -> None:
        """A result of the program."""
        self._step(_RESULT, index)

    def view(self, modes: Sequence[int], fastest: Sequence[int]) -> None:
        """What comes next is seen otherwise: for each dim the program's, then the program's from
        the fastest.
        """
        self._step(_VIEW, len(modes), [*modes, *fastest])

    def owned(self) -> None:
        """What comes next is a tensor object, and no view."""
        self._step(_OWNED)

    def integer(self, value: int) -> None:
        """An integer of 64 bits."""
        self._step(_INT, 0, [value])

    def truth(self, value: bool) -> None:
        """True or false."""
        self._step(_BOOL, int(value))

    def floating(self, value: float) -> None:
        """A float of 64 bits."""
        self._step(_FLOAT, 0, struct.unpack("<q", struct.pack("<d", value)))

    def dtype(self, name: str) -> None:
        """A dtype, by its name."""
        code, bits, lanes = _dlpack(name)
        self._step(_DTYPE, code | bits << 8 | lanes << 16)

    def text(self, value: str) -> None:
        """A text without NUL."""
        data = value.encode() + b"\0"
        data += b"\0" * (-len(data) % 8)
        self._step(_TEXT, len(data) // 8, struct.unpack(f"<{len(data) // 8}q", data))

    def stream(self) -> None:
        """The stream of the call."""
        self._step(_STREAM)

    def shape(self, extents: Sequence[int]) -> None:
        """A Shape."""
        for extent in extents:
            self.integer(extent)
        self._step(_SHAPE, len(extents))

    def array(self, count: int) -> None:
        """An array of what was written last."""
        self._step(_ARRAY, count)

    def workspace(self, index: int) -> None:
        """The result that allocations come from."""
        self._step(_WORKSPACE, index)


@functools.cache
def _dlpack(name: str) -> tuple[int, int, int]:
    """Code, bits and lanes of a dtype."""
    if name == "float4_e2m1fnx2":
        return 17, 4, 2
    dtype = cast(Any, tvm_ffi.dtype(name))
    return int(dtype.type_code), int(dtype.bits), int(dtype.lanes)


def check(function: Any, arguments: Sequence[Any]) -> tuple[str, str] | None:
    """The kind and the message with which a call is refused whose tensors are `Spec`s.

    None where it is not refused, and where only the call itself can tell.
    """
    try:
        from kernpack import _native
    except ImportError:
        return None
    answer = _native.check(
        function.signature, [_described(value) for value in arguments], function.device_type
    )
    return None if answer is None else (answer["kind"], answer["message"])


def _described(value: Any) -> Any:
    """An argument in the words of `kernpack_check`."""
    match value:
        case _shape.Spec(shape=shape, dtype=dtype):
            strides = None if value.strides is None else list(value.strides)
            return {"tensor": {"dtype": dtype, "shape": list(shape), "strides": strides}}
        case _shape.Group(items=items):
            return [_described(item) for item in items]
        case tuple():
            return {"shape": list(cast("tuple[int, ...]", value))}
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case _:
            return value
