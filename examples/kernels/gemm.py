# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by matrix units, in float16 and bfloat16.

`gemm_simple` is one text for warpgroups on sm_90a and for warps elsewhere. `gemm` is for sm_90a, and faster there: a
warpgroup fills stages, and two others multiply what is in them, tile after tile. What is written of a sum may be made
of it by a function, the `epilogue`: `gemm_epilogue.py` has some.
"""

import kernpack as kp

TILE, WARPS, GROUP = (128, 128), 4, 16
ARCHS = "compute_80", "sm_90a"


@kp.kernel
def gemm_tiles(a, b, c, warps: kp.Constexpr, epilogue: kp.Constexpr):
    grid = kp.ceil_div(c.shape[0], TILE[0]), kp.ceil_div(c.shape[1], TILE[1])
    m, n = kp.raster(kp.block_idx()[0], grid, GROUP)
    k, stages = (64, 3) if kp.has_arch("sm_90a") else (32, 4)
    mma = kp.tiled_mma(a.element_type, (TILE[0], TILE[1], k), warps=warps)
    ab = kp.tile_stream(mma, (a, m), (b, n), stages=stages)
    acc = mma.zeros()
    for _ in range(ab.steps):
        tile_a, tile_b = ab.next()
        kp.gemm(mma, acc, tile_a, tile_b)
    kp.store_tile(mma, acc, c, (m, n), epilogue)


def launch(a, b, c, arch, warps=WARPS, epilogue=None):
    tiles, blocks = gemm_tiles(a, b, c, warps, epilogue), n_tiles(c, TILE)
    tiles.launch(grid=blocks, block=32 * warps, min_blocks=8 // warps, arch=arch)


def n_tiles(c, tile):
    return kp.ceil_div(c.shape[0], tile[0]) * kp.ceil_div(c.shape[1], tile[1])


@kp.jit(
    "gemm_simple(a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], T, align=16, mut))"
    " where T in {float16, bfloat16}, k % 8 == 0, noalias(a, c), noalias(b, c)"
)
def gemm_simple(a, b, c):
    """c = a @ b.T. Never in place: a block reads what others write.

    Boxes of a tensor without elements are none, and their launch would not run. Rows of the result that begin at
    multiples of 16 bytes are written so many at once.
    """
    if a.shape[1] == 0:
        launch(a, b, c, "compute_80")
    elif c.shape[1] % 8 == 0:
        launch(a, b, c, ARCHS)
    else:
        launch(a, b, c, ARCHS)


ROWS, DEPTH, BESIDE, ADDING = 128, 64, 32, 2048
# What stages take of a block's shared memory, and where it has sums of parts, too.
MEMORY, PARTS_MEMORY = 192 << 10, 128 << 10
# Columns of a tile, how many blocks have a part of k each, and how many share tiles of b. The others are for results whose rows are
# no multiple of 16 bytes.
SHAPES = (
    (256, 1, 1),
    (224, 1, 1),
    (192, 1, 1),
    (128, 1, 1),
    (128, 2, 1),
    (128, 4, 1),
    (256, 1, 2),
    (192, 1, 2),
)
UNEVEN = (256, 1, 1), (128, 1, 1), (256, 1, 2)
# So many rows or fewer are columns of b @ a.T, of which tiles are high and narrow: what is in b is brought once, by blocks that have a part
# of k each.
FEW, FEW_PARTS = 16, 1


@kp.kernel
def gemm_roles(a, b, c, width: kp.Constexpr, sharing: kp.Constexpr, epilogue: kp.Constexpr):
    mma = kp.tiled_mma(a.element_type, (ROWS, width, DEPTH), warps=ROWS // 16)
    ring = kp.tile_ring(mma, a, b, MEMORY // (ROWS + width) // (2 * DEPTH), sharing=sharing)
    numbers = range(kp.block_idx()[0], ring.grid[0] * ring.grid[1], kp.grid_dim()[0])
    if kp.warpgroup_idx() == 0:
        kp.setmaxregister_decrease(40)
        if kp.thread_idx()[0] == 0:
            for number in numbers:
                ring.fill(kp.raster(number, ring.grid, GROUP))
    else:
        kp.setmaxregister_increase(232)
        acc = mma.zeros()
        for number in numbers:
            ring.multiply(acc)
            kp.store_tile(mma, acc, c, kp.raster(number, ring.grid, GROUP), epilogue)
    ring.tail()


@kp.kernel
def gemm_parts(a, b, c, width: kp.Constexpr, parts: kp.Constexpr, epilogue: kp.Constexpr):
    mma = kp.tiled_mma(a.element_type, (ROWS, width, DEPTH), warps=ROWS // 16)
    stages = PARTS_MEMORY // (ROWS + width) // (2 * DEPTH)
    ring = kp.tile_ring(mma, a, b, stages, part=(kp.block_idx_in_cluster(), parts))
    sums = kp.shared(kp.float32, kp.make_layout((ROWS, width), stride=(width + 8, 1)))
    place = kp.raster(kp.block_idx()[0] // parts, ring.grid, GROUP)
    if kp.warpgroup_idx() > 0:
        acc = mma.zeros()
        ring.multiply(acc)
        kp.store_tile(mma, acc, sums, (0, 0))
    elif kp.thread_idx()[0] == 0:
        ring.fill(place)
    kp.store_parts(sums, parts, c, place, epilogue)


def launch_roles(a, b, c, shape, epilogue=None):
    width, parts, sharing = shape
    tiles = n_tiles(c, (sharing * ROWS, width))
    if parts > 1:
        shared = gemm_parts(a, b, c, width, parts, epilogue)
        shared.launch(grid=tiles * parts, block=128 + 2 * ROWS, cluster=parts, arch="sm_90a")
    else:
        blocks = sharing * kp.min(kp.max(kp.device.sm_count // sharing, 1), tiles)
        roles = gemm_roles(a, b, c, width, sharing, epilogue)
        roles.launch(
            grid=blocks, block=128 + 2 * ROWS, cluster=sharing, max_registers=168, arch="sm_90a"
        )


def launch_few(a, b, c, epilogue=None):
    c = kp.select(c, mode=[1, 0])
    if epilogue is None:
        launch_roles(b, a, c, (FEW, FEW_PARTS, 1))
    else:
        launch_roles(b, a, c, (FEW, FEW_PARTS, 1), lambda total, n, m: epilogue(total, m, n))


def launch_best(a, b, c, shapes, epilogue=None):
    if c.shape[0] <= FEW:
        launch_few(a, b, c, epilogue)
        return
    costs = [cost(a.shape[1], c, shape) for shape in shapes]
    for own, shape in zip(costs, shapes):
        if own == kp.min(*costs):
            launch_roles(a, b, c, shape, epilogue)
            break


def cost(k, c, shape):
    """How long the busiest multiprocessor takes, in columns that it multiplies in a step along k.

    A step of a tile takes its columns and `BESIDE`. Where rows of the factors are no multiple of 32 bytes, it takes as many as the rows
    that it loads, if these are more. What another block has of a tile is added in the time of `ADDING`. So shapes with more parts than
    steps are never the cheapest.
    """
    width, parts, sharing = shape
    turns = kp.ceil_div(n_tiles(c, (sharing * ROWS, width)) * parts * sharing, kp.device.sm_count)
    steps = kp.ceil_div(kp.ceil_div(k, DEPTH), parts)
    step = kp.max(width + BESIDE, k % 16 // 8 * (ROWS + width // sharing))
    return turns * (steps * step + ADDING * (parts - 1))


@kp.jit(
    "gemm(a: Tensor([m, k], T, align=16), b: Tensor([n, k], T, align=16), c: Tensor([m, n], T, align=16, mut))"
    " where T in {float16, bfloat16}, k >= 8, k % 8 == 0, noalias(a, c), noalias(b, c)"
)
def gemm(a, b, c):
    """c = a @ b.T, on sm_90a, by tiles of the size that takes least time. Never in place: a block reads what others write."""
    if c.shape[1] % 8 == 0:
        launch_best(a, b, c, SHAPES)
    else:
        launch_best(a, b, c, UNEVEN)
