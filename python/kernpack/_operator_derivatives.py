# SPDX-License-Identifier: Apache-2.0
"""The derivatives of operators of PyTorch: backward ones, forward ones, and those that `torch.func`
asks for.

What `torch.library.register_autograd` makes of a backward loses forward derivatives in silence, and
`torch.func` refuses it. Here it is a `torch.autograd.Function` whose context is set up apart, which
`torch.func` can take: it is behind the key `Autograd`, and in front of all transforms. Not here:
operators without a backward, which refuse (`torch`).
"""

from __future__ import annotations

from types import CellType, FunctionType, MethodType
from typing import Any, Callable, NamedTuple, Sequence

import torch
import torch.autograd.forward_ad
from torch._functorch import pyfunctorch
from torch._functorch.utils import unwrap_dead_wrappers
from torch._subclasses.functional_tensor import FunctorchFunctionalizeAPI

from . import _shape

_untyped: Any = torch
_forward_ad: Any = torch.autograd.forward_ad


class Rules(NamedTuple):
    """What a user says of derivatives, in the words of `torch.autograd.Function`."""

    backward: Callable[..., Any] | None = None
    setup_context: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None

    def are_like(self, other: Rules) -> bool:
        """Whether the others do the same, though they may be of a module that was loaded again."""
        return _are_alike(tuple(self), tuple(other), [])


def _are_alike(one: Any, other: Any, met: list[tuple[Any, Any]]) -> bool:
    """Whether two values are the same object, equal constants, or functions of the same code, with
    alike defaults and variables around them. `met` are those that are being compared.
    """
    if one is other or any(one is a and other is b for a, b in met):
        return True
    if type(one) is not type(other):
        return False
    met = [*met, (one, other)]
    if isinstance(one, FunctionType):
        return one.__code__ == other.__code__ and _are_alike(_kept(one), _kept(other), met)
    if isinstance(one, MethodType):
        is_same_object = one.__self__ is other.__self__
        return is_same_object and _are_alike(one.__func__, other.__func__, met)
    if isinstance(one, tuple):
        values: tuple[Any, ...] = _shape.untyped(one)
        pairs = zip(values, other)
        return len(values) == len(other) and all(_are_alike(a, b, met) for a, b in pairs)
    return isinstance(one, (int, float, complex, str, bytes)) and one == other


def _kept(function: FunctionType) -> tuple[Any, ...]:
    """What a function keeps beside its code."""
    named = tuple(sorted((function.__kwdefaults__ or {}).items()))
    around = tuple(cell.cell_contents for cell in function.__closure__ or () if cell != CellType())
    return function.__defaults__, named, around


class Differentiated(NamedTuple):
    """An operator that has derivatives."""

    name: str
    operands: Sequence[str]
    overload: Callable[[], Any]
    """The operator itself, once it is defined."""
    batched: Callable[..., Any]
    """What runs under `torch.vmap`: `batched(info, in_dims, *operands)`."""


def function_of(operator: Differentiated, rules: Rules) -> Any:
    """The `torch.autograd.Function` of an operator. Its last argument is no operand, but the keys
    that are left where PyTorch's dispatcher has come to `Autograd`, or None.
    """
    backward, setup_context, jvp = rules

    def run(*args: Any) -> Any:
        *operands, keys = args
        with _untyped._C._AutoDispatchBelowAutograd():
            if keys is None:
                return operator.overload()(*operands)
            return operator.overload().redispatch(keys, *operands)

    def prepare(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        if setup_context is not None:
            setup_context(ctx=ctx, inputs=inputs[:-1], output=output)

    def go_back(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        assert backward is not None
        needed = ctx.needs_input_grad
        ctx.needs_input_grad = needed[:-1]
        try:
            found: Any = backward(ctx, *gradients)
        finally:
            ctx.needs_input_grad = needed
        if isinstance(found, tuple):
            return (*_shape.untyped(found), None)
        return found, None

    def go_forward(ctx: Any, *tangents: Any) -> Any:
        if jvp is None:
            raise _no_jvp(operator, tangents)
        _refuse_forward_over_forward(operator)
        return jvp(ctx, *tangents[:-1])

    def map_batch(info: Any, in_dims: Sequence[Any], *args: Any) -> Any:
        return operator.batched(info, in_dims[:-1], *args[:-1])

    methods: dict[str, Any] = {
        "forward": run,
        "setup_context": prepare,
        "backward": go_back,
        "jvp": go_forward,
        "vmap": map_batch,
    }
    return type(
        f"Derivatives of {operator.name}",
        (torch.autograd.Function,),
        {name: staticmethod(method) for name, method in methods.items()},
    )


def _no_jvp(operator: Differentiated, tangents: Sequence[Any]) -> RuntimeError:
    asked = [name for name, tangent in zip(operator.operands, tangents) if tangent is not None]
    return RuntimeError(
        f"`{operator.name}` has no forward derivative, and `{(asked or operator.operands)[0]}` has"
        " a tangent: ask for a backward one, as `torch.func.vjp` and `jacrev` do, or make the"
        " operator with `jvp=`"
    )


def _refuse_forward_over_forward(operator: Differentiated) -> None:
    """Refuses a forward derivative of a forward derivative, which PyTorch takes for 0: it runs a
    `jvp` as if nobody differentiated what that does.
    """
    functorch = _untyped._C._functorch
    levels = functorch.get_interpreter_stack() or ()
    if sum(level.key() == functorch.TransformType.Jvp for level in levels) > 1:
        raise RuntimeError(
            f"the forward derivative of `{operator.name}` has no forward derivative itself: take"
            " one of the two backward, as `torch.func.hessian` does"
        )


def transform_kernel(operator: Differentiated, function: Any) -> Callable[..., Any]:
    """What runs first where a call is transformed by `torch.func`: `(operands)`."""
    transforms = _untyped._C._functorch

    def kernel(operands: Sequence[Any]) -> Any:
        innermost = transforms.peek_interpreter_stack()
        if innermost is not None and innermost.key() == transforms.TransformType.Functionalize:
            return _functionalized(operator, operands)
        return function.apply(*operands, None)

    return kernel


def _functionalized(operator: Differentiated, operands: Sequence[Any]) -> Any:
    """A call under `torch.func.functionalize`, which has no rule for `torch.autograd.Function`. The
    operator writes nothing: it is called as it is by what is around that.
    """
    interpreter: Any = pyfunctorch.retrieve_current_functorch_interpreter()
    functionalize: Any = FunctorchFunctionalizeAPI(interpreter)
    plain = functionalize.unwrap_tensors(tuple(operands))
    with functionalize.redispatch_to_next():
        outcome = operator.overload()(*plain)
    return functionalize.wrap_tensors(outcome)


def autograd_kernel(operator: Differentiated, function: Any) -> Callable[..., Any]:
    """What runs where PyTorch's dispatcher has come to `Autograd`: `(keys, operands)`."""
    native = _untyped._C
    # `function.apply` inspects the parameters of `forward` in every call, which takes as long as
    # all else of it. No transform is active here: those come first (`transform_kernel`).
    above: Any = super(torch.autograd.Function, function)
    apply: Callable[..., Any] = above.apply

    def kernel(keys: Any, operands: Sequence[Any]) -> Any:
        below = keys & native._after_autograd_keyset
        is_asked = native._any_requires_grad(*operands) and torch.is_grad_enabled()
        if is_asked or _forward_ad._current_level >= 0:
            return apply(*unwrap_dead_wrappers(tuple(operands)), below)
        with native._AutoDispatchBelowAutograd():
            return operator.overload().redispatch(below, *operands)

    return kernel
