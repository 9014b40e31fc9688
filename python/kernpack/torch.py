# SPDX-License-Identifier: Apache-2.0
"""Kernels as operators of PyTorch.

`op("ns::scale", f)` makes `torch.ops.ns.scale` of a function, with a schema and shapes from its
signature, so that `torch.compile`, `torch.export` and autograd know what they meet. Operators are
defined by `torch.library.Library`, and what runs when one is called is a few lines of Python made
for its signature, or the function itself where nothing has to be seen to first.

What these lines see to goes wrong in silence otherwise: a tensor that requires grad would get no
gradient, and autograd would not notice that a tensor has been written. Conjugated and negated views
are PyTorch's own doing: it hands resolved tensors to whatever is behind the dispatcher.

This module imports PyTorch; nothing else of kernpack does. Signatures as schemas are in
`_operator_schema`, extents in `_shape`.
"""

from __future__ import annotations

import functools
import keyword
import math
import re
from dataclasses import dataclass, replace
from typing import Any, Callable, Final, Iterable, Mapping, Protocol, Sequence, cast

import torch
import torch.autograd.forward_ad

from . import _interpreted, _native, _operator_derivatives, _shape
from ._dtype import NAMES
from ._forks import LOCK
from ._jit import JitFunction
from ._operator_derivatives import Differentiated, Rules
from ._operator_registry import drop, lead, new_library, packet, take_away
from ._operator_schema import MISSING, Argument, Constant, Operand, Schema, schema_of
from ._tvm_ffi import tvm_ffi

__all__ = ["op"]

_untyped: Any = torch
"""PyTorch, where it has no types."""

_forward_ad: Any = torch.autograd.forward_ad


class _Package(Protocol):
    """What there is to know of a function's package."""

    @property
    def digest(self) -> str: ...


class Function(Protocol):
    """A function of a package, as `kernpack` loads it."""

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def description(self) -> Mapping[str, Any]: ...
    @property
    def out(self) -> Function | None: ...
    @property
    def package(self) -> _Package: ...
    @property
    def device_type(self) -> str: ...
    def __call__(self, *args: Any) -> Any: ...


