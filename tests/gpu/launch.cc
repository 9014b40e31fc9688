// SPDX-License-Identifier: Apache-2.0
// What a launch costs through an entry point and through a prepared call, against the driver calls that it takes, and what a tensor map
// costs: `launch LIBTVM_FFI FOLDER [brief]`. judge.h says when a target is missed.

#include "speed.h"
#include <deque>

static const int kRounds = 101, kWarm = 20000;

// A function, the same with `submit = "plain"`, and the same launches without a package.
struct Subject {
    const Function &chosen, &plain;
    Turns turns;
    Bare bare;
};

static std::string place(int device, CUstream stream)
{
    return "device " + std::to_string(device) + ", " + (stream ? "own" : "NULL");
}

static const Ratio kPlainControl = {"bare launch again", "bare launch"};

static const char kColumns[] = R"(
A bare graph is the driver calls that a package makes where it launches through one: cuCtxGetCurrent, cuStreamIsCapturing, cuStreamGetId on a
stream of its own and else cuCtxGetId, cuGraphExecKernelNodeSetParams for each kernel, cuGraphLaunch. Bare prepared is the same without
cuGraphExecKernelNodeSetParams.

What auto takes of bare launches misses its target only where it is also above 1.05 times what the bare graph takes of them, in the next
column: on that machine, that driver gives nobody less.
)";

static Table one_kernel(const std::string &title, double graph, double launch, double plain, double prepared)
{
    std::vector<Ratio> ratios = {
        {"auto", "bare graph", graph},
        {"same arguments", "bare prepared"},
        {"prepared", "bare prepared", prepared},
        {"prepared", "graph launch", launch ? 1.12 : 0},
        {"auto", "bare launch", launch, "bare graph"},
        {"bare graph", "bare launch"},
        {"plain", "bare launch", plain},
        {"bare graph again", "bare graph"},
        kPlainControl,
    };
    std::vector<std::string> shown = {"auto",       "same arguments", "prepared",     "plain",
                                      "bare graph", "bare prepared",  "graph launch", "bare launch"};
    return Table(title, {"call"}, shown, ratios);
}

// Many calls, so that both ways have been tried, and the use has its graph.
static void warm(const Call &call)
{
    for (int i = 0; i < times(kWarm); i += kCalls)
        sample(call, kCalls);
}

// Host time of launches of one kernel.
static Times host_times(const Subject &subject)
{
    auto again = subject.chosen.prepared(subject.turns[0]);
    auto changing = [&](int turn) { subject.chosen(subject.turns[turn]); };
    auto graph = [&](int turn) { subject.bare.updated(turn); };
    auto launch = [&](int turn) { subject.bare.plain(turn); };
    warm([&](int turn) { changing(turn), again(); });
    auto measured = sides(kCalls, Until::Returned,
                                 {
                                     {"auto", changing},
                                     {"same arguments", [&](int) { changing(0); }},
                                     {"prepared", [&](int) { again(); }},
                                     {"plain", [&](int turn) { subject.plain(subject.turns[turn]); }},
                                     {"bare graph", graph},
                                     {"bare graph again", graph},
                                     {"bare prepared", [&](int) { subject.bare.unchanged(); }},
                                     {"graph launch", [&](int) { subject.bare.only(); }},
                                     {"bare launch", launch},
                                     {"bare launch again", launch},
                                 });
    return interleave(measured, kRounds);
}

// Two vectors and their size, for two turns.
struct Vectors {
    int n;
    std::array<Tensor, 4> tensors;
    std::array<std::array<void *, 3>, 2> params;

    Vectors(const TvmFfi &tvm_ffi, int device, int64_t n)
        : n((int)n),
          tensors{Tensor{tvm_ffi, device, {n}}, Tensor{tvm_ffi, device, {n}}, Tensor{tvm_ffi, device, {n}}, Tensor{tvm_ffi, device, {n}}}
    {
        for (int turn = 0; turn < 2; turn++)
            params[turn] = {&tensors[2 * turn].data, &tensors[2 * turn + 1].data, &this->n};
    }

    Subject subject(const Function &chosen, const Function &plain, CUfunction kernel, CUstream stream)
    {
        Turns turns;
        for (int turn = 0; turn < 2; turn++)
            turns[turn] = {tensors[2 * turn].any(), tensors[2 * turn + 1].any()};
        return {chosen, plain, turns, Bare(kernel, (n + 255) / 256, 256, stream, {{params[0].data(), params[1].data()}})};
    }
};

