# SPDX-License-Identifier: Apache-2.0
"""How programs that measure on a GPU judge their times: judge.py and judge.h of tests/gpu."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import ANY

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
    auto last = [] { return std::string(); };
    Table table("title", {"name"}, {"a"}, {{"a", "b", 2.0}});
    JUDGED;
    return Table::end();
}
"""
ONE_ROW = 'table.row("r", measure, last)'
THREE_ROWS = 'table.rows("r", {{"x", measure, last}, {"y", measure, last}, {"z", measure, last}})'


def compiled(judged, program):
    """A program that has measurements judged, in C++."""
    subprocess.run(
        ["g++", "-std=c++17", "-I", GPU, f"-DJUDGED={judged}", "-x", "c++", "-", "-o", program],
        input=IN_CPP,
        text=True,
        check=True,
    )
    return [str(program)]


def ran(command, misses, measured):
    """The exit status, what is printed, and what is kept of misses."""
    misses.unlink(missing_ok=True)
    environment = os.environ | {"PYTHONPATH": str(GPU), "KERNPACK_GPU_MISSES": str(misses)}
    ran = subprocess.run([*command, *measured], env=environment, capture_output=True, text=True)
    kept = misses.read_text().splitlines() if misses.exists() else []
    return ran.returncode, ran.stdout + ran.stderr, kept


@pytest.fixture(scope="module", params=["python", "c++"])
def judged(request, tmp_path_factory):
    """A function that has the measurements of a row judged."""
    folder = tmp_path_factory.mktemp("judge")
    if request.param == "python":
        (folder / "judged.py").write_text(IN_PYTHON)
        command = [sys.executable, str(folder / "judged.py")]
    else:
        command = compiled(ONE_ROW, folder / "judged")
    return lambda *measured: ran(command, folder / "misses", measured)


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


def test_rows_of_one_thing_are_judged_by_their_medians(tmp_path):
    command = compiled(THREE_ROWS, tmp_path / "judged")
    judged = lambda *measured: ran(command, tmp_path / "misses", measured)
    assert judged("2.0/1.0", "9.0/1.0", "2.05/1.0") == (0, ANY, [])
    assert judged("2.17/1.0", "2.17/1.09", "2.17/1.3")[0] == 0

    met, missed = ["1.0/1.0"] * 3, ["2.5/1.0", "1.0/1.0", "3.0/1.0"]
    status, printed, kept = judged(*missed, *met)
    assert status == 0
    assert kept == ["judged: r: a / b is 2.500, at most 2.000, spread 0.030, round 1"]
    assert printed.count(", round 2 |") == 3
    assert judged(*missed * 3)[0] == 1


def test_rounds_have_an_order_by_chance(monkeypatch):
    monkeypatch.syspath_prepend(str(GPU))
    from judge import shuffle

    taken = []
    sample = lambda name, first: lambda: taken.append(name) or first + len(taken)
    medians = shuffle({"a": sample("a", 0), "b": sample("b", 1000)}, 15)
    rounds = ["".join(taken[at : at + 2]) for at in range(0, 30, 2)]
    assert set(rounds) == {"ab", "ba"}
    assert medians == {"a": ANY, "b": ANY} and medians["a"] < 30 < 1000 < medians["b"]