DTYPES: Final[Mapping[str, torch.dtype]] = {
    name: getattr(torch, attribute)
    for name, attribute in {
        **{
            name: name
            for name in map(str, NAMES)
            if name not in ("int4", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
        },
        "float4_e2m1fnx2": "float4_e2m1fn_x2",
    }.items()
    if hasattr(torch, attribute)
}
"""The dtypes that PyTorch has, by their names in signatures."""

_NAMES: Final = {dtype: name for name, dtype in DTYPES.items()}

_KEYS: Final = {"cpu": "CPU", "cuda": "CUDA"}
"""The dispatch keys, by the device types of packages."""


def op(
    name: str,
    f: Function | Callable[..., Any] | Sequence[Function | Callable[..., Any]],
    *,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    functional: bool = False,
    replace: bool = False,
) -> Any:
    """Makes an operator of a function, and returns it: `torch.ops.ns.name` for "ns::name".

    A function with results becomes a functional operator, and its `_out` twin the operator
    `ns::name_out`, which takes the results as trailing arguments. A function with `mut` parameters
    becomes an operator that writes them and returns only what the function returns.
    `functional=True` adds `ns::name_functional` to that, which leaves its arguments alone and
    returns copies that it has written.

    `f` is a function of a package, which stubs describe as any other callable, or several of one
    signature, for several types of devices. A jit function is compiled now, for its signature or
    for what its annotations say.

    `backward` and `setup_context` are those of `torch.library.register_autograd`, for the
    functional operator. Without them, a tensor that requires grad is refused while gradients are
    recorded. `jvp` is that of `torch.autograd.Function`; without it, forward derivatives are
    refused.

    The same name with the same function once more changes nothing; with another one it is a
    `ValueError`, and with `replace=True` another operator: what has the old one calls the new one,
    and what PyTorch has compiled is compiled again. Calls on other threads wait meanwhile; one that
    is under way is waited for, and is a `RuntimeError` where it does not end. `TypeError`: an
    operator cannot take what the function takes.
    """
    asked = _Asked(_functions(name, f), Rules(backward, setup_context, jvp), functional)
    _require_callables(name, asked.rules)
    with LOCK:
        known = _OPERATORS.get(name)
        if known is None:
            _OPERATORS[name] = _Registered(asked, _register(name, asked))
        elif not known.asked.is_like(asked, to_replace=replace):
            if not replace:
                raise ValueError(
                    f"`{name}` is an operator already, made of another function or with other"
                    " options; give this one another name, or say `replace=True`"
                )
            _replace(name, known, asked)
    return packet(name)


def _functions(name: str, f: Any) -> tuple[Function, ...]:
    """The functions that an operator is to be made of."""
    given: Any = cast("Any", name)
    if not isinstance(given, str):
        raise TypeError(
            f"the name of an operator is a text such as `my_kernels::scale`, got {given!r}"
        )
    several = tuple(cast("Iterable[Any]", f)) if isinstance(f, (list, tuple)) else (f,)
    functions: list[Any] = [
        each.of_annotations().function if isinstance(each, JitFunction) else each
        for each in several
    ]
    for each in functions:
        if not all(hasattr(each, name) for name in ("description", "device_type", "package")):
            hint = ""
            if isinstance(each, tvm_ffi.Function):
                hint = (
                    "; one of `tvm_ffi.load_module` knows no signature: use `kernpack.load_module`"
                )
            raise TypeError(
                f"`{name}` takes a function of a package, or a list of them, got {each!r}{hint}"
            )
    return tuple(functions)


def _require_callables(name: str, rules: Rules) -> None:
    for word, rule in zip(Rules._fields, rules):
        if rule is not None and not callable(rule):
            raise TypeError(f"`{word}` of `{name}` is a function, got {rule!r}")


@dataclass(frozen=True)
class _Asked:
    """What `op` was given."""

    functions: tuple[Function, ...]
    rules: Rules
    functional: bool

    def is_like(self, other: _Asked, *, to_replace: bool) -> bool:
        """Whether the same is asked for, by a module that was loaded again too. An operator that
        may be replaced is another one where its rules are other objects.
        """
        has_rules = self.rules == other.rules if to_replace else self.rules.are_like(other.rules)
        return has_rules and self._made_of() == other._made_of()

    def _made_of(self) -> object:
        functions = tuple((f.package.digest, f.name, f.signature) for f in self.functions)
        return functions, self.functional


@dataclass(frozen=True)
class _Registered:
    """An operator that stays."""

    asked: _Asked
    library: Any
    """Takes the operator with it when it goes."""


_OPERATORS: Final[dict[str, _Registered]] = {}


def _replace(name: str, known: _Registered, asked: _Asked) -> None:
    """Replaces an operator and its variants; where that cannot be, they stay."""
    _operators(name, asked)  # Most of what is refused is refused here.
    take_away(known.library)
    try:
        _OPERATORS[name] = _Registered(asked, _register(name, asked))
    except BaseException:
        _OPERATORS[name] = _Registered(known.asked, _register(name, known.asked))
        raise
    finally:
        lead()


def _register(name: str, asked: _Asked) -> Any:
    """Registers an operator and its variants, or nothing."""
    is_name = re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name, re.ASCII)
    if not is_name or any(map(keyword.iskeyword, name.split("::"))):
        raise ValueError(
            f"`{name}` is no name of an operator, expected one such as `my_kernels::scale`"
        )
    operators = _operators(name, asked)
    for operator in operators:
        namespace, base = operator.name.split("::")
        if hasattr(getattr(torch.ops, namespace), base):
            raise ValueError(f"`{operator.name}` is an operator already; choose another name")
    library = new_library(name.split("::")[0])
    try:
        for operator in operators:
            _define(library, operator)
        if asked.rules.backward is not None:
            _differentiate(library, operators[-1], asked.rules)
    except BaseException:
        drop(library)
        raise
    return library


