// SPDX-License-Identifier: Apache-2.0
// C = A B^T for Hopper (sm_90a): A of m rows and B of n rows, both of k bfloat16 elements, sums in float32, C in bfloat16.
//
// One block runs on each multiprocessor and works on tiles of C, one after another. Its first warpgroup brings tiles of A and B into shared
// memory, by the tensor memory accelerator (TMA); the other two multiply them there (wgmma) and write what comes out. Shared memory is a
// ring of stages, so that several loads are under way while the tensor cores work, also while a tile of C is written.
#include <cuda_bf16.h>

// A block's tile of C, and the part of k that one stage has. The boxes in gemm.toml say the same.
constexpr int kRows = 128, kColumns = 256, kDepth = 64;
constexpr int kStages = 4;
// So many tiles lie on top of one another before the next column of tiles begins: blocks that run at the same time load the same rows and
// columns, from the L2 cache.
constexpr int kGroup = 16;
constexpr unsigned kStageBytes = (kRows + kColumns) * kDepth * 2;

// CUtensorMap of cuda.h, a header that NVRTC does not bring.
struct alignas(64) TensorMap {
    unsigned char opaque[128];
};

using Barrier = unsigned long long;

struct Shared {
    // As 128-byte swizzling wants it: rows of 128 bytes, at multiples of 1024 bytes.
    __nv_bfloat16 a[kStages][kRows * kDepth], b[kStages][kColumns * kDepth];
    Barrier full[kStages], empty[kStages];
};
static_assert(sizeof(Shared) == 4 * ((128 + 256) * 64 * 2 + 2 * 8), "smem in gemm.toml says so");

// A position in the ring of stages. The phase changes with each time around, as that of the barriers does.
struct Position {
    int stage = 0;
    unsigned phase = 0;

