# SPDX-License-Identifier: Apache-2.0
"""From a description to a loaded package: from the cache, or compiled.

`Package` is a description of several functions; `precompile` fills the cache ahead. Not here: how
the compiler and its cache work (`docs/cache.md`), and how descriptions are written (`_package.py`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import json
import logging
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    NamedTuple,
    Sequence,
    TypeVar,
    Union,
)

from . import _arch, _errors, _module, _native, _package
from ._forks import importing
from ._function import Function
from ._module import Module
from ._package import Definition, Launch, Written

if TYPE_CHECKING:
    from ._check import Request

_log = logging.getLogger("kernpack")
_FOLDER = os.path.dirname(__file__)


class Package:
    """Several functions that become one module: what a package file describes, with the same words.

    It is compiled at its first use. Nothing can be added then.
    """

    def __init__(
        self,
        name: str,
        *functions: Definition,
        link: Sequence[str] = (),
        submit: str | None = None,
        arch: _arch.Archs = None,
    ) -> None:
        self.name = name
        self.functions = list(functions)
        self.link_names = [link] if isinstance(link, str) else list(link)
        self._submit = submit
        self.arch = arch
        self._module: Module | None = None

    def function(
        self,
        signature: str,
        *launches: Launch,
        doc: str | None = None,
        workspace: Mapping[str, str] | None = None,
        submit: str | None = None,
    ) -> Package:
        """Adds a function; returns the package, to add more."""
        if self._module is not None:
            raise RuntimeError(f"the package {self.name} is compiled already: nothing can be added")
        self.functions.append(Definition(signature, launches, doc, workspace, submit))
        return self

    def toml(self) -> str:
        """The package as the text of a package file. Sources in memory are named there, and not
        written.
        """
        return self.written().text

    def written(self) -> Written:
        """The text, with the files that it names."""
        return _package.write(self.name, self.functions, self.link_names, self._submit)

    def load(self) -> Module:
        """The package, loaded."""
        if self._module is None:
            self._module = get(self.written(), self.arch)
        return self._module

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes the package to a file; its ending says what: `.o`, `.so`, `.h`, `.pyi` or `.rs`."""
        self.load().export(path)

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.load().__getattr__(name)

    def request(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What the cache is asked."""
        return _request(self.written(), self.arch)


def load(path: str | os.PathLike[str], *, arch: _arch.Archs = None) -> Module:
    """The package that a package file describes, or a kernel file (`.py`) is, compiled where the
    cache does not have it, and loaded.
    """
    return get(_read(path), arch)


def _read(path: str | os.PathLike[str]) -> Written:
    file = Path(path)
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise _errors.CompileError(f"{file} is no package file: it is not UTF-8: {error}") from None
    # The text of a kernel file is no package file, and its kernels are compiled for GPUs.
    takes_archs = file.suffix == ".py" or _native.takes_archs(text)
    return Written(str(file), text, file.absolute().parent, {}, takes_archs)


def get(written: Written, arch: _arch.Archs) -> Module:
    """The package of this text, loaded."""
    request = _request(written, arch)
    answer = _answer(*request)
    return _module.load_built(answer["so"], answer["digest"], answer["package"], request)


class OfProgram(NamedTuple):
    """The package of functions of a running program."""

    module: Module
    """It, loaded: another program may have become the same."""
    is_cached: bool
    """Whether the cache had it."""
    request: tuple[dict[str, Any], dict[str, bytes]]
    """What it was made of."""


class Compiled(NamedTuple):
    """How functions of a running program are compiled."""

    arch: _arch.Archs
    """The architectures."""
    asserts: bool
    """Whether kernels assert as they run."""
    checked: bool
    """Whether kernels check their indices."""

    def request(self) -> dict[str, Any]:
        """It, as a request has it: what is usual is left out."""
        asserts = {} if self.asserts else {"asserts": False}
        checked = {"checked": True} if self.checked else {}
        return {**_arch.wanted(self.arch), **asserts, **checked}


def program_request(
    name: str, text: str, places: Sequence[tuple[str, int]], compiled: Compiled
) -> dict[str, Any]:
    """What the cache is asked for functions of a running program. `places` are the files and lines of
    its sources.
    """
    of_program = {"name": name, "text": text, "base": "/", "places": list(places)}
    return {**of_program, **compiled.request()}


def get_program(of_program: dict[str, Any], ask: Callable[[], None] | None = None) -> OfProgram:
    """The package of functions of a running program; `ask` raises where it must not be compiled."""
    request: tuple[dict[str, Any], dict[str, bytes]] = of_program, {}
    answer = _answer(*request, ask)
    module = _module.load_built(answer["so"], answer["digest"], answer["package"], request)
    return OfProgram(module, bool(answer["hit"]), request)


def precompile_program(request: dict[str, Any]) -> None:
    """Compiles functions of a running program into the cache, perhaps in another process."""
    _answer(request, {})


def timed(request: Request) -> tuple[Module, Request]:
    """The package of a request with kernels that write down what they wait for, and its request."""
    given, held = request
    asked: Request = {**given, "timed": True}, held
    answer = _answer(*asked)
    return _module.load_built(answer["so"], answer["digest"], answer["package"], asked), asked


def is_of_program(module: Module) -> bool:
    """Whether a package was made of functions of a running program."""
    return module.request is not None and "places" in module.request[0]


def joined_programs(name: str, modules: Sequence[Module]) -> Module:
    """The package of all functions of packages that are of a running program."""
    of_each = [module.request[0] for module in modules if module.request is not None]
    first, *others = [json.loads(each["text"]) for each in of_each]
    text = json.dumps({**first, "package": name, "joined": others})
    places = [place for each in of_each for place in each["places"]]
    of_all = {**of_each[0], "name": name, "text": text, "places": places}
    own = ("name", "text", "places")
    how = [{key: each[key] for key in each if key not in own} for each in of_each]
    for option, message in OTHER_OPTIONS.items():
        if any(each.get(option) != how[0].get(option) for each in how):
            raise ValueError(message)
    if any(each != how[0] for each in how):
        raise ValueError(OTHER_ARCHS)
    return get_program(of_all).module


OTHER_ARCHS = (
    "the functions were compiled for different architectures: join them with the same `arch`"
)


OTHER_OPTIONS = {
    "asserts": "some functions were compiled with `asserts=False`: join them with the same `asserts`",
    "checked": "some functions were compiled with `checked=True`: join them with the same `checked`",
}


def _request(written: Written, arch: _arch.Archs) -> tuple[dict[str, Any], dict[str, bytes]]:
    request: dict[str, Any] = {
        "name": written.name,
        "text": written.text,
        "base": str(written.base),
    }
    os.environ.setdefault("KERNPACK_PYTHON", sys.executable)
    if written.takes_archs:
        request.update(_arch.wanted(arch))
        nvrtc = _installed_nvrtc()
        if nvrtc is not None:
            os.environ.setdefault("KERNPACK_NVRTC", nvrtc)
    return request, written.held


@functools.lru_cache(maxsize=None)
def _installed_nvrtc() -> str | None:
    """The NVRTC that came with PyTorch, or with the extra `cuda`: it goes before those of the
    system.
    """
    wheels = ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    places = (Path(folder, wheel) for folder in sys.path for wheel in wheels)
    return next((str(place) for place in places if place.is_file()), None)


def _answer(
    request: dict[str, Any], held: dict[str, bytes], ask: Callable[[], None] | None = None
) -> dict[str, Any]:
    refused: list[BaseException] = []

    def observe(event: str, process: int) -> None:
        _observe(event, process)
        try:
            if ask is not None and event == "compiling":
                ask()
        except BaseException as error:
            refused.append(error)
            raise

    try:
        answer = _native.get(request, held, observe)
    except BaseException:
        if refused:
            # TVM-FFI hands on the kind and the message of an error alone.
            raise refused[0] from None
        raise
    if answer["notes"]:
        print(answer["notes"], end="", flush=True)
    if answer["warnings"] and not getattr(_silent, "is_on", False):
        warnings.warn(answer["warnings"], _errors.CompileWarning, stacklevel=level())
    error = answer.get("error")
    if error is not None:
        kind = _errors.CompileForbidden if error["is_forbidden"] else _errors.CompileError
        raise kind(error["text"].rstrip(), error["diagnostics"])
    return answer


_silent = threading.local()


def be_silent() -> None:
    """Has this thread compile for others without a word of what compilers warn of."""
    _silent.is_on = True


def level() -> int:
    """Where the one is that called this package, in frames above the one that asks."""
    level, frame = 1, inspect.currentframe()
    frame = frame.f_back if frame is not None else None
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        level, frame = level + 1, frame.f_back
    return level


def _observe(event: str, process: int) -> None:
    if event == "waiting":
        _log.info("waiting for process %d, which compiles the same package", process)
    else:
        _log.debug("%s", event)


Precompiled = Union[Package, str, "os.PathLike[str]"]


def precompile(
    packages: Iterable[Precompiled],
    *,
    arch: _arch.Archs = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> None:
    """Compiles packages, and package files, into the cache, several at a time; needs no GPU.

    `arch` names what CUDA C++ is compiled for: later calls on each such device find the package.
    `progress` shows on the standard error how many are done, as a bar where `tqdm` is installed;
    left out, where that is a terminal.

    Raises `CompileError` for the first package that cannot be built, when all have been tried.
    """
    with importing():
        import concurrent.futures  # Most programs need none of it.

    requests = [_precompiled(package, arch) for package in packages]
    is_shown = sys.stderr.isatty() if progress is None else progress
    failed: list[BaseException] = []
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        waiting = [pool.submit(_answer, *request) for request in requests]
        done = concurrent.futures.as_completed(waiting)
        for each in shown_all(done, len(waiting), is_shown, ("kernpack", "packages")):
            error = each.exception()
            failed += [] if error is None else [error]
    if failed:
        raise failed[0]


def _precompiled(
    package: Precompiled, arch: _arch.Archs
) -> tuple[dict[str, Any], dict[str, bytes]]:
    if isinstance(package, Package):
        return _request(package.written(), arch if arch is not None else package.arch)
    return _request(_read(package), arch)


_Done = TypeVar("_Done")


def shown_all(
    done: Iterable[_Done], n_all: int, is_shown: bool, what: tuple[str, str]
) -> Iterator[_Done]:
    """The same, each shown as it comes: `what` is done, and what they are called."""
    tqdm: Any = None
    if is_shown:
        with contextlib.suppress(ImportError), importing():
            tqdm = importlib.import_module("tqdm").tqdm
    if tqdm is not None:
        yield from tqdm(done, desc=what[0], total=n_all)
        return
    for n_done, each in enumerate(done, 1):
        if is_shown:
            print(f"{what[0]}: {n_done} of {n_all} {what[1]}", file=sys.stderr)
        yield each
