# SPDX-License-Identifier: Apache-2.0
"""Packages that are loaded: from a file, or from what was just built.

A library stays loaded for the rest of the process, as tensors and functions of it may live as long.
Files are told apart by what is in them: one that was built again under the same path is another
package. Not here: building (`_build.py`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from . import _disassembly, _function, _interpreted, _native
from ._argument import CUDA, leaves
from ._forks import LOCK, cached_property
from ._function import Function
from ._tvm_ffi import tvm_ffi

SUFFIXES = (".o", ".so", ".h", ".pyi", ".rs")


class Module:
    """A package: its functions are attributes, `module.add_one(a, b)`.

    `path` is the shared object, `digest` the SHA-256 of its bytes in hexadecimal. A package that is
    pickled takes its bytes along, and so do its functions: another process has them without any
    file.
    """

    def __init__(
        self,
        path: Path,
        digest: str,
        library: ctypes.CDLL,
        built: int | None = None,
        content: bytes | None = None,
    ) -> None:
        self.path = str(path)
        self.digest = digest
        # What it was built from here, and the files in memory that this names.
        self.request: tuple[dict[str, Any], dict[str, bytes]] | None = None
        self._library = library
        self._built = built
        self._functions: dict[str, Function] = {}
        # By the time that somebody asks for names, another file may lie at the path. Whoever looks
        # inside is the compiler, which calls do not load.
        self._content = content

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_") or name == "functions":
            raise AttributeError(name)
        function = self.find(name)
        if function is None:
            others = ", ".join(self.functions) or "none"
            raise AttributeError(
                f"the package {self.path} has no function `{name}`; it has {others}"
            )
        return function

    def __getitem__(self, name: str) -> Function:
        function = self.find(name)
        if function is None:
            raise KeyError(name)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (Path(self.path).name, self.read(), self.digest)

    def __repr__(self) -> str:
        return f"<kernpack.Module {self.path}: {', '.join(self.functions)}>"

    @cached_property
    def functions(self) -> list[str]:
        """The names of its functions, `_out` twins among them."""
        content = self._content
        if content is None:
            assert self._built is not None
            content = _native.read(self._built, ".so")
        return _names(content)

    def find(self, name: str) -> Function | None:
        """The function of that name; None where there is none."""
        known = self._functions.get(name)
        if known is None:
            metadata = self._metadata(name)
            if metadata is None:
                return None
            known = self._functions.setdefault(
                name, _function.adopt(self.raw_function(name), metadata, self)
            )
            _called[self.digest, known.metadata["package"]] = self
        return known

    def raw_function(self, name: str) -> tvm_ffi.Function:
        """A new `tvm_ffi.Function` for a symbol `__tvm_ffi_<name>` of the library."""
        address = ctypes.cast(self._library[f"__tvm_ffi_{name}"], ctypes.c_void_p).value
        assert address is not None
        return tvm_ffi.Function.__from_extern_c__(address, keep_alive_object=self._library)

    def prepare(self, function: Function, args: Sequence[Any]) -> Callable[[], Any]:
        """`function.prepare(*args)`"""
        if function.metadata["results"]:
            raise TypeError(
                f"`{function.name}` returns what it allocates, which cannot be prepared: "
                f"prepare `{function.name}_out`, which takes the results as arguments"
            )
        if _interpreted.IS_ON:
            return functools.partial(function, *args)
        try:
            prepare = self.raw_function(f"kernpack_prepare_{function.name}")
        except AttributeError:
            return functools.partial(function, *args)
        return _on_current_stream(prepare(*args), args)

    def ptx(self) -> dict[str, str]:
        """The PTX in the package, by architecture."""
        images = self._images("ptx")
        return {arch: image.rstrip(b"\0").decode(errors="replace") for arch, image in images}

    def sass(self) -> dict[str, str]:
        """The machine code in the package, by architecture, as `nvdisasm` or `cuobjdump` prints it.

        Raises `FileNotFoundError` where there is neither.
        """
        return {arch: _disassembly.disassemble(image) for arch, image in self._images("cubin")}

    def _images(self, kind: str) -> Iterator[tuple[str, bytes]]:
        content = self.read()
        for image in _native.images(self.path):
            if image["kind"] == kind:
                yield image["archs"][0], content[image["offset"] : image["offset"] + image["size"]]

    def read(self) -> bytes:
        """The bytes of the shared object."""
        content = Path(self.path).read_bytes()
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise ValueError(f"{self.path} has changed since it was loaded: load it anew")
        return content

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the package to a file; its ending says what: `.o`, `.so`, `.h`, `.pyi` or `.rs`."""
        target = Path(path)
        if target.suffix not in SUFFIXES:
            raise ValueError(
                f"cannot export to {target}: the name must end in .o, .so, .h, .pyi or .rs"
            )
        if self._built is None and target.suffix != ".so":
            raise ValueError(
                f"cannot export {target}: {self.path} was loaded from a file, "
                "which only has the .so"
            )
        content = self.read() if self._built is None else _native.read(self._built, target.suffix)
        publish(target, content)

    def _metadata(self, name: str) -> dict[str, Any] | None:
        try:
            text = self.raw_function(f"_metadata_{name}")()
        except AttributeError:
            return None
        metadata: dict[str, Any] = json.loads(text)
        return metadata if "kernpack" in metadata else None


