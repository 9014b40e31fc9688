# SPDX-License-Identifier: Apache-2.0
"""Packages as Python describes them: sources, launches and functions, which the library writes as
the text of a package file.

What a package file can say can be said here, under the same names, and nothing else: the text goes
to the compiler, and its messages show the text. Sources that are given as text or bytes become
files held in memory. Not here: compiling (`_build.py`), and what one function of one kernel looks
like (`_kernel.py`).
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Sequence, Union

from . import _native

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

Text = Union[str, "os.PathLike[str]", bytes]
Number = Union[int, str]
Numbers = Union[Number, Sequence[Number]]
Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

# The endings that make a one-line text the path of a file.
_SUFFIXES = (".cu", ".c", ".o", ".a", ".ptx", ".cubin", ".fatbin", ".json")


# The kinds of sources that are compiled for GPUs that the caller names.
_COMPILED = ("cuda", "kernel")


class File(NamedTuple):
    """A file of a source: one on the disk, or what somebody holds in memory, with the ending that
    its name is to have.
    """

    path: Path | None
    content: bytes | None
    suffix: str

    @staticmethod
    def of(given: Text, suffix: str) -> File:
        """A `Path`, or a text of one line that ends as sources do, is a path; anything else is what
        a file would hold.
        """
        if isinstance(given, bytes):
            return File(None, given, suffix)
        if isinstance(given, str) and ("\n" in given or not given.endswith(_SUFFIXES)):
            return File(None, given.encode(), suffix)
        return File(Path(given), None, Path(given).suffix)


@dataclasses.dataclass(eq=False)
class Source:
    """Where kernels come from: `source = { … }` of a package file. The static methods make one of
    each kind.
    """

    kind: str
    files: tuple[File, ...]
    options: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {})

    @staticmethod
    def cuda(
        source: Text,
        *,
        include: Paths = (),
        define: Mapping[str, Any] | None = None,
        options: Sequence[str] = (),
        line_info: bool = False,
        arch: str | Sequence[str] | None = None,
    ) -> Source:
        """CUDA C++, compiled by NVRTC. `include` are folders, `define` macros, `options` further
        ones of NVRTC.
        """
        named = [arch] if isinstance(arch, str) else arch
        more = {"line_info": line_info or None, "arch": list(named) if named is not None else None}
        return Source(
            "cuda", (File.of(source, ".cu"),), {**_compiler(include, define, options), **more}
        )

    @staticmethod
    def ptx(source: Text, *, arch: str | None = None) -> Source:
        """PTX, which the driver compiles as it is loaded."""
        return Source("ptx", (File.of(source, ".ptx"),), {"arch": arch})

    @staticmethod
    def cubin(source: Text, *, arch: str | None = None) -> Source:
        """Machine code for a GPU."""
        return Source("cubin", (File.of(source, ".cubin"),), {"arch": arch})

    @staticmethod
    def fatbin(source: Text, *, arch: str | None = None) -> Source:
        """Machine code and PTX for several GPUs."""
        return Source("fatbin", (File.of(source, ".fatbin"),), {"arch": arch})

    @staticmethod
    def triton(cubin: Text, *, json: Text | None = None, arch: str | None = None) -> Source:
        """What Triton compiled: a cubin, and the JSON that Triton wrote beside it."""
        files = (File.of(cubin, ".cubin"),) + (() if json is None else (File.of(json, ".json"),))
        return Source("triton", files, {"arch": arch})

    @staticmethod
    def host(
        *sources: Text,
        include: Paths = (),
        define: Mapping[str, Any] | None = None,
        options: Sequence[str] = (),
    ) -> Source:
        """Functions of the C ABI: C files or text, objects, archives, which see each other."""
        files = tuple(map(_host_file, sources))
        return Source("host", files, _compiler(include, define, options))


def _host_file(source: Text) -> File:
    """C text, or bytes of an object or an archive."""
    file = File.of(source, ".c")
    suffix = {b"\x7fELF": ".o", b"!<ar": ".a"}.get((file.content or b"")[:4])
    return file if suffix is None else file._replace(suffix=suffix)


def _compiler(
    include: Paths, define: Mapping[str, Any] | None, options: Sequence[str]
) -> dict[str, Any]:
    folders = [include] if isinstance(include, (str, os.PathLike)) else list(include)
    macros = {name: _macro(name, value) for name, value in (define or {}).items()}
    return {
        "include": [Path(folder) for folder in folders] or None,
        "define": macros or None,
        "options": list(options) or None,
    }


def _macro(name: str, value: Any) -> str:
    """The text that a macro stands for: in C, what is true is 1."""
    if isinstance(value, bool):
        return str(int(value))
    if value is None:
        raise TypeError(f"define: the macro {name} stands for None: pass a number or a text")
    return str(value)


@dataclasses.dataclass(eq=False)
class Launch:
    """A kernel with its arguments: `[[function.launch]]` of a package file, with the same keys.

    `kernel` left out is the function's name. `grid`, `block` and `smem` are numbers or expressions
    over what the signature names; `attrs` has `cluster`, `cooperative`, `pdl`, `priority` and
    `stream`.
    """

    source: Source | Sequence[Source]
    kernel: str | None = None
    args: Sequence[str] | None = None
    grid: Numbers | None = None
    block: Numbers | None = None
    smem: Number | None = None
    attrs: Mapping[str, Any] | None = None
    when: str | None = None
    returns: str | None = None

    def sources(self) -> list[Source]:
        """The source, or those for several devices."""
        return [self.source] if isinstance(self.source, Source) else list(self.source)


@dataclasses.dataclass(eq=False)
class Definition:
    """A function of a package: `[[function]]` of a package file, with the same keys."""

    signature: str
    launches: Sequence[Launch] = ()
    doc: str | None = None
    workspace: Mapping[str, str] | None = None
    submit: str | None = None

    @property
    def name(self) -> str | None:
        """The function's name, where the signature begins with one."""
        return _native.function_name(self.signature)


