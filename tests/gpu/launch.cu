// SPDX-License-Identifier: Apache-2.0
// What a launch costs through an entry point and through a prepared call, against cuLaunchKernelEx of the same PTX, and what a tensor map
// costs: `launch LIBTVM_FFI FOLDER`.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <dlfcn.h>
#include <dlpack/dlpack.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <vector>

static const int kRounds = 101, kLaunches = 200;

static double now()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(since).count();
}

// Nanoseconds of host time a call.
static double sample(const std::function<void()> &call)
{
    cuCtxSynchronize();
    double start = now();
    for (int i = 0; i < kLaunches; i++)
        call();
    double elapsed = (now() - start) / kLaunches;
    cuCtxSynchronize();
    return elapsed;
}

// The medians of calls, in turns that begin with another one each round.
static std::vector<double> medians(const std::vector<std::function<void()>> &sides)
{
    std::vector<std::vector<double>> taken(sides.size());
    for (int round = 0; round < kRounds; round++)
        for (size_t turn = 0; turn < sides.size(); turn++) {
            size_t side = (round + turn) % sides.size();
            taken[side].push_back(sample(sides[side]));
        }
    std::vector<double> medians;
    for (auto &samples : taken) {
        std::sort(samples.begin(), samples.end());
        medians.push_back(samples[samples.size() / 2]);
    }
    return medians;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "launch: %s\n", what);
        std::exit(1);
    }
}

template <class F> static F function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    must(found, name);
    return (F)found;
}

// A vector on a device, and a tensor object that owns nothing of it.
struct Vector {
    CUdeviceptr data = 0;
    int64_t n;
    DLManagedTensor managed = {};
    TVMFFIObjectHandle object = nullptr;

    Vector(void *tvm_ffi, int64_t n, int device) : n(n)
    {
        must(!cuMemAlloc(&data, n > 0 ? n * 4 : 4), "no memory");
        managed.dl_tensor = {(void *)data, {kDLCUDA, device}, 1, {kDLFloat, 32, 1}, &this->n, nullptr, 0};
        auto own = function<decltype(&TVMFFITensorFromDLPack)>(tvm_ffi, "TVMFFITensorFromDLPack");
        must(!own(&managed, 0, 0, &object), "no tensor");
    }

    TVMFFIAny any() const
    {
        TVMFFIAny any = {};
        any.type_index = kTVMFFITensor;
        any.v_obj = (TVMFFIObject *)object;
        return any;
    }
};

// What somebody writes by hand around a launch.
__attribute__((noinline)) static CUresult by_hand(CUfunction kernel, CUdeviceptr a, CUdeviceptr b, int n, CUstream stream)
{
    void *params[] = {&a, &b, &n};
    CUlaunchConfig config = {};
    config.gridDimX = ((unsigned)n + 255) / 256;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 256;
    config.hStream = stream;
    return cuLaunchKernelEx(&config, kernel, params, nullptr);
}

// The same as a function of libtvm_ffi, with what each such function has to ask: the least that one costs.
struct Asking {
    decltype(&TVMFFIEnvGetStream) get_stream;
    CUfunction kernel;
    CUdeviceptr a, b;
    int n, device;

    static int run(void *self, const TVMFFIAny *, int32_t n_args, TVMFFIAny *result)
    {
        auto &[get_stream, kernel, a, b, n, device] = *(const Asking *)self;
        auto stream = (CUstream)get_stream(kDLCUDA, device);
        CUcontext current = nullptr;
        if (n_args || ((uintptr_t)stream <= 2 && (cuCtxGetCurrent(&current) || !current)))
            return -1;
        *result = {};
        return by_hand(kernel, a, b, n, stream);
    }
};

struct Libraries {
    void *tvm_ffi, *package;
    std::string ptx;
};