@dataclass(frozen=True)
class _Operator:
    """An operator of one overload."""

    name: str
    functions: tuple[Function, ...]
    schema: Schema
    returns_written: bool = False
    """Whether it writes copies, and returns them."""
    has_backward: bool = False

    @property
    def writes(self) -> bool:
        """Whether it writes arguments."""
        return bool(self.schema.written) and not self.returns_written

    def schema_text(self) -> str:
        return self.schema.text(returns_written=self.returns_written)

    @property
    def checked(self) -> list[int]:
        """The numbers of the operands of which no gradient must be asked."""
        if self.has_backward:
            return []
        operands = self.schema.operands
        return [
            number for number in self.schema.tensors if self._is_differentiable(operands[number])
        ]

    def _is_differentiable(self, operand: Operand) -> bool:
        dtypes = [operand.type["dtype"]]
        for variable in self.schema.description["dtypes"]:
            if variable["name"] == dtypes[0]:
                dtypes = variable["allowed"]
        return any(name not in NAMES or _is_inexact(name) for name in dtypes)


def _is_inexact(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat", "complex"))


def _operators(name: str, asked: _Asked) -> list[_Operator]:
    """The operators of a name; the last is the functional one, where there is one."""
    functions = asked.functions
    schema = _common_schema(name, functions)
    has_backward = asked.rules.backward is not None
    is_functional = not schema.written
    for word, rule in zip(Rules._fields, asked.rules):
        if rule is not None and not has_backward:
            raise ValueError(f"`{name}` has `{word}` without `backward`")
    if asked.functional and is_functional:
        raise ValueError(
            f"`{name}` writes none of its arguments, and is functional as it is; leave"
            " `functional=True` out"
        )
    if has_backward and not (is_functional and schema.results) and not asked.functional:
        raise ValueError(
            f"`{name}` writes its arguments, and autograd can differentiate functional operators"
            " only; add `functional=True`, and `backward` is that of the functional operator"
        )
    operators: list[_Operator] = []
    twins = [twin for twin in (f.out for f in functions) if twin is not None]
    if len(twins) == len(functions):
        operators.append(_Operator(f"{name}_out", tuple(twins), _common_schema(name, twins)))
    own = has_backward and not asked.functional
    operators.append(_Operator(name, functions, schema, has_backward=own))
    if asked.functional:
        for number in schema.written:
            if schema.operands[number].is_optional:
                raise ValueError(
                    f"`{name}` cannot be functional: `{schema.operands[number].name}` is optional,"
                    " and an operator returns as many tensors in each call"
                )
        operators.append(_Operator(f"{name}_functional", functions, schema, True, has_backward))
    return operators


def _common_schema(name: str, functions: Sequence[Function]) -> Schema:
    """The schema of functions that are to be one operator."""
    devices = [f.device_type for f in functions]
    if not functions or len(set(devices)) < len(devices):
        found = " and ".join(f"`{device}`" for device in devices) or "none"
        raise ValueError(f"`{name}` needs a function for each type of device, found {found}")
    schemas = [schema_of(f.description) for f in functions]
    if len({schema.text() for schema in schemas}) > 1:
        raise ValueError(f"the functions of `{name}` take different arguments")
    schema = schemas[0]
    for slot in schema.results:
        _check_dtype(schema, slot)
    if len(functions) > 1 and not schema.always_has_tensor:
        raise ValueError(
            f"`{name}` may be called without a tensor, which would say on which device it is to run"
        )
    return schema


def _check_dtype(schema: Schema, slot: Mapping[str, Any]) -> None:
    """Refuses a result of a dtype that PyTorch has not."""
    dtype = slot["type"]["dtype"]
    if dtype in NAMES and dtype not in DTYPES:
        raise TypeError(
            f"`{schema.description['short']}` cannot be an operator: its result `{slot['name']}` is"
            f" {dtype}, which PyTorch {torch.__version__} does not have"
        )


def _define(library: Any, operator: _Operator) -> None:
    """Defines an operator, and what it refuses where `torch.func` is around a call."""
    _define_one(library, operator)
    if operator.checked:
        below = replace(operator, name=f"{operator.name}__below_transforms")
        _define_one(library, below)
        kernel, base = _transform_kernel(operator, below), operator.name.split("::")[1]
        library.impl(base, kernel, "FuncTorchDynamicLayerFrontMode")


def _define_one(library: Any, operator: _Operator) -> None:
    namespace, base = operator.name.split("::")
    text = base + operator.schema_text()
    tags = [torch.Tag.pt2_compliant_tag]
    # What a compiler puts in front of a kernel must not change how tensors lie in memory.
    tags.append(getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order))
    try:
        library.define(text, tags=tags)
    except RuntimeError as error:
        raise TypeError(f"PyTorch takes no operator `{namespace}::{text}`: {error}") from error
    _untyped.library.register_fake(operator.name, _fake(operator), lib=library)
    _untyped.library.register_vmap(
        operator.name, functools.partial(_batched, operator), lib=library
    )
    if not operator.schema.always_has_tensor:
        # Where there is no tensor, PyTorch asks for this one.
        function = operator.functions[0]
        library.impl(base, _kernel(operator, function), "CompositeExplicitAutograd")
    by_device = {function.device_type: function for function in operator.functions}
    for device, key in _KEYS.items() if operator.schema.tensors else ():
        # A function refuses tensors of other devices itself, and says what it expected.
        library.impl(base, _kernel(operator, by_device.get(device, operator.functions[0])), key)
    if operator.writes:
        # PyTorch's own kernels for these keys want to see written tensors returned.
        for key in ("Conjugate", "Negative"):
            library.impl(base, _resolving_kernel(operator), key)