_opened: set[str] = set()
"""The paths that the loader knows."""
_libraries: dict[str, ctypes.CDLL] = {}
"""What is loaded, by digest."""
_hearers: list[Callable[[str, int], None]] = []
"""What hears of each library that is loaded."""
_built: dict[int, Module] = {}
"""What was built here, by the compiler's number."""
_restored: dict[str, Module] = {}
"""What was pickled, by digest."""
_called: dict[tuple[str, str], Module] = {}
"""Packages of which there are functions, by the library's digest and the package's name."""


def load_module(path: str | os.PathLike[str]) -> Module:
    """Loads a package that was built before.

    A file that has changed since it was loaded is loaded anew, beside what is loaded already.
    """
    file = Path(path).resolve()
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if b"__tvm_ffi__metadata_" not in content:
        raise ValueError(f"{path} is no package of kernpack; tvm_ffi.load_module may load it")
    with LOCK:
        return _load(file, digest, content)


def hear_of_libraries(hear: Callable[[str, int], None]) -> None:
    """Has `hear` called with the digest and the loader's handle of each package, those that are
    loaded already first.
    """
    with LOCK:
        _hearers.append(hear)
        for digest, library in _libraries.items():
            hear(digest, library._handle)


def restore(name: str, content: bytes, expected: str | None = None) -> Module:
    """The package of these bytes: what is left of one that was pickled, with its digest since
    kernpack writes that.
    """
    digest = hashlib.sha256(content).hexdigest()
    if expected not in (None, digest):
        raise ValueError(
            f"the pickle's copy of the package {name} is damaged: its bytes have the digest "
            f"{digest}, and the package had {expected}"
        )
    with LOCK:
        module = _restored.get(digest)
        if module is None:
            module = _restored[digest] = _module(_in_memory(name, content), digest, content=content)
        return module


def load_built(
    path: str, digest: str, built: int, request: tuple[dict[str, Any], dict[str, bytes]]
) -> Module:
    """A package that the compiler has just answered to a request, and verified."""
    with LOCK:
        module = _built.get(built)
        if module is None:
            module = _built[built] = _module(Path(path), digest, built)
        # Texts that are not the same may become the same package: the last one is what is shown.
        module.request = request
        return module


def _load(file: Path, digest: str, content: bytes) -> Module:
    if str(file) in _opened and digest not in _libraries:
        # The loader takes a path that it knows for the library that it has.
        file = _in_memory(file.name, content)
    return _module(file, digest, content=content)


def _module(
    path: Path, digest: str, built: int | None = None, content: bytes | None = None
) -> Module:
    library = _libraries.get(digest)
    if library is None:
        library = _libraries[digest] = ctypes.CDLL(str(path))
        _opened.add(str(path))
        for hear in _hearers:
            hear(digest, library._handle)
    return Module(path, digest, library, built, content)


def _names(content: bytes) -> list[str]:
    """The functions of a package with these bytes."""
    file = _in_memory("package", content)
    try:
        packages = inspect(file)["packages"]
    finally:
        os.close(int(file.name))
    return [function["name"] for package in packages for function in package["functions"]]


def _in_memory(name: str, content: bytes) -> Path:
    """A file with that content, for as long as the process lives."""
    descriptor = os.memfd_create(name)
    with os.fdopen(os.dup(descriptor), "wb") as memory:
        memory.write(content)
    return Path(f"/proc/self/fd/{descriptor}")


def publish(target: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    part = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is inside a `.o` or `.so`, without loading it: the keys are those of `kernpack inspect
    --json`.
    """
    answer = _native.command("inspect", os.fspath(path))
    if answer["code"] != 0:
        raise ValueError(answer["text"])
    found: dict[str, Any] = answer["json"]
    return found


def synchronize() -> None:
    """Waits for the GPUs on which kernels that assert something were launched.

    Raises a `RuntimeError` of the first assertion that failed, unless a call has raised it.
    """
    for (_, package), module in list(_called.items()):
        try:
            wait = module.raw_function(f"kernpack_synchronize_{package}")
        except AttributeError:
            continue  # Its kernels assert nothing.
        wait()


def find_runtime_libraries() -> list[str]:
    """The libraries that a package needs beside libtvm_ffi and the CUDA driver: none."""
    return []


def _on_current_stream(prepared: Callable[[], Any], args: Sequence[Any]) -> Callable[[], Any]:
    """A prepared call that runs on the current stream of the framework whose tensors it was
    prepared from.

    PyTorch tells it to TVM-FFI from 2.10 on.
    """
    for tensor in leaves(args):
        if hasattr(tensor, "__dlpack_c_exchange_api__"):
            kind, index = tensor.__dlpack_device__()
            if kind == CUDA:
                return _native.on_current_stream(prepared, tensor, index)
    return prepared