// Nineteen arguments, and others.
struct Many {
    std::vector<int> ints = std::vector<int>(18);
    std::vector<float> floats = std::vector<float>(10);
    std::array<Tensor, 5> tensors;
    std::array<std::array<void *, 19>, 2> params;
    Turns turns;

    Many(const TvmFfi &tvm_ffi, int device)
        : tensors{Tensor{tvm_ffi, device, {2, 3, 4, 8}}, Tensor{tvm_ffi, device, {2, 3, 4, 8}}, Tensor{tvm_ffi, device, {2, 3, 4, 8}},
                  Tensor{tvm_ffi, device, {2, 3, 4, 8}}, Tensor{tvm_ffi, device, {2, 3, 4, 8}}}
    {
        for (int turn = 0; turn < 2; turn++) {
            int place = 0;
            auto add = [&](TVMFFIAny any, void *param) {
                turns[turn].push_back(any);
                params[turn][place++] = param;
            };
            for (int i = 0; i < 5; i++) {
                // The last one is written, and stays the last.
                auto &tensor = tensors[turn && i < 4 ? 3 - i : i];
                add(tensor.any(), &tensor.data);
            }
            for (int i = 0; i < 9; i++) {
                int &value = ints[9 * turn + i] = 10 * turn + i;
                add(any(kTVMFFIInt, value), &value);
            }
            for (int i = 0; i < 5; i++) {
                float &value = floats[5 * turn + i] = turn + i / 2.0f;
                add(any_float(value), &value);
            }
        }
    }
};

struct Libraries {
    TvmFfi tvm_ffi;
    std::string folder;
    Function add_one, add_one_plain, blend, blend_plain, maps, maps_plain, ten, ten_plain;

    Libraries(const char *path, const std::string &folder)
        : tvm_ffi(path), folder(folder), add_one(package("add_one", "")), add_one_plain(package("add_one", "_plain")),
          blend(package("blend", "")), blend_plain(package("blend", "_plain")), maps(package("maps", "")),
          maps_plain(package("maps", "_plain")), ten(package("ten", "")), ten_plain(package("ten", "_plain"))
    {
    }

    Function package(const std::string &name, const std::string &ending) const
    {
        return Function(tvm_ffi, folder + "/" + name + ending + ".so", name);
    }

    CUfunction kernel(const std::string &name, const char *kernel) const
    {
        return loaded(folder + "/" + name + ".ptx", kernel);
    }

    // Measures where launches go to a stream, and the environment has it too.
    template <class F> void on_stream(int device, CUstream stream, F measure) const
    {
        tvm_ffi.set_stream(kDLCUDA, device, stream, nullptr);
        measure();
        tvm_ffi.set_stream(kDLCUDA, device, nullptr, nullptr);
    }

    // On the NULL stream, then on one of its own.
    template <class F> void on_streams(int device, F measure) const
    {
        for (CUstream stream : {CUstream(nullptr), new_stream()})
            on_stream(device, stream, [&] { measure(stream); });
    }
};

static void add_one(const Libraries &libraries, int device)
{
    auto kernel = libraries.kernel("add_one", "add_one");
    auto table = one_kernel("`add_one` from C, host time a call. Arguments change from call to call, save where it says that they do not. "
                            "Targets are for the medians of a device's rows.",
                            1.05, 0.65, 1.05, 1.05);
    std::vector<Row> rows;
    auto graphs = libraries.add_one.graphs();
    for (CUstream stream : {CUstream(nullptr), new_stream()})
        for (int64_t n : {int64_t(1), int64_t(1000), int64_t(1) << 20}) {
            auto measure = [&, stream, n] {
                Times took;
                libraries.on_stream(device, stream, [&] {
                    Vectors vectors(libraries.tvm_ffi, device, n);
                    took = host_times(vectors.subject(libraries.add_one, libraries.add_one_plain, kernel, stream));
                });
                return took;
            };
            rows.push_back({"n = " + std::to_string(n) + ", " + place(device, stream), measure, [&] { return graphs(); }});
        }
    table.rows("device " + std::to_string(device), rows);
    Vectors nothing(libraries.tvm_ffi, device, 0);
    std::vector<TVMFFIAny> args = {nothing.tensors[0].any(), nothing.tensors[1].any()};
    auto again = libraries.add_one.prepared(args);
    auto call = [&](int) { libraries.add_one(args); };
    auto took = interleave(sides(kCalls, Until::Returned, {{"call", call}, {"prepared", [&](int) { again(); }}}), kRounds);
    std::printf("\nFor n = 0, of which nothing is launched, a call takes %.0f ns, and a prepared one %.0f ns.\n", took.at("call"),
                took.at("prepared"));
}

