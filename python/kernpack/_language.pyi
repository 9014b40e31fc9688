# SPDX-License-Identifier: Apache-2.0
"""The functions of the language of kernels, as editors and type checkers see them: what `kp.` has in
functions under `@kp.kernel` and `@kp.jit`.

All of it is written by `scripts/language-stub`, which has it of docs/language.md. Not here: the types
of values (`_values.pyi`), and what is said where Python calls one of these (`_language.py`).
"""

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, TypeVar, overload

from ._dtype import DType
from ._layout import Layout, Swizzle
from ._values import (
    Condition,
    Coord,
    Dims,
    Elements,
    Extents,
    Launchable,
    LayoutLike,
    Mbarrier,
    Modes,
    Num,
    Numeric,
    OfTwo,
    Shape,
    Stride,
    Tiler,
)
from ._values import Tensor as Tensor

_T = TypeVar("_T")
_Two = tuple[int, int]
_Three = tuple[int, int, int]
_Place = tuple[Numeric, Numeric]
_Factor = tuple[Tensor, Numeric]
_Epilogue = Callable[[Any, Any, Any], Any]

WARP_SIZE: int
"""How many threads a warp has."""

class AsyncGroup:
    """What copies belong to that go on by themselves."""

async_group: AsyncGroup
"""The group that a thread makes next: `kp.copy(…, to=kp.async_group)`."""

bulk_group: AsyncGroup
"""The same of copies out of shared memory, of many bytes: `kp.copy(…, to=kp.bulk_group)`."""

class Device:
    """The GPU of a call, of which functions under `@kp.jit` ask."""

    sm_count: Num
    """How many multiprocessors it has."""
    smem_optin: Num
    """How many bytes of shared memory a block may have, static and dynamic."""
    cc: Num
    """Its compute capability, 90 for 9.0."""

device: Device
"""The GPU of the call."""

def thread_idx() -> tuple[Num, Num, Num]:
    """The thread within its block: a tuple of x, y and z."""

def block_idx() -> tuple[Num, Num, Num]:
    """The block within the grid: a tuple of x, y and z."""

def block_dim() -> tuple[Num, Num, Num]:
    """The threads of a block: a tuple of x, y and z, constant where the launch says."""

def grid_dim() -> tuple[Num, Num, Num]:
    """The blocks of the grid: a tuple of x, y and z."""

def lane_idx() -> Num:
    """The thread within its warp: 0 to 31."""

def warp_idx() -> Num:
    """The warp within its block. Threads are counted in x first, then in y, then in z."""

def warpgroup_idx() -> Num:
    """The warpgroup within its block: four warps in a row are one."""

def range(*bounds: SupportsIndex) -> builtins.range:
    """What a `for` of the kernel runs over: `range(end)`, `range(first, end)` or `range(first,
    end, step)`. Bounds are computed once. It is Python's `range`, too.
    """

def range_constexpr(*bounds: SupportsIndex) -> builtins.range:
    """A range of constant bounds, whose loop is unrolled while compiling: its index is a constant
    in each turn.
    """

def const_expr(x: _T) -> _T:
    """Its argument, which has to be known while compiling."""

def static_assert(condition: object, message: str | None = ...) -> None:
    """That a condition holds, which is known while compiling. `assert` does the same."""

def has_arch(arch: str) -> builtins.bool:
    """Whether the code may use what an architecture has, such as `"sm_90a"`, as its launch says by
    `arch=`. A launch for several of which only some have it becomes alternatives, with a kernel
    each.
    """

def print_type(*values: object) -> None:
    """Tells what values are while compiling, as a note: types, layouts and tensors, and constants
    as they are. In a packed function `print` is the same.
    """

def printf(format: str, *values: object) -> None:
    """Writes a line for a person, where `{}` in the constant format stands for the next value."""

def len(x: Sequence[object]) -> int:
    """How many items a tuple has."""

def enumerate(x: Iterable[_T]) -> Iterable[tuple[int, _T]]:
    """The items of a tuple, each with its number."""

