// SPDX-License-Identifier: Apache-2.0
// Kernels that show how they were launched.

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