static void blend(const Libraries &libraries, int device)
{
    auto kernel = libraries.kernel("blend", "blend");
    auto table = one_kernel("19 arguments and an empty kernel from C, host time a call.", 1.10, 0, 0, 0);
    libraries.on_streams(device, [&](CUstream stream) {
        Many many(libraries.tvm_ffi, device);
        Bare bare(kernel, 1, 32, stream, {{many.params[0].data(), many.params[1].data()}});
        Subject subject = {libraries.blend, libraries.blend_plain, many.turns, bare};
        table.row(place(device, stream), [&] { return host_times(subject); }, libraries.blend.graphs());
    });
}

// Until the device is done.
static void to_the_end(const Libraries &libraries, int device)
{
    auto kernel = libraries.kernel("add_one", "add_one");
    Table table("`add_one` from C for n = 1, time a call until the device has done 2,000 in a row.", {"call"},
                {"auto", "plain", "bare graph", "bare launch"},
                {{"auto", "bare launch", 0.65, "bare graph"},
                 {"bare graph", "bare launch"},
                 {"auto", "plain"},
                 {"auto", "bare graph"},
                 {"plain", "bare launch"},
                 kPlainControl});
    libraries.on_streams(device, [&](CUstream stream) {
        Vectors vectors(libraries.tvm_ffi, device, 1);
        auto subject = vectors.subject(libraries.add_one, libraries.add_one_plain, kernel, stream);
        auto chosen = [&](int turn) { subject.chosen(subject.turns[turn]); };
        auto launch = [&](int turn) { subject.bare.plain(turn); };
        warm(chosen);
        auto measured = sides(2000, Until::Done,
                                     {
                                         {"auto", chosen},
                                         {"plain", [&](int turn) { subject.plain(subject.turns[turn]); }},
                                         {"bare graph", [&](int turn) { subject.bare.updated(turn); }},
                                         {"bare launch", launch},
                                         {"bare launch again", launch},
                                     });
        table.row(place(device, stream), [&] { return interleave(measured, 31); }, subject.chosen.graphs());
    });
}

// Ten kernels in a line, each of which reads what the one before it wrote.
struct Line {
    std::array<Tensor, 2> tensors;
    std::array<int, 10> places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    std::array<std::array<std::array<void *, 2>, 10>, 2> params;
    std::vector<Bare::Arguments> arguments;

    Line(const TvmFfi &tvm_ffi, int device) : tensors{Tensor{tvm_ffi, device, {11}}, Tensor{tvm_ffi, device, {11}}}
    {
        for (int i = 0; i < 10; i++) {
            for (int turn = 0; turn < 2; turn++)
                params[turn][i] = {&tensors[turn].data, &places[i]};
            arguments.push_back({params[0][i].data(), params[1][i].data()});
        }
    }

    // Whether each kernel saw what the one before it wrote.
    void check(const Function &function, int turn)
    {
        float got[11];
        // The stream may be one that copies do not wait for, and that does not wait for them.
        auto wait = [] { must(!cuCtxSynchronize(), "the device fails"); };
        wait();
        tensors[turn].fill(11);
        wait();
        function({tensors[turn].any()});
        wait();
        must(!cuMemcpyDtoH(got, tensors[turn].data, sizeof(got)), "no copy");
        for (int i = 0; i < 11 && !is_brief; i++)
            must(got[i] == (float)i, "the ten kernels are not right");
    }
};

static void ten_row(const Table &table, const std::string &name, const Libraries &libraries, Line &line, const Bare &bare, Until until)
{
    auto call = [&](const Function &function) { return [&](int turn) { function({line.tensors[turn].any()}); }; };
    auto launches = [&](int turn) { bare.plain(turn); };
    auto check = [&] {
        for (auto function : {&libraries.ten, &libraries.ten_plain})
            for (int turn : {0, 1, 0, 1})
                line.check(*function, turn);
    };
    warm(call(libraries.ten));
    check();
    bool is_host = until == Until::Returned;
    auto measured = sides(is_host ? kCalls / 10 : kCalls, until,
                                 {
                                     {"auto", call(libraries.ten)},
                                     {"plain", call(libraries.ten_plain)},
                                     {"bare graph", [&](int turn) { bare.updated(turn); }},
                                     {"ten bare launches", launches},
                                     {"ten bare launches again", launches},
                                 });
    table.row(name, [&] { return interleave(measured, is_host ? kRounds : 31); }, libraries.ten.graphs());
    check();
}

