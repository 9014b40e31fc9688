# SPDX-License-Identifier: Apache-2.0
"""The two libraries of this package, and their functions with Python types.

`libkernpack.so` has the compiler, its cache and the command line; its functions are packed
functions of TVM-FFI. It is loaded at first use. `libkernpack_call.so` has the type of functions.
Not here: what is asked of them, and what becomes of the answers.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import json
import os
from typing import Any, Callable, Sequence

from ._forks import LOCK
from ._library import library_path
from ._tvm_ffi import tvm_ffi


@functools.lru_cache(maxsize=None)
def compiler() -> ctypes.CDLL:
    """The library with the compiler; `import tvm_ffi` has loaded what it needs."""
    with LOCK:
        library = ctypes.CDLL(str(library_path("libkernpack.so")))
        _owners.append(os.getpid())
        if len(_owners) == 1:
            atexit.register(_end)
    return library


def has_compiler() -> bool:
    """Whether that library is loaded, so that to ask it takes microseconds."""
    return bool(_owners)


# The processes that have loaded the library, more than once where threads did so at a time.
_owners: list[int] = []


def _end() -> None:
    """What Ctrl-C has left running ends with the process, and leaves nothing behind."""
    if os.getpid() == _owners[0]:
        _function("kernpack_end")()


@functools.lru_cache(maxsize=None)
def _function(name: str) -> tvm_ffi.Function:
    address = ctypes.cast(getattr(compiler(), f"__tvm_ffi_{name}"), ctypes.c_void_p).value
    assert address is not None
    return tvm_ffi.Function.__from_extern_c__(address)


def get(
    request: dict[str, Any], held: dict[str, bytes], observer: Callable[[str, int], None] | None
) -> dict[str, Any]:
    """The package of a request, from the cache or compiled: `crates/python/src/build.rs` has the
    keys of both.
    """
    files = [part for name, content in held.items() for part in (name, content)]
    answer: dict[str, Any] = json.loads(
        _function("kernpack_get")(json.dumps(request), observer, *files)
    )
    return answer


def interpret(
    request: dict[str, Any],
    held: dict[str, bytes],
    options: dict[str, Any],
    receive: Callable[[int, Any], None],
    args: Sequence[Any],
) -> dict[str, Any]:
    """A call on the interpreter, which hands tensors to `receive`: `crates/python/src/interpret.rs`
    has the keys of the options and of the answer.
    """
    files = [part for name, content in held.items() for part in (name, content)]
    asked = json.dumps({**options, "held": len(held)})
    interpreted = _function("kernpack_interpret")
    answer: dict[str, Any] = json.loads(
        interpreted(json.dumps(request), asked, receive, *files, *args)
    )
    return answer


def emit(
    request: dict[str, Any], held: dict[str, bytes], form: str, function: str
) -> dict[str, Any]:
    """The kernels of a function in a form of `kernpack emit`: `crates/python/src/emitted.rs` has the
    keys of the answer.
    """
    files = [part for name, content in held.items() for part in (name, content)]
    emitted = _function("kernpack_emit")
    answer: dict[str, Any] = json.loads(emitted(json.dumps(request), form, function, *files))
    return answer


def read(package: int, suffix: str) -> bytes:
    """A file of a package that `get` answered: `.o`, `.so`, `.h`, `.pyi` or `.rs`."""
    return bytes(_function("kernpack_read")(package, suffix))


def command(*args: str) -> dict[str, Any]:
    """What the command line answers to these words: `text`, `json`, and `code`, which is 0 where
    nothing is wrong.
    """
    answer: dict[str, Any] = json.loads(_function("kernpack_command")(*args))
    return answer


def cache_folder() -> str | None:
    """Where the cache is written to; None where it is not."""
    folder: str | None = json.loads(_function("kernpack_cache_folder")())
    return folder


def images(path: str) -> list[dict[str, Any]]:
    """The GPU images of a file: each `kind`, `archs`, `offset` and `size`."""
    answer: list[dict[str, Any]] = json.loads(_function("kernpack_images")(path))
    return answer


def describe(signature: str, workspaces: Sequence[str] = ()) -> dict[str, Any]:
    """A signature as data, with the workspaces of its function."""
    answer: dict[str, Any] = json.loads(_function("kernpack_describe")(signature, *workspaces))
    return answer


def foreign_help(path: str) -> str | None:
    """What to do for a name of CuTe DSL's, or for a path of one, `cutlass.Float32`; None of others."""
    answer: str | None = json.loads(_function("kernpack_foreign_help")(path))
    return answer


