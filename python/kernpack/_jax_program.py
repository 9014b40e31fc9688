# SPDX-License-Identifier: Apache-2.0
"""One call as part of a program of JAX: shapes, checks, workspace, attributes, and what comes back.

`Program.flat` is what JAX traces, once for each set of shapes: it may be called again with other
arrays, where a batch is folded. Not here: arguments (`_jax_arguments`), memory (`_jax_layout`),
batches (`_jax_batching`), and what users call (`jax`).
"""

from __future__ import annotations

import collections
import contextvars
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import jax
import jax.core
import numpy as np

from kernpack import _native, _shape, _xla
from kernpack._description import passed_params
from kernpack._function import written
from kernpack._jax_arguments import (
    MISSING,
    Gathered,
    Leaf,
    Operand,
    Parameter,
    Result,
    Role,
    Surface,
    Tree,
    leaves,
    trees_in,
)
from kernpack._jax_batching import folding
from kernpack._jax_layout import View, Views, array_of_spec, require_width, spec_of_array, struct_of
from kernpack._jax_varying import Varying, varying_of, varying_struct
from kernpack._shape import Spec, untyped

_tree: Final = untyped(jax.tree)

IN_SEQUENCE: Final = ("sequential", "sequential_unrolled")
"""The ways in which JAX itself does a batch of custom calls."""


class Prepared(NamedTuple):
    """A call of arrays of certain shapes and dtypes."""

    call: Callable[..., Sequence[Any]]
    attributes: dict[str, Any]
    n_outs: int
    """How many of what comes back are the caller's."""


_MAX_KEPT: Final = 128


class Callee(NamedTuple):
    """The function that a program calls."""

    function: Any
    """As the user has it."""
    called: Any
    """With results, its variant that takes them."""
    vmap_dim: str | None
    """The dim that a batch is folded into."""
    kept: dict[Any, Prepared]
    """The calls that were prepared, by all that they depend on."""


@dataclass(frozen=True)
class Options:
    """What `kernpack.jax.call` was told; it says what each is for."""

    output: Any
    aliases: Mapping[str, str]
    vmap: str | None
    workspace: int | None
    has_side_effect: bool
    target: str
    is_owned: bool
    embed: bool | None
    check: bool
    views: Views
    static: Mapping[str, Any]


EMBEDDING: Final = contextvars.ContextVar("kernpack_jax_embedding", default=False)
"""Whether what is traced carries its packages."""


