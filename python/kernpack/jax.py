# SPDX-License-Identifier: Apache-2.0
"""Kernels in programs of JAX.

`call(f)` makes a function over arrays of JAX from a function of a package. It traces, so that it stands
in `jit`, `scan`, `vmap`, `shard_map` and exported programs; what comes back has the shapes and dtypes
that the signature says, and a call that the signature refuses is refused while it is traced, in the
same words. XLA calls the package through one handler for all functions, by the digest of the package:
programs that XLA has cached find their kernels again, or say that they are not loaded.

This module imports JAX; nothing else of kernpack does. Importing it registers the handler, which is
all that an exported program needs. `docs/jax.md` is what users see of it.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import jax
import jax.core
import jax.export
import numpy as np

from kernpack import _shape, _xla
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
    surface_of,
    written,
)
from kernpack._jax_batching import batch_dim, folding
from kernpack._jax_layout import Layout, View, Views, array_of_spec, spec_of_array
from kernpack._shape import Spec

__all__ = ["Call", "call", "custom_vjp", "embedding", "export", "export_options", "last_workspace_peak"]

_IN_SEQUENCE: Final = ("sequential", "sequential_unrolled")


def call(
    function: Any,
    *,
    output: Any = None,
    static: Mapping[str, Any] | None = None,
    layouts: Mapping[str, Layout] | None = None,
    modes: Mapping[str, Sequence[int]] | None = None,
    aliases: Iterable[str] | Mapping[str, str] = (),
    vmap: str | None = "sequential",
    workspace: int | None = None,
    has_side_effect: bool = False,
    cuda_graph: bool = True,
    owned: bool = False,
    embed: bool | None = None,
    check: bool = True,
) -> Call:
    """A function over arrays of JAX that calls `function` inside of programs.

    It takes the parameters of the signature, positionally or by keyword: arrays, and for tuples
    sequences, mappings or dataclasses of them; numbers, texts and dtypes are static. It returns the
    results, and every `mut` tensor that is not in `aliases`: one by itself, several as a NamedTuple.

    * `output`: what comes back, as `jax.ShapeDtypeStruct`s in order or by name, where the signature
      leaves it open;
    * `static`: values of static parameters;
    * `layouts`: by parameter, in which order an array lies in memory: `row`, `col`, or one rank a dim,
      0 being the fastest. Left out, as the signature asks;
    * `modes`: by parameter, for each dim that the function sees, which dim of the array it is;
    * `aliases`: `mut` parameters that are passed too, and come back in their own place; as a mapping,
      `{"x": "y"}` gives the result `y` the place of the array `x`. Donated memory is reused, else XLA copies;
    * `vmap`: `sequential` makes a batch's calls one after the other, `sequential_unrolled` does without
      a loop, a dim of the signature (`m`, `*b`) or `fold` makes one call with that dim longer. The
      function must treat that dim's elements one by one. None refuses;
    * `workspace`: bytes for what the function allocates, where the package does not say them;
    * `has_side_effect`: the call is made even where nobody uses what it returns, and each time;
    * `cuda_graph`: whether XLA may record the call in a command buffer;
    * `owned`: tensors arrive as objects that may be kept, not as views;
    * `embed`: whether the program carries the package. Left out: it does where it is `export`ed;
    * `check`: whether calls are checked while they are traced.

    `function` may be any `tvm_ffi.Function`. Without a signature its arguments are the arrays and
    numbers that are passed, then the arrays of `output`.
    """
    given = {"layouts": layouts, "modes": modes, "static": static}
    options = _Options(
        output=output,
        aliases=dict(aliases) if isinstance(aliases, Mapping) else {name: name for name in aliases},
        vmap=vmap,
        workspace=workspace,
        has_side_effect=has_side_effect,
        target=_xla.CAPTURABLE if cuda_graph else _xla.PLAIN,
        is_owned=owned,
        embed=embed,
        check=check,
        views=Views(layouts or {}, modes or {}),
        static=static or {},
    )
    made = Call(function, options)
    made.require_names({word: names for word, names in given.items() if names})
    return made


class _Options:
    """What `call` was told."""

    def __init__(
        self,
        *,
        output: Any,
        aliases: dict[str, str],
        vmap: str | None,
        workspace: int | None,
        has_side_effect: bool,
        target: str,
        is_owned: bool,
        embed: bool | None,
        check: bool,
        views: Views,
        static: Mapping[str, Any],
    ) -> None:
        self.output = output
        self.aliases = aliases
        self.vmap = vmap
        self.workspace = workspace
        self.has_side_effect = has_side_effect
        self.target = target
        self.is_owned = is_owned
        self.embed = embed
        self.check = check
        self.views = views
        self.static = static


class Call:
    """A function over arrays of JAX, made by `call`."""

    def __init__(self, function: Any, options: _Options) -> None:
        self.function = function
        self._options = options
        description = getattr(function, "description", None)
        self._called = (getattr(function, "out", None) or function) if description else function
        self._surface: Surface | None = None
        self._description: Mapping[str, Any] = {}
        self.vmap_dim: str | None = None
        """The dim that a batch is folded into, of a call that folds."""
        if description:
            names = {"name": description["name"], "short": description["short"]}
            self._description = {**self._called.description, **names}
            # Its twin that takes results has no defaults.
            rows = [row for row in description["params"] if "default" in row]
            defaults = {row["name"]: row["default"] for row in rows} | dict(options.static)
            own = frozenset(name for name, result in options.aliases.items() if name == result)
            self._surface = surface_of(self._description, defaults, own)
            self._require_aliases(self._surface)
            if options.vmap not in (None, *_IN_SEQUENCE):
                self.vmap_dim = batch_dim(self._surface, options.views, cast(str, options.vmap))
        elif options.vmap not in (None, *_IN_SEQUENCE):
            raise ValueError(f"vmap={options.vmap!r} folds into a dim of a signature, which the function lacks")
        self.__name__ = str(description["name"] if description else getattr(function, "__name__", "function"))
        self.__doc__ = str(description["text"]) if description else None

    def require_names(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuses options for parameters that are not there."""
        if self._surface is None:
            if given:
                raise ValueError(f"`{next(iter(given))}` names parameters of a signature, which the function lacks")
            return
        paths = {leaf.path for leaf in self._surface.leaves()}
        arrays = {leaf.path for leaf in self._surface.leaves() if leaf.kind["kind"] == "tensor"}
        static = {each.name for each in self._surface.parameters}
        for word, names in given.items():
            for name in names:
                if name not in (static if word == "static" else arrays):
                    known = "no parameter" if name not in paths else "no array"
                    raise ValueError(f"{word}: `{name}` is {known} of `{self._surface.name}`")

    def _require_aliases(self, surface: Surface) -> None:
        roles = {leaf.path: leaf.role for leaf in surface.leaves()}
        for name, result in self._options.aliases.items():
            wanted = Role.BOTH if name == result else Role.OPERAND
            if roles.get(name) is not wanted or roles.get(result) not in (Role.BOTH, Role.RESULT):
                says = f"`{name}`" if name == result else f"`{name}` and `{result}`"
                raise ValueError(f"aliases: {says} of `{surface.name}` is no array that it writes")

    def __repr__(self) -> str:
        return f"<kernpack.jax.Call {self._description.get('short', self.__name__)}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the function; see `call`."""
        surface = self._surface or _surface_of_arguments(self.__name__, args, named, self._options.output)
        description = self._description or _description_of(surface)
        gathered = surface.gather(args, named, self._wanted(surface))
        one = _Traced(self, surface, description, gathered)
        outs = one.run(gathered.operands)
        return one.returned(outs)

    def _wanted(self, surface: Surface) -> frozenset[str]:
        """The `Optional` results that `output` or `aliases` ask for."""
        output = self._options.output
        named: Iterable[str] = cast("Mapping[str, Any]", output) if isinstance(output, Mapping) else ()
        del surface
        return frozenset([*named, *self._options.aliases.values()])

    # What one traced call needs.

    @property
    def called(self) -> Any:
        """The function that is called: with results, its variant that takes them."""
        return self._called

    @property
    def options(self) -> _Options:
        """What `call` was told."""
        return self._options


