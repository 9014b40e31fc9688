// SPDX-License-Identifier: Apache-2.0
// Kernels that show when they ran, and with which arguments.

extern "C" __global__ void put(long long *x, int i, long long v)
{
    if (threadIdx.x == 0)
        x[i] = v;
}

// Keeps its place on the device for so many cycles.
extern "C" __global__ void spin(int *x, long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        x[0] += 1;
}

struct triple {
    signed char a;
    double b;
    int c;
};

extern "C" __global__ void total(double *out, triple all, int again)
{
    out[0] = all.a + all.b + all.c + again;
}
