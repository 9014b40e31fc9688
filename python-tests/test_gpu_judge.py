# SPDX-License-Identifier: Apache-2.0
"""How programs that measure on a GPU judge their times: judge.py and judge.h of tests/gpu."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GPU = Path(__file__).parent.parent / "tests" / "gpu"

# Each measurement of the row `r` gives the next ratio, beside a control.
IN_PYTHON = """
import sys
from judge import Figure, Round, Table
taken = iter([tuple(map(float, word.split("/"))) for word in sys.argv[1:]])

def measure():
    ratio, control = next(taken)
    return Round([f"{ratio:.3f}"], (Figure("a / b", ratio, at_most=2.0),), (control,))

Table("title", ["name", "ratio"]).row("r", measure)
Table.end()
"""
IN_CPP = """
#include "judge.h"

int main(int argc, char **argv)
{
    Table::program = "judged";
    int taken = 1;
    auto measure = [&] {
        double ratio, control;
        if (taken >= argc || std::sscanf(argv[taken++], "%lf/%lf", &ratio, &control) != 2)
            std::exit(7);
        return Times{{"a", ratio}, {"b", 1}, {"b again", control}};
    };
    Table("title", {"name"}, {"a"}, {{"a", "b", 2.0}}).row("r", measure, [] { return std::string(); });
    return Table::end();
}
"""


@pytest.fixture(scope="module", params=["python", "c++"])
def judged(request, tmp_path_factory):
    """A function that has measurements judged: the exit status, what is printed, and what is kept
    of misses.
    """
    folder = tmp_path_factory.mktemp("judge")
    if request.param == "python":
        (folder / "judged.py").write_text(IN_PYTHON)
        command = [sys.executable, str(folder / "judged.py")]
    else:
        (folder / "judged.cc").write_text(IN_CPP)
        command = [str(folder / "judged")]
        compiler = ["g++", "-std=c++17", "-I", str(GPU), str(folder / "judged.cc"), "-o"]
        subprocess.run([*compiler, *command], check=True)

    def judged(*measured):
        misses = folder / "misses"
        misses.unlink(missing_ok=True)
        environment = os.environ | {"PYTHONPATH": str(GPU), "KERNPACK_GPU_MISSES": str(misses)}
        ran = subprocess.run([*command, *measured], env=environment, capture_output=True, text=True)
        kept = misses.read_text().splitlines() if misses.exists() else []
        return ran.returncode, ran.stdout + ran.stderr, kept

    return judged


def test_a_row_that_meets_its_target_is_measured_once(judged):
    status, printed, kept = judged("2.05/1.0")
    assert (status, kept) == (0, [])
    assert "| r | 2.050 |" in printed or "| r | 2 ns | 2.050 |" in printed


def test_the_spread_of_its_controls_counts(judged):
    assert judged("2.19/1.1")[0] == 0
    assert judged("2.19/0.9")[0] == 0
    status, _, kept = judged("2.25/1.1", "2.0/1.0")
    assert status == 0
    assert kept == ["judged: r: a / b is 2.250, at most 2.000, spread 0.100, round 1"]


def test_a_noisy_round_does_not_excuse_everything(judged):
    assert judged("2.19/3.0")[0] == 0
    status, _, kept = judged("2.25/3.0", "2.25/0.1", "2.25/1.5")
    assert (status, len(kept)) == (1, 3)


def test_a_miss_that_does_not_repeat_is_kept_and_no_failure(judged):
    status, printed, kept = judged("3.0/1.0", "3.0/1.0", "2.0/1.0")
    assert status == 0
    assert [line.rsplit(", ", 1)[1] for line in kept] == ["round 1", "round 2"]
    assert "missed: judged: r: a / b is 3.000, at most 2.000, spread 0.030, round 1" in printed
    assert "r, round 3" in printed


def test_a_miss_in_three_rounds_is_a_failure(judged):
    status, printed, kept = judged("3.0/1.0", "2.5/1.0", "2.1/1.0")
    assert (status, len(kept)) == (1, 3)
    assert "judged: missed in 3 rounds: r: a / b" in printed


def test_what_is_wrong_is_no_matter_of_rounds(judged):
    status, _, kept = judged("not a number")
    assert status not in (0, None)
    assert kept == []
