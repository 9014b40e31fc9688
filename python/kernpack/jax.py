# SPDX-License-Identifier: Apache-2.0
"""Kernels in programs of JAX.

`call(f)` makes a function over arrays of JAX from a function of a package. It traces, so that it
stands in `jit`, `scan`, `vmap`, `shard_map` and exported programs; what comes back has the shapes
and dtypes that the signature says, and a call that the signature refuses is refused while it is
traced, in the same words. XLA calls the package through one handler for all functions, by the
digest of the package: programs that XLA has cached find their kernels again, or say that they are
not loaded.

This module imports JAX; nothing else of kernpack does. Importing it registers the handler, which is
all that an exported program needs. `docs/jax.md` is what users see of it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, cast

import jax
import jax.export

from kernpack import _module, _xla
from kernpack._jax_call import Call
from kernpack._jax_jit import JitCall, jit_function
from kernpack._jax_layout import Layout, Views
from kernpack._jax_program import EMBEDDING, RESULTS_TYPES, Options
from kernpack._jax_varying import alike
from kernpack._shape import untyped

__all__ = [
    "Call",
    "JitCall",
    "call",
    "custom_vjp",
    "embedding",
    "export",
    "export_options",
    "last_workspace_peak",
]


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
) -> Call | JitCall:
    """A function over arrays of JAX that calls `function` inside of programs.

    It takes the parameters of the signature, positionally or by keyword: arrays, and for tuples
    sequences, mappings or dataclasses of them; numbers, texts and dtypes are static. It returns the
    results, and every `mut` tensor that is not in `aliases`: one by itself, several as a
    NamedTuple.

    * `output`: what comes back, as `jax.ShapeDtypeStruct`s in order or by name, where the signature
      leaves it open;
    * `static`: values of static parameters;
    * `layouts`: by parameter, in which order an array lies in memory: `row`, `col`, or one rank a
      dim, 0 being the fastest. Left out, as the signature asks;
    * `modes`: by parameter, for each dim that the function sees, which dim of the array it is;
    * `aliases`: `mut` parameters that are passed too, and come back in their own place; as a
      mapping, `{"x": "y"}` gives the result `y` the place of the array `x`. Donated memory is
      reused, else XLA copies;
    * `vmap`: `sequential` makes a batch's calls one after the other, `sequential_unrolled` does
      without a loop, a dim of the signature (`m`, `*b`) or `fold` makes one call with that dim
      longer. The function must treat that dim's elements one by one. None refuses;
    * `workspace`: bytes for what the function allocates, where the package does not say them;
    * `has_side_effect`: the call is made even where nobody uses what it returns, and each time;
    * `cuda_graph`: whether XLA may record the call in a command buffer;
    * `owned`: tensors arrive as objects that may be kept, not as views;
    * `embed`: whether the program carries the package. Left out: it does where it is `export`ed;
    * `check`: whether calls are checked while they are traced.

    `function` may be a jit function, which is compiled while JAX traces; a plain function becomes
    one. Without a signature it is compiled for the rank and the dtype of each array, and `output`
    says what comes back in the place of parameters that nobody passes.

    It may be any `tvm_ffi.Function` too. Without a signature its arguments are the arrays and
    numbers that are passed, then the arrays of `output`.
    """
    options = Options(
        output=output,
        aliases=_aliases(aliases),
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
    compiled_later = jit_function(function)
    return Call(function, options) if compiled_later is None else JitCall(compiled_later, options)


def _aliases(aliases: Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    """Each parameter that is passed, and the result that takes its place."""
    if isinstance(aliases, str):
        return {aliases: aliases}
    if isinstance(aliases, Mapping):
        by_name: Mapping[str, str] = untyped(aliases)
        return dict(by_name)
    return {name: name for name in aliases}


# Programs that carry their packages


@contextlib.contextmanager
def embedding() -> Generator[None, None, None]:
    """What is traced inside carries its packages. What was traced before stays as it is."""
    token = EMBEDDING.set(True)
    try:
        yield
    finally:
        EMBEDDING.reset(token)


def export_options() -> dict[str, Any]:
    """Options of `jax.export.export`, which by itself allows no custom calls."""
    names = (_xla.CAPTURABLE, _xla.PLAIN)
    return {"disabled_checks": [jax.export.DisabledSafetyCheck.custom_call(name) for name in names]}


def export(function: Callable[..., Any], **options: Any) -> Callable[..., jax.export.Exported]:
    """`jax.export.export` with packages in the program: it runs where kernpack is installed, and
    nothing else.

    Options are those of `jax.export.export`, such as `platforms`. NamedTuples of several results
    become plain tuples, which every process knows.
    """

    def exporter(*args: Any, **named: Any) -> jax.export.Exported:
        # A function of its own, so that nothing is found that was traced without packages.
        def fresh(*args: Any, **named: Any) -> Any:
            return _plain(function(*args, **named))

        def attempt() -> jax.export.Exported:
            with embedding():
                make = jax.export.export(untyped(jax).jit(fresh), **{**export_options(), **options})
                return make(*args, **named)

        exported = attempt()
        if _lacks_packages(exported):
            # `function` calls something that was compiled before.
            untyped(jax).clear_caches()
            exported = attempt()
        return exported

    return exporter


def _plain(value: Any) -> Any:
    """A pytree without the NamedTuples that are made here."""
    if type(value) in RESULTS_TYPES or type(value) in (tuple, list):
        items = [_plain(item) for item in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    if type(value) is dict:
        return {key: _plain(item) for key, item in untyped(value).items()}
    return value


def _lacks_packages(exported: jax.export.Exported) -> bool:
    """Whether a call in a program is by digest alone."""
    text = exported.mlir_module()
    calls = [line for line in text.splitlines() if _xla.CAPTURABLE in line or _xla.PLAIN in line]
    return any("module = " not in line for line in calls)


# Derivatives


def custom_vjp(
    function: Callable[..., Any],
    backward: Callable[..., Any],
    *,
    forward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """`function` with derivatives: `backward(inputs, outputs, cotangents)` has one for each input.

    `inputs` are the positional arguments as a tuple; keywords are static, and `backward` gets them
    too. An input that has no derivative gets None. `forward`, where it is given, runs instead of
    `function` and returns its outputs and what `backward` gets in place of `outputs`.
    """

    return _Differentiable(function, backward, forward)


class _Differentiable:
    """A function with derivatives, made by `custom_vjp`."""

    def __init__(
        self,
        function: Callable[..., Any],
        backward: Callable[..., Any],
        forward: Callable[..., Any] | None,
    ) -> None:
        self._made_of = function, backward, forward
        functools.update_wrapper(self, function, updated=())

    def __reduce__(self) -> tuple[Any, ...]:
        """By the functions, as they are pickled."""
        return _Differentiable, self._made_of

    def __call__(self, /, *inputs: Any, **static: Any) -> Any:
        """Calls the function; see `custom_vjp`."""
        function, backward, forward = self._made_of

        def primal(*inputs: Any) -> Any:
            return function(*inputs, **static)

        def ahead(*inputs: Any) -> tuple[Any, Any]:
            outputs, kept = (
                forward(*inputs, **static) if forward else 2 * (function(*inputs, **static),)
            )
            return outputs, (inputs, kept)

        def back(kept: Any, cotangents: Any) -> tuple[Any, ...]:
            found = backward(*kept, cotangents, **static)
            return tuple(untyped(found)) if isinstance(found, (tuple, list)) else (found,)

        with_rule = untyped(jax).custom_vjp(primal)
        with_rule.defvjp(ahead, back)
        arrays, structure = untyped(jax.tree).flatten(inputs)
        return with_rule(*untyped(jax.tree).unflatten(structure, alike(arrays)))


def last_workspace_peak() -> int:
    """The bytes that the last call with a workspace needed of it: what `workspace=` has to be."""
    return _xla.workspace_peak()


def _register() -> None:
    """Tells XLA of the handler. Telling it again changes nothing."""
    library = _xla.library()
    for name, platform, symbol in _xla.HANDLERS:
        handler = untyped(jax.ffi).pycapsule(getattr(library, symbol))
        stages = {"instantiate": handler, "execute": handler}
        jax.ffi.register_ffi_target(name, cast(Any, stages), platform=platform)
    # Programs by digest that another process has traced find what is loaded here.
    _module.hear_of_libraries(_xla.know_package)


_register()
