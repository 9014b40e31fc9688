// SPDX-License-Identifier: Apache-2.0
// Each block has the device copy one box of a tensor to shared memory, and writes what it finds there to `out`, byte by byte.

// As in cuda.h, which needs more of the C library than NVRTC has.
struct alignas(64) CUtensorMap
{
    unsigned long long opaque[16];
};

static __device__ unsigned shared(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

template <int RANK>
static __device__ void load(unsigned to, const CUtensorMap *map, unsigned barrier, int x, int y, int z)
{
    if constexpr (RANK == 1)
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                     ::"r"(to), "l"(map), "r"(x), "r"(barrier) : "memory");
    else if constexpr (RANK == 2)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
    else
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                     ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier) : "memory");
}

// The box of a block begins at its number times x, y and z, the innermost dim first. It has `bytes` in shared memory.
template <int RANK>
__global__ void boxes(const __grid_constant__ CUtensorMap map, unsigned char *out, int bytes, int x, int y, int z)
{
    extern __shared__ __align__(1024) unsigned char box[];
    __shared__ alignas(8) unsigned long long arrived;
    unsigned barrier = shared(&arrived);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
        load<RANK>(shared(box), &map, barrier, blockIdx.x * x, blockIdx.y * y, blockIdx.z * z);
    }
    __syncthreads();
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(barrier) : "memory");
    size_t number = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        out[number * bytes + i] = box[i];
}
