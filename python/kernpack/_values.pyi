# SPDX-License-Identifier: Apache-2.0
"""Values of kernels, as editors and type checkers see them: numbers, tensors, and what a kernel call
gives.

Methods and keywords stand between markers, where `scripts/language-stub` writes them as
docs/language.md has them. All else is written by hand. The types are lenient: what a number is
exactly, the compiler says. Not here: functions (`_language.pyi`), and dtypes (`_dtype.py`).
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, ParamSpec, TypeAlias, overload

from typing_extensions import TypeVar

from ._dtype import DType
from ._layout import Layout
from ._signature import SymInt

_Value = TypeVar("_Value", default=Any)

Constexpr: TypeAlias = Annotated[_Value, "constant"]
"""The annotation of a parameter whose value is part of the code: `width: kp.Constexpr`, or
`kp.Constexpr[int]`. Each value is compiled for.
"""

class Number:
    """A number of a kernel: each thread has its own."""

    def __add__(self, other: Numeric) -> Num: ...
    def __radd__(self, other: Numeric) -> Num: ...
    def __sub__(self, other: Numeric) -> Num: ...
    def __rsub__(self, other: Numeric) -> Num: ...
    def __mul__(self, other: Numeric) -> Num: ...
    def __rmul__(self, other: Numeric) -> Num: ...
    def __truediv__(self, other: Numeric) -> Num: ...
    def __rtruediv__(self, other: Numeric) -> Num: ...
    def __floordiv__(self, other: Numeric) -> Num: ...
    def __rfloordiv__(self, other: Numeric) -> Num: ...
    def __mod__(self, other: Numeric) -> Num: ...
    def __rmod__(self, other: Numeric) -> Num: ...
    def __lshift__(self, other: Numeric) -> Num: ...
    def __rlshift__(self, other: Numeric) -> Num: ...
    def __rshift__(self, other: Numeric) -> Num: ...
    def __rrshift__(self, other: Numeric) -> Num: ...
    def __and__(self, other: Numeric) -> Num: ...
    def __rand__(self, other: Numeric) -> Num: ...
    def __or__(self, other: Numeric) -> Num: ...
    def __ror__(self, other: Numeric) -> Num: ...
    def __xor__(self, other: Numeric) -> Num: ...
    def __rxor__(self, other: Numeric) -> Num: ...
    def __neg__(self) -> Num: ...
    def __pos__(self) -> Num: ...
    def __invert__(self) -> Num: ...
    def __abs__(self) -> Num: ...
    def __lt__(self, other: Numeric) -> builtins.bool: ...
    def __le__(self, other: Numeric) -> builtins.bool: ...
    def __gt__(self, other: Numeric) -> builtins.bool: ...
    def __ge__(self, other: Numeric) -> builtins.bool: ...
    def __index__(self) -> int: ...

    # <methods of Number>
    def to(self, dtype: DType, rounding: str | None = ...) -> Num:
        """The number as another type, as `kp.convert`."""
    # </methods of Number>

class Elements:
    """The elements of a tile, as values of the thread: operators and functions work on all of them."""

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents, as a tuple."""
    @property
    def element_type(self) -> DType:
        """The dtype of the elements."""
    def __add__(self, other: Numeric | Elements) -> Elements: ...
    def __radd__(self, other: Numeric) -> Elements: ...
    def __sub__(self, other: Numeric | Elements) -> Elements: ...
    def __rsub__(self, other: Numeric) -> Elements: ...
    def __mul__(self, other: Numeric | Elements) -> Elements: ...
    def __rmul__(self, other: Numeric) -> Elements: ...
    def __truediv__(self, other: Numeric | Elements) -> Elements: ...
    def __rtruediv__(self, other: Numeric) -> Elements: ...
    def __floordiv__(self, other: Numeric | Elements) -> Elements: ...
    def __mod__(self, other: Numeric | Elements) -> Elements: ...
    def __lshift__(self, other: Numeric | Elements) -> Elements: ...
    def __rshift__(self, other: Numeric | Elements) -> Elements: ...
    def __and__(self, other: Numeric | Elements) -> Elements: ...
    def __or__(self, other: Numeric | Elements) -> Elements: ...
    def __xor__(self, other: Numeric | Elements) -> Elements: ...
    def __neg__(self) -> Elements: ...
    def __lt__(self, other: Numeric | Elements) -> Elements: ...
    def __le__(self, other: Numeric | Elements) -> Elements: ...
    def __gt__(self, other: Numeric | Elements) -> Elements: ...
    def __ge__(self, other: Numeric | Elements) -> Elements: ...

    # <methods of Elements>
    def to(self, dtype: DType, rounding: str | None = ...) -> Elements:
        """The elements as another type, as `kp.convert`."""
    def reduce(self, function: OfTwo, init: Numeric | None = ...) -> Num:
        """What a function of two numbers makes of all elements: of neighbours first, then of what
        comes of these, and at last of `init` and that.
        """
    # </methods of Elements>

