// SPDX-License-Identifier: Apache-2.0
// Kernels that show how they were launched, and what they were passed.

// How many blocks each block's cluster has.
extern "C" __global__ void clusters(int *sizes)
{
    unsigned size;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
    sizes[blockIdx.x] = (int)size;
}

// Ends only where all blocks run at once.
extern "C" __global__ void meet(int *arrived)
{
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < (int)gridDim.x)
        ;
}

// Starts early, and still sees what the kernel before it wrote.
extern "C" __global__ void add_after(const int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n)
        b[i] = a[i] + 1;
}

// What constants arrive as, each as its bits.
struct pair
{
    signed char small;
    double wide;
};

extern "C" __global__ void constants(long long *bits, bool truth, unsigned short half, unsigned short brain, float single, unsigned long long big,
                                     const void *null, pair both)
{
    bits[0] = truth;
    bits[1] = half;
    bits[2] = brain;
    bits[3] = __float_as_int(single);
    bits[4] = (long long)big;
    bits[5] = (long long)null;
    bits[6] = both.small;
    bits[7] = __double_as_longlong(both.wide);
}

// Takes what its function takes: parameters, then the result.
extern "C" __global__ void scaled(const float *a, float by, int n, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = by * a[i];
}
