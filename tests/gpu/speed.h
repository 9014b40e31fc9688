// SPDX-License-Identifier: Apache-2.0
// What launch.cc and crowd.cc measure with: interleaved medians, packages as C calls them, and the same launches without a package.

#pragma once

#include "judge.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <dlpack/dlpack.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <vector>

// How many calls are made between two synchronisations: more would fill the driver's queue, and time the GPU instead.
static const int kCalls = 200;

inline int times(int n)
{
    return is_brief ? std::min(n, 8) : n;
}

inline double now()
{
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(since).count();
}

inline void must(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "speed: %s\n", what);
        std::exit(1);
    }
}

// When a call counts as made: when it returns, or when the device has done it.
enum class Until { Returned, Done };

// Nanoseconds a call. Calls are told which turn it is, 0 or 1.
using Call = std::function<void(int)>;

inline double sample(const Call &call, int n_calls, Until until = Until::Returned)
{
    n_calls = times(n_calls);
    must(!cuCtxSynchronize(), "the device fails");
    double start = now();
    for (int i = 0; i < n_calls; i++)
        call(i & 1);
    double returned = now();
    must(!cuCtxSynchronize(), "the device fails");
    return ((until == Until::Returned ? returned : now()) - start) / n_calls;
}

struct Side {
    std::string name;
    std::function<double()> take;
};

// Sides of as many calls each.
inline std::vector<Side> sides(int n_calls, Until until, const std::vector<std::pair<std::string, Call>> &calls)
{
    std::vector<Side> sides;
    for (auto &[name, call] : calls)
        sides.push_back({name, [call = call, n_calls, until] { return sample(call, n_calls, until); }});
    return sides;
}

// The median of each side, taken in turns that begin with another one each round.
inline Times interleave(const std::vector<Side> &sides, int n_rounds)
{
    std::map<std::string, std::vector<double>> taken;
    n_rounds = is_brief ? 1 : n_rounds;
    for (int round = 0; round < n_rounds; round++)
        for (size_t turn = 0; turn < sides.size(); turn++) {
            auto &side = sides[(round + turn) % sides.size()];
            taken[side.name].push_back(side.take());
        }
    Times medians;
    for (auto &[name, samples] : taken)
        medians[name] = median(samples);
    return medians;
}

template <class F> inline F function(void *library, const std::string &name)
{
    void *found = dlsym(library, name.c_str());
    must(found, name.c_str());
    return (F)found;
}

inline void *opened(const std::string &path)
{
    void *library = dlopen(path.c_str(), RTLD_NOW);
    must(library, path.c_str());
    return library;
}

// libtvm_ffi, as much of it as is called.
struct TvmFfi {
    decltype(&TVMFFIEnvSetStream) set_stream;
    decltype(&TVMFFIFunctionCall) call;
    decltype(&TVMFFITensorFromDLPack) own;

    explicit TvmFfi(const char *path)
    {
        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        must(library, path);
        set_stream = function<decltype(set_stream)>(library, "TVMFFIEnvSetStream");
        call = function<decltype(call)>(library, "TVMFFIFunctionCall");
        own = function<decltype(own)>(library, "TVMFFITensorFromDLPack");
    }
};

inline TVMFFIAny any(int32_t type, int64_t value)
{
    TVMFFIAny any = {};
    any.type_index = type;
    any.v_int64 = value;
    return any;
}

inline TVMFFIAny any_float(double value)
{
    TVMFFIAny any = {};
    any.type_index = kTVMFFIFloat;
    any.v_float64 = value;
    return any;
}

// Memory on a device, and a tensor object that owns nothing of it.
struct Tensor {
    CUdeviceptr data = 0;
    std::vector<int64_t> shape;
    DLManagedTensor managed = {};
    TVMFFIObjectHandle object = nullptr;

    Tensor(const TvmFfi &tvm_ffi, int device, std::vector<int64_t> shape, DLDataType dtype = {kDLFloat, 32, 1}) : shape(std::move(shape))
    {
        size_t n = 1;
        for (int64_t extent : this->shape)
            n *= extent;
        fill(n);
        managed.dl_tensor = {(void *)data, {kDLCUDA, device}, (int)this->shape.size(), dtype, this->shape.data(), nullptr, 0};
        must(!tvm_ffi.own(&managed, 0, 0, &object), "no tensor");
    }

    Tensor(const Tensor &) = delete;

    void fill(size_t n)
    {
        std::vector<float> zeros(std::max<size_t>(n, 1));
        must(data || !cuMemAlloc(&data, zeros.size() * 4), "no memory");
        must(!cuMemcpyHtoD(data, zeros.data(), zeros.size() * 4), "no copy");
    }

    TVMFFIAny any() const
    {
        TVMFFIAny any = {};
        any.type_index = kTVMFFITensor;
        any.v_obj = (TVMFFIObject *)object;
        return any;
    }
};

// Arguments of a call, and others of the next one.
using Turns = std::array<std::vector<TVMFFIAny>, 2>;

// A function of a package.
struct Function {
    const TvmFfi &tvm_ffi;
    TVMFFISafeCallType entry, prepare, launched;

    Function(const TvmFfi &tvm_ffi, const std::string &path, const std::string &name) : tvm_ffi(tvm_ffi)
    {
        void *library = opened(path);
        entry = function<TVMFFISafeCallType>(library, "__tvm_ffi_" + name);
        prepare = function<TVMFFISafeCallType>(library, "__tvm_ffi_kernpack_prepare_" + name);
        launched = function<TVMFFISafeCallType>(library, "__tvm_ffi_kernpack_launched_" + name);
    }

