# SPDX-License-Identifier: Apache-2.0
"""Calls on the interpreter, which says what is wrong with the kernels that they launch.

`Function.check` copies what is passed, and so writes nothing of the caller's; `check_ranks` does so
of several calls, which run at the same time and share the arrays that they share. Arrays of a GPU are
copied to the host by the memory that they lie in, so that those that overlap do so there. Not here:
the interpreter (`docs/debugging.md`), and the checks of a call, which are the same.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Sequence, Tuple, cast

from . import _errors, _native
from ._argument import converted, is_immutable, is_of
from ._shown import Shown, with_cells

if TYPE_CHECKING:
    from ._function import Function

_HOST = (1, 3, 13)
"""Of DLPack's devices those that the host reads: kDLCPU, kDLCUDAHost and kDLCUDAManaged."""
_KEPT = 4096
"""So much of an address of a GPU's stays the same in a copy: more than is ever asked for."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A mistake of a kernel, at the line that makes it.

    `code` is its name in `docs/debugging.md`, `text` all of it as a terminal shows it. `file`,
    `line` and `column`, counted from 1, are None where it has no place in a text.
    """

    code: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    text: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Traffic:
    """What the accesses of a line to one tensor or array ask of memory, as far as they are of one
    kind.
    """

    kernel: str
    """The symbol of the kernel."""
    file: str | None
    """The file of the line; None where nobody wrote it."""
    line: int
    """The line, from 1."""
    column: int
    """The column of the first access, from 1."""
    deed: str
    """`reads`, `writes`, or `updates` of an atomic operation that does both."""
    tensor: str
    """The tensor or array."""
    memory: str
    """`global`, or `shared`, the memory of a block."""
    bytes: int
    """The bytes of a thread's access: several side by side that become one count as one."""
    accesses: int
    """How often a warp made such an access."""
    threads: int
    """How many of its threads took part, in all."""
    taken: int
    """How many sectors of 32 bytes of global memory that took; of shared memory how often warps
    were served by its 32 banks.
    """
    least: int
    """The same where everything lies side by side, in banks of its own."""
    text: str = dataclasses.field(repr=False)
    """All of it, for people."""

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Checked:
    """What came of a call on the interpreter. It is true where nothing was found.

    `results` is what the call would have returned. `arguments` are those of the call, in order,
    with a copy in the place of each array that the function may write, as it would be behind the
    call. Of `check_ranks` both have an entry for each rank. `kernels` are the symbols of those that
    it launched, in order; `traffic` is what their accesses asked of memory, line by line, where that
    was counted.
    """

    findings: list[Finding]
    results: Any
    arguments: tuple[Any, ...]
    kernels: Sequence[str] = ()
    traffic: Sequence[Traffic] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        found = [finding.text for finding in self.findings] or ["nothing found"]
        return "\n".join([*found, *map(str, self.traffic)])

    def __repr__(self) -> str:
        return f"<kernpack.Checked: {self}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """Has IPython show what was found."""
        printer.text(with_cells(str(self)))


@dataclasses.dataclass(frozen=True)
class Options:
    """How calls are made on the interpreter."""

    seed: int = 0
    strict: bool = False
    device: Mapping[str, int] | None = None
    count: bool = False


class CheckError(Shown, RuntimeError):
    """`Function.check(…, strict=True)` has found something: the message shows it, and `findings` has
    it.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = list(findings)


Request = Tuple[Dict[str, Any], Dict[str, bytes]]


def check(
    function: Function,
    args: tuple[Any, ...],
    options: Options,
    request: Request | None = None,
) -> Checked:
    """The call with these arguments, all of them in order, on the interpreter; lists and dataclasses
    are tuples by now. The request is what the function was made of, where that is not the last one
    that became its package: findings show places in its texts.
    """
    checked = check_ranks(function, [args], options, request)
    return dataclasses.replace(checked, results=checked.results[0], arguments=checked.arguments[0])


NO_RANK = "there is no rank: expected the arguments of one at least"


def check_ranks(
    function: Function,
    ranks: Sequence[tuple[Any, ...]],
    options: Options,
    request: Request | None = None,
) -> Checked:
    """The calls with these arguments, as `check` makes one, at the same time."""
    if not ranks:
        raise ValueError(NO_RANK)
    if len({len(args) for args in ranks}) > 1:
        counts = ", ".join(str(len(args)) for args in ranks)
        raise TypeError(f"the ranks pass {counts} arguments: expected as many each")
    request = function.package.request if request is None else request
    if request is None:
        raise TypeError(
            f"`{function.name}` cannot run on the interpreter: the text of its kernels is not "
            f"known, as the package {function.package.path} was not built from it here"
        )
    host = _Host()
    passed = [host.copied(arg) for args in ranks for arg in args]
    asked = {
        "function": function.name,
        "seed": options.seed,
        "ranks": len(ranks),
        "devices": host.devices,
        "device": dict(options.device or {}),
        "count": options.count,
    }
    given: dict[int, Any] = {}
    answer = _native.interpret(*request, asked, given.__setitem__, passed)
    if "error" in answer:
        raise _failed(function, answer["error"])
    n_results = answer["results"]
    results = [host.returned(given[number]) for number in range(n_results)]
    n_of_rank = n_results // len(ranks)
    of_ranks = [results[at * n_of_rank : (at + 1) * n_of_rank] for at in range(len(ranks))]
    findings = [_finding(each) for each in answer["findings"]]
    if options.strict and findings:
        raise CheckError("\n".join(each.text for each in findings), findings)
    written = {number - n_results: tensor for number, tensor in given.items()}
    numbers = iter(range(len(host.tensors)))
    return Checked(
        findings,
        tuple(function.returned(own, args) for own, args in zip(of_ranks, ranks)),
        tuple(_left(args, numbers, written) for args in ranks),
        [launch["kernel"] for launch in answer["launches"]],
        [
            _traffic(launch, each)
            for launch in answer["launches"]
            for each in launch.get("traffic", ())
        ],
    )


