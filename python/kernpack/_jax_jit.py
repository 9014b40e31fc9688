# SPDX-License-Identifier: Apache-2.0
"""Calls of jit functions in programs of JAX: `JitCall`, which has the function compiled while JAX
traces.

With a signature there is one variant for what the function has captured. Without one, a call's
arrays are classed by rank, dtype and order, as a call by Python does it, and its numbers, texts and
dtypes are static. What comes back is a parameter that is no argument: one annotated `kp.mut`, one
that `output` names, or, where `output` names none, each that nobody passes. The variant's own call
(`_jax_call`) does the rest. Not here: what variants are compiled of (`_jit`, `_specialise`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kernpack import _captured, _classes
from kernpack._function import written
from kernpack._jax_arguments import (
    MISSING,
    Leaf,
    Node,
    Parameter,
    Role,
    Surface,
    dtype_name,
    leaves,
    require_untraced,
)
from kernpack._jax_call import Call
from kernpack._jax_layout import View
from kernpack._jax_program import Options
from kernpack._jit import JitFunction, jit
from kernpack._signature import Type, mut
from kernpack._shape import untyped

_tree: Final = untyped(jax.tree)


def jit_function(function: Any) -> JitFunction | None:
    """The jit function that is to be called: a plain function becomes one. None for all else."""
    if isinstance(function, JitFunction):
        return function
    return jit(function) if inspect.isfunction(function) else None


class _Outputs(NamedTuple):
    """What the caller says that comes back."""

    names: tuple[str, ...]
    """The parameters that come back and are no arguments, in order."""
    values: Mapping[str, Any]
    """What each of them is, as `output` has it; nothing where its annotation says it."""


class JitCall:
    """A function over arrays of JAX that is compiled for them, made by `kernpack.jax.call`."""

    def __init__(self, function: JitFunction, options: Options) -> None:
        self._made_of = function, options
        self._function, self._options = function, options
        self._calls: dict[Any, Call] = {}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        if not function.is_signed:
            self._require_names()

    def _require_names(self) -> None:
        """Refuses options for parameters that are not there, before anything is compiled."""
        options, known = self._options, self._function.parameters.names
        given: list[tuple[str, Iterable[str]]] = [
            ("layouts", options.views.layouts),
            ("modes", options.views.modes),
            ("static", options.static),
            ("aliases", options.aliases),
        ]
        for word, paths in given:
            for path in paths:
                if _root(path) not in map(written, known):
                    raise ValueError(f"{word}: `{path}` is no parameter of `{self.__name__}`")

    def __reduce__(self) -> tuple[Any, ...]:
        """By its function, which is pickled by its name, and its options."""
        return JitCall, self._made_of

    def __repr__(self) -> str:
        return f"<kernpack.jax.JitCall {self.__name__}: {len(self._calls)} variants>"

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Calls the function; see `kernpack.jax.call`."""
        call, rest = self._found(args, named)
        return call(*rest[0], **rest[1])

    def specialised(self, /, *args: Any, **named: Any) -> Call:
        """The call of the variant for such arguments: arrays, or `jax.ShapeDtypeStruct`s."""
        return self._found(args, named)[0]

    def _found(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Call, tuple[Sequence[Any], Mapping[str, Any]]]:
        """The call of the variant, and its arguments."""
        if self._function.is_signed:
            function = self._function.specialised(()).function
            known = self._calls.get(id(function))
            if known is None:
                known = self._calls[id(function)] = Call(function, self._options)
            return known, (args, named)
        outputs, values = self._bind(args, named)
        classes = self._classes(outputs, values)
        function = self._function.of_classes(classes, "a call of JAX").function
        # Which parameters come back may differ from call to call of one variant.
        key = id(function), outputs.names
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._made(function, outputs)
        literal = {each.name for each in call.parameters if _is_literal(each.node)}
        return call, ((), {name: of for name, of in values.items() if name not in literal})

    def _made(self, function: Any, outputs: _Outputs) -> Call:
        """The call of a variant, in whose `output` each array has its path."""
        options = self._options
        plain = Call(function, replace(options, output=None))
        nodes = {each.name: each.node for each in plain.parameters}
        self._require_roles(nodes, outputs)
        output = untyped(options.output)
        if not isinstance(output, Mapping):
            return Call(function, options) if output is not None else plain
        said: dict[str, Any] = dict(untyped(output))
        for name in outputs.names:
            if name in said:
                paths = [leaf.path for leaf in leaves(nodes[name])]
                said.update(zip(paths, _tree.leaves(said.pop(name))))
        return Call(function, replace(options, output=said))

    # Arguments

    def _bind(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[_Outputs, dict[str, Any]]:
        """What comes back, and the value of each other parameter, by name."""
        given = self._function.parameters
        defaults = {**given.defaults, **self._options.static}
        streams = [name for name in given.names if _is_stream(given.annotations.get(name))]
        outputs = self._outputs(args, named, streams, defaults)
        parameters: list[Parameter] = []
        for name in given.names:
            role = Role.RESULT if name in outputs.names else Role.OPERAND
            leaf = Leaf(name, _ANY, Role.STREAM if name in streams else role, is_optional=False)
            parameters.append(Parameter(name, leaf, defaults.get(name, MISSING)))
        surface = Surface(self.__name__, tuple(parameters))
        values = surface.bind(args, named)
        taken = [each.name for each in surface.taken()]
        return outputs, {name: values.get(name, defaults.get(name)) for name in taken}

    def _outputs(
        self,
        args: Sequence[Any],
        named: Mapping[str, Any],
        streams: Sequence[str],
        defaults: Mapping[str, Any],
    ) -> _Outputs:
        given, output = self._function.parameters, self._options.output
        said: Mapping[str, Any] = untyped(output) if isinstance(output, Mapping) else {}
        aliases = self._options.aliases
        asked = {*said, *(result for name, result in aliases.items() if name != result)}
        annotated = {name for name in given.names if _is_mut(given.annotations.get(name))}
        names = (annotated | asked) - {name for name, own in aliases.items() if name == own}
        if output is not None and not isinstance(output, Mapping):
            free = [name for name in given.names if name not in names and name not in streams]
            filled = {*free[: len(args)], *named, *defaults}
            names |= {name for name in free if name not in filled and written(name) not in filled}
        ordered = tuple(name for name in given.names if name in names)
        if output is not None and not isinstance(output, Mapping):
            said = self._by_position(ordered, output)
        return _Outputs(ordered, said)

    def _by_position(self, names: Sequence[str], output: Any) -> dict[str, Any]:
        """Which part of `output` is which parameter: those that are returned come last."""
        parts = _parts(output)
        if len(parts) < len(names):
            raise ValueError(
                f"output: `{self.__name__}` writes {', '.join(map('`{}`'.format, names))}, which "
                f"nobody passes, and there {'is' if len(parts) == 1 else 'are'} {len(parts)}"
            )
        return dict(zip(names, parts))

    # Classes

    def _classes(self, outputs: _Outputs, values: Mapping[str, Any]) -> list[Any]:
        """The class of each parameter, for which a variant is compiled."""
        given = self._function.parameters
        classes: list[Any] = []
        for name, constant in zip(given.names, given.constants):
            annotation = given.annotations.get(name)
            if _is_stream(annotation):
                classes.append("pointer")
            elif name not in outputs.names:
                is_number = _is_number(annotation, given.defaults.get(name))
                classes.append(self._class(name, values[name], constant == "1", is_number))
            elif name in outputs.values:
                classes.append(self._class(name, outputs.values[name], False, False))
            else:
                classes.append(self._class_of_annotated(name, annotation, values))
        return classes

    def _class_of_annotated(self, name: str, annotation: Any, values: Mapping[str, Any]) -> Any:
        """The class of what comes back without that `output` says what it is."""
        aliases = self._options.aliases
        for operand, result in aliases.items():
            if result == name and operand in values:
                return self._class(name, values[operand], False, False)
        if isinstance(annotation, Type):
            return "annotated"
        raise ValueError(
            f"nothing says what `{name}` of `{self.__name__}` is, which comes back: say it by "
            f'`output={{"{name}": jax.ShapeDtypeStruct(shape, dtype)}}`, or annotate it by '
            "`kp.fake_tensor(dtype, shape, mut=True)`"
        )

    def _class(self, path: str, value: Any, is_constant: bool, is_number: bool) -> Any:
        if is_constant or is_number:
            require_untraced(path, value)
            value = _number(value)
        if isinstance(value, _STRUCTS) and not is_constant:
            return self._class_of_array(path, value)
        items = _items(value)
        if items is not None:
            paths = [f"{path}.{own}" if own else f"{path}[{at}]" for at, own in enumerate(items[0])]
            parts = zip(paths, items[1])
            classes = [self._class(own, item, is_constant, False) for own, item in parts]
            return _classes.tuple_class(classes, items[0])
        if _captured.is_dtype(value) or isinstance(value, type(jnp.float32)):
            return {"dtype": dtype_name(value)}
        if value is not None and not isinstance(value, (bool, int, float, str, np.generic)):
            raise TypeError(
                f"`{path}` takes an array, a number, a text, a dtype or a tuple of such, got "
                f"{type(untyped(value)).__name__}"
            )
        return _classes.class_of(value, is_constant)

    def _class_of_array(self, path: str, array: Any) -> Any:
        rank = len(array.shape)
        leaf = Leaf(path, _ANY, Role.OPERAND, is_optional=False)
        order = _order(self._options.views.of(leaf, rank))
        name = dtype_name(array.dtype)
        return {"tensor": {"dtype": name, "ndim": rank, "device": "cuda", "order": order}}

    def _require_roles(self, nodes: Mapping[str, Node], outputs: _Outputs) -> None:
        """Refuses arrays that are passed and written, and those that come back and are not."""
        for name in self._function.parameters.names:
            comes_back = name in outputs.names
            for leaf in leaves(nodes[name]):
                if comes_back and leaf.role is Role.OPERAND:
                    raise ValueError(
                        f"`{leaf.path}` is to come back, and no kernel of `{self.__name__}` writes it"
                    )
                if not comes_back and leaf.role is Role.RESULT:
                    raise ValueError(
                        f"`{leaf.path}` is passed and `{self.__name__}` writes it, but arrays of "
                        "JAX stay as they are: name it in `aliases`, and it comes back, or leave it "
                        "out and say by `output` what comes back"
                    )


_ANY: Final[Mapping[str, Any]] = {"kind": "any", "strides": "any", "extents": []}
"""The type of an array of which no more is known: nothing asks for an order."""


_ARRAYS: Final = (jax.Array, np.ndarray)
_STRUCTS: Final = (*_ARRAYS, jax.ShapeDtypeStruct)
"""The types of arrays, and of what stands for one."""


def _root(path: str) -> str:
    """The parameter of a path: `p` of `p.x[0]`."""
    return path.partition(".")[0].partition("[")[0]


def _parts(output: Any) -> list[Any]:
    """What a pytree has, as it is; an array by itself is one."""

    def is_part(part: Any) -> bool:
        return part is not output

    parts: list[Any] = _tree.leaves(output, is_leaf=is_part)
    return parts


def _items(value: Any) -> tuple[_classes.Names, Sequence[Any]] | None:
    """The names and the items of a tuple; those of a dict are in the order of JAX."""
    if isinstance(value, Mapping):
        named: Mapping[str, Any] = untyped(value)
        names = sorted(named)
        return names, [named[name] for name in names]
    return _classes.items_of(value)


def _number(value: Any) -> Any:
    """A static value as a number of Python, where it is an array of one."""
    array = untyped(value)
    return array.item() if isinstance(value, _ARRAYS) and array.ndim == 0 else array


def _is_stream(annotation: Any) -> bool:
    return isinstance(annotation, Type) and annotation.text in ("Stream", "EnvStream")


def _is_mut(annotation: Any) -> bool:
    return annotation is mut or (
        isinstance(annotation, Type) and annotation.text.endswith(", mut)")
    )


def _is_number(annotation: Any, default: Any) -> bool:
    """Whether a parameter is a number whatever is passed."""
    return isinstance(default, (bool, int, float)) or (
        annotation is not None and _captured.is_dtype(annotation)
    )


def _is_literal(node: Node) -> bool:
    return isinstance(node, Leaf) and node.kind["kind"] == "literal"


def _order(view: View) -> str:
    """The order in which a function sees an array, in the words of `dispatch/key.rs`."""
    fastest = [view.modes.index(dim) for dim in view.fastest]
    dims = list(range(len(fastest)))
    if fastest == dims[::-1]:
        return "row"
    if fastest == dims:
        return "col"
    return "inner" if fastest[0] == dims[-1] else "strided"