    __device__ void advance()
    {
        if (++stage == kStages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

struct Tile {
    unsigned row, column;
};

// The first element of the tile with a number: down the rows of a group, then on to the next column.
__device__ Tile tile_of(int number, int n_tile_rows, int n_tile_columns)
{
    int above = number / (kGroup * n_tile_columns) * kGroup, within = number % (kGroup * n_tile_columns);
    int rows = min(kGroup, n_tile_rows - above);
    return {unsigned(above + within % rows) * kRows, unsigned(within / rows) * kColumns};
}

__device__ unsigned shared_address(const void *pointer)
{
    return unsigned(__cvta_generic_to_shared(pointer));
}

__device__ void initialise(Barrier *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(Barrier *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Arrives, and makes the barrier wait for so many bytes too.
__device__ void arrive_expecting(Barrier *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Waits until a phase is over. Of a new barrier, the phase before the first is.
__device__ void wait(Barrier *barrier, unsigned phase)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_address(barrier)), "r"(phase) : "memory");
}

// Starts to load a box; what lies beyond the tensor's edges reads as zeros. The bytes arrive at the barrier.
__device__ void load_box(void *to, const TensorMap &map, unsigned depth, unsigned row, Barrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(to)), "l"(&map), "r"(depth), "r"(row), "r"(shared_address(barrier)) : "memory");
}

// What wgmma wants to know about a tile in shared memory: its address; 1024 bytes from eight rows to the next eight; 128-byte swizzling.
__device__ unsigned long long descriptor(const __nv_bfloat16 *tile)
{
    unsigned long long address = (shared_address(tile) & 0x3ffff) >> 4;
    return address | 1ull << 16 | 1024ull >> 4 << 32 | 1ull << 62;
}

#define SUMS_8(i) \
    "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), "+f"(sums[i + 6]), \
        "+f"(sums[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)

// Adds the product of 64 rows and 256 columns, 16 deep, to a warpgroup's sums, or sets them to it.
__device__ void multiply(float (&sums)[128], unsigned long long a, unsigned long long b, bool adds)
{
    asm volatile("{\n"
                 ".reg .pred adds;\n"
                 "setp.ne.b32 adds, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, adds, 1, 1, 0, 0;\n"
                 "}"
                 : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
                 : "l"(a), "l"(b), "r"(int(adds)));
}

// The first warpgroup's part: one thread fills stages as they become free.
__device__ void load_tiles(Shared &shared, const TensorMap &a, const TensorMap &b, int n_tile_rows, int n_tile_columns, int steps)
{
    Position position;
    for (int number = blockIdx.x; number < n_tile_rows * n_tile_columns; number += gridDim.x) {
        Tile tile = tile_of(number, n_tile_rows, n_tile_columns);
        for (int step = 0; step < steps; step++, position.advance()) {
            Barrier *full = &shared.full[position.stage];
            wait(&shared.empty[position.stage], position.phase ^ 1);
            arrive_expecting(full, kStageBytes);
            load_box(shared.a[position.stage], a, step * kDepth, tile.row, full);
            load_box(shared.b[position.stage], b, step * kDepth, tile.column, full);
        }
    }
}

// Sums up a tile's products: 64 rows of the block's 128, for one warpgroup.
__device__ void multiply_tile(float (&sums)[128], Shared &shared, Position &position, int steps)
{
    int first = (threadIdx.x / 128 - 1) * 64 * kDepth;
    Barrier *last = nullptr;
    for (int step = 0; step < steps; step++, position.advance()) {
        wait(&shared.full[position.stage], position.phase);
        unsigned long long a = descriptor(shared.a[position.stage] + first), b = descriptor(shared.b[position.stage]);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int depth = 0; depth < kDepth / 16; depth++) // 32 bytes on within each row
            multiply(sums, a + depth * 2, b + depth * 2, step > 0 || depth > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // All products but these are done, so the stage before is free.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (last && threadIdx.x % 32 == 0)
            arrive(last);
        last = &shared.empty[position.stage];
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x % 32 == 0)
        arrive(last);
}

// Four threads have two columns each of four groups of eight; afterwards, each has one whole group.
__device__ uint4 exchanged(unsigned (&values)[4])
{
    bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
    unsigned low_pair = __shfl_xor_sync(0xffffffff, odd ? values[0] : values[1], 1);
    unsigned high_pair = __shfl_xor_sync(0xffffffff, odd ? values[2] : values[3], 1);
    unsigned x = odd ? low_pair : values[0], y = odd ? values[1] : low_pair;
    unsigned z = odd ? high_pair : values[2], w = odd ? values[3] : high_pair;
    unsigned even = __shfl_xor_sync(0xffffffff, high ? x : z, 2);
    unsigned other = __shfl_xor_sync(0xffffffff, high ? y : w, 2);
    return high ? uint4{even, other, z, w} : uint4{x, y, even, other};
}

// Eight elements of a row of C, as far as they are inside.
__device__ void store(__nv_bfloat16 *c, uint4 values, unsigned row, unsigned column, unsigned m, unsigned n)
{
    if (row >= m)
        return;
    __nv_bfloat16 *to = c + size_t(row) * n + column;
    if (n % 8 == 0) {
        if (column < n)
            *reinterpret_cast<uint4 *>(to) = values;
        return;
    }
    const auto *elements = reinterpret_cast<const __nv_bfloat16 *>(&values);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (column + i < n)
            to[i] = elements[i];
}

// Writes what a warpgroup has summed up. sums[4 * i + 2 * j] and the next are columns 8 * i + 2 * (thread % 4) of row 8 * j + thread / 4,
// for the threads of a warp, whose rows begin at 16 times its number.
__device__ void store_tile(__nv_bfloat16 *c, const float (&sums)[128], Tile tile, unsigned m, unsigned n)
{
    unsigned row = tile.row + (threadIdx.x / 32 - 4) * 16 + threadIdx.x % 32 / 4, column = tile.column + threadIdx.x % 4 * 8;
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
        for (int first = 0; first < 32; first += 4) {
            unsigned values[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int at = (first + i) * 4 + j * 2;
                __nv_bfloat162 pair = __floats2bfloat162_rn(sums[at], sums[at + 1]);
                values[i] = reinterpret_cast<unsigned &>(pair);
            }
            store(c, exchanged(values), row + j * 8, column + first * 8, m, n);
        }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, __nv_bfloat16 *c, unsigned m, unsigned n, unsigned k)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    int n_tile_rows = (m - 1) / kRows + 1, n_tile_columns = (n - 1) / kColumns + 1, steps = (k - 1) / kDepth + 1;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < kStages; stage++) {
            initialise(&shared.full[stage], 1);
            initialise(&shared.empty[stage], 8); // each warp of two warpgroups
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            load_tiles(shared, a, b, n_tile_rows, n_tile_columns, steps);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float sums[128];
        Position position;
        for (int number = blockIdx.x; number < n_tile_rows * n_tile_columns; number += gridDim.x) {
            multiply_tile(sums, shared, position, steps);
            store_tile(c, sums, tile_of(number, n_tile_rows, n_tile_columns), m, n);
        }
    }
}