def _differentiate(library: Any, operator: _Operator, rules: Rules) -> None:
    """Gives an operator derivatives."""
    schema, base = operator.schema, operator.name.split("::")[1]
    differentiated = Differentiated(
        operator.name,
        [operand.name for operand in schema.operands],
        lambda: packet(operator.name).default,
        functools.partial(_batched, operator),
    )
    function = _operator_derivatives.function_of(differentiated, rules)
    kernel = _operator_derivatives.autograd_kernel(differentiated, function)
    operands = _list(range(len(schema.operands)))
    recording = _make(schema, [f"return record(keys, {operands})"], {"record": kernel}, "keys, ")
    library.impl(base, recording, "Autograd", with_keyset=True)
    kernel = _operator_derivatives.transform_kernel(differentiated, function)
    transformed = _make(schema, [f"return transformed({operands})"], {"transformed": kernel})
    library.impl(base, transformed, "FuncTorchDynamicLayerFrontMode")


# What runs


def _kernel(operator: _Operator, function: Function) -> Callable[..., Any]:
    """What runs where the operator is called with real tensors."""
    schema = operator.schema
    checked = operator.checked
    # Without a tensor, nothing would bring an allocator.
    allocates = bool(schema.results) and not schema.always_has_tensor and function.out is not None
    is_bare = schema.is_plain and not checked and not schema.written and not allocates
    if is_bare and len(schema.results) <= 1:
        return function
    body: list[str] = []
    if checked:
        requires = " or ".join(_asks(schema.operands[number], number) for number in checked)
        body.append(
            f"if (({requires}) and is_grad_enabled()) or forward_ad._current_level >= 0:"
            f" refuse({_list(checked)})"
        )
    if operator.returns_written:
        body += [f"a{number} = a{number}.clone()" for number in schema.written]
    names: dict[str, Any] = {
        "function": function.out if allocates else function,
        "is_grad_enabled": torch.is_grad_enabled,
        "forward_ad": _forward_ad,
        "refuse": functools.partial(_refuse_gradients, operator),
        "increment_version": _untyped._C._increment_version,
    }
    arguments = ", ".join(_argument(schema, argument, names) for argument in schema.arguments)
    if allocates:
        names["allocate"] = functools.partial(_results, operator)
        body.append(f"outcome = allocate({_list(range(len(schema.operands)))})")
        body.append(f"function({arguments}{', ' if arguments else ''}*outcome)")
    elif len(schema.results) == 1 and not schema.written:
        return _make(schema, [*body, f"return function({arguments})"], names)
    else:
        body.append(f"{'outcome = ' if schema.results else ''}function({arguments})")
    if operator.writes:
        body += [_bump(schema.operands[number], number) for number in schema.written]
    body.append(f"return {_returned(operator, is_tuple=allocates)}")
    return _make(schema, body, names)