def _failed(function: Function, error: Mapping[str, Any]) -> Exception:
    """Why there was no call: of kernels that are not written here, as what it is asked for."""
    if any(each["code"] == "not-interpreted" for each in error["diagnostics"]):
        why = "; ".join(each["message"] for each in error["diagnostics"])
        return TypeError(f"`{function.name}` cannot run on the interpreter: {why}")
    return _errors.CompileError(error["text"].rstrip(), error["diagnostics"])


def _finding(told: Mapping[str, Any]) -> Finding:
    nowhere: dict[str, Any] = {"file": None, "line": None, "column": None}
    labels: list[dict[str, Any]] = [*told["labels"], nowhere]
    file, line, column = (labels[0][key] for key in ("file", "line", "column"))
    return Finding(told["code"], told["message"], file, line, column, told["drawn"].rstrip())


def _traffic(launch: Mapping[str, Any], told: Mapping[str, Any]) -> Traffic:
    return Traffic(kernel=launch["kernel"], **told)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "__dlpack__")


def _left(value: Any, numbers: Any, written: Mapping[int, Any]) -> Any:
    """An argument as the call leaves it."""
    if isinstance(value, tuple):
        return tuple(_left(part, numbers, written) for part in cast("Sequence[Any]", value))
    if not _is_tensor(value):
        return value
    tensor = written.get(next(numbers))
    return value if tensor is None else _like(value)(tensor)


def _like(value: Any) -> Callable[[Any], Any]:
    """Makes a tensor what an array is: of its framework, on its device."""
    if is_of(value, "torch"):
        return lambda tensor: _converted(sys.modules["torch"], tensor, value.device)
    if is_immutable(value):
        jax: Any = sys.modules["jax"]
        device = next(iter(value.devices()))
        return lambda tensor: jax.device_put(_converted(jax.dlpack, tensor), device)
    if is_of(value, "numpy"):
        return lambda tensor: _converted(sys.modules["numpy"], tensor)
    return lambda tensor: tensor


def _converted(framework: Any, tensor: Any, device: Any = None) -> Any:
    array = converted(framework, tensor)
    return array if device is None or array is tensor else array.to(device)


class _Host:
    """Arguments as the interpreter takes them: arrays of other devices are copied to the host."""

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        # Where each of them is, if it was copied.
        self.devices: list[tuple[int, int] | None] = []
        # Copies of the memory of PyTorch's tensors, by address.
        self._storages: dict[int, Any] = {}

    def copied(self, value: Any) -> Any:
        """An argument, with its arrays on the host."""
        if isinstance(value, tuple):
            return tuple(self.copied(part) for part in cast("Sequence[Any]", value))
        if not _is_tensor(value):
            return value
        kind, index = value.__dlpack_device__()
        is_host = kind in _HOST
        self.tensors.append(value)
        self.devices.append(None if is_host else (int(kind), int(index)))
        if is_host:
            return value
        if is_of(value, "torch"):
            return self._of_torch(value.detach())
        if is_immutable(value):
            jax: Any = sys.modules["jax"]
            return jax.device_put(value, jax.devices("cpu")[0])
        return value

    def _of_torch(self, tensor: Any) -> Any:
        """A tensor at the same place of a copy of its memory."""
        torch: Any = sys.modules["torch"]
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if address not in self._storages:
            content = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            room = torch.empty(content.numel() + _KEPT, dtype=torch.uint8)
            start = (address - room.data_ptr()) % _KEPT
            self._storages[address] = (room, start)
            room[start : start + content.numel()].copy_(content)
        room, start = self._storages[address]
        offset = start // tensor.element_size() + tensor.storage_offset()
        made = torch.empty(0, dtype=tensor.dtype)
        return made.set_(room.untyped_storage(), offset, tensor.shape, tensor.stride())

    def returned(self, result: Any) -> Any:
        """A result, as an array of the framework and the device of the first one that was passed."""
        known = (
            each for each in self.tensors if is_immutable(each) or is_of(each, "torch", "numpy")
        )
        first = next(known, None)
        return result if first is None else _like(first)(result)
