// SPDX-License-Identifier: Apache-2.0
// Tables of what was measured, and whether targets are met: for programs in C++ what judge.py, which says how, is for those in Python. A side
// whose name is another's with " again" behind it is a control. Rows of one thing are held against targets by their medians.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

static const double kTolerance = 0.03, kMostSpread = 0.10;
static const int kJudgedRounds = 3;

// Whether everything is done only a few times, and no target is looked at: under compute-sanitizer.
inline bool is_brief = false;

// What each side took.
using Times = std::map<std::string, double>;

// How far controls stray from what they repeat, within bounds.
inline double spread(const Times &times)
{
    double spread = kTolerance;
    for (auto &[name, time] : times) {
        auto again = times.find(name + " again");
        if (again != times.end())
            spread = std::max(spread, std::abs(again->second / time - 1));
    }
    return std::min(spread, kMostSpread);
}

// What is held against what, and what it may be at most; 0 where that is just told. It may also be as much as the machine takes for a side
// that is named, and kMachine more.
struct Ratio {
    std::string over, under;
    double target = 0;
    std::string machine = "";
};

static const double kMachine = 1.05;

// A row: its name, its measurement, and the text of its last column behind one.
struct Row {
    std::string name;
    std::function<Times()> measure;
    std::function<std::string()> last;
};

inline double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A table in Markdown: times, then ratios.
class Table
{
    std::vector<std::string> shown;
    std::vector<Ratio> ratios;

    static inline std::vector<std::string> failed;

    static double of(const Times &took, const Ratio &ratio)
    {
        return took.at(ratio.over) / took.at(ratio.under);
    }

    // What a ratio may be at most on this machine; 0 where it has no target.
    static double limit(const Times &took, const Ratio &ratio)
    {
        bool has_machine = ratio.target && !ratio.machine.empty();
        return std::max(ratio.target, has_machine ? kMachine * took.at(ratio.machine) / took.at(ratio.under) : 0);
    }

    void print(const std::string &name, const Times &took, const std::string &last) const
    {
        std::printf("| %s |", name.c_str());
        for (auto &side : shown)
            std::printf(" %.0f ns |", took.at(side));
        for (auto &ratio : ratios)
            std::printf(" %.3f |", of(took, ratio));
        std::printf(" %s |\n", last.c_str());
        std::fflush(stdout);
    }

    // The targets that a round of rows misses by their medians, each of which is told.
    std::vector<std::string> missed(const std::string &name, const std::vector<Times> &took, int round) const
    {
        auto middle = [&](auto of_row) {
            std::vector<double> values;
            for (auto &row : took)
                values.push_back(of_row(row));
            return median(values);
        };
        std::vector<std::string> missed;
        double spread = middle(::spread);
        for (auto &ratio : ratios) {
            double value = middle([&](const Times &row) { return of(row, ratio); });
            double limit = middle([&](const Times &row) { return Table::limit(row, ratio); });
            if (!limit || value <= limit * (1 + spread))
                continue;
            missed.push_back(ratio.over + " / " + ratio.under);
            char told[128];
            std::snprintf(told, sizeof(told), "is %.3f, at most %.3f, spread %.3f, round %d", value, limit, spread, round);
            note(name + ": " + missed.back() + " " + told);
        }
        return missed;
    }

    static void note(const std::string &line)
    {
        std::fprintf(stderr, "missed: %s: %s\n", program.c_str(), line.c_str());
        const char *path = std::getenv("KERNPACK_GPU_MISSES");
        if (!path || !*path)
            return;
        if (FILE *file = std::fopen(path, "a")) {
            std::fprintf(file, "%s: %s\n", program.c_str(), line.c_str());
            std::fclose(file);
        }
    }

  public:
    // What misses are told of.
    static inline std::string program;

    Table(const std::string &title, const std::vector<std::string> &first, std::vector<std::string> shown, std::vector<Ratio> ratios,
          const std::string &last = "through graphs")
        : shown(std::move(shown)), ratios(std::move(ratios))
    {
        std::string head = "|", line = "|";
        auto column = [&](const std::string &name) { head += " " + name + " |", line += "---|"; };
        for (auto &name : first)
            column(name);
        for (auto &name : this->shown)
            column(name);
        for (auto &[over, under, target, machine] : this->ratios) {
            char text[16] = "";
            if (target)
                std::snprintf(text, sizeof(text), ", <= %.2f", target);
            column(over + " / " + under + text);
        }
        column(last);
        std::printf("\n%s\n\n%s\n%s\n", title.c_str(), head.c_str(), line.c_str());
    }

    // Measures a row, more often where a target is missed. `last` is what stands in the last column behind a measurement.
    void row(const std::string &name, const std::function<Times()> &measure, const std::function<std::string()> &last) const
    {
        rows(name, {{name, measure, last}});
    }

    // Measures rows of one thing, which are held against the targets by their medians: all of them again where one is missed.
    void rows(const std::string &name, const std::vector<Row> &rows) const
    {
        std::vector<std::string> always;
        for (int round = 1; round <= (is_brief ? 1 : kJudgedRounds); round++) {
            std::vector<Times> took;
            for (auto &row : rows) {
                took.push_back(row.measure());
                print(round > 1 ? row.name + ", round " + std::to_string(round) : row.name, took.back(), row.last());
            }
            if (is_brief)
                return;
            auto now = missed(name, took, round);
            if (round == 1)
                always = now;
            auto is_met = [&](const std::string &what) { return std::find(now.begin(), now.end(), what) == now.end(); };
            always.erase(std::remove_if(always.begin(), always.end(), is_met), always.end());
            if (always.empty())
                return;
        }
        for (auto &what : always)
            failed.push_back(name + ": " + what);
    }

    // The exit status of the program: 1 where a target was missed in every round.
    static int end()
    {
        if (failed.empty())
            return 0;
        std::fprintf(stderr, "\n%s: missed in %d rounds:", program.c_str(), kJudgedRounds);
        for (auto &what : failed)
            std::fprintf(stderr, " %s;", what.c_str());
        std::fprintf(stderr, "\n");
        return 1;
    }
};
