// SPDX-License-Identifier: Apache-2.0
// The kernels of the benchmarks: they do nothing, so that a call is its checks.

#include <stdint.h>

void add_one_kernel(const float *a, float *b, int64_t n)
{
    (void)a, (void)b, (void)n;
}

void blend_kernel(const float *x0, const float *x1, const float *x2, const float *x3, float *y,
                  int32_t i0, int32_t i1, int32_t i2, int32_t i3, int32_t i4, int32_t i5,
                  int32_t i6, int32_t i7, int32_t i8, float f0, float f1, float f2, float f3,
                  float f4)
{
    (void)x0, (void)x1, (void)x2, (void)x3, (void)y;
    (void)i0, (void)i1, (void)i2, (void)i3, (void)i4, (void)i5, (void)i6, (void)i7, (void)i8;
    (void)f0, (void)f1, (void)f2, (void)f3, (void)f4;
}
