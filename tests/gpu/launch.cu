// SPDX-License-Identifier: Apache-2.0
// What a launch costs through an entry point, against cuLaunchKernelEx of the same PTX: `launch LIBTVM_FFI FOLDER`.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <dlfcn.h>
#include <dlpack/dlpack.h>
#include <fstream>
#include <iterator>
#include <string>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <vector>

static const int kRounds = 61, kLaunches = 200;

static double now()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(since).count();
}

// Nanoseconds of host time a call.
template <class F> static double sample(F call)
{
    cuCtxSynchronize();
    double start = now();
    for (int i = 0; i < kLaunches; i++)
        call();
    double elapsed = (now() - start) / kLaunches;
    cuCtxSynchronize();
    return elapsed;
}

static double median(std::vector<double> samples)
{
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "launch: %s\n", what);
        std::exit(1);
    }
}

int main(int argc, char **argv)
{
    must(argc == 3, "usage: launch LIBTVM_FFI FOLDER");
    std::string folder = argv[2];
    void *tvm_ffi = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    void *package = dlopen((folder + "/add_one.so").c_str(), RTLD_NOW);
    must(tvm_ffi && package, "a library is missing");
    auto entry = (TVMFFISafeCallType)dlsym(package, "__tvm_ffi_add_one");
    auto set_stream = (decltype(&TVMFFIEnvSetStream))dlsym(tvm_ffi, "TVMFFIEnvSetStream");

    CUcontext context;
    CUlibrary library;
    CUkernel kernel;
    CUstream own;
    must(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context), "no GPU");
    std::ifstream file(folder + "/add_one.ptx");
    std::string ptx((std::istreambuf_iterator<char>(file)), {});
    must(!cuLibraryLoadData(&library, ptx.c_str(), 0, 0, 0, 0, 0, 0), "the PTX does not load");
    must(!cuLibraryGetKernel(&kernel, library, "add_one"), "the PTX has no kernel");
    cuStreamCreate(&own, CU_STREAM_NON_BLOCKING);

    std::printf("| n | stream | entry point | bare launch | ratio | control |\n|---|---|---|---|---|---|\n");
    for (int64_t n : {int64_t(1), int64_t(1000), int64_t(1) << 20})
        for (bool is_own : {false, true}) {
            CUstream stream = is_own ? own : nullptr;
            set_stream(kDLCUDA, 0, stream, nullptr);
            CUdeviceptr a, b;
            must(!cuMemAlloc(&a, n * 4) && !cuMemAlloc(&b, n * 4), "no memory");
            DLTensor x = {(void *)a, {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, &n, nullptr, 0}, y = x;
            y.data = (void *)b;
            TVMFFIAny args[2] = {}, result;
            args[0].type_index = args[1].type_index = kTVMFFIDLTensorPtr;
            args[0].v_ptr = &x;
            args[1].v_ptr = &y;
            int count = (int)n;
            void *params[] = {&a, &b, &count};
            CUlaunchConfig config = {};
            config.gridDimX = (unsigned)((n + 255) / 256);
            config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
            config.blockDimX = 256;
            config.hStream = stream;
            auto ours = [&] { must(entry(nullptr, args, 2, &result) == 0, "the call is refused"); };
            auto bare = [&] { must(!cuLaunchKernelEx(&config, (CUfunction)kernel, params, nullptr), "no launch"); };
            ours();
            std::vector<double> with, without, control;
            for (int round = 0; round < kRounds; round++) {
                with.push_back(sample(ours));
                without.push_back(sample(bare));
                control.push_back(sample(bare));
            }
            double reference = median(without);
            std::printf("| %lld | %s | %.0f ns | %.0f ns | %.3f | %.3f |\n", (long long)n, is_own ? "own" : "NULL",
                        median(with), reference, median(with) / reference, median(control) / reference);
            cuMemFree(a);
            cuMemFree(b);
        }
}
