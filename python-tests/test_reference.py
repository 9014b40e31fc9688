# SPDX-License-Identifier: Apache-2.0
"""The compiler and its plan interpreter against the reference checker, which knows neither: 100,000 generated calls."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = (7, 8)
SIGNATURES, CALLS = 2500, 20


def replay():
    """The program that makes recorded calls again, built by `cargo test`."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "replay" for profile in ("debug", "release")]
    found = [path for path in built if path.exists()]
    assert found, f"none of {', '.join(map(str, built))} exists: run `cargo build -p kernpack-tests`"
    return max(found, key=lambda path: path.stat().st_mtime)


def test_the_compiler_and_the_reference_agree(tmp_path):
    generate = ROOT / "python-tests" / "reference" / "generate.py"
    files = [tmp_path / f"calls{seed}.jsonl" for seed in SEEDS]
    numbers = ["--signatures", str(SIGNATURES), "--calls", str(CALLS)]
    commands = [[sys.executable, generate, *numbers, "--seed", str(seed), "--out", file] for seed, file in zip(SEEDS, files)]
    assert all(process.wait() == 0 for process in [subprocess.Popen(command) for command in commands])
    for file in files:
        result = subprocess.run([replay(), file], capture_output=True, text=True)
        # Each call is compared twice: interpreted, and compiled.
        assert f"{2 * SIGNATURES * CALLS} passed, 0 failed" in result.stdout, result.stdout[-4000:]