class Mbarrier:
    """A barrier in shared memory that counts arrivals, and bytes that copies bring; or several."""

    def __getitem__(self, stage: Numeric) -> Mbarrier: ...
    # <methods of Mbarrier>
    def init(self, count: Numeric) -> None:
        """Makes the barrier: `count` arrivals complete each phase. One thread does, and others use it
        behind a barrier of the block, or of the cluster.
        """
    def arrive(
        self,
    ) -> None:
        """Arrives, and goes on."""
    def arrive_relaxed(
        self,
    ) -> None:
        """As `arrive`, and says nothing of what was read and written before: only that those copies
        and products are done that this thread has waited for.
        """
    def arrive_after_copies(
        self,
    ) -> None:
        """Arrives when all copies `to=kp.async_group` are done that this thread has begun: those who
        wait for the phase see them.
        """
    def expect_tx(self, bytes: Numeric) -> None:
        """The phase that goes on is complete only when copies have brought `bytes` more."""
    def arrive_and_expect_tx(self, bytes: Numeric) -> None:
        """Has the phase expect `bytes` more, and arrives."""
    def wait(self, phase: Numeric | None = ...) -> None:
        """Waits until the phase of that parity is complete, which is the one that goes on or the one
        before it: that before the first, of parity 1, is. Without `phase` the thread waits for the
        first phase, the next time for the second, and so on.
        """
    def try_wait(self, phase: Numeric) -> Num:
        """Waits for a while, and says whether the phase of that parity is complete."""
    # </methods of Mbarrier>

class Tensor:
    """A tensor in a kernel or a jit function: `x: kp.Tensor` says it of a parameter to editors and
    type checkers, and nothing to the compiler.
    """

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents, as a tuple."""
    @property
    def stride(self) -> tuple[Any, ...]:
        """The strides, as a tuple."""
    @property
    def layout(self) -> Layout:
        """The layout: extents and strides."""
    @property
    def element_type(self) -> DType:
        """The dtype of the elements."""
    @property
    def numel(self) -> Any:
        """How many elements there are."""
    @property
    def size(self) -> Any:
        """How many elements there are."""
    @property
    def ndim(self) -> int:
        """How many modes there are."""
    @property
    def iterator(self) -> Any:
        """The pointer to the first element, of which `kp.make_tensor` makes another tensor."""
    def __getitem__(self, index: Coord) -> Any:
        """An element, of an index for each mode; a view, where a mode is None."""
    def __setitem__(self, index: Coord, value: Numeric | Sequence[Any]) -> None: ...

    # <methods of Tensor>
    def load(
        self,
    ) -> Elements:
        """The elements of a tile of constant size, each a value of the thread: operators and functions
        work on all of them.
        """
    def store(self, value: Numeric | Elements) -> None:
        """Writes the elements of a tile, or one number to all of it."""
    def fill(self, value: Numeric) -> None:
        """Writes one number to each element of a tile."""
    # </methods of Tensor>

class Launchable:
    """A kernel with its arguments, which `.launch(grid=…, block=…)` launches."""

    # <launches>
    def launch(
        self,
        *,
        grid: Dims,
        block: Dims,
        smem: Numeric | None = ...,
        cluster: Dims | None = ...,
        cooperative: builtins.bool | None = ...,
        pdl: builtins.bool | tuple[builtins.str, ...] | None = ...,
        priority: Numeric | None = ...,
        stream: Any | None = ...,
        min_blocks: int | None = ...,
        max_registers: int | None = ...,
        arch: str | Sequence[str] | None = ...,
    ) -> None:
        """Launches the kernel.

        grid: How many blocks there are: one to three numbers, x first. It has to be there.
        block: How many threads a block has: one to three numbers. It has to be there.
        smem: Bytes of dynamic shared memory, beside those that the kernel asks for itself.
        cluster: How many blocks are a cluster: one to three numbers.
        cooperative: `True` where all blocks have to run at once.
        pdl: `True` where the kernel may begin before the one in front of it has ended; or a
            tuple of the names of tensors that this one has not written, `("w",)`, which are
            read without waiting for it.
        priority: The priority of the launch: a number.
        stream: A Stream parameter, whose stream the launch goes to.
        min_blocks: How many blocks a multiprocessor has to hold at once, as far as registers
            matter: a constant, where `block` is constant.
        max_registers: The most registers of a thread: a constant, without `min_blocks`.
        arch: The architectures that the launch is for: a text, `"sm_90a"`, or a tuple of them.
            Launches that follow each other and say it are alternatives, of which a device takes
            one.
        """
    # </launches>

# A number that nobody but the compiler knows the dtype of: a literal can take its place.
Num: TypeAlias = Number | Any
Numeric: TypeAlias = int | float | Number | SymInt
Condition: TypeAlias = builtins.bool | Elements
Extents: TypeAlias = Numeric | Sequence[Extents]
Shape: TypeAlias = Numeric | Layout | Sequence[Shape]
Stride: TypeAlias = Numeric | str | Layout | Sequence[Stride]
LayoutLike: TypeAlias = Layout | Shape
Tiler: TypeAlias = Numeric | Layout | Sequence[Tiler] | None
Coord: TypeAlias = Numeric | Sequence[Coord] | None
Modes: TypeAlias = int | Sequence[int]
Dims: TypeAlias = Numeric | Sequence[Numeric]
OfTwo: TypeAlias = Callable[[Any, Any], Any]

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")

class Ptx(Generic[_Params, _Result]):
    """`kp.ptx`, which makes a function of a text in Python, and runs instructions in a kernel."""

    def __init__(self, of_python: Callable[_Params, _Result]) -> None: ...
    @overload
    def __call__(self, *args: _Params.args, **keywords: _Params.kwargs) -> _Result: ...
    @overload
    def __call__(
        self,
        text: str,
        /,
        *operands: Any,
        result: DType = ...,
        effects: builtins.bool = ...,
        model: Callable[..., Any] = ...,
    ) -> Num: ...
    @overload
    def __call__(
        self,
        text: str,
        /,
        *operands: Any,
        result: Sequence[Any],
        effects: builtins.bool = ...,
        model: Callable[..., Any] = ...,
    ) -> Any: ...