def function_name(signature: str) -> str | None:
    """The name with which the text of a signature begins, right or wrong in all else."""
    name: str | None = _function("kernpack_function_name")(signature)
    return None if name is None else str(name)


@functools.lru_cache(maxsize=None)
def dtypes() -> dict[str, int]:
    """The bits of an element of each dtype."""
    answer: dict[str, int] = json.loads(_function("kernpack_dtypes")())
    return answer


def write(package: dict[str, Any]) -> str:
    """The text of a package file: `crates/python/src/package_text.rs` has the keys."""
    return str(_function("kernpack_write")(json.dumps(package)))


def takes_archs(text: str) -> bool:
    """Whether a package file has sources that are compiled for the GPUs that a caller names."""
    answer: bool = json.loads(_function("kernpack_takes_archs")(text))
    return answer


def names(text: str, is_method: bool) -> list[list[str]]:
    """The names that the functions of a text use and do not bind, each with the attributes behind
    it.
    """
    answer: list[list[str]] = json.loads(_function("kernpack_names")(text, int(is_method)))
    return answer


def dispatcher(
    miss: Callable[..., Any], constants: str | None, picks: Sequence[Any] | None = None
) -> tvm_ffi.Function:
    """The control of a new dispatcher: `crates/python/src/dispatch/mod.rs` has its words."""
    picked = None if picks is None else json.dumps(picks)
    control: tvm_ffi.Function = _function("kernpack_dispatcher")(miss, constants, picked)
    return control


def classes(args: Sequence[Any], constants: str) -> list[Any]:
    """The classes of arguments, as a dispatcher tells them to who makes variants."""
    answer: list[Any] = json.loads(_function("kernpack_classes")(constants, *args))
    return answer


def spans(args: Sequence[Any]) -> list[tuple[int, int, int, int]]:
    """Where the tensors among arguments have their elements: a device by its type and number, and
    there an address with a number of bytes.
    """
    answer: list[Any] = json.loads(_function("kernpack_spans")(*args))
    return [tuple(each) for each in answer]


def read_toml(text: str) -> dict[str, Any]:
    """What a text in TOML says; `ValueError` with the place where it is none."""
    answer: dict[str, Any] = json.loads(_function("kernpack_read_toml")(text))
    return answer


def check(signature: str, arguments: list[Any], device: str) -> dict[str, str] | None:
    """What a call with such arguments raises: its `kind` and `message`, or None."""
    call = {"device": device, "args": arguments}
    answer: dict[str, str] | None = json.loads(
        _function("kernpack_check")(signature, json.dumps(call))
    )
    return answer


def layout(expression: str) -> dict[str, Any]:
    """What an expression of the layout algebra results in: `crates/python/src/layout.rs` has the
    keys.
    """
    answer: dict[str, Any] = json.loads(_function("kernpack_layout")(expression))
    return answer


def layout_svg(expression: str, element_bytes: int = 0, threads: str = "") -> str:
    """A layout as SVG; with the banks of its elements, where they have bytes."""
    return str(_function("kernpack_layout_svg")(expression, element_bytes, threads))


@functools.lru_cache(maxsize=None)
def install_allocator() -> None:
    """Has results and workspaces allocated where a call brings no allocator."""
    _function("kernpack_install_allocator")()


def on_current_stream(prepared: Callable[[], Any], tensor: Any, device: int) -> Callable[[], Any]:
    """A prepared call that asks the framework of this tensor for its current stream each time it is
    made.
    """
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.argtypes, get_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    address = get_pointer(tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    function: Callable[[], Any] = _function("kernpack_on_stream")(prepared, device, address)
    return function


@functools.lru_cache(maxsize=None)
def call_types() -> ctypes.PyDLL:
    """The library with the type of functions: it calls Python, and so it keeps the interpreter
    lock.
    """
    library = ctypes.PyDLL(str(library_path("libkernpack_call.so")))
    for name, n_classes in (
        ("kernpack_function_type", 1),
        ("kernpack_result_type", 3),
        ("kernpack_tuple_type", 1),
        ("kernpack_jit_type", 1),
        ("kernpack_flat_jit_type", 1),
    ):
        maker = getattr(library, name)
        maker.argtypes, maker.restype = [ctypes.py_object] * n_classes, ctypes.py_object
    know = library.kernpack_know_written
    know.argtypes, know.restype = [ctypes.py_object, ctypes.c_uint64], None
    watch = library.kernpack_watch
    watch.argtypes, watch.restype = [ctypes.py_object, ctypes.py_object], None
    wants = library.kernpack_know_wants_told
    wants.argtypes, wants.restype = [ctypes.py_object, ctypes.c_int32], None
    return library
