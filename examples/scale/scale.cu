// SPDX-License-Identifier: Apache-2.0
// y = alpha * x, for the type that a call has.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__global__ void scale(const T *x, T *y, int n, float alpha)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = T(alpha * float(x[i]));
}
