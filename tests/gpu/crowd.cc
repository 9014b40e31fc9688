// SPDX-License-Identifier: Apache-2.0
// What calls cost where a package chooses how to submit them, against packages that are told: from several threads, of many prepared calls,
// on many streams, and the first one: `crowd LIBTVM_FFI FOLDER [brief]`. judge.h says when a target is missed.

#include "speed.h"
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

static const int kDevice = 0;

// Two vectors of one element, and others.
struct Vectors {
    std::vector<std::unique_ptr<Tensor>> tensors;
    Turns turns;

    explicit Vectors(const TvmFfi &tvm_ffi)
    {
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < 2; i++) {
                tensors.push_back(std::make_unique<Tensor>(tvm_ffi, kDevice, std::vector<int64_t>{1}));
                turns[turn].push_back(tensors.back()->any());
            }
    }
};

// `add_one` as it chooses, and as it is told.
struct Ways {
    Function chosen, plain, graph;

    Ways(const TvmFfi &tvm_ffi, const std::string &folder)
        : chosen(tvm_ffi, folder + "/add_one.so", "add_one"), plain(tvm_ffi, folder + "/add_one_plain.so", "add_one"),
          graph(tvm_ffi, folder + "/add_one_graph.so", "add_one")
    {
    }
};

// A copy of a package that nobody has called, under a name of its own.
static Function copied(const TvmFfi &tvm_ffi, const std::string &package, const std::string &folder)
{
    static int number = 0;
    std::string copy = folder + "/copy" + std::to_string(number++) + ".so";
    std::filesystem::copy_file(package, copy);
    return Function(tvm_ffi, copy, "one");
}

// What the first call of a copy takes, and what each of those behind it does, of each package.
static Times first_times(const TvmFfi &tvm_ffi, const std::string &folder, const std::string &temporary)
{
    Tensor x(tvm_ffi, kDevice, {1}, {kDLInt, 32, 1});
    const int n_copies = times(41), n_behind = 20;
    std::map<std::string, std::vector<double>> taken;
    const std::pair<const char *, const char *> packages[] = {
        {"auto", "one.so"}, {"plain", "one_plain.so"}, {"graph", "one_graph.so"}, {"plain again", "one_plain.so"}};
    for (int i = -1; i < n_copies; i++)
        for (int turn = 0; turn < 4; turn++) {
            auto &[name, package] = packages[(i + 1 + turn) % 4];
            auto one = copied(tvm_ffi, folder + "/" + package, temporary);
            must(!cuCtxSynchronize(), "the device fails");
            double start = now();
            one({x.any()});
            double called = now();
            for (int again = 0; again < n_behind; again++)
                one({x.any()});
            double end = now();
            if (i >= 0) {
                taken[name].push_back(called - start);
                taken[std::string("next, ") + name].push_back((end - called) / n_behind);
            }
        }
    Times medians;
    for (auto &[name, samples] : taken)
        medians[name] = median(samples);
    return medians;
}

// The first calls of copies.
static void first_calls(const TvmFfi &tvm_ffi, const std::string &folder)
{
    std::string temporary = std::filesystem::temp_directory_path() / "kernpack-XXXXXX";
    must(mkdtemp(temporary.data()), "no temporary folder");
    Table table("The first call of a copy of a package, and each of the 20 behind it; medians of 41 copies.", {"call"},
                {"auto", "plain", "graph", "next, auto", "next, plain", "next, graph"},
                {{"auto", "plain", 1.4}, {"graph", "plain"}, {"plain again", "plain"}}, "");
    table.row("`one`", [&] { return first_times(tvm_ffi, folder, temporary); }, [] { return std::string(); });
    std::filesystem::remove_all(temporary);
}