static void row(const Libraries &libraries, int device, int64_t n, bool is_own)
{
    auto set_stream = function<decltype(&TVMFFIEnvSetStream)>(libraries.tvm_ffi, "TVMFFIEnvSetStream");
    auto call = function<decltype(&TVMFFIFunctionCall)>(libraries.tvm_ffi, "TVMFFIFunctionCall");
    auto entry = function<TVMFFISafeCallType>(libraries.package, "__tvm_ffi_add_one");
    auto prepare = function<TVMFFISafeCallType>(libraries.package, "__tvm_ffi_kernpack_prepare_add_one");

    CUlibrary library;
    CUkernel kernel;
    CUfunction launched; // of the current context: cheaper to launch than a kernel
    must(!cuLibraryLoadData(&library, libraries.ptx.c_str(), 0, 0, 0, 0, 0, 0), "the PTX does not load");
    must(!cuLibraryGetKernel(&kernel, library, "add_one"), "the PTX has no kernel");
    must(!cuKernelGetFunction(&launched, kernel), "the kernel is not loaded");
    CUstream stream = nullptr;
    if (is_own)
        must(!cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "no stream");
    set_stream(kDLCUDA, device, stream, nullptr);

    Vector a(libraries.tvm_ffi, n, device), b(libraries.tvm_ffi, n, device);
    TVMFFIAny args[2] = {a.any(), b.any()}, result = {}, prepared = {};
    must(!prepare(nullptr, args, 2, &prepared), "the call is not prepared");
    int count = (int)n;
    void *params[] = {&a.data, &b.data, &count};
    CUlaunchConfig config = {};
    config.gridDimX = (unsigned)((n + 255) / 256);
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 256;
    config.hStream = stream;
    auto ours = [&] { must(entry(nullptr, args, 2, &result) == 0, "the call is refused"); };
    auto again = [&] { must(call(prepared.v_obj, nullptr, 0, &result) == 0, "the prepared call fails"); };
    auto bare = [&] { must(!cuLaunchKernelEx(&config, launched, params, nullptr), "no launch"); };
    Asking asking = {function<decltype(&TVMFFIEnvGetStream)>(libraries.tvm_ffi, "TVMFFIEnvGetStream"), launched, a.data, b.data, count, device};
    TVMFFIObjectHandle asks = nullptr;
    auto create = function<decltype(&TVMFFIFunctionCreate)>(libraries.tvm_ffi, "TVMFFIFunctionCreate");
    must(!create(&asking, Asking::run, nullptr, &asks), "no function");
    auto least = [&] { must(call(asks, nullptr, 0, &result) == 0, "no launch"); };
    auto hand = [&] { must(!by_hand(launched, a.data, b.data, count, stream), "no launch"); };
    ours();
    again();
    std::printf("| %d | %lld | %s | ", device, (long long)n, is_own ? "own" : "NULL");
    if (n == 0) {
        auto took = medians({ours, again});
        std::printf("%.0f ns | %.0f ns | no launch | | | | | | | |\n", took[0], took[1]);
        return;
    }
    auto took = medians({ours, again, least, hand, bare, bare});
    double reference = took[4];
    for (int side = 0; side < 5; side++)
        std::printf("%.0f ns | ", took[side]);
    for (int side : {0, 1, 2, 3, 5})
        std::printf("%.3f |%s", took[side] / reference, side == 5 ? "\n" : " ");
}

static void tensor_map()
{
    CUdeviceptr data;
    must(!cuMemAlloc(&data, 1 << 20), "no memory");
    alignas(64) CUtensorMap map;
    std::array<cuuint64_t, 2> dims = {512, 512}, strides = {1024};
    std::array<cuuint32_t, 2> box = {64, 128}, steps = {1, 1};
    auto encode = [&] {
        must(!cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)data, dims.data(), strides.data(),
                                     box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
             "no tensor map");
    };
    auto took = medians({encode, encode});
    std::printf("\nA tensor map of two dims takes the driver %.0f ns to encode (control: %.0f ns).\n", took[0], took[1]);
}

int main(int argc, char **argv)
{
    must(argc == 3, "usage: launch LIBTVM_FFI FOLDER");
    std::string folder = argv[2];
    Libraries libraries;
    libraries.tvm_ffi = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    libraries.package = dlopen((folder + "/add_one.so").c_str(), RTLD_NOW);
    must(libraries.tvm_ffi && libraries.package, "a library is missing");
    std::ifstream file(folder + "/add_one.ptx");
    libraries.ptx = std::string((std::istreambuf_iterator<char>(file)), {});

    int n_devices = 0;
    must(!cuInit(0) && !cuDeviceGetCount(&n_devices) && n_devices > 0, "no GPU");
    std::printf("| device | n | stream | entry point | prepared | least | by hand | bare launch | ratio | prepared | least | by hand | control |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int device = 0; device < std::min(n_devices, 2); device++) {
        CUcontext context;
        must(!cuDevicePrimaryCtxRetain(&context, device) && !cuCtxSetCurrent(context), "no context");
        for (int64_t n : {int64_t(0), int64_t(1), int64_t(1000), int64_t(1) << 20})
            for (bool is_own : {false, true})
                row(libraries, device, n, is_own);
        if (device == 0)
            tensor_map();
    }
}