static void ten(const Libraries &libraries, int device)
{
    auto kernel = libraries.kernel("ten", "next");
    for (auto [until, what, target] : {std::tuple(Until::Returned, "host time a call of 20 in a row", 0.20),
                                       std::tuple(Until::Done, "time a call until the device has done 200 in a row", 0.45)}) {
        Table table(std::string("Ten kernels in a line from C, ") + what + ".", {"call"},
                    {"auto", "plain", "bare graph", "ten bare launches"},
                    {{"auto", "ten bare launches", target, "bare graph"},
                     {"bare graph", "ten bare launches"},
                     {"auto", "bare graph"},
                     {"plain", "ten bare launches"},
                     {"ten bare launches again", "ten bare launches"}});
        auto chosen = until;
        libraries.on_streams(device, [&](CUstream stream) {
            Line line(libraries.tvm_ffi, device);
            Bare bare(kernel, 1, 1, stream, line.arguments);
            ten_row(table, place(device, stream), libraries, line, bare, chosen);
        });
    }
}

static const int kExtent = 512;

// Makes the map of a matrix in bfloat16, of `kExtent` rows and columns.
static void encode(CUtensorMap &map, CUdeviceptr data)
{
    std::array<cuuint64_t, 2> dims = {kExtent, kExtent}, strides = {2 * kExtent};
    std::array<cuuint32_t, 2> box = {64, 128}, steps = {1, 1};
    must(!cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)data, dims.data(), strides.data(), box.data(),
                                 steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "no tensor map");
}

// Three matrices, of which a kernel takes maps, for two turns.
struct Matrices {
    std::deque<Tensor> tensors;
    alignas(64) std::array<std::array<CUtensorMap, 3>, 2> maps;
    std::array<std::array<void *, 3>, 2> params;
    Turns turns;

    Matrices(const TvmFfi &tvm_ffi, int device)
    {
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < 3; i++) {
                tensors.emplace_back(tvm_ffi, device, std::vector<int64_t>{kExtent, kExtent}, DLDataType{kDLBfloat, 16, 1});
                turns[turn].push_back(tensors.back().any());
                params[turn][i] = &maps[turn][i];
            }
    }

    void describe(int turn)
    {
        for (int i = 0; i < 3; i++)
            encode(maps[turn][i], tensors[3 * turn + i].data);
    }
};

static void maps(const Libraries &libraries, int device)
{
    auto kernel = libraries.kernel("maps", "maps");
    auto table = one_kernel("Maps of three matrices and an empty kernel from C, host time a call. A bare graph and a bare launch encode them anew "
                            "for each call, too, and what is prepared does not.",
                            1.10, 0, 0, 1.05);
    libraries.on_streams(device, [&](CUstream stream) {
        Matrices matrices(libraries.tvm_ffi, device);
        auto describe = [&](int turn) { matrices.describe(turn); };
        describe(0);
        Bare bare(kernel, 1, 32, stream, {{matrices.params[0].data(), matrices.params[1].data()}}, describe);
        Subject subject = {libraries.maps, libraries.maps_plain, matrices.turns, bare};
        table.row(place(device, stream), [&] { return host_times(subject); }, libraries.maps.graphs());
    });
}

static void tensor_map()
{
    CUdeviceptr data;
    must(!cuMemAlloc(&data, 2 * kExtent * kExtent), "no memory");
    alignas(64) CUtensorMap map;
    auto call = [&](int) { encode(map, data); };
    auto took = interleave(sides(kCalls, Until::Returned, {{"map", call}, {"control", call}}), kRounds);
    std::printf("\nA tensor map of two dims takes the driver %.0f ns to encode (control: %.0f ns).\n", took.at("map"), took.at("control"));
}

int main(int argc, char **argv)
{
    must(argc == 3 || argc == 4, "usage: launch LIBTVM_FFI FOLDER [brief]");
    is_brief = argc == 4;
    Table::program = "launch";
    int n_devices = 0;
    must(!cuInit(0) && !cuDeviceGetCount(&n_devices) && n_devices > 0, "no GPU");
    Libraries libraries(argv[1], argv[2]);
    std::fputs(kColumns, stdout);
    for (int device = 0; device < std::min(n_devices, 2); device++) {
        CUcontext context;
        must(!cuDevicePrimaryCtxRetain(&context, device) && !cuCtxSetCurrent(context), "no context");
        add_one(libraries, device);
        if (device > 0)
            continue;
        blend(libraries, device);
        maps(libraries, device);
        to_the_end(libraries, device);
        ten(libraries, device);
        tensor_map();
    }
    return Table::end();
}
