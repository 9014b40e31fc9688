# SPDX-License-Identifier: Apache-2.0
"""Compares the compiler and its interpreter of plans with the reference checker, on calls that
`generate.py` makes up.

    python compare.py --seeds 3                       # three new seeds
    python compare.py --seed 7 --signatures 2500      # that seed
    python compare.py --minutes 20                    # new seeds, until the time is over

Seeds are printed. What to run again is printed where something differs, and the exit status is 1
then.
"""

import argparse
import os
import pathlib
import re
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATE = pathlib.Path(__file__).with_name("generate.py")


def replay():
    """The program that makes recorded calls again, built by `cargo test`."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "replay" for profile in ("debug", "release")]
    found = [path for path in built if path.exists()]
    assert found, (
        f"none of {', '.join(map(str, built))} exists: run `cargo build -p kernpack-tests`"
    )
    return max(found, key=lambda path: path.stat().st_mtime)


def agree(program, seed, signatures, calls):
    """Whether compiler, interpreter and reference agree on every call that comes of a seed. Each is
    compared twice, interpreted and compiled, and a third time where it can be described.
    """
    options = ["--seed", str(seed), "--signatures", str(signatures), "--calls", str(calls)]
    with tempfile.TemporaryDirectory() as folder:
        recorded = pathlib.Path(folder, "calls.jsonl")
        subprocess.run([sys.executable, GENERATE, *options, "--out", recorded], check=True)
        ran = subprocess.run([program, recorded], capture_output=True, text=True)
    passed = re.search(r"^(\d+) passed, 0 failed$", ran.stdout, re.MULTILINE)
    agrees = ran.returncode == 0 and passed is not None and int(passed[1]) >= 2 * signatures * calls
    print(
        f"seed {seed}: {signatures} signatures with {calls} calls: {'no difference' if agrees else 'DIFFERENCES'}",
        flush=True,
    )
    if not agrees:
        print(ran.stdout[-4000:] + ran.stderr[-4000:])
        print(
            f"again: {sys.executable} {GENERATE.relative_to(ROOT)} {' '.join(options)} --out calls.jsonl\n"
            "       cargo run -p kernpack-tests --bin replay -- calls.jsonl",
            flush=True,
        )
    return agrees


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seeds", type=int, default=1, help="how many new seeds")
    parser.add_argument("--minutes", type=float, help="new seeds for so long")
    parser.add_argument("--signatures", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument(
        "--replay", help="the program that makes the calls; the one that was built last if left out"
    )
    options = parser.parse_args()
    program = options.replay or replay()
    start = time.monotonic()
    seeds = (
        [options.seed]
        if options.seed is not None
        else [random.SystemRandom().randrange(10**7) for _ in range(options.seeds)]
    )
    found = [agree(program, seed, options.signatures, options.calls) for seed in seeds]
    while options.minutes and time.monotonic() - start < 60 * options.minutes:
        found.append(
            agree(
                program, random.SystemRandom().randrange(10**7), options.signatures, options.calls
            )
        )
    sys.exit(not all(found))


if __name__ == "__main__":
    main()