def _module_of(function: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    package = getattr(function, "package", None)
    if package is None:
        raise ValueError("a function that is in no package cannot be exported")
    return np.frombuffer(package.read(), np.uint8)


class Program:
    """One call, as it becomes part of a program."""

    def __init__(
        self,
        callee: Callee,
        options: Options,
        surface: Surface,
        description: Mapping[str, Any],
        gathered: Gathered,
    ) -> None:
        self.callee = callee
        self.options = options
        self.surface = surface
        self.description = description
        self.gathered = gathered

    def run(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The arrays that come back."""
        dim = self.callee.vmap_dim
        if dim is None or not operands:
            return self.flat(*operands)
        leaves = self.gathered.operand_leaves, self.gathered.result_leaves
        return folding(self.flat, *leaves, self.options.views, dim)(*operands)

    def flat(self, *operands: Any) -> tuple[Any, ...]:
        """Puts the call into the program."""
        # Of 1, 1.0 and True only their texts are different.
        trees = repr(self.gathered.trees)
        arrays = tuple((x.shape, x.dtype) for x in operands)
        varying = varying_of(operands)
        key = trees, arrays, varying, EMBEDDING.get(), jax.dtypes.canonicalize_dtype(np.float64)
        kept = self.callee.kept.get(key)
        if kept is None:
            if len(self.callee.kept) >= _MAX_KEPT:
                self.callee.kept.clear()
            kept = self.callee.kept[key] = self._prepare(operands, varying)
        made = kept.call(*operands, **kept.attributes)
        return tuple(made)[: kept.n_outs]

    def _prepare(self, operands: Sequence[Any], varying: Varying) -> Prepared:
        """Works out a call of arrays of these shapes and dtypes, some of which vary."""
        leaves = self.gathered.operand_leaves
        in_views = [self._view(leaf, x.ndim) for leaf, x in zip(leaves, operands, strict=True)]
        specs = [spec_of_array(x, view) for x, view in zip(operands, in_views, strict=True)]
        binding = self._solve(specs)
        outs = self._outputs(binding, operands)
        leaves = self.gathered.result_leaves
        out_views = [self._view(leaf, len(x.shape)) for leaf, x in zip(leaves, outs, strict=True)]
        pairs = zip(outs, out_views, strict=True)
        self._check(binding, specs, [spec_of_array(x, view) for x, view in pairs])
        space = self._workspace(binding)
        hidden = [] if space is None else [struct_of((space,), np.uint8)]
        call: Callable[..., Sequence[Any]] = untyped(jax.ffi).ffi_call(
            self.options.target,
            [varying_struct(out, varying) for out in (*outs, *hidden)],
            has_side_effect=self.options.has_side_effect or not outs,
            vmap_method=self._vmap_method(),
            input_layouts=[view.major_to_minor for view in in_views],
            output_layouts=[*(view.major_to_minor for view in out_views), *(None for _ in hidden)],
            input_output_aliases=self._aliases(),
        )
        return Prepared(call, self._attributes(binding, in_views, out_views, space), len(outs))

    def _vmap_method(self) -> str | None:
        vmap = self.options.vmap
        return vmap if vmap in (None, *IN_SEQUENCE) else "sequential"

    def _view(self, leaf: Leaf, rank: int) -> View:
        return self.options.views.of(leaf, rank)

    def _solve(self, specs: Sequence[Spec]) -> _shape.Binding:
        known = {
            each.name: _known(tree, specs)
            for each, tree in zip(self.surface.parameters, self.gathered.trees, strict=True)
        }
        return _shape.solve(self.description, known, _OPERATIONS)

    def _outputs(
        self, binding: _shape.Binding, arrays: Sequence[Any]
    ) -> list[jax.ShapeDtypeStruct]:
        """What comes back."""
        said = _said_outputs(self.options.output, self.gathered.result_leaves)
        places = {result: operand for operand, result in self._aliases().items()}
        operands = dict(_operands_of_results(self.gathered.trees))
        outs: list[jax.ShapeDtypeStruct] = []
        for index, leaf in enumerate(self.gathered.result_leaves):
            operand = operands[index]
            like = said.get(leaf.path) if operand is None else arrays[operand]
            if like is None and index in places:
                # XLA holds it to the same shape and dtype.
                like = arrays[places[index]]
            if like is None:
                spec = self._inferred(leaf, binding)
                outs.append(array_of_spec(leaf.path, spec, self._view(leaf, len(spec.shape))))
            else:
                require_width(leaf.path, like.dtype)
                outs.append(struct_of(like.shape, like.dtype))
        return outs

    def _inferred(self, leaf: Leaf, binding: _shape.Binding) -> Spec:
        try:
            return _shape.spec_of(leaf.kind, binding)
        except _shape.Unsolved as error:
            raise ValueError(
                f"{error}, so that `{leaf.path}` of `{self.surface.name}` has no shape or dtype "
                f'yet: say it by `output={{"{leaf.path}": jax.ShapeDtypeStruct(shape, dtype)}}`'
            ) from None

    def _check(self, binding: _shape.Binding, specs: Sequence[Spec], outs: Sequence[Spec]) -> None:
        """Refuses what the call would refuse, in the same words."""
        function = self.callee.function
        if not self.options.check or not hasattr(function, "signature"):
            return
        n_params = len(passed_params(function.description))
        parameters = list(zip(self.surface.parameters, self.gathered.trees, strict=True))[:n_params]
        values = [_checked(each, tree, specs, outs, binding) for each, tree in parameters]
        if not _is_concrete(values):
            return
        refused = _xla.check(function, values)
        if refused is not None:
            kind, message = refused
            raise _ERRORS.get(kind, RuntimeError)(message)

    def _workspace(self, binding: _shape.Binding) -> _shape.Dim | None:
        """The bytes of the hidden result that allocations come from."""
        if self.options.workspace is not None:
            return int(self.options.workspace) + _xla.ALIGNMENT
        total: _shape.Dim = 0
        description = getattr(self.callee.function, "description", {})
        for tensor in (slot["type"] for slot in description.get("workspaces", ())):
            try:
                spec = _shape.spec_of(tensor, binding)
            except _shape.Unsolved as error:
                raise ValueError(
                    f"{error}, and a workspace has that size: say its bytes by `workspace=`"
                ) from None
            # A package asks for more bytes, among which it finds aligned ones.
            size = _shape.byte_count(spec) + max(
                tensor["align"] or 0, _native.dtypes()[spec.dtype] // 8
            )
            total = total + -(-size // _xla.ALIGNMENT) * _xla.ALIGNMENT
        # The program's memory may be aligned to less.
        return None if isinstance(total, int) and total == 0 else total + _xla.ALIGNMENT

    def _aliases(self) -> dict[int, int]:
        """Which results take the place of which operands."""
        aliases = {
            operand: result
            for result, operand in _operands_of_results(self.gathered.trees)
            if operand is not None
        }
        operands = {leaf.path: at for at, leaf in enumerate(self.gathered.operand_leaves)}
        results = {leaf.path: at for at, leaf in enumerate(self.gathered.result_leaves)}
        for name, result in self.options.aliases.items():
            if name != result and name in operands and result in results:
                aliases[operands[name]] = results[result]
        return aliases

    def _attributes(
        self,
        binding: _shape.Binding,
        in_views: Sequence[View],
        out_views: Sequence[View],
        space: _shape.Dim | None,
    ) -> dict[str, Any]:
        called = self.callee.called
        plan = _xla.Plan()
        if space is not None:
            plan.workspace(len(out_views))
        writer = _Writer(plan, binding, in_views, out_views, self.options.is_owned)
        for parameter, tree in zip(self.surface.parameters, self.gathered.trees, strict=True):
            writer.write(parameter.name, parameter.node, tree)
        attributes: dict[str, Any] = {
            "key": _xla.key_of(called),
            "plan": np.array(plan.words, np.int64),
        }
        if EMBEDDING.get() if self.options.embed is None else self.options.embed:
            attributes["module"] = _module_of(called)
        return attributes

    def returned(self, outs: Sequence[Any]) -> Any:
        """The arrays that come back, as the caller gets them."""
        if self.options.output is not None and not isinstance(self.options.output, Mapping):
            return _tree.unflatten(_tree.structure(self.options.output), outs)
        named = {
            each.name: _filled(each.node, tree, outs)
            for each, tree in zip(self.surface.parameters, self.gathered.trees, strict=True)
            if any(leaf.role in (Role.RESULT, Role.BOTH) for leaf in leaves(each.node))
        }
        values = list(named.values())
        return (
            values[0]
            if len(values) == 1
            else _results_type(self.surface.name, tuple(named))(*values)
        )


class _Writer:
    """Writes the plan of a call."""

    def __init__(
        self,
        plan: _xla.Plan,
        binding: _shape.Binding,
        in_views: Sequence[View],
        out_views: Sequence[View],
        is_owned: bool,
    ) -> None:
        self.plan = plan
        self.binding = binding
        self.in_views = in_views
        self.out_views = out_views
        self.is_owned = is_owned

    def write(self, name: str, node: Any, tree: Tree) -> None:
        """Writes an argument."""
        match tree:
            case Operand(at=at):
                self._view(self.in_views[at])
                self.plan.operand(at)
            case Result(at=at):
                self._view(self.out_views[at])
                self.plan.result(at)
            case tuple() if not isinstance(node, Leaf):
                items = trees_in(tree)
                for part, item in zip(node.fields, items, strict=True):
                    self.write(name, part, item)
                self.plan.array(len(items))
            case _:
                self._static(name, node, tree)

    def _view(self, view: View) -> None:
        if not view.is_plain:
            self.plan.view(view.modes, view.fastest)
        if self.is_owned:
            self.plan.owned()

    def _static(self, name: str, node: Any, value: Any) -> None:
        if value is MISSING:
            value = self._found(name)
        if isinstance(node, Leaf) and node.role is Role.STREAM:
            self.plan.stream()
        elif isinstance(node, Leaf) and node.kind["kind"] == "dtype" and value is not None:
            self.plan.dtype(value)
        else:
            _write_value(self.plan, value)

    def _found(self, name: str) -> int:
        value = self.binding.named(name)
        if not isinstance(value, int):
            raise ValueError(f"`{name}` is static, and is symbolic in this program: `{value}`")
        return value


def _write_value(plan: _xla.Plan, value: Any) -> None:
    match value:
        case None:
            plan.none()
        case bool():
            plan.truth(value)
        case int():
            plan.integer(value)
        case float():
            plan.floating(value)
        case str():
            plan.text(value)
        case tuple():
            plan.shape(cast("tuple[int, ...]", value))
        case _:
            raise TypeError(f"{value!r} cannot be part of a program")


def _known(tree: Tree, specs: Sequence[Spec]) -> Any:
    """An argument as `solve` takes it."""
    match tree:
        case Operand(at=at):
            return specs[at]
        case Result(operand=None):
            return _shape.UNKNOWN
        case Result(operand=int(at)):
            return specs[at]
        case tuple():
            return tuple(_known(item, specs) for item in trees_in(tree))
        case _:
            return _shape.UNKNOWN if tree is MISSING else tree


def _checked(
    parameter: Parameter,
    tree: Tree,
    specs: Sequence[Spec],
    outs: Sequence[Spec],
    binding: _shape.Binding,
) -> Any:
    """An argument as `kernpack_check` takes it."""
    if tree is MISSING:
        return binding.symbols.get(parameter.name)
    return _seen(parameter.node, tree, specs, outs)


def _seen(node: Any, tree: Tree, specs: Sequence[Spec], outs: Sequence[Spec]) -> Any:
    match tree:
        case Operand(at=at):
            return specs[at]
        case Result(at=at):
            return outs[at]
        case tuple() if not isinstance(node, Leaf):
            items = trees_in(tree)
            parts = [
                _seen(part, item, specs, outs)
                for part, item in zip(node.fields, items, strict=True)
            ]
            return _shape.Group(tuple(parts))
        case _:
            return tree


def _is_concrete(value: Any) -> bool:
    """Whether all extents are numbers."""
    match value:
        case Spec(shape=shape):
            return all(isinstance(extent, int) for extent in shape)
        case _shape.Group(items=items):
            return all(map(_is_concrete, items))
        case list():
            return all(_is_concrete(item) for item in _listed(value))
        case _:
            return True


def _listed(value: Any) -> list[Any]:
    found: list[Any] = untyped(value)
    return found


def _filled(node: Any, tree: Tree, outs: Sequence[Any]) -> Any:
    """What comes back for a parameter."""
    match tree:
        case Result(at=at):
            return outs[at]
        case tuple() if not isinstance(node, Leaf):
            pairs = zip(node.fields, node.names, trees_in(tree), strict=True)
            kept = [
                (part, name, item)
                for part, name, item in pairs
                if any(_operands_of_results([item]))
            ]
            values = [_filled(part, item, outs) for part, _, item in kept]
            names = tuple(name for _, name, _ in kept)
            is_named = names and all(name is not None for name in names)
            if is_named:
                return _results_type(node.path, cast("tuple[str, ...]", names))(*values)
            return tuple(values)
        case _:
            return None


RESULTS_TYPES: Final[set[type]] = set()
"""The NamedTuples that were made here."""


@functools.cache
def _results_type(name: str, fields: tuple[str, ...]) -> Any:
    """The NamedTuple of several results: one for all calls, as pytrees are compared by type."""
    made = cast(Any, collections).namedtuple(
        written(re.sub(r"\W", "_", name)), [written(field) for field in fields], rename=True
    )

    def reduce(self: Any) -> tuple[Any, ...]:
        return _restored, (name, fields, tuple(self))

    made.__reduce__ = reduce
    RESULTS_TYPES.add(made)
    return made


def _restored(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Results that were pickled: their class stands in no module."""
    return _results_type(name, fields)(*values)


def _operands_of_results(trees: Iterable[Tree]) -> Iterator[tuple[int, int | None]]:
    """Each result, and the operand whose place it takes."""
    for tree in trees:
        if isinstance(tree, Result):
            yield tree.at, tree.operand
        elif isinstance(tree, tuple) and not isinstance(tree, Operand):
            yield from _operands_of_results(trees_in(tree))


def _said_outputs(output: Any, leaves: Sequence[Leaf]) -> dict[str, Any]:
    """What a caller says that comes back, by path."""
    if output is None:
        return {}
    paths = [leaf.path for leaf in leaves]
    if isinstance(output, Mapping):
        named = cast("Mapping[str, Any]", output)
        unknown = [name for name in named if name not in paths]
        if unknown:
            raise ValueError(f"output: `{unknown[0]}` does not come back, but {paths}")
        return {name: value for name, value in named.items() if value is not None}
    structs = _tree.leaves(output)
    if len(structs) != len(paths):
        raise ValueError(
            f"output: {len(paths)} arrays come back, {paths}, and there are {len(structs)}"
        )
    return dict(zip(paths, structs, strict=True))


_ERRORS: Final[Mapping[str, type[Exception]]] = {"TypeError": TypeError, "ValueError": ValueError}


def _greatest(values: Sequence[_shape.Dim]) -> _shape.Dim:
    return functools.reduce(jax.core.max_dim, values)


def _least(values: Sequence[_shape.Dim]) -> _shape.Dim:
    return functools.reduce(jax.core.min_dim, values)


_OPERATIONS: Final = _shape.Operations(minimum=_least, maximum=_greatest)