    void operator()(const std::vector<TVMFFIAny> &args) const
    {
        TVMFFIAny result = {};
        must(!entry(nullptr, args.data(), (int)args.size(), &result), "the call is refused");
    }

    // A function that makes a prepared call.
    std::function<void()> prepared(const std::vector<TVMFFIAny> &args) const
    {
        TVMFFIAny made = {};
        must(!prepare(nullptr, args.data(), (int)args.size(), &made), "the call is not prepared");
        return [call = tvm_ffi.call, object = made.v_obj] {
            TVMFFIAny result = {};
            must(!call(object, nullptr, 0, &result), "the prepared call fails");
        };
    }

    // How many kernels were launched one by one, and how many by graphs.
    std::array<uint64_t, 2> counts() const
    {
        TVMFFIAny result = {};
        must(!launched(nullptr, nullptr, 0, &result) && result.type_index == kTVMFFIStr, "nothing is told of launches");
        unsigned long long plain = 0, graph = 0;
        auto text = TVMFFIBytesGetByteArrayPtr(result.v_obj)->data;
        must(std::sscanf(text, "{\"plain\": %llu, \"graph\": %llu", &plain, &graph) == 2, text);
        return {plain, graph};
    }

    // What says how many of a hundred launches went through graphs since it said so last.
    std::function<std::string()> graphs() const
    {
        return [this, before = counts()]() mutable {
            auto now = counts();
            uint64_t plain = now[0] - before[0], graph = now[1] - before[1];
            before = now;
            return std::to_string(plain + graph ? 100 * graph / (plain + graph) : 0) + " %";
        };
    }
};

// The kernel of PTX as a function of the current context: cheaper to launch than a kernel.
inline CUfunction loaded(const std::string &ptx, const char *name)
{
    std::ifstream file(ptx);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    must(!cuLibraryLoadData(&library, text.c_str(), 0, 0, 0, 0, 0, 0), "the PTX does not load");
    must(!cuLibraryGetKernel(&kernel, library, name), "the PTX has no kernel");
    must(!cuKernelGetFunction(&function, kernel), "the kernel is not loaded");
    return function;
}

// Launches of a kernel in a line without a package: one by one, or as a graph. Each has arguments for two turns.
class Bare
{
    struct Launch {
        CUgraphNode node;
        CUDA_KERNEL_NODE_PARAMS params[2];
    };

    CUlaunchConfig config = {};
    CUfunction kernel;
    std::vector<Launch> launches;
    Call describe;
    CUgraphExec changing = nullptr, same = nullptr;
    CUcontext context = nullptr;
    unsigned long long id = 0;

    CUgraphExec graph()
    {
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode before = nullptr;
        must(!cuGraphCreate(&graph, 0), "no graph");
        for (auto &launch : launches) {
            must(!cuGraphAddKernelNode(&launch.node, graph, &before, before != nullptr, &launch.params[0]), "no node");
            before = launch.node;
        }
        must(!cuGraphInstantiate(&exec, graph, 0), "the graph cannot be launched");
        return exec;
    }

    // Tells the stream from others under the same handle, and the context of the NULL stream from what it was before a reset.
    unsigned long long place() const
    {
        unsigned long long id = 0;
        must(!(config.hStream ? cuStreamGetId(config.hStream, &id) : cuCtxGetId(context, &id)), "there is no id");
        return id;
    }

    // What a launcher has to know before it may launch a graph.
    void ask() const
    {
        CUcontext current = nullptr;
        CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
        bool is_usual = !cuCtxGetCurrent(&current) && current == context;
        is_usual &= !cuStreamIsCapturing(config.hStream, &capture) && !capture;
        must(is_usual && place() == id, "no graph can be launched");
    }

  public:
    using Arguments = std::array<void **, 2>;

    // `describe` makes what the arguments of a turn are made of, each time before they are passed.
    Bare(CUfunction kernel, unsigned blocks, unsigned threads, CUstream stream, const std::vector<Arguments> &arguments,
         Call describe = [](int) {})
        : kernel(kernel), describe(std::move(describe))
    {
        config.gridDimX = blocks;
        config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
        config.blockDimX = threads;
        config.hStream = stream;
        for (auto &turns : arguments) {
            Launch launch = {};
            for (int turn = 0; turn < 2; turn++) {
                auto &params = launch.params[turn];
                params.func = kernel;
                params.gridDimX = blocks;
                params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
                params.blockDimX = threads;
                params.kernelParams = turns[turn];
            }
            launches.push_back(launch);
        }
        same = graph();
        changing = graph();
        must(!cuCtxGetCurrent(&context), "there is no context");
        id = place();
    }

    // One launch after the other.
    void plain(int turn) const
    {
        describe(turn);
        for (auto &launch : launches)
            must(!cuLaunchKernelEx(&config, kernel, launch.params[turn].kernelParams, nullptr), "no launch");
    }

    // The driver calls that a launcher through graphs makes.
    void updated(int turn) const
    {
        ask();
        describe(turn);
        for (auto &launch : launches)
            must(!cuGraphExecKernelNodeSetParams(changing, launch.node, &launch.params[turn]), "the graph takes no arguments");
        must(!cuGraphLaunch(changing, config.hStream), "no launch");
    }

    // The same where the arguments stay.
    void unchanged() const
    {
        ask();
        only();
    }

    void only() const
    {
        must(!cuGraphLaunch(same, config.hStream), "no launch");
    }
};

inline CUstream new_stream()
{
    CUstream stream;
    must(!cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "no stream");
    return stream;
}