def _resolving_kernel(operator: _Operator) -> Callable[..., Any]:
    """What runs where some tensor is a conjugated or negated view: the operator, with what it
    stands for; what is written goes back through the view."""
    schema = operator.schema

    def kernel(operands: Sequence[Any]) -> Any:
        resolved = [
            it.resolve_conj().resolve_neg() if isinstance(it, torch.Tensor) else it
            for it in operands
        ]
        outcome = packet(operator.name).default(*resolved)
        for number in schema.written:
            if resolved[number] is not operands[number]:
                operands[number].copy_(resolved[number])
        return outcome

    operands = _list(range(len(schema.operands)))
    return _make(schema, [f"return resolving({operands})"], {"resolving": kernel})


def _asks(operand: Operand, number: int) -> str:
    """Asks whether a tensor requires grad."""
    asks = f"a{number}.requires_grad"
    return f"(a{number} is not None and {asks})" if operand.is_optional else asks


def _bump(operand: Operand, number: int) -> str:
    """Tells autograd that a tensor has been written."""
    bump = f"increment_version([a{number}])"
    return f"if a{number} is not None: {bump}" if operand.is_optional else bump


def _returned(operator: _Operator, *, is_tuple: bool) -> str:
    """What the operator returns, where `outcome` is what the function did."""
    written = (
        [f"a{number}" for number in operator.schema.written] if operator.returns_written else []
    )
    n_results = len(operator.schema.results)
    if not written and n_results == 1:
        return "outcome[0]" if is_tuple else "outcome"
    if not written:
        return "tuple(outcome)" if n_results else "None"
    results = {0: [], 1: ["outcome"]}.get(n_results, ["*outcome"])
    returned = [*written, *results]
    return returned[0] if len(returned) == 1 and n_results == 0 else f"({', '.join(returned)})"


def _argument(schema: Schema, argument: Argument, names: dict[str, Any]) -> str:
    """An argument of the function, as an expression."""
    if isinstance(argument, Constant):
        constant = f"c{len(names)}"
        names[constant] = argument.value
        return constant
    if isinstance(argument, tuple):
        return f"({''.join(f'{_argument(schema, it, names)}, ' for it in argument)})"
    operand = schema.operands[argument]
    if operand.is_defaulted_dtype:
        names[f"d{argument}"] = DTYPES[operand.default]
        return f"(d{argument} if a{argument} is None else a{argument})"
    return f"a{argument}"


def _list(numbers: Iterable[int]) -> str:
    return f"[{', '.join(f'a{number}' for number in numbers)}]"


def _make(
    schema: Schema, body: Sequence[str], names: dict[str, Any], first: str = ""
) -> Callable[..., Any]:
    """A function of the operands, which PyTorch passes by position, without trailing defaults, and
    of what comes `first`."""
    params: list[str] = []
    for number, operand in enumerate(schema.operands):
        params.append(f"a{number}")
        if operand.default is not MISSING:
            names[f"default{number}"] = None if operand.is_defaulted_dtype else operand.default
            params[-1] += f"=default{number}"
    lines = "".join(f"    {line}\n" for line in body)
    code = f"def kernel({first}{', '.join(params)}):\n{lines}"
    exec(compile(code, f"<operator {schema.description['name']}>", "exec"), names)
    return cast("Callable[..., Any]", names["kernel"])


def _refuse_gradients(operator: _Operator, tensors: Sequence[torch.Tensor | None]) -> None:
    """Refuses the first of the checked tensors of which a gradient is asked."""
    for number, tensor in zip(operator.checked, tensors):
        if tensor is None:
            continue
        if torch.is_grad_enabled() and tensor.requires_grad:
            raise _no_gradient(operator, number)
        if _forward_ad._current_level >= 0 and _forward_ad.unpack_dual(tensor).tangent is not None:
            raise _no_gradient(operator, number)


def _no_gradient(operator: _Operator, number: int) -> RuntimeError:
    name = operator.schema.operands[number].name
    return RuntimeError(
        f"`{operator.name}` has no backward, and `{name}` requires grad: call it under"
        f" `torch.no_grad()`, pass `{name}.detach()`, or make the operator with `backward=`"
    )


