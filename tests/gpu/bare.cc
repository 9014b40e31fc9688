// SPDX-License-Identifier: Apache-2.0
// What launches cost without an entry point, for speed.py: nanoseconds of host time for each cuLaunchKernelEx, and for each graph.

#include "speed.h"

// The kernel of PTX that ends in a NUL, as a function of the current context, or NULL.
extern "C" CUfunction bare_kernel(const char *ptx, const char *name)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    if (cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) || cuLibraryGetKernel(&kernel, library, name) ||
        cuKernelGetFunction(&function, kernel))
        return nullptr;
    return function;
}

// What `least` launches.
static struct {
    CUfunction function;
    void **params;
    unsigned threads;
} chosen;

extern "C" void least_launches(CUfunction function, void **params, unsigned threads)
{
    chosen = {function, params, threads};
}

// A function of libtvm_ffi that looks at no argument, and launches one block on the environment's stream of device 0.
extern "C" int __tvm_ffi_least(void *, const TVMFFIAny *, int32_t, TVMFFIAny *result)
{
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = chosen.threads;
    config.hStream = (CUstream)TVMFFIEnvGetStream(kDLCUDA, 0);
    CUcontext current = nullptr;
    if ((!config.hStream && cuCtxGetCurrent(&current)) || cuLaunchKernelEx(&config, chosen.function, chosen.params, nullptr))
        return -1;
    *result = {};
    return 0;
}

// One block on the NULL stream of the current context, with these arguments and those in turn.
extern "C" Bare *bare(CUfunction function, void **params, void **others, unsigned threads)
{
    return new Bare(function, 1, threads, nullptr, {{params, others}});
}

// Launches so many times, and waits before and after.
extern "C" double bare_launches(const Bare *bare, int n_launches)
{
    return sample([bare](int turn) { bare->plain(turn); }, n_launches);
}

// The same with the driver calls that a launcher through graphs makes.
extern "C" double bare_graphs(const Bare *bare, int n_launches)
{
    return sample([bare](int turn) { bare->updated(turn); }, n_launches);
}
