// SPDX-License-Identifier: Apache-2.0
// out = x / sqrt(mean(x^2) + eps) * w, row by row, in float32 whatever the type T of the elements.
//
// Threads load and store eight elements at once, 16 bytes, as words (uint4) that are taken apart where they are used.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ float sum_of_squares(uint4 words)
{
    const T *x = reinterpret_cast<const T *>(&words);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += float(x[i]) * float(x[i]);
    return sum;
}

template <typename T>
__device__ uint4 scaled(uint4 words, float scale, uint4 weights)
{
    T *x = reinterpret_cast<T *>(&words);
    const T *w = reinterpret_cast<const T *>(&weights);
#pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = T(float(x[i]) * scale * float(w[i]));
    return words;
}

// Has the compiler forget the elements, which it would otherwise keep beside the words, in registers that other threads need.
__device__ void forget_elements(uint4 &words)
{
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
}

// The sum over the kThreads threads of a row, for each of them. Where that is more than a warp, it is the whole block.
template <int kThreads>
__device__ float sum_of_row(float value)
{
#pragma unroll
    for (int distance = min(kThreads, 32) / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    if constexpr (kThreads > 32) {
        constexpr int kWarps = kThreads / 32;
        __shared__ float warps[kWarps];
        if (threadIdx.x % 32 == 0)
            warps[threadIdx.x / 32] = value;
        __syncthreads();
        // Every warp adds all the partial sums up, which saves a second barrier.
        value = threadIdx.x % 32 < kWarps ? warps[threadIdx.x % 32] : 0;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            value += __shfl_xor_sync(0xffffffff, value, distance);
    }
    return value;
}

// The threads of a block: of one row, or of several short ones.
template <int kThreads>
constexpr int kBlock = kThreads < 128 ? 128 : kThreads;

// Rows of at most kThreads * kEach * 8 elements: kThreads threads keep one in registers, so that it is read once.
template <typename T, int kThreads, int kEach>
__global__ void __launch_bounds__(kBlock<kThreads>)
    rms_norm(const T *x, const T *w, T *out, unsigned m, int d, float eps)
{
    unsigned row = blockIdx.x * (kBlock<kThreads> / kThreads) + threadIdx.x / kThreads;
    int first = threadIdx.x % kThreads, end = row < m ? d / 8 : 0;
    auto *from = reinterpret_cast<const uint4 *>(x + size_t(row) * d);
    auto *weights = reinterpret_cast<const uint4 *>(w);
    auto *to = reinterpret_cast<uint4 *>(out + size_t(row) * d);

    uint4 kept[kEach];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; i++)
        if (first + i * kThreads < end)
            kept[i] = from[first + i * kThreads];
#pragma unroll
    for (int i = 0; i < kEach; i++)
        if (first + i * kThreads < end)
            sum += sum_of_squares<T>(kept[i]);
    float scale = rsqrtf(sum_of_row<kThreads>(sum) / d + eps);
#pragma unroll
    for (int i = 0; i < kEach; i++) {
        forget_elements(kept[i]);
        if (first + i * kThreads < end)
            to[first + i * kThreads] = scaled<T>(kept[i], scale, weights[first + i * kThreads]);
    }
}

// Rows of any length, a block for each: read twice, the second time partly from the cache.
template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads) rms_norm_long(const T *x, const T *w, T *out, int d, float eps)
{
    auto *from = reinterpret_cast<const uint4 *>(x + size_t(blockIdx.x) * d);
    auto *weights = reinterpret_cast<const uint4 *>(w);
    auto *to = reinterpret_cast<uint4 *>(out + size_t(blockIdx.x) * d);

    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < d / 8; i += kThreads)
        sum += sum_of_squares<T>(from[i]);
    float scale = rsqrtf(sum_of_row<kThreads>(sum) / d + eps);
#pragma unroll 4
    for (int i = threadIdx.x; i < d / 8; i += kThreads)
        to[i] = scaled<T>(from[i], scale, weights[i]);
}