class Written(NamedTuple):
    """The text of a package file, the folder in which its paths start, and the files that are held
    in memory.
    """

    name: str
    text: str
    base: Path
    held: dict[str, bytes]
    takes_archs: bool
    """Whether CUDA C++ or a kernel file is among the sources."""


def write(
    name: str, functions: Iterable[Definition], link: Sequence[str] = (), submit: str | None = None
) -> Written:
    """A package as the text of a package file."""
    functions = list(functions)
    sources = [source for f in functions for launch in f.launches for source in launch.sources()]
    files = _Files(name, [file for source in sources for file in source.files])
    package = {
        "package": _plain({"name": name, "link": list(link) or None, "submit": submit}),
        "functions": [
            {
                "keys": _plain(_function(function)),
                "launches": [_plain(_launch(each, function, files)) for each in function.launches],
            }
            for function in functions
        ],
    }
    text = _native.write(package)
    takes_archs = any(source.kind in _COMPILED for source in sources)
    return Written(name, text, files.base, files.held, takes_archs)


def _function(function: Definition) -> dict[str, Any]:
    return {
        "signature": function.signature,
        "doc": function.doc,
        "workspace": function.workspace,
        "submit": function.submit,
    }


def _launch(launch: Launch, function: Definition, files: _Files) -> dict[str, Any]:
    sources = [_source(source, files) for source in launch.sources()]
    is_triton = any("triton" in source for source in sources)
    return {
        "when": launch.when,
        "source": sources[0] if isinstance(launch.source, Source) else sources,
        "kernel": launch.kernel or (None if is_triton else function.name),
        "args": None if launch.args is None else list(launch.args),
        "returns": launch.returns,
        "grid": _numbers(launch.grid),
        "block": _numbers(launch.block),
        "smem": launch.smem,
        "attr": _attributes(launch.attrs),
    }


def _attributes(attrs: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not attrs:
        return None
    return {name: _numbers(value) if name == "cluster" else value for name, value in attrs.items()}


def _source(source: Source, files: _Files) -> dict[str, Any]:
    names = [files.name(file) for file in source.files]
    table: dict[str, Any]
    if source.kind == "triton":
        table = dict(zip(("triton", "json"), names))
    else:
        table = {source.kind: names[0] if len(names) == 1 else names}
    options = {key: value for key, value in source.options.items() if value is not None}
    if "include" in options:
        options["include"] = [files.written(folder) for folder in options["include"]]
    return {**table, **options}


def _numbers(numbers: Numbers | None) -> list[Number] | None:
    if numbers is None:
        return None
    return [numbers] if isinstance(numbers, (int, str)) else list(numbers)


class _Files:
    """The names of files in the text: paths below the base are relative, so that what is moved
    stays the same text.
    """

    def __init__(self, package: str, files: Sequence[File]) -> None:
        self._package = package
        first = next((file.path for file in files if file.path is not None), None)
        self.base = _current_folder() if first is None else first.absolute().parent
        self.held: dict[str, bytes] = {}

    def name(self, file: File) -> str:
        """The name of a file; one that is in memory is held under it from now on."""
        if file.path is not None:
            return self.written(file.path)
        assert file.content is not None
        number = 0
        while True:
            name = f"{self._package}{f'-{number}' if number else ''}{file.suffix}"
            if self.held.setdefault(name, file.content) == file.content:
                return name
            number += 1

    def written(self, path: Path) -> str:
        """A path, relative to the base where it lies below."""
        absolute = path.absolute()
        below = absolute == self.base or self.base in absolute.parents
        return str(absolute.relative_to(self.base)) if below else os.path.normpath(absolute)


def _plain(pairs: Mapping[str, Any]) -> dict[str, Any]:
    """A table's pairs as `kernpack_write` takes them."""
    return {str(key): _value(each) for key, each in pairs.items() if each is not None}


def _value(value: Any) -> Any:
    """A value as `kernpack_write` takes it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, str):
        return str(value)
    if _is_table(value):
        return {"table": {str(key): _value(each) for key, each in value.items()}}
    if _is_list(value):
        return list(map(_value, value))
    raise TypeError(
        f"{value!r} cannot stand in a package: expected a text, a number, a bool, a list or a dict"
    )


def _is_table(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence)


def _current_folder() -> Path:
    """The folder that the process is in, which may have been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/proc/self/cwd")
