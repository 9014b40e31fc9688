# SPDX-License-Identifier: Apache-2.0
"""One kernel and one line of signature become a function: the short way to a package of one
function and one launch.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import _arch
from ._build import OTHER_ARCHS, Package
from ._function import Function
from ._package import Definition, Launch, Number, Numbers, Paths, Source, Text


def cuda(
    source: Text,
    signature: str,
    *,
    kernel: str | None = None,
    args: Sequence[str] | None = None,
    grid: Numbers,
    block: Numbers,
    smem: Number | None = None,
    attrs: Mapping[str, Any] | None = None,
    include: Paths = (),
    define: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    line_info: bool = False,
    arch: _arch.Archs = None,
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    submit: str | None = None,
    name: str | None = None,
) -> Function:
    """A kernel in CUDA C++, text or a file, compiled by NVRTC.

    `kernel` is its name as C++ writes it, `rms<{T}, 128>` too; left out, the signature's. `args`
    are the kernel's arguments with their C types, `["x", "y", "n: int32"]`; left out, those of the
    signature. `grid` and `block` are up to three numbers or expressions over what the signature
    names, `smem` bytes. `arch` names architectures; left out, KERNPACK_ARCH, else those of the
    visible GPUs, else PTX that every device of CUDA 13 compiles for itself.
    """
    given = Source.cuda(
        source, include=include, define=define, options=options, line_info=line_info
    )
    launch = Launch(given, kernel, args, grid, block, smem, attrs)
    return one(Definition(signature, (launch,), doc, workspace, submit), name, arch)


def ptx(
    source: Text,
    signature: str,
    *,
    kernel: str | None = None,
    args: Sequence[str] | None = None,
    grid: Numbers,
    block: Numbers,
    smem: Number | None = None,
    attrs: Mapping[str, Any] | None = None,
    arch: str | None = None,
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    submit: str | None = None,
    name: str | None = None,
) -> Function:
    """A kernel in PTX, text or a file. `arch` is checked against what the file says; all else is as
    for `cuda`.
    """
    launch = Launch(Source.ptx(source, arch=arch), kernel, args, grid, block, smem, attrs)
    return one(Definition(signature, (launch,), doc, workspace, submit), name, None)


def cubin(
    source: Text,
    signature: str,
    *,
    kernel: str | None = None,
    args: Sequence[str] | None = None,
    grid: Numbers,
    block: Numbers,
    smem: Number | None = None,
    attrs: Mapping[str, Any] | None = None,
    arch: str | None = None,
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    submit: str | None = None,
    name: str | None = None,
) -> Function:
    """A kernel in machine code, bytes or a file. All else is as for `ptx`."""
    launch = Launch(Source.cubin(source, arch=arch), kernel, args, grid, block, smem, attrs)
    return one(Definition(signature, (launch,), doc, workspace, submit), name, None)


def fatbin(
    source: Text,
    signature: str,
    *,
    kernel: str | None = None,
    args: Sequence[str] | None = None,
    grid: Numbers,
    block: Numbers,
    smem: Number | None = None,
    attrs: Mapping[str, Any] | None = None,
    arch: str | None = None,
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    submit: str | None = None,
    name: str | None = None,
) -> Function:
    """A kernel in machine code for several devices, bytes or a file. All else is as for `ptx`."""
    launch = Launch(Source.fatbin(source, arch=arch), kernel, args, grid, block, smem, attrs)
    return one(Definition(signature, (launch,), doc, workspace, submit), name, None)


def host(
    source: Text | Sequence[Text],
    signature: str,
    *,
    kernel: str | None = None,
    args: Sequence[str] | None = None,
    returns: str | None = None,
    include: Paths = (),
    define: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    link: Sequence[str] = (),
    doc: str | None = None,
    workspace: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Function:
    """A function of the C ABI for the CPU: C text, or files ending in .c, .o or .a.

    `kernel` is its symbol; left out, the signature's name. `args` are its arguments, as for `cuda`.
    `returns="int"` makes anything but 0 a RuntimeError. `link` are sonames of libraries that it
    needs, `["libblas.so.3"]`.
    """
    sources = [source] if isinstance(source, (str, bytes, os.PathLike)) else source
    given = Source.host(*sources, include=include, define=define, options=options)
    launch = Launch(given, kernel, args, returns=returns)
    return one(Definition(signature, (launch,), doc, workspace), name, None, link)


def one(
    definition: Definition, name: str | None, arch: _arch.Archs, link: Sequence[str] = ()
) -> Function:
    """The function of a package that has no other."""
    package = Package(name or definition.name or "package", definition, link=link, arch=arch)
    # Without a name, the signature is refused before anything is looked up.
    function = package.load()[definition.name or ""]
    function.origin = package
    return function


def joined(functions: Sequence[Function], name: str) -> Package:
    """A package of what several functions were made of."""
    origins = [function.origin for function in functions]
    for function, origin in zip(functions, origins):
        if origin is None:
            raise ValueError(
                f"`{function.name}` comes from {function.package.path}: only functions that were "
                "built here can be joined"
            )
    packages = [origin for origin in origins if origin is not None]
    archs = {
        origin.arch if origin.arch is None or isinstance(origin.arch, str) else tuple(origin.arch)
        for origin in packages
    }
    if len(archs) > 1:
        raise ValueError(OTHER_ARCHS)
    return Package(
        name,
        *(definition for origin in packages for definition in origin.functions),
        link=list(dict.fromkeys(each for origin in packages for each in origin.link_names)),
        arch=archs.pop(),
    )