def _transform_kernel(operator: _Operator, below: _Operator) -> Callable[..., Any]:
    """What runs first where a call is transformed by `torch.func`: of tensors that it
    differentiates nobody would see below that a gradient is asked. The rest is as if this were not
    there."""

    def transformed(operands: Sequence[Any]) -> Any:
        for number in operator.checked:
            if _is_differentiated(operands[number]):
                raise _no_gradient(operator, number)
        return packet(below.name).default(*operands)

    operands = _list(range(len(operator.schema.operands)))
    return _make(operator.schema, [f"return transformed({operands})"], {"transformed": transformed})


def _is_differentiated(tensor: torch.Tensor | None) -> bool:
    """Whether `torch.func.grad` or its like asks for a derivative by a tensor, below whatever else
    looks at it."""
    functorch = _untyped._C._functorch
    while tensor is not None and functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_gradtrackingtensor(tensor) and (
            tensor.requires_grad or _may_have_tangent(tensor)
        ):
            return True
        tensor = functorch.get_unwrapped(tensor)
    return False


def _may_have_tangent(tensor: torch.Tensor) -> bool:
    """Whether a tensor that a transform looks at has a tangent, where that can be told: PyTorch
    answers for the innermost transform."""
    functorch = _untyped._C._functorch
    keys = {level.level(): level.key() for level in functorch.get_interpreter_stack() or ()}
    level = functorch.maybe_get_level(tensor)
    if keys.get(level) == functorch.TransformType.Jvp and level == max(keys):
        return _forward_ad.unpack_dual(tensor).tangent is not None
    return bool(keys.get(level) != functorch.TransformType.Grad)


def _batched(operator: _Operator, info: Any, in_dims: Sequence[Any], *operands: Any) -> Any:
    """What runs under `torch.vmap`: the operator for each element of a batch, one by one."""
    schema = operator.schema
    dims = [
        dim if isinstance(operand, torch.Tensor) else None
        for dim, operand in zip(in_dims, operands)
    ]
    for number in schema.written:
        # One that is left out is not among the operands.
        is_given = number < len(dims) and operands[number] is not None
        if operator.writes and is_given and dims[number] is None:
            raise RuntimeError(
                f"`{operator.name}` under vmap would write `{schema.operands[number].name}`, which"
                " is no batch, once for each element of the batch: pass a batch of it"
            )
    returned: list[tuple[Any, ...]] = []
    for element in range(info.batch_size):
        own = [
            operand if dim is None else _element(schema.operands[number], operand, dim, element)
            for number, (operand, dim) in enumerate(zip(operands, dims))
        ]
        outcome = packet(operator.name).default(*own)
        is_one = len(schema.results) + len(schema.written) * operator.returns_written < 2
        returned.append((outcome,) if is_one else outcome)
    if not returned:
        raise RuntimeError(f"`{operator.name}` under vmap needs a batch with elements, found none")
    if not schema.results and not operator.returns_written:
        return None, None
    stacked = tuple(torch.stack(tensors) for tensors in zip(*returned))
    return (stacked[0], 0) if len(stacked) == 1 else (stacked, (0,) * len(stacked))


def _element(operand: Operand, batch: torch.Tensor, dim: int, element: int) -> torch.Tensor:
    """An element of a batch: a view, but for what is only read and has to be row-major."""
    view = batch.select(dim, element)
    is_compact = operand.type["order"] is None and operand.type["strides"] is None
    return view.contiguous() if is_compact and not operand.letter else view


# What runs without data


def _fake(operator: _Operator) -> Callable[..., Any]:
    """What runs where tensors have no data: with fake ones and on the device `meta`."""
    schema = operator.schema
    names: dict[str, Any] = {"trace": functools.partial(_trace, operator)}
    operands = _list(range(len(schema.operands)))
    return _make(schema, [f"return trace({operands})"], names)


