// SPDX-License-Identifier: Apache-2.0
// What launches cost without an entry point, for speed.py: nanoseconds of host time for each cuLaunchKernelEx.

#include <chrono>
#include <cuda.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

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

// Launches one block on the NULL stream of the current context, so many times, and waits before and after; -1 where a launch fails.
extern "C" double bare_launches(CUfunction function, void **params, unsigned threads, int n_launches)
{
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = threads;
    bool is_failed = cuCtxSynchronize() != CUDA_SUCCESS;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n_launches; i++)
        is_failed |= cuLaunchKernelEx(&config, function, params, nullptr) != CUDA_SUCCESS;
    std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    is_failed |= cuCtxSynchronize() != CUDA_SUCCESS;
    return is_failed ? -1 : elapsed.count() / n_launches;
}