def zip(*tuples: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    """The first items of tuples, then the second ones, as long as all have some."""

def min(*xs: Numeric | Elements) -> Any:
    """The smallest number. Of floats one that is no NaN, and -0 before +0."""

def max(*xs: Numeric | Elements) -> Any:
    """The largest number. Of floats one that is no NaN, and +0 before -0."""

@overload
def abs(x: Numeric) -> Num:
    """The number without its sign. Of the least integer, that integer."""

@overload
def abs(x: Elements) -> Elements:
    """The number without its sign. Of the least integer, that integer."""

def add(a: Numeric | Elements, b: Numeric | Elements) -> Any:
    """`a + b`, as a function to pass on."""

def sub(a: Numeric | Elements, b: Numeric | Elements) -> Any:
    """`a - b`, as a function to pass on."""

def mul(a: Numeric | Elements, b: Numeric | Elements) -> Any:
    """`a * b`, as a function to pass on."""

def ceil_div(a: Extents, b: Extents) -> Any:
    """The quotient of integers, rounded up. By zero it is 0."""

def where(condition: Condition, a: Numeric | Elements, b: Numeric | Elements) -> Any:
    """`a` where the condition holds, else `b`: both are computed."""

@overload
def convert(x: Numeric, dtype: DType, rounding: str | None = ...) -> Num:
    """The number as another type, rounded as is said: `"nearest"`, `"zero"`, `"down"` or `"up"`.
    Without `rounding`, a float becomes an integer towards zero, and anything else the nearest.
    What an integer cannot hold becomes its nearest number, and NaN 0.
    """

@overload
def convert(x: Elements, dtype: DType, rounding: str | None = ...) -> Elements:
    """The number as another type, rounded as is said: `"nearest"`, `"zero"`, `"down"` or `"up"`.
    Without `rounding`, a float becomes an integer towards zero, and anything else the nearest.
    What an integer cannot hold becomes its nearest number, and NaN 0.
    """

@overload
def bitcast(x: Numeric, dtype: DType) -> Num:
    """The same bits as another type of as many."""

@overload
def bitcast(x: Elements, dtype: DType) -> Elements:
    """The same bits as another type of as many."""

def isnan(x: Numeric) -> builtins.bool:
    """Whether a float is no number."""

def mul_hi(a: Numeric | Elements, b: Numeric | Elements) -> Any:
    """The upper half of the product of two integers of one type."""

@overload
def popc(x: Numeric) -> Num:
    """How many bits of an integer are 1."""

@overload
def popc(x: Elements) -> Elements:
    """How many bits of an integer are 1."""

@overload
def clz(x: Numeric) -> Num:
    """How many bits above the highest 1 are 0: all where there is no 1."""

@overload
def clz(x: Elements) -> Elements:
    """How many bits above the highest 1 are 0: all where there is no 1."""

@overload
def ctz(x: Numeric) -> Num:
    """How many bits below the lowest 1 are 0: all where there is no 1."""

@overload
def ctz(x: Elements) -> Elements:
    """How many bits below the lowest 1 are 0: all where there is no 1."""

@overload
def brev(x: Numeric) -> Num:
    """The bits of an integer in the opposite order."""

@overload
def brev(x: Elements) -> Elements:
    """The bits of an integer in the opposite order."""

def fma(a: Numeric | Elements, b: Numeric | Elements, c: Numeric | Elements) -> Any:
    """`a * b + c`, rounded once. Nothing else contracts."""

@overload
def sqrt(x: Numeric) -> Num:
    """The square root, rounded once."""

@overload
def sqrt(x: Elements) -> Elements:
    """The square root, rounded once."""

@overload
def rsqrt(x: Numeric) -> Num:
    """One over the square root."""

@overload
def rsqrt(x: Elements) -> Elements:
    """One over the square root."""

@overload
def exp(x: Numeric) -> Num:
    """The exponential function."""

@overload
def exp(x: Elements) -> Elements:
    """The exponential function."""

@overload
def exp2(x: Numeric) -> Num:
    """Two to that power."""

@overload
def exp2(x: Elements) -> Elements:
    """Two to that power."""

@overload
def log(x: Numeric) -> Num:
    """The natural logarithm."""

@overload
def log(x: Elements) -> Elements:
    """The natural logarithm."""

@overload
def log2(x: Numeric) -> Num:
    """The logarithm to base two."""

@overload
def log2(x: Elements) -> Elements:
    """The logarithm to base two."""

@overload
def sin(x: Numeric) -> Num:
    """The sine of an angle in radians."""

@overload
def sin(x: Elements) -> Elements:
    """The sine of an angle in radians."""

@overload
def cos(x: Numeric) -> Num:
    """The cosine of an angle in radians."""

@overload
def cos(x: Elements) -> Elements:
    """The cosine of an angle in radians."""

@overload
def tanh(x: Numeric) -> Num:
    """The hyperbolic tangent."""

@overload
def tanh(x: Elements) -> Elements:
    """The hyperbolic tangent."""

@overload
def erf(x: Numeric) -> Num:
    """The error function."""

@overload
def erf(x: Elements) -> Elements:
    """The error function."""

def pow(x: Numeric | Elements, y: Numeric | Elements) -> Any:
    """The first to the power of the second."""

@overload
def floor(x: Numeric) -> Num:
    """The largest whole number not above."""

@overload
def floor(x: Elements) -> Elements:
    """The largest whole number not above."""

@overload
def ceil(x: Numeric) -> Num:
    """The least whole number not below."""

@overload
def ceil(x: Elements) -> Elements:
    """The least whole number not below."""

@overload
def trunc(x: Numeric) -> Num:
    """The whole number towards zero."""

@overload
def trunc(x: Elements) -> Elements:
    """The whole number towards zero."""

@overload
def round(x: Numeric) -> Num:
    """The nearest whole number, ties to the even one."""

@overload
def round(x: Elements) -> Elements:
    """The nearest whole number, ties to the even one."""

@overload
def fast_exp2(x: Numeric) -> Num:
    """Two to that power, by the machine: within 2 ulp, and 0 below 2^-126."""

@overload
def fast_exp2(x: Elements) -> Elements:
    """Two to that power, by the machine: within 2 ulp, and 0 below 2^-126."""

@overload
def fast_log2(x: Numeric) -> Num:
    """The logarithm to base two, by the machine."""

@overload
def fast_log2(x: Elements) -> Elements:
    """The logarithm to base two, by the machine."""

@overload
def fast_sin(x: Numeric) -> Num:
    """The sine, by the machine: for small angles."""

@overload
def fast_sin(x: Elements) -> Elements:
    """The sine, by the machine: for small angles."""

@overload
def fast_cos(x: Numeric) -> Num:
    """The cosine, by the machine: for small angles."""

@overload
def fast_cos(x: Elements) -> Elements:
    """The cosine, by the machine: for small angles."""

@overload
def fast_tanh(x: Numeric) -> Num:
    """The hyperbolic tangent, by the machine: a relative error up to 2^-11."""

@overload
def fast_tanh(x: Elements) -> Elements:
    """The hyperbolic tangent, by the machine: a relative error up to 2^-11."""

@overload
def fast_rsqrt(x: Numeric) -> Num:
    """One over the square root, by the machine: within 2 ulp."""

@overload
def fast_rsqrt(x: Elements) -> Elements:
    """One over the square root, by the machine: within 2 ulp."""

@overload
def fast_rcp(x: Numeric) -> Num:
    """One over a number, by the machine: within 1 ulp."""

@overload
def fast_rcp(x: Elements) -> Elements:
    """One over a number, by the machine: within 1 ulp."""

def shared(dtype: DType, layout: LayoutLike) -> Tensor:
    """A tensor that the threads of a block share. Of a shape, the first mode is the fastest. Its
    extents are constants, or expressions over dims. What it holds at first is not known.
    """

def make_rmem_tensor(layout: LayoutLike, dtype: DType) -> Tensor:
    """A tensor in registers, of which each thread has its own. Its extents are constants, and so
    should be the indices: where they are not, it lies in local memory, which a warning says.
    """

def make_fragment(layout: LayoutLike, dtype: DType) -> Tensor:
    """As `kp.make_rmem_tensor`."""

def make_fragment_like(x: Tensor, dtype: DType | None = ...) -> Tensor:
    """A tensor in registers of a tensor's shape, and its dtype where none is said. Its strides are
    compact, in the order of the tensor's.
    """

def make_tensor(pointer: object, layout: LayoutLike) -> Tensor:
    """The memory behind a pointer, `x.iterator`, with another layout."""

def make_identity_tensor(shape: Shape) -> Tensor:
    """A tensor whose elements are their own coordinates, tuples. Divided and sliced like another
    tensor, it says where in that the elements of a tile are.
    """

def recast_tensor(x: Tensor, dtype: DType) -> Tensor:
    """The same memory as elements of another type."""

def copy(
    source: Tensor,
    target: Tensor,
    pred: Tensor | builtins.bool | None = ...,
    to: AsyncGroup | Mbarrier | AcquiredStage | None = ...,
    mcast_mask: Numeric | None = ...,
    reduction_kind: str | None | None = ...,
) -> None:
    """Copies a tile of constant size, with the widest accesses that alignment and strides are
    known to allow. `pred` is a bool, or one for each element: what it is false for is neither
    read nor written. With `to=kp.async_group` the copy goes on by itself, from global to shared
    memory, until its group is waited for, and becomes zeros where `pred` is false. With an
    mbarrier one thread copies the tile, whose elements lie side by side, from global memory, or
    from the block's own, to shared memory, also of another block of the cluster;
    `to=kp.bulk_group` does from shared to global memory. Both need sm_90, and addresses and
    bytes that are multiples of 16. So tiles of a map, `kp.make_tma(x, layout)`, come and go:
    with `mcast_mask` to all blocks of the cluster whose bit is set, each of whose mbarriers at
    that place counts the bytes; with `reduction_kind`, which is `"add"`, `"min"`, `"max"`,
    `"and"`, `"or"` or `"xor"`, each element is combined with that of the tensor, in one step.
    An object that has a field `to`, as stages of pipelines have, stands for what that is.
    """

def autovec_copy(source: Tensor, target: Tensor) -> None:
    """As `kp.copy` without `pred`."""

def volatile(x: Tensor) -> Tensor:
    """The tensor, in global or shared memory, accessed as it is written: as often, in that order,
    one element at a time, and each in one step for all threads. It orders nothing else;
    `kp.fence` does.
    """

def cached(x: Tensor, cache: str) -> Tensor:
    """The tensor, in global memory, with a hint to caches for its loads and stores: `"stream"` of
    what is likely accessed once, `"keep"` of what is likely accessed again, `"last_use"` of
    what is not. A hint changes no result.
    """

def prefetch(x: Tensor, index: Coord | None = ..., level: str | None = ...) -> None:
    """Has the line of a cache fetched that an element of a tensor in global memory is in, which
    changes no result. `level` is `"L2"`, which it is where it is left out, or `"L1"`. The index
    is in bounds, as in a read. Of a tile of a map, `tma[None, (i, j)]`, which has no index, all
    is fetched to L2; it needs `sm_90`.
    """

def make_layout(shape: Shape, stride: Stride | None = ...) -> Layout:
    """The layout of a shape and strides. Without strides it is compact, and its first mode the
    fastest.
    """

def make_ordered_layout(shape: Shape, order: Shape) -> Layout:
    """The compact layout of a shape, whose modes of smaller `order` are faster."""

def make_swizzle(b: int, m: int, s: int) -> Swizzle:
    """The swizzle that changes `b` bits of an index, above `m` bits that stay, by those `s` places
    above them.
    """

def make_composed_layout(inner: Swizzle, offset: Numeric, outer: LayoutLike) -> Layout:
    """The layout `outer` with a swizzle of its indices, `inner`. The offset is 0. It has no tiles,
    partitions, slices, inverses and complement of its own: a tensor in shared memory that is
    made with it has tiles.
    """

def make_layout_tv(
    thr_layout: LayoutLike, val_layout: LayoutLike
) -> tuple[tuple[Any, ...], Layout]:
    """A tuple: the tile that threads with some values each have together, and the layout that says
    for a thread and a value which element of the tile it is.
    """

def tile_to_shape(atom: LayoutLike, trg_shape: Shape, order: Shape | None = ...) -> Layout:
    """As many copies of a layout as cover a shape, those along modes of smaller `order` first."""

def size(a: LayoutLike | Tensor, mode: Modes | None = ...) -> Any:
    """How many elements there are, in all or in some modes."""

def cosize(a: LayoutLike | Tensor) -> Any:
    """One more than the largest index."""

def rank(a: LayoutLike | Tensor) -> int:
    """How many modes there are."""

def depth(a: LayoutLike | Tensor) -> int:
    """How deep modes are nested."""

@overload
def get(input: Tensor, mode: Modes) -> Tensor:
    """One mode, as a layout or a tensor."""

@overload
def get(input: LayoutLike, mode: Modes) -> Layout:
    """One mode, as a layout or a tensor."""

@overload
def select(input: Tensor, mode: Modes) -> Tensor:
    """Some modes, in that order."""

@overload
def select(input: LayoutLike, mode: Modes) -> Layout:
    """Some modes, in that order."""

@overload
def group_modes(input: Tensor, begin: int, end: int | None = ...) -> Tensor:
    """With the modes from `begin` up to `end` in one, or all from there on."""

@overload
def group_modes(input: LayoutLike, begin: int, end: int | None = ...) -> Layout:
    """With the modes from `begin` up to `end` in one, or all from there on."""

@overload
def coalesce(input: Tensor) -> Tensor:
    """With as few modes as can be, and the same indices."""

@overload
def coalesce(input: LayoutLike) -> Layout:
    """With as few modes as can be, and the same indices."""

@overload
def filter(input: Tensor) -> Tensor:
    """Without modes of stride 0 or extent 1."""

@overload
def filter(input: LayoutLike) -> Layout:
    """Without modes of stride 0 or extent 1."""

@overload
def flatten(a: Tensor) -> Tensor:
    """With all modes at the top."""

@overload
def flatten(a: LayoutLike) -> Layout:
    """With all modes at the top."""

def right_inverse(input: LayoutLike) -> Layout:
    """The layout that undoes it from the right."""

def left_inverse(input: LayoutLike) -> Layout:
    """The layout that undoes it from the left."""

def complement(input: LayoutLike, cotarget: Shape | None = ...) -> Layout:
    """What a layout leaves out of so many indices, or below its largest one."""

@overload
def composition(lhs: Tensor, rhs: Tiler) -> Tensor:
    """The layout `lhs(rhs(c))`; of a tensor, its elements in that order."""

@overload
def composition(lhs: LayoutLike, rhs: Tiler) -> Layout:
    """The layout `lhs(rhs(c))`; of a tensor, its elements in that order."""

@overload
def logical_divide(target: Tensor, tiler: Tiler) -> Tensor:
    """Tiles, and what is left of each mode."""

@overload
def logical_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """Tiles, and what is left of each mode."""

@overload
def zipped_divide(target: Tensor, tiler: Tiler) -> Tensor:
    """The tiles' modes in one mode, and the rests in another."""

@overload
def zipped_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """The tiles' modes in one mode, and the rests in another."""

@overload
def tiled_divide(target: Tensor, tiler: Tiler) -> Tensor:
    """The tiles' modes in one mode, and a mode for each rest."""

@overload
def tiled_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """The tiles' modes in one mode, and a mode for each rest."""

@overload
def flat_divide(target: Tensor, tiler: Tiler) -> Tensor:
    """A mode for each mode of the tile, and one for each rest."""

@overload
def flat_divide(target: LayoutLike, tiler: Tiler) -> Layout:
    """A mode for each mode of the tile, and one for each rest."""

def logical_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """A block, and its copies."""

def zipped_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """The blocks' modes in one mode, and the copies in another."""

def tiled_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """The blocks' modes in one mode, and a mode for each of the copies."""

def flat_product(block: LayoutLike, tiler: Tiler) -> Layout:
    """A mode for each of the block, and one for each of the copies."""

def blocked_product(block: LayoutLike, tiler: LayoutLike) -> Layout:
    """Copies of a block side by side."""

def raked_product(block: LayoutLike, tiler: LayoutLike) -> Layout:
    """Copies of a block, interleaved."""

@overload
def local_tile(input: Tensor, tiler: Tiler, coord: Coord, proj: Coord | None = ...) -> Tensor:
    """The tile at a coordinate, counted in tiles; `None` keeps all of a mode. `proj` leaves out
    modes of tiler and coordinate where it is `None`.
    """

@overload
def local_tile(input: LayoutLike, tiler: Tiler, coord: Coord, proj: Coord | None = ...) -> Layout:
    """The tile at a coordinate, counted in tiles; `None` keeps all of a mode. `proj` leaves out
    modes of tiler and coordinate where it is `None`.
    """

@overload
def local_partition(target: Tensor, tiler: LayoutLike, index: Numeric) -> Tensor:
    """The elements of thread `index`, where a layout says how the threads lie."""

@overload
def local_partition(target: LayoutLike, tiler: LayoutLike, index: Numeric) -> Layout:
    """The elements of thread `index`, where a layout says how the threads lie."""

@overload
def domain_offset(coord: Coord, tensor: Tensor) -> Tensor:
    """The tensor from a coordinate on, with its extents."""

@overload
def domain_offset(coord: Coord, tensor: LayoutLike) -> Layout:
    """The tensor from a coordinate on, with its extents."""

def crd2idx(coord: Coord, layout: LayoutLike) -> Any:
    """The index of a coordinate; `layout(coord)` is that, too."""

def idx2crd(idx: Numeric, shape: Shape) -> tuple[Any, ...]:
    """The coordinate with a number, the first mode being the fastest."""

def elem_less(lhs: Extents, rhs: Extents) -> builtins.bool:
    """Whether each number of a coordinate is less than that of another."""

def commit_group() -> None:
    """Makes a group of the copies `to=kp.async_group` that this thread has begun since its last
    group.
    """

def wait_group(n: int) -> None:
    """Waits until no more than the last `n` groups of this thread, a constant, are in flight. The
    thread sees what the others copied; other threads do behind a barrier.
    """

def cp_async_commit_group() -> None:
    """As `kp.commit_group`."""

def cp_async_wait_group(n: int) -> None:
    """As `kp.wait_group`."""

def bulk_commit_group() -> None:
    """Makes a group of the copies `to=kp.bulk_group` that this thread has begun since its last
    group.
    """

def bulk_wait_group(n: int, read: builtins.bool | None = ...) -> None:
    """Waits until no more than the last `n` groups `to=kp.bulk_group` of this thread, a constant,
    are in flight; with `read=True`, until the others have read shared memory.
    """

def cp_async_bulk_commit_group() -> None:
    """As `kp.bulk_commit_group`."""

def cp_async_bulk_wait_group(n: int, read: builtins.bool | None = ...) -> None:
    """As `kp.bulk_wait_group`."""

def fence_proxy_async() -> None:
    """What was written before it, also by other threads that a barrier orders before it, is seen
    by copies to an mbarrier or `kp.bulk_group` behind it.
    """

def fence_view_async_shared() -> None:
    """As `kp.fence_proxy_async`, of what was written into the block's shared memory alone. It
    waits for nothing that goes to global memory.
    """

def make_tma(x: Tensor, layout: LayoutLike) -> Tensor:
    """The map of a tensor that the launch passes, by which `kp.copy` has the device copy tiles of
    it to shared memory and back: `tma = kp.make_tma(x, layout)`, `kp.copy(tma[None, (i, j)],
    tile, to=bar)`. `layout` is that of a tile in shared memory, and may have a mode of stages
    behind its others. The value is a tensor of coordinates, of shape `((tile…), (tiles…))`. It
    needs `sm_90`.
    """

def sync_threads() -> None:
    """Waits until every thread of the block is here. What was written before it is seen behind it
    by all of them. Conditions around it are the same for the whole block.
    """

def sync_warp() -> None:
    """Waits until every thread of the warp is here."""

def grid_sync() -> None:
    """Waits until every thread of the grid is here. What was written before it is seen behind it
    by all of them. The launch has `cooperative=True`, and conditions around it are the same for
    the whole grid.
    """

def barrier(barrier_id: Numeric, number_of_threads: int) -> None:
    """Waits at a barrier with a number, 1 to 15, until `number_of_threads` have come there, a
    constant, whole warps, this one's among them. What was written before it is seen behind it
    by those who wait. Others of the block need not come, and may have ended.
    """

def barrier_arrive(barrier_id: Numeric, number_of_threads: int) -> None:
    """Comes to a barrier with a number, as `kp.barrier`, and goes on."""

def fence(scope: str | None = ...) -> None:
    """What this thread wrote before it is seen by others of that scope (`"block"`, `"cluster"`,
    `"gpu"`, which it is where it is left out, or `"sys"`) before what it writes behind it.
    """

def mbarrier(stages: int | None = ...) -> Mbarrier:
    """A barrier in shared memory, which a thread has to `init`; with `stages`, a constant, so many
    of them, which are indexed. Those who arrive go on, and those who wait see what was written
    before the arrivals. `kp.map_shared(bar, rank)` is that of another block of the cluster, at
    which a thread can arrive.
    """

def cluster_idx() -> tuple[Num, Num, Num]:
    """The cluster within the grid: a tuple of x, y and z."""

def cluster_dim() -> tuple[Num, Num, Num]:
    """The clusters of the grid: a tuple of x, y and z."""

def block_in_cluster_idx() -> tuple[Num, Num, Num]:
    """The block within its cluster: a tuple of x, y and z."""

def block_in_cluster_dim() -> tuple[Num, Num, Num]:
    """The blocks of a cluster: a tuple of x, y and z, 1 each where the launch says no `cluster=`."""

def block_idx_in_cluster() -> Num:
    """The block within its cluster, as one number. Blocks are counted in x first, then in y, then
    in z.
    """

def cluster_size() -> Num:
    """How many blocks a cluster has."""

def cluster_arrive() -> None:
    """Arrives at the barrier of the cluster, and goes on. What was written before it is seen by
    all threads of the cluster behind their `kp.cluster_wait`.
    """

def cluster_arrive_relaxed() -> None:
    """As `kp.cluster_arrive`, and says nothing of what was written before."""

def cluster_wait() -> None:
    """Waits until every thread of the cluster that has not ended has arrived. Each warp arrives
    once and waits once, in turns.
    """

def cluster_sync() -> None:
    """Waits until every thread of the cluster is here: `kp.cluster_arrive()` and
    `kp.cluster_wait()`.
    """

def map_shared(x: Tensor | Mbarrier, rank: Numeric) -> Any:
    """The tensor that `x`, a shared one, is in another block of the cluster, the `rank`th. It is
    read, written and changed atomically, with scope `"cluster"`, like `x`. The other block has
    begun behind a barrier of the cluster, and must not end before all is done: another one
    keeps it from that.
    """

def griddepcontrol_wait() -> None:
    """Waits until the launch in front of this one has ended, where this one was launched with
    `pdl=` and may have begun before that. The thread sees what it wrote; other threads do
    behind a barrier. It needs sm_90.
    """

def griddepcontrol_launch_dependents() -> None:
    """Lets the launch behind this one begin, where that was launched with `pdl=`, once a thread of
    every block has come here or the block has ended. It orders nothing: the other one waits
    before it reads what this one writes. It needs sm_90.
    """

def clock() -> Num:
    """The cycles that the multiprocessor has counted, an int64. The interpreter counts operations."""

def globaltimer() -> Num:
    """The nanoseconds that the device has counted, an int64. The interpreter counts operations."""

def warp_reduction_sum(x: Numeric, threads_in_group: int | None = ...) -> Num:
    """The sum over the warp, or over groups of `threads_in_group` lanes side by side; every lane
    gets it.
    """

def warp_reduction_max(x: Numeric, threads_in_group: int | None = ...) -> Num:
    """The largest of the warp, as `warp_reduction_sum`."""

def warp_reduction_min(x: Numeric, threads_in_group: int | None = ...) -> Num:
    """The smallest of the warp, as `warp_reduction_sum`."""

def warp_reduction(x: Numeric, function: OfTwo, threads_in_group: int | None = ...) -> Num:
    """What a function of two numbers makes of the warp's: it is given a lane's own and that of the
    lane 16, 8, 4, 2 and 1 away.
    """

def shuffle_sync(x: Numeric, lane: Numeric) -> Num:
    """The value of that lane, modulo 32."""

def shuffle_sync_up(x: Numeric, by: Numeric) -> Num:
    """The value of the lane so many below; a lane that has none keeps its own."""

def shuffle_sync_down(x: Numeric, by: Numeric) -> Num:
    """The value of the lane so many above; a lane that has none keeps its own."""

def shuffle_sync_bfly(x: Numeric, bits: Numeric) -> Num:
    """The value of the lane whose number differs in those bits."""

def vote_any_sync(condition: builtins.bool) -> builtins.bool:
    """Whether it holds in any lane."""

def vote_all_sync(condition: builtins.bool) -> builtins.bool:
    """Whether it holds in all lanes."""

def vote_ballot_sync(condition: builtins.bool) -> Num:
    """The lanes in which it holds: a `uint32`, a bit for each."""

def match_any_sync(x: Numeric) -> Num:
    """The lanes that have the same value: a `uint32`, a bit for each."""

def mma_sync(a: Tensor | Elements, b: Tensor | Elements, c: Tensor | Elements) -> Elements:
    """Multiplies two matrices that the lanes of a warp hold together, and adds a third. Each is
    elements of a register tensor, or the tensor. A lane has 4 of the 16x8 sums `c`. In float16
    and bfloat16 it has 8 elements of `a`, 16x16, and 4 of `b`, 16x8. In float32, of which 10
    bits of mantissa count, it has 4 of `a`, 16x8, and 2 of `b`, 8x8. In int8 and uint8, with
    sums in int32, it has 16 of `a`, 16x32, and 8 of `b`, 32x8.
    """

def ldmatrix(x: Tensor, count: int | None = ..., transpose: builtins.bool | None = ...) -> Elements:
    """The elements that a lane gets of `count` matrices of 8 rows of 16 bytes, which is 1, 2 or 4
    (4 where it is left out), in shared memory: of each, 4 bytes of row `lane // 4`. `x` is a
    row of matrix `lane // 8`: elements side by side, 16 bytes, at a multiple of that. With
    `transpose=True`, of elements of 16 bits, `x` is a column.
    """

def stmatrix(x: Tensor, values: Tensor | Elements, transpose: builtins.bool | None = ...) -> None:
    """Writes matrices that `kp.ldmatrix` reads: `values` are a lane's elements, 4 bytes of each of
    1, 2 or 4 matrices. It needs `sm_90`.
    """

def wgmma_mma(acc: Tensor, a: Tensor | Elements, b: Tensor, accumulate: builtins.bool) -> None:
    """Begins to multiply: the sums `acc` of a 64xN matrix become those of the products of `a`,
    which is 64xK, and `b`, NxK, in shared memory, and where `accumulate` holds what they were
    before is added. `acc` is a register tensor of N/2 elements of each thread, in float32, or
    in int32 for factors in int8 or uint8; other factors are in float16, bfloat16 or float32, of
    which 10 bits of mantissa count. `a` may be the elements of a register tensor, too. N is 8
    to 256, K a multiple of 32 bytes. Until a wait has seen that the product is done `acc`, and
    `a` in registers, cannot be touched. It needs `sm_90a`.
    """

def wgmma_fence() -> None:
    """What registers hold is seen by products behind it: one stands between where a thread touches
    `acc`, or `a` in registers, and the next product with them.
    """

def wgmma_commit() -> None:
    """Makes a group of the products that this warpgroup has begun since its last group."""

def wgmma_wait(n: int) -> None:
    """Waits until no more than the last `n` groups of products of this warpgroup, a constant, are
    in flight.
    """

def setmaxregister_increase(n: int) -> None:
    """Waits until each thread of the warpgroup can have `n` registers, a constant multiple of 8
    from 24 to 256. It needs `sm_90a`.
    """

def setmaxregister_decrease(n: int) -> None:
    """Leaves each thread of the warpgroup `n` registers, a constant multiple of 8 from 24 to 256:
    other warpgroups can have the rest. It needs `sm_90a`.
    """

def block_reduction_sum(x: Numeric) -> Num:
    """The sum over the block; every thread gets it. The threads of a block are a multiple of 32.
    It has barriers, so that conditions around it are the same for the whole block.
    """

def block_reduction_max(x: Numeric) -> Num:
    """The largest of the block, as `block_reduction_sum`."""

def block_reduction_min(x: Numeric) -> Num:
    """The smallest of the block, as `block_reduction_sum`."""

def atomic_add(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Adds to `x[index]`; gives what was there. `order` is `"relaxed"`, which it is where it is
    left out, `"acquire"`, `"release"` or `"acq_rel"`, and `scope` `"block"`, `"cluster"`,
    `"gpu"`, which it is where it is left out, or `"sys"`.
    """

def atomic_min(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Keeps the smaller integer; gives what was there."""

def atomic_max(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Keeps the larger integer; gives what was there."""

def atomic_and(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Keeps common bits; gives what was there."""

def atomic_or(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Adds bits; gives what was there."""

def atomic_xor(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Flips bits; gives what was there."""

def atomic_exch(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> Num:
    """Writes an integer; gives what was there."""

def atomic_cas(
    x: Tensor,
    index: Coord,
    compare: Numeric,
    value: Numeric,
    order: str | None = ...,
    scope: str | None = ...,
) -> Num:
    """Writes an integer where `compare` is there; gives what was there."""

def atomic_store(
    x: Tensor, index: Coord, value: Numeric, order: str | None = ..., scope: str | None = ...
) -> None:
    """Writes an integer, seen by others in that order."""

def atomic_load(x: Tensor, index: Coord, order: str | None = ..., scope: str | None = ...) -> Num:
    """An `int32` or `int64` that others write, read in that order."""

def make_pipeline_state(user: str, stages: int) -> PipelineState:
    """The state that a `kp.PipelineUserType.Producer` or `kp.PipelineUserType.Consumer` of so many
    stages begins with. All stages are empty then: a producer does not wait for the first of
    each.
    """

def elect_one() -> builtins.bool:
    """Whether this is the one thread of its warp that does what one of them has to."""

def tile_pipeline(source: Tensor, tiles: Tensor, consumers: int) -> TilePipeline:
    """A `TilePipeline` of what `kp.make_tma` gives, `source`, to a tensor in shared memory, (rows,
    columns, stages), for so many threads that use its tiles, whole warps. All threads of the
    block make it.
    """

def make_smem_layout(dtype: DType, tile: _Two, stages: int) -> Layout:
    """The layout in shared memory of so many tiles, (rows, columns), of numbers in `dtype`, whose
    columns lie side by side: swizzled, so that of eight rows below each other each is in other
    banks.
    """

def mma(dtype: DType, sums: DType, shape: _Three) -> MmaOp:
    """A product that a warp does at once, of 16 rows by 8 columns: `shape` is (16, 8, k), where k
    numbers in `dtype` have 32 bytes. `sums` is `kp.float32`, of factors in float16, bfloat16 or
    float32, of which 10 bits of mantissa count; or `kp.int32`, of int8 or uint8.
    """

def make_tiled_mma(op: MmaOp | WgmmaOp, atoms: _Three) -> TiledMma:
    """A `TiledMma` of so many warps along rows and columns, `atoms` (m, n, 1), each of which does
    products `op`, of `kp.mma`; or of so many warpgroups, of `kp.wgmma`.
    """

def tiled_mma(dtype: DType, tile: _Three, warps: int) -> TiledMma:
    """A `TiledMma` for a block of so many warps, a power of two, and its `tile`: (m, n, k), rows
    of both factors and numbers of a row. Warpgroups multiply where `kp.has_arch("sm_90a")` and
    the tile has 64 rows or a multiple for each of them, and 256 columns at most; warps do
    otherwise.
    """

def gemm(
    mma: TiledMma,
    acc: Sums | WarpgroupSums,
    a: Tensor,
    b: Tensor,
    accumulate: builtins.bool | None = ...,
) -> None:
    """Adds the product of two tiles, (m, k) and (n, k), to `Sums`; where `accumulate` is false,
    the sums begin with it. Tiles are in shared memory, or what `make_fragment_A` and
    `make_fragment_B` give. Of warpgroups it begins the product and commits a group, which
    `kp.wgmma_wait` waits for.
    """

def store_tile(
    mma: TiledMma,
    acc: Sums | WarpgroupSums,
    c: Tensor,
    place: _Place,
    epilogue: _Epilogue | None = ...,
) -> None:
    """Writes `Sums` to the tile of `c` at `place`, (m, n), counted in tiles, as far as that lies
    in `c`: 16 bytes at once of two-byte numbers, where columns are known to be a multiple of
    that. What is written of a sum is `epilogue(sum, row, column)`, where there is one.
    """

def raster(number: Numeric, grid: _Place, group: int) -> tuple[Num, Num]:
    """The place of the tile with a number in a `grid` of so many, (m, n): down `group` tiles, then
    one to the right. So blocks that run at once load the same rows.
    """

def make_smem_layout_a(mma: TiledMma, tile: _Two, stages: int) -> Layout:
    """The layout in shared memory of so many tiles of the first factor, (m, k), swizzled so that
    rows of matrices lie in different banks.
    """

def make_smem_layout_b(mma: TiledMma, tile: _Two, stages: int) -> Layout:
    """The same of the second factor, (n, k)."""

def tile_stream(
    mma: TiledMma, a: _Factor, b: _Factor, stages: int | None = ...
) -> TileStream | BoxStream:
    """A `TileStream` for a block of `mma.threads` threads, and the tile of its sums at (m, n): `a`
    is the first factor and m, `b` the second one and n. Rows lie side by side in memory, at
    multiples of 16 bytes. `stages` tiles of each have room, all but one of which are on their
    way; beyond the edges they are 0. For warpgroups, a `BoxStream`: both factors are tensors
    that the launch passes.
    """

def wgmma(dtype: DType, sums: DType, shape: _Three) -> WgmmaOp:
    """A product that a warpgroup begins at once, of 64 rows by n columns, 8 to 256, a multiple of
    8: `shape` is (64, n, k), where k numbers in `dtype` have 32 bytes. Types are those of
    `kp.mma`. It needs `sm_90a`.
    """

def tma_store(mma: TiledMma, c: Tensor, tile: _Two, stages: int | None = ...) -> TmaStore:
    """A `TmaStore` of tiles (m, n) to `c`, whose rows are a multiple of 16 bytes: what
    `kp.store_tile` does, with fewer instructions, and shared memory for `stages` parts of each
    warp, 2 KiB each or less.
    """

def tile_ring(
    mma: TiledMma,
    a: Tensor,
    b: Tensor,
    stages: int | None = ...,
    part: _Place | None = ...,
    sharing: int | None = ...,
) -> TileRing:
    """A `TileRing` of the factors `a` and `b`, tensors that the launch passes, for a block of a
    warpgroup and those of a `kp.tiled_mma`, which all make it. Each stage has room for a tile
    of both. `part` is a number and of how many: the steps along k are divided evenly into so
    many, one at least for each. The `sharing` blocks of a cluster, where there are more than
    one, multiply tiles of one column, at the same time, and each brings a part of the second
    factor's to all; before they end they come to its `tail`.
    """

def store_parts(
    tile: Tensor, parts: int, c: Tensor, place: _Place, epilogue: _Epilogue | None = ...
) -> None:
    """Adds up the float32 `tile`s in shared memory that the `parts` blocks of a cluster have, in
    their order, and writes the tile of `c` at `place`, each block so many rows of it: as
    `kp.store_tile` does. All threads of the cluster come by.
    """

def online_softmax(scale: Numeric) -> OnlineSoftmax:
    """An `OnlineSoftmax` of scores that are multiplied by `scale`, which is positive."""

def static(value: Numeric, choices: Iterable[Any], default: Any | None = ...) -> Any:
    """A number of the call as a constant, where it is one of some constants: the function has a
    way for each, and so kernels of its own. It is given a name: `n = kp.static(x.shape[1], (64,
    128))`. A call with another number is refused, or goes on with `default=`, which is any
    value.
    """

def empty(shape: Sequence[Any], dtype: DType) -> Tensor:
    """Memory that the call allocates, row-major, of which nothing is known: what is returned of it
    is a result, and the rest is gone with the call. For functions without a signature.
    """

def zeros(shape: Sequence[Any], dtype: DType) -> Tensor:
    """The same, of zeros: a launch on the call's stream writes them."""

def view(tensor: Tensor, layout: LayoutLike) -> Tensor:
    """A tensor of the same memory with another layout. The tensor is compact, and what the layout
    reaches lies inside it: a rule of the signature, where that is not known.
    """

def aligned(tensor: Tensor, bytes: int) -> builtins.bool:
    """Whether a tensor of the signature begins at a multiple of so many bytes: a condition, which
    each call answers where the signature does not.
    """

def max_blocks(kernel: Launchable, block: Dims, smem: Numeric | None = ...) -> Num:
    """How many blocks of a launch the device of the call holds at once, for the grid of that
    launch: of the same kernel with its arguments, `k(x, y)`, with the same `block` and `smem`.
    At least one for each multiprocessor.
    """

class PipelineUserType:
    """Who counts the stages of a pipeline: whoever fills them, or whoever uses them."""

    Producer: str = "producer"
    Consumer: str = "consumer"

class PipelineState:
    """The stage of a pipeline that comes next: `index`, and the parity `phase` that it is waited
    for in. `count` is how many came before it.
    """

    stages: int
    count: Num
    index: Num
    phase: Num
    def __init__(self, stages: int, count: Numeric, index: Numeric, phase: Numeric) -> None: ...
    def advance(self) -> None:
        """Goes on to the next stage."""
    def clone(self) -> PipelineState:
        """A state of its own, which is at the same stage."""

class PipelineAsync:
    """A pipeline whose stages threads fill by stores. `kp.PipelineAsync.create` makes one."""

    num_stages: int
    full: Mbarrier
    empty: Mbarrier
    def __init__(self, num_stages: int, full: Mbarrier, empty: Mbarrier) -> None: ...
    @staticmethod
    def create(num_stages: int, producers: Numeric, consumers: Numeric) -> PipelineAsync:
        """Makes a pipeline of so many stages, each of which as many threads fill and use as is said.
        All threads of the block do it, as it ends with a barrier of theirs.
        """
    def producer_acquire(self, state: PipelineState) -> None:
        """Waits until the consumers have released the stage."""
    def producer_commit(self, state: PipelineState) -> None:
        """Says that this thread has filled its part of the stage."""
    def producer_tail(self, state: PipelineState) -> None:
        """Waits until the consumers have released all stages."""
    def consumer_wait(self, state: PipelineState) -> None:
        """Waits until the producers have filled the stage."""
    def consumer_release(self, state: PipelineState) -> None:
        """Says that this thread is done with the stage."""
    def make_participants(self) -> tuple[PipelineProducer, PipelineConsumer]:
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""

class PipelineCpAsync:
    """A pipeline whose stages threads fill by copies `to=kp.async_group`, which arrive by
    themselves. `kp.PipelineCpAsync.create` makes one.
    """

    num_stages: int
    pipeline: PipelineAsync
    def __init__(self, pipeline: PipelineAsync) -> None: ...
    @staticmethod
    def create(num_stages: int, producers: Numeric, consumers: Numeric) -> PipelineCpAsync:
        """As `kp.PipelineAsync.create`."""
    def producer_acquire(self, state: PipelineState) -> None:
        """Waits until the consumers have released the stage."""
    def producer_commit(self, state: PipelineState) -> None:
        """Says that the stage is filled when the copies are done that this thread has begun."""
    def producer_tail(self, state: PipelineState) -> None:
        """Waits until the consumers have released all stages."""
    def consumer_wait(self, state: PipelineState) -> None:
        """Waits until the producers have filled the stage."""
    def consumer_release(self, state: PipelineState) -> None:
        """Says that this thread is done with the stage."""
    def make_participants(self) -> tuple[PipelineProducer, PipelineConsumer]:
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""

class PipelineTmaAsync:
    """A pipeline whose stages the device fills, by copies that a thread begins: of tiles of a
    `kp.make_tma`, or of many bytes. `kp.PipelineTmaAsync.create` makes one. A stage expects the
    bytes that are copied to it.
    """

    num_stages: int
    pipeline: PipelineAsync
    def __init__(self, pipeline: PipelineAsync) -> None: ...
    @staticmethod
    def create(num_stages: int, producers: Numeric, consumers: Numeric) -> PipelineTmaAsync:
        """As `kp.PipelineAsync.create`. Producers are the threads that begin copies, often one;
        consumers are whole warps.
        """
    def producer_acquire(self, state: PipelineState) -> None:
        """Waits until the consumers have released the stage."""
    def producer_commit(self, state: PipelineState) -> None:
        """Says that this thread has begun its copies to the stage, which is filled when all are there."""
    def producer_tail(self, state: PipelineState) -> None:
        """Waits until the consumers have released all stages."""
    def consumer_wait(self, state: PipelineState) -> None:
        """Waits until the stage is filled."""
    def consumer_release(self, state: PipelineState) -> None:
        """Says that this warp is done with the stage. All its threads come by."""
    def make_participants(self) -> tuple[PipelineProducer, PipelineConsumer]:
        """A `PipelineProducer` and a `PipelineConsumer`, which count the stages themselves."""

class PipelineProducer:
    """Whoever fills the stages of a pipeline, one after the other."""

    pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync
    state: PipelineState
    def __init__(self, pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync) -> None: ...
    def acquire_and_advance(self) -> AcquiredStage:
        """Waits until the next stage is empty, and gives it, as an `AcquiredStage`."""
    def tail(self) -> None:
        """Waits until the consumers have released all stages."""

class AcquiredStage:
    """A stage that is filled: number `index`. `kp.copy(…, to=stage)` fills it as its pipeline
    does.
    """

    pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync
    state: PipelineState
    index: Num
    to: Any
    def __init__(
        self, pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync, state: PipelineState
    ) -> None: ...
    def expect(self, n_bytes: Numeric) -> None:
        """Says that so many bytes come to it. `kp.copy(…, to=stage)` says so of its own, where an
        mbarrier counts them.
        """
    def commit(self) -> None:
        """Says that this thread has filled its part."""

class PipelineConsumer:
    """Whoever uses the stages of a pipeline, one after the other."""

    pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync
    state: PipelineState
    def __init__(self, pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync) -> None: ...
    def wait_and_advance(self) -> FilledStage:
        """Waits until the next stage is full, and gives it, as a `FilledStage`."""

class FilledStage:
    """A stage that is used: number `index`."""

    pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync
    state: PipelineState
    index: Num
    def __init__(
        self, pipeline: PipelineAsync | PipelineCpAsync | PipelineTmaAsync, state: PipelineState
    ) -> None: ...
    def release(self) -> None:
        """Says that this thread is done with it."""

class TilePipeline:
    """Tiles in shared memory that the device brings, one after the other. `kp.tile_pipeline` makes
    one.
    """

    tiles: Tensor
    def __init__(self, source: Tensor, tiles: Tensor, consumers: int) -> None: ...
    def fill(self, place: Sequence[Numeric]) -> None:
        """Has the device bring the tile at `place` to the next stage, when that is empty; one thread
        does it.
        """
    def next(self) -> FilledTile:
        """The `FilledTile` that comes next, when it is there."""

class FilledTile:
    """A tile that is used, `tile`, (rows, columns)."""

    tile: Tensor
    def __init__(self, tile: Tensor, stage: FilledStage) -> None: ...
    def release(self) -> None:
        """Says that this warp is done with it. All its threads come by."""

class MmaOp:
    """A product that a warp knows, of `shape` (m, n, k) and factors in `dtype`. `kp.mma` makes
    one.
    """

    dtype: DType
    sums: DType
    shape: _Three
    def __init__(self, dtype: DType, sums: DType, shape: _Three) -> None: ...

class TiledMma:
    """Warps or warpgroups side by side, which multiply a tile: `atoms` (m, n, 1) of them,
    `threads` in all. `kp.make_tiled_mma` makes one, and `kp.tiled_mma` one that knows its
    `tile`.
    """

    op: MmaOp | WgmmaOp
    atoms: _Three
    tile: _Three | None
    threads: int
    def __init__(self, op: MmaOp | WgmmaOp, atoms: _Three, tile: _Three | None) -> None: ...
    def get_slice(self, thread: Numeric) -> ThrMma:
        """What that thread has of tiles: a `ThrMma`."""
    def zeros(self) -> Sums | WarpgroupSums:
        """The thread's `Sums` of the tile, which are 0."""

class ThrMma:
    """What a thread has of tiles that a `TiledMma` multiplies: `unit` is the number of its warp or
    warpgroup.
    """

    mma: TiledMma
    def __init__(self, mma: TiledMma, thread: Numeric, unit: Numeric) -> None: ...
    def make_fragment_A(self, tile: Tensor) -> Tensor:
        """The thread's part of a tile of the first factor, (m, k): of warps registers, what the thread
        has in one product, products along m, and along k. Of warpgroups what they read of the tile
        in shared memory, where it is: rows of one product, numbers along k, products along m, and
        stages where there are some.
        """
    def make_fragment_B(self, tile: Tensor) -> Tensor:
        """The same for a tile of the second factor, (n, k)."""
    def make_fragment_C(self, shape: _Two) -> Sums | WarpgroupSums:
        """The thread's `Sums` of a tile, (m, n), or `WarpgroupSums`."""
    def load_A(self, tile: Tensor, k: int, fragment: Tensor) -> None:
        """Loads what the thread has of product `k` of a tile in shared memory."""
    def load_B(self, tile: Tensor, k: int, fragment: Tensor) -> None:
        """The same of the second factor."""
    def partition_C(self, tile: Tensor) -> Tensor:
        """The thread's elements of a tile, (m, n), in the order of its sums."""

class Sums:
    """A thread's sums of a tile, to which `kp.gemm` adds products. The last of them is on its way
    until `finish`.
    """

    values: Tensor
    def __init__(self, part: ThrMma, rows: int, columns: int) -> None: ...
    def clear(self) -> None:
        """Makes all of them 0."""
    def finish(self) -> Tensor:
        """The sums, ((2, 2), m, n) registers, with all products: of the first mode, two columns side
        by side, and two rows 8 apart.
        """

class TileStream:
    """Tiles of both factors in shared memory, one along k after the other: `steps` of them.
    `kp.tile_stream` makes one.
    """

    steps: Num
    def __init__(self, mma: TiledMma, a: _Factor, b: _Factor, stages: int) -> None: ...
    def next(self) -> tuple[Tensor, Tensor]:
        """The tiles of the next step, (m, k) and (n, k), when they are there. By then all threads of
        the block are done with those before; in their place others begin to come.
        """

class WgmmaOp:
    """A product that a warpgroup knows, of `shape` (64, n, k) and factors in `dtype`. `kp.wgmma`
    makes one.
    """

    dtype: DType
    sums: DType
    shape: _Three
    def __init__(self, dtype: DType, sums: DType, shape: _Three) -> None: ...

class WarpgroupSums:
    """A thread's sums of a tile that warpgroups multiply. What `kp.gemm` begins is in flight until
    a wait.
    """

    values: Tensor
    def __init__(self, part: ThrMma, rows: int, columns: int) -> None: ...
    def clear(self) -> None:
        """Makes all of them 0."""
    def finish(self) -> Tensor:
        """The sums, ((2, 2), m, n) registers, with all products: of the first mode, two columns side
        by side, and two rows 8 apart.
        """

class BoxStream:
    """A `TileStream` whose tiles the device copies as boxes, which one thread begins."""

    steps: Num
    def __init__(self, mma: TiledMma, a: _Factor, b: _Factor, stages: int) -> None: ...
    def next(self) -> tuple[Tensor, Tensor]:
        """The tiles of the next step, (m, k) and (n, k), when they are there. By then the products of
        the last but one are done, for all threads of the block; in its place others begin to come.
        """

class TmaStore:
    """Tiles of sums on their way to a tensor, part by part. `kp.tma_store` makes one."""

    columns: int
    stages: int
    def __init__(self, mma: TiledMma, c: Tensor, tile: _Two, stages: int) -> None: ...
    def store_tile(
        self,
        acc: Sums | WarpgroupSums,
        place: _Place,
        epilogue: _Epilogue | None = ...,
        reduction_kind: str | None | None = ...,
    ) -> None:
        """As `kp.store_tile`, by the same warps. What it writes may yet be on its way. With
        `reduction_kind` it is combined with what is there, as by `kp.copy`.
        """
    def tail(self) -> None:
        """Waits until the device has read all parts, which has to be before the block ends."""

class TileRing:
    """Tiles of both factors in a ring of stages. `kp.tile_ring` makes one. `grid` is how many
    tiles of sums there are, (m, n), where `sharing` blocks have tiles one below the other
    rounded up to as many, and `steps` how many tiles along k.
    """

    grid: tuple[Num, Num]
    steps: Num
    def __init__(
        self, mma: TiledMma, a: Tensor, b: Tensor, stages: int, part: _Place, sharing: int
    ) -> None: ...
    def fill(self, place: _Place, origin: _Place | None | None = ...) -> None:
        """Has the device fill stages with what the tile at `place`, (m, n), is a product of; one
        thread of the first warpgroup does it. Places are counted in tiles, from row `origin[0]` of
        the first factor and row `origin[1]` of the second one on. Blocks that share tiles fill
        those of one column at a time.
        """
    def multiply(self, acc: Sums | WarpgroupSums) -> None:
        """Makes the `WarpgroupSums` of a thread those of the tile that is filled next. All warpgroups
        but the first do it, tile by tile as they are filled.
        """
    def tail(self) -> None:
        """Waits until the blocks that share tiles need nothing of this one any more, which has to be
        before it ends. All threads come by.
        """

class OnlineSoftmax:
    """Of a lane's two rows the largest score so far, and its part of the sum of weights.
    `kp.online_softmax` makes one.
    """

    def __init__(self, scale: Numeric) -> None: ...
    def weigh(self, scores: Tensor, seen: Sequence[Any] | None | None = ...) -> None:
        """Makes weights of the scores of further columns, in place: e to the power of what a score
        times `scale` is below that of the largest so far. Where some have no weight, `seen` says
        for both rows which have: (first, end), counted from the first of these columns, where
        `first` may be None.
        """
    def rescale(self, sums: Tensor) -> None:
        """Makes sums that were weighed before the last `weigh` comparable with what it has weighed."""
    def finish(self, sums: Tensor) -> Tensor:
        """Makes means of sums, 0 of a row without weights, and gives the logarithms of what both rows
        were divided by: two registers.
        """