def _trace(operator: _Operator, operands: list[Any]) -> Any:
    schema = operator.schema
    _refuse_gradients(operator, [operands[number] for number in operator.checked])
    _check(operator, operands)
    results = list(_results(operator, operands))
    if operator.returns_written:
        results = [torch.empty_like(operands[number]) for number in schema.written] + results
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def _results(operator: _Operator, operands: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """Tensors such as the function returns, with nothing in them."""
    schema = operator.schema
    if not schema.results:
        return ()
    arguments = [_known(schema, argument, operands) for argument in schema.arguments]
    operations = _shape.Operations(_smallest, _largest)
    binding = _shape.solve(schema.description, arguments, operations)
    specs = [_shape.spec_of(result["type"], binding) for result in schema.results]
    device = _device(operator, operands)
    return tuple(torch.empty(spec.shape, dtype=DTYPES[spec.dtype], device=device) for spec in specs)


def _smallest(values: Sequence[Any]) -> Any:
    return functools.reduce(_untyped.sym_min, values)


def _largest(values: Sequence[Any]) -> Any:
    return functools.reduce(_untyped.sym_max, values)


def _device(operator: _Operator, operands: Sequence[Any]) -> torch.device:
    """Where a call runs: on the device of its first tensor that is not in host memory."""
    tensors: list[torch.Tensor | None] = [operands[number] for number in operator.schema.tensors]
    devices = [tensor.device for tensor in tensors if tensor is not None]
    devices = devices or [torch.device(operator.functions[0].device_type)]
    return next((device for device in devices if device.type != "cpu"), devices[0])


def _known(schema: Schema, argument: Argument, operands: Sequence[Any]) -> Any:
    """An argument of the function, as `_shape` knows it."""
    if isinstance(argument, Constant):
        return argument.value
    if isinstance(argument, tuple):
        return tuple(_known(schema, it, operands) for it in argument)
    value = operands[argument]
    if value is None and schema.operands[argument].is_defaulted_dtype:
        return schema.operands[argument].default
    if isinstance(value, torch.Tensor):
        return _shape.Spec(tuple(value.shape), _dtype_name(value.dtype), tuple(value.stride()))
    return _dtype_name(value) if isinstance(value, torch.dtype) else value


def _dtype_name(dtype: torch.dtype) -> str:
    if dtype not in _NAMES:
        raise TypeError(f"no signature has the dtype {dtype}")
    return _NAMES[dtype]


# Checks without data


def _check(operator: _Operator, operands: Sequence[Any]) -> None:
    """Checks a call as the function itself would, where all that it has is known."""
    schema, function = operator.schema, _function_of(operator, operands)
    if not all(map(_is_concrete, operands)):
        return
    arguments = [_described(schema, argument, operands) for argument in schema.arguments]
    # On the interpreter, tensors may be anywhere.
    device = _device(operator, operands).type if _interpreted.IS_ON else function.device_type
    refused = _native.check(function.signature, arguments, device)
    if refused is not None:
        raise _ERRORS[refused["kind"]](refused["message"])


_ERRORS: Final = {"TypeError": TypeError, "ValueError": ValueError, "RuntimeError": RuntimeError}


def _function_of(operator: _Operator, operands: Sequence[Any]) -> Function:
    """The function that a call would run."""
    device = _device(operator, operands).type
    functions = {function.device_type: function for function in operator.functions}
    return functions.get(device, operator.functions[0])


def _is_concrete(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        numbers: tuple[Any, ...] = (*value.shape, *value.stride())
        return all(isinstance(number, int) for number in numbers)
    if isinstance(value, (list, tuple)):
        return all(map(_is_concrete, cast("Sequence[Any]", value)))
    return not isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _described(schema: Schema, argument: Argument, operands: Sequence[Any]) -> Any:
    """An argument of the function, as JSON has it."""
    if isinstance(argument, Constant):
        return argument.value
    if isinstance(argument, tuple):
        return [_described(schema, it, operands) for it in argument]
    value = operands[argument]
    if value is None and schema.operands[argument].is_defaulted_dtype:
        return {"dtype": schema.operands[argument].default}
    if isinstance(value, torch.Tensor):
        return {"tensor": _described_tensor(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": _dtype_name(value)}
    is_special = isinstance(value, float) and not math.isfinite(value)
    return {"float": str(value)} if is_special else value


def _described_tensor(tensor: torch.Tensor) -> dict[str, Any]:
    device = tensor.device
    is_known = device.type in _KEYS
    return {
        "dtype": _dtype_name(tensor.dtype),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "device": [device.type, device.index or 0] if is_known else None,
    }