// Of one thread: more uses than a kernel has graphs.
static void many_uses(const TvmFfi &tvm_ffi, const Ways &ways)
{
    Table table("`add_one` from C for n = 1, host time a call where uses alternate.", {"uses"}, {"auto", "plain", "graph"},
                {{"auto", "plain", 1.05}, {"graph", "plain"}, {"plain again", "plain"}});
    auto row = [&](const char *name, int n_calls, const Call &chosen, const Call &plain, const Call &graph) {
        for (int i = 0; i < times(60); i++)
            sample(chosen, n_calls), sample(graph, n_calls);
        auto measured = sides(n_calls, Until::Returned, {{"auto", chosen}, {"plain", plain}, {"plain again", plain}, {"graph", graph}});
        table.row(name, [&] { return interleave(measured, 101); }, ways.chosen.graphs());
    };
    std::vector<std::unique_ptr<Vectors>> vectors;
    std::array<std::vector<std::function<void()>>, 3> prepared;
    const size_t n_prepared = 300, n_streams = 16;
    for (size_t i = 0; i < n_prepared; i++) {
        vectors.push_back(std::make_unique<Vectors>(tvm_ffi));
        auto &args = vectors.back()->turns[0];
        prepared[0].push_back(ways.chosen.prepared(args));
        prepared[1].push_back(ways.plain.prepared(args));
        prepared[2].push_back(ways.graph.prepared(args));
    }
    auto next = [&](int way) { return [&calls = prepared[way], i = size_t(0)](int) mutable { calls[i++ % n_prepared](); }; };
    row("300 prepared calls in a cycle", (int)n_prepared, next(0), next(1), next(2));

    std::vector<CUstream> streams;
    for (size_t i = 0; i < n_streams; i++)
        streams.push_back(new_stream());
    auto on_streams = [&](const Function &function) {
        return [&, i = size_t(0)](int turn) mutable {
            tvm_ffi.set_stream(kDLCUDA, kDevice, streams[i++ % n_streams], nullptr);
            function(vectors[0]->turns[turn]);
        };
    };
    row("16 streams in turn", 208, on_streams(ways.chosen), on_streams(ways.plain), on_streams(ways.graph));
    tvm_ffi.set_stream(kDLCUDA, kDevice, nullptr, nullptr);
}

// A thread's stream and arguments.
struct Worker {
    CUstream stream = new_stream();
    Vectors vectors;

    explicit Worker(const TvmFfi &tvm_ffi) : vectors(tvm_ffi) {}
};

// Nanoseconds a call in each of as many threads, after 10,000 calls each.
static double at_once(const TvmFfi &tvm_ffi, const Function &function, CUcontext context,
                      const std::vector<std::unique_ptr<Worker>> &workers, int n)
{
    const int n_calls = times(10000);
    std::atomic<int> waiting{n};
    std::vector<double> took(n);
    std::vector<std::thread> threads;
    auto work = [&](int number) {
        auto &worker = *workers[number];
        must(!cuCtxSetCurrent(context), "no context");
        tvm_ffi.set_stream(kDLCUDA, kDevice, worker.stream, nullptr);
        auto call = [&](int n_calls) {
            for (int i = 0; i < n_calls; i++) {
                function(worker.vectors.turns[i & 1]);
                if (i % kCalls == kCalls - 1)
                    must(!cuStreamSynchronize(worker.stream), "the device fails");
            }
        };
        call(n_calls);
        waiting--;
        while (waiting > 0)
            std::this_thread::yield();
        double start = now();
        call(n_calls);
        took[number] = (now() - start) / n_calls;
    };
    for (int number = 0; number < n; number++)
        threads.emplace_back(work, number);
    double sum = 0;
    for (auto &thread : threads)
        thread.join();
    for (double each : took)
        sum += each;
    return sum / n;
}

static void many_threads(const TvmFfi &tvm_ffi, const Ways &ways, CUcontext context)
{
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 4; i++)
        workers.push_back(std::make_unique<Worker>(tvm_ffi));
    Table table(
        "`add_one` from C for n = 1, time a call of threads at once, each on a stream of its own; waiting after every 200 calls; after "
        "10,000 calls of each.",
        {"threads"}, {"auto", "plain", "graph"}, {{"auto", "plain", 1.05}, {"graph", "plain"}, {"plain again", "plain"}});
    for (int n : {1, 2, 4}) {
        auto side = [&](const char *name, const Function &function) {
            return Side{name, [&, n] { return at_once(tvm_ffi, function, context, workers, n); }};
        };
        std::vector<Side> measured = {side("auto", ways.chosen), side("plain", ways.plain), side("graph", ways.graph),
                                      side("plain again", ways.plain)};
        table.row(std::to_string(n), [&] { return interleave(measured, 9); }, ways.chosen.graphs());
    }
}

int main(int argc, char **argv)
{
    must(argc == 3 || argc == 4, "usage: crowd LIBTVM_FFI FOLDER [brief]");
    is_brief = argc == 4;
    Table::program = "crowd";
    CUcontext context;
    must(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, kDevice) && !cuCtxSetCurrent(context), "no GPU");
    TvmFfi tvm_ffi(argv[1]);
    Ways ways(tvm_ffi, argv[2]);
    first_calls(tvm_ffi, argv[2]);
    many_uses(tvm_ffi, ways);
    many_threads(tvm_ffi, ways, context);
    return Table::end();
}
