# SPDX-License-Identifier: Apache-2.0
"""The compiler and its plan interpreter against the reference checker, which knows neither: 60,000
generated calls, some of them new in each run.

`make soak` makes many more.
"""

import subprocess
import sys

import pytest

from conftest import REPOSITORY

COMPARE = REPOSITORY / "python-tests/reference/compare.py"


@pytest.mark.parametrize(
    "options",
    ["--seed 7 --signatures 2500", "--seeds 2 --signatures 250"],
    ids=["always the same", "new in each run"],
)
def test_the_compiler_and_the_reference_agree(options, capsys):
    ran = subprocess.run(
        [sys.executable, COMPARE, *options.split()], capture_output=True, text=True
    )
    with capsys.disabled():  # the seeds, and how to repeat a failure, whether or not this fails
        print(f"\n{ran.stdout}", end="")
    assert ran.returncode == 0, ran.stdout + ran.stderr