class _Traced:
    """One call while it is traced."""

    def __init__(
        self, call: Call, surface: Surface, description: Mapping[str, Any], gathered: Gathered
    ) -> None:
        self.call = call
        self.options = call.options
        self.surface = surface
        self.description = description
        self.gathered = gathered

    def run(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The arrays that come back."""
        dim = self.call.vmap_dim
        if dim is None or not operands:
            return self.flat(*operands)
        leaves = self.gathered.operand_leaves, self.gathered.result_leaves
        return folding(self.flat, *leaves, self.options.views, dim)(*operands)

    def flat(self, *operands: Any) -> tuple[Any, ...]:
        """Puts the call into the program."""
        in_views = [self._view(leaf, x.ndim) for leaf, x in zip(self.gathered.operand_leaves, operands, strict=True)]
        specs = [spec_of_array(x, view) for x, view in zip(operands, in_views, strict=True)]
        binding = self._solve(specs)
        out_views, outs = self._outputs(binding, specs)
        self._check(binding, specs, outs)
        arrays = [
            array_of_spec(leaf.path, spec, view)
            for leaf, spec, view in zip(self.gathered.result_leaves, outs, out_views, strict=True)
        ]
        space = self._workspace(binding)
        results = [*arrays, *([] if space is None else [jax.ShapeDtypeStruct((space,), np.uint8)])]
        made = jax.ffi.ffi_call(
            self.options.target,
            results,
            has_side_effect=self.options.has_side_effect or not arrays,
            vmap_method=self._vmap_method(),
            input_layouts=[view.major_to_minor for view in in_views],
            output_layouts=[view.major_to_minor for view in out_views] + [None] * (len(results) - len(arrays)),
            input_output_aliases=self._aliases(),
        )(*operands, **self._attributes(binding, in_views, out_views, space))
        return tuple(made)[: len(arrays)]

    def _vmap_method(self) -> str | None:
        vmap = self.options.vmap
        return vmap if vmap in (None, *_IN_SEQUENCE) else "sequential"

    def _view(self, leaf: Leaf, rank: int) -> View:
        return self.options.views.of(leaf, rank)

    def _solve(self, specs: Sequence[Spec]) -> _shape.Binding:
        known = {
            each.name: _known(tree, specs)
            for each, tree in zip(self.surface.parameters, self.gathered.trees, strict=True)
        }
        return _shape.solve(self.description, known, _OPERATIONS)

    def _outputs(self, binding: _shape.Binding, specs: Sequence[Spec]) -> tuple[list[View], list[Spec]]:
        """What comes back, as the function sees it."""
        said = _said_outputs(self.options.output, self.gathered.result_leaves)
        operands = dict(_operands_of_results(self.gathered.trees))
        views: list[View] = []
        outs: list[Spec] = []
        for index, leaf in enumerate(self.gathered.result_leaves):
            if leaf.path in said:
                view = self._view(leaf, len(said[leaf.path].shape))
                spec = spec_of_array(said[leaf.path], view)
            elif operands[index] is not None:
                spec = specs[cast(int, operands[index])]
                view = self._view(leaf, len(spec.shape))
            else:
                spec = self._inferred(leaf, binding)
                view = self._view(leaf, len(spec.shape))
            views.append(view)
            outs.append(spec._replace(strides=None))
        return views, outs

    def _inferred(self, leaf: Leaf, binding: _shape.Binding) -> Spec:
        try:
            return _shape.spec_of(leaf.kind, binding)
        except _shape.Unsolved as error:
            raise ValueError(
                f"{error}, so that `{leaf.path}` of `{self.surface.name}` has no shape or dtype yet: "
                f'say it by `output={{"{leaf.path}": jax.ShapeDtypeStruct(shape, dtype)}}`'
            ) from None

    def _check(self, binding: _shape.Binding, specs: Sequence[Spec], outs: Sequence[Spec]) -> None:
        """Refuses what the call would refuse, in the same words."""
        function = self.call.function
        if not self.options.check or not hasattr(function, "signature"):
            return
        n_params = len([row for row in function.description["params"] if row["type"]["kind"] != "env_stream"])
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
        for tensor in map(_tensor_of, getattr(self.call.function, "workspaces", None) or ()):
            try:
                size = _shape.byte_count(_shape.spec_of(tensor, binding))
            except _shape.Unsolved as error:
                raise ValueError(f"{error}, and a workspace has that size: say its bytes by `workspace=`") from None
            total = total + -(-size // _xla.ALIGNMENT) * _xla.ALIGNMENT
        # The program's memory may be aligned to less.
        return None if isinstance(total, int) and total == 0 else total + _xla.ALIGNMENT

    def _aliases(self) -> dict[int, int]:
        """Which results take the place of which operands."""
        aliases = {
            operand: result for result, operand in _operands_of_results(self.gathered.trees) if operand is not None
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
        called = self.call.called
        plan = _xla.Plan()
        if space is not None:
            plan.workspace(len(out_views))
        writer = _Writer(plan, binding, in_views, out_views, self.options.is_owned)
        for parameter, tree in zip(self.surface.parameters, self.gathered.trees, strict=True):
            writer.write(parameter.name, parameter.node, tree)
        attributes: dict[str, Any] = {"key": _xla.key_of(called), "plan": np.array(plan.words, np.int64)}
        if _EMBEDDING.get() if self.options.embed is None else self.options.embed:
            attributes["module"] = _module_of(called)
        return attributes

    def returned(self, outs: Sequence[Any]) -> Any:
        """The arrays that come back, as the caller gets them."""
        if self.options.output is not None and not isinstance(self.options.output, Mapping):
            return jax.tree.unflatten(jax.tree.structure(self.options.output), outs)
        named = {
            each.name: _filled(each.node, tree, outs)
            for each, tree in zip(self.surface.parameters, self.gathered.trees, strict=True)
            if any(leaf.role in (Role.RESULT, Role.BOTH) for leaf in _leaves_of(each))
        }
        values = list(named.values())
        return values[0] if len(values) == 1 else _results_type(self.surface.name, tuple(named))(*values)


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
            case Operand(index=index):
                self._view(self.in_views[index])
                self.plan.operand(index)
            case Result(index=index):
                self._view(self.out_views[index])
                self.plan.result(index)
            case tuple() if not isinstance(node, Leaf):
                items = cast("tuple[Tree, ...]", tree)
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
        value = _shape.evaluate(name, self.binding)
        if not isinstance(value, int):
            raise ValueError(f"`{name}` is static, and is symbolic in this program: `{value}`")
        return value


def _write_value(plan: _xla.Plan, value: Any) -> None:
    match value:
        case None:
            plan.none()
        case bool():
            plan.bool(value)
        case int():
            plan.int(value)
        case float():
            plan.float(value)
        case str():
            plan.text(value)
        case tuple():
            plan.shape(cast("tuple[int, ...]", value))
        case _:
            raise TypeError(f"{value!r} cannot be part of a program")


def _leaves_of(parameter: Parameter) -> Iterator[Leaf]:
    return iter(Surface("", (parameter,)).leaves())


def _known(tree: Tree, specs: Sequence[Spec]) -> Any:
    """An argument as `solve` takes it."""
    match tree:
        case Operand(index=index):
            return specs[index]
        case Result(operand=None):
            return _shape.UNKNOWN
        case Result(operand=index):
            return specs[index]
        case tuple():
            return tuple(_known(item, specs) for item in cast("tuple[Tree, ...]", tree))
        case _:
            return _shape.UNKNOWN if tree is MISSING else tree


def _checked(
    parameter: Parameter, tree: Tree, specs: Sequence[Spec], outs: Sequence[Spec], binding: _shape.Binding
) -> Any:
    """An argument as `kernpack_check` takes it."""
    if tree is MISSING:
        return binding.symbols.get(parameter.name)
    return _seen(parameter.node, tree, specs, outs)


def _seen(node: Any, tree: Tree, specs: Sequence[Spec], outs: Sequence[Spec]) -> Any:
    match tree:
        case Operand(index=index):
            return specs[index]
        case Result(index=index):
            return outs[index]
        case tuple() if not isinstance(node, Leaf):
            items = cast("tuple[Tree, ...]", tree)
            parts = [_seen(part, item, specs, outs) for part, item in zip(node.fields, items, strict=True)]
            return _shape.Group(node.names, tuple(parts))
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
            return all(map(_is_concrete, cast("list[Any]", value)))
        case _:
            return True


def _filled(node: Any, tree: Tree, outs: Sequence[Any]) -> Any:
    """What comes back for a parameter."""
    match tree:
        case Result(index=index):
            return outs[index]
        case tuple() if not isinstance(node, Leaf):
            pairs = zip(node.fields, node.names, cast("tuple[Tree, ...]", tree), strict=True)
            kept = [(part, name, item) for part, name, item in pairs if any(_operands_of_results([item]))]
            values = [_filled(part, item, outs) for part, _, item in kept]
            names = tuple(name for _, name, _ in kept)
            is_named = names and all(name is not None for name in names)
            if is_named:
                return _results_type(node.path, cast("tuple[str, ...]", names))(*values)
            return tuple(values)
        case _:
            return None


_RESULTS_TYPES: Final[set[type]] = set()


@functools.cache
def _results_type(name: str, fields: tuple[str, ...]) -> Callable[..., tuple[Any, ...]]:
    """The NamedTuple of several results: the same for all calls, as pytrees are compared by type."""
    name = re.sub(r"\W", "_", name)
    made = collections.namedtuple(name, [written(field) for field in fields], rename=True)
    _RESULTS_TYPES.add(made)
    return made


def _operands_of_results(trees: Iterable[Tree]) -> Iterator[tuple[int, int | None]]:
    """Each result, and the operand whose place it takes."""
    for tree in trees:
        if isinstance(tree, Result):
            yield tree.index, tree.operand
        elif isinstance(tree, tuple) and not isinstance(tree, Operand):
            yield from _operands_of_results(cast("tuple[Tree, ...]", tree))


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
    structs = jax.tree.leaves(output)
    if len(structs) != len(paths):
        raise ValueError(f"output: {len(paths)} arrays come back, {paths}, and there are {len(structs)}")
    return dict(zip(paths, structs, strict=True))


_ERRORS: Final[Mapping[str, type[Exception]]] = {"TypeError": TypeError, "ValueError": ValueError}

_TENSOR = re.compile(r"(?:\w+\s*:\s*)?Tensor\(\[(?P<dims>.*?)\],\s*(?P<dtype>\w+)")


def _tensor_of(workspace: Any) -> Mapping[str, Any]:
    """A workspace as a tensor of a description; a package says `ws: Tensor([4*m], uint8)`."""
    if not isinstance(workspace, str):
        return cast("Mapping[str, Any]", workspace)
    found = _TENSOR.match(workspace)
    if found is None:
        raise ValueError(f"`{workspace}` is no workspace")
    # A comma in parentheses is one of `ceildiv(m, 4)`.
    dims = re.split(r",\s*(?![^()]*\))", found["dims"]) if found["dims"] else []
    return {"kind": "tensor", "dims": [dim.strip() for dim in dims], "dtype": found["dtype"]}


def _greatest(values: Sequence[_shape.Dim]) -> _shape.Dim:
    return functools.reduce(jax.core.max_dim, values)


def _least(values: Sequence[_shape.Dim]) -> _shape.Dim:
    return functools.reduce(jax.core.min_dim, values)


_OPERATIONS: Final = _shape.Operations(minimum=_least, maximum=_greatest)


# Functions without a signature


def _surface_of_arguments(
    name: str, args: Sequence[Any], named: Mapping[str, Any], output: Any
) -> Surface:
    """What the arguments of a call themselves say, and what comes back."""
    if named:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(named))!r}")
    if output is None:
        raise ValueError(f"`{name}` has no signature that says what comes back: say it by `output=`")
    parameters = [_parameter_of(f"arg{at}", arg) for at, arg in enumerate(args)]
    for at in range(len(jax.tree.leaves(output))):
        leaf = Leaf(f"out{at}", _any_tensor(), Role.RESULT, is_optional=False)
        parameters.append(Parameter(leaf.path, leaf, MISSING))
    return Surface(name, tuple(parameters))


def _any_tensor() -> dict[str, Any]:
    return {"kind": "tensor", "dims": ["*_"], "dtype": "_", "order": None, "strides": None}


def _parameter_of(name: str, value: Any) -> Parameter:
    match value:
        case None:
            kind: dict[str, Any] = {"kind": "literal", "value": None}
        case bool():
            kind = {"kind": "bool"}
        case int():
            kind = {"kind": "int"}
        case float():
            kind = {"kind": "float"}
        case str():
            kind = {"kind": "string"}
        case np.dtype() | type():
            kind = {"kind": "dtype"}
        case tuple():
            kind = {"kind": "shape"}
        case _:
            kind = _any_tensor()
    role = Role.OPERAND if kind["kind"] == "tensor" else Role.STATIC
    return Parameter(name, Leaf(name, kind, role, is_optional=False), MISSING)


def _description_of(surface: Surface) -> Mapping[str, Any]:
    """A description that says nothing of shapes."""
    return {"name": surface.name, "short": surface.name, "params": [], "symbols": []}


# Programs that carry their packages

_EMBEDDING: Final = contextvars.ContextVar("kernpack_jax_embedding", default=False)


def _module_of(function: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    package = getattr(function, "package", None)
    if package is None:
        raise ValueError("a function that is in no package cannot be exported")
    return np.frombuffer(package.read(), np.uint8)


@contextlib.contextmanager
def embedding() -> Iterator[None]:
    """What is traced inside carries its packages. What `jax.jit` has traced before stays as it is."""
    token = _EMBEDDING.set(True)
    try:
        yield
    finally:
        _EMBEDDING.reset(token)


def export_options() -> dict[str, Any]:
    """Options of `jax.export.export`, which by itself allows no custom calls."""
    names = (_xla.CAPTURABLE, _xla.PLAIN)
    return {"disabled_checks": [jax.export.DisabledSafetyCheck.custom_call(name) for name in names]}


def export(function: Callable[..., Any], **options: Any) -> Callable[..., jax.export.Exported]:
    """`jax.export.export` with packages in the program: it runs where kernpack is installed, and nothing else.

    Options are those of `jax.export.export`, such as `platforms`. NamedTuples of several results become
    plain tuples, which every process knows.
    """

    def exporter(*args: Any, **named: Any) -> jax.export.Exported:
        # A function of its own, so that nothing is found that was traced without packages.
        def fresh(*args: Any, **named: Any) -> Any:
            return _plain(function(*args, **named))

        def attempt() -> jax.export.Exported:
            with embedding():
                return jax.export.export(jax.jit(fresh), **{**export_options(), **options})(*args, **named)

        exported = attempt()
        if _lacks_packages(exported):
            # `function` calls something that was compiled before.
            jax.clear_caches()
            exported = attempt()
        return exported

    return exporter


def _plain(value: Any) -> Any:
    """A pytree without the NamedTuples that are made here."""
    if type(value) in _RESULTS_TYPES or type(value) in (tuple, list):
        items = [_plain(item) for item in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    if type(value) is dict:
        return {key: _plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def _lacks_packages(exported: jax.export.Exported) -> bool:
    """Whether a call in a program is by digest alone."""
    text = exported.mlir_module()
    calls = [line for line in text.splitlines() if _xla.CAPTURABLE in line or _xla.PLAIN in line]
    return any("module = " not in line for line in calls)


# Derivatives


def custom_vjp(
    function: Callable[..., Any], backward: Callable[..., Any], *, forward: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """`function` with derivatives: `backward(inputs, outputs, cotangents)` has one for each input.

    `inputs` are the positional arguments as a tuple; keywords are static, and `backward` gets them
    too. An input that has no derivative gets None. `forward`, where it is given, runs instead of
    `function` and returns its outputs and what `backward` gets in place of `outputs`.
    """

    @functools.wraps(function, updated=())
    def differentiable(*inputs: Any, **static: Any) -> Any:
        def primal(*inputs: Any) -> Any:
            return function(*inputs, **static)

        def ahead(*inputs: Any) -> tuple[Any, Any]:
            outputs, kept = forward(*inputs, **static) if forward else 2 * (function(*inputs, **static),)
            return outputs, (inputs, kept)

        def back(kept: Any, cotangents: Any) -> tuple[Any, ...]:
            found = backward(*kept, cotangents, **static)
            return tuple(found) if isinstance(found, (tuple, list)) else (found,)

        with_rule = jax.custom_vjp(primal)
        with_rule.defvjp(ahead, back)
        return with_rule(*inputs)

    return differentiable


def last_workspace_peak() -> int:
    """The bytes that the last call with a workspace needed of it: what `workspace=` has to be."""
    return _xla.workspace_peak()


def _register() -> None:
    """Tells XLA of the handler. Telling it again changes nothing."""
    library = _xla.library()
    for name, platform, symbol in _xla.HANDLERS:
        handler = jax.ffi.pycapsule(getattr(library, symbol))
        stages = {"instantiate": handler, "execute": handler}
        jax.ffi.register_ffi_target(name, cast(Any, stages), platform=platform)


_register()
