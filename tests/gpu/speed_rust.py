# SPDX-License-Identifier: Apache-2.0
"""What a typed call from Rust takes, of slices of cudarc, beside one that asks for their guards by
hand. The program of benches/typed measures, and was built before.

    speed_rust.py BUNDLE
"""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import tvm_ffi.libinfo
from judge import Figure, Round, Table

ROWS = ("with events", "without events")


def measured(program, row):
    """Measures all rows; gives one of them as a round."""
    libraries = str(Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent)
    environment = os.environ | {"LD_LIBRARY_PATH": libraries}
    text = subprocess.check_output([program, "--cuda"], env=environment, text=True)
    [took] = [each for each in json.loads(text) if f" {row}," in each["name"]]
    ours, by_hand, target = took["ours"], took["reference"], took["ratio"]
    control = took["control"] / by_hand
    cells = [f"{ours:.0f} ns", f"{by_hand:.0f} ns", f"{ours / by_hand:.3f}", f"{target:.2f}"]
    figure = Figure("ratio", ours / by_hand, at_most=target)
    return Round([*cells, f"{control:.3f}"], (figure,), (control,))


def main(folder):
    table = Table(
        "A typed call of `rms_norm` from Rust with slices of cudarc, beside one with its guards by hand.",
        ["events", "typed", "by hand", "ratio", "target", "control"],
    )
    for row in ROWS:
        table.row(row, partial(measured, folder / "typed-calls", row))
    Table.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
