# SPDX-License-Identifier: Apache-2.0
"""What scripts/setup does on machines that are not as ours: with other commands in the place of
apt's and rustup's.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PINNED = "1.95.0"
INSTALLED = 'echo "$1 installed"'
# All that is wanted of apt is there.
DPKG_QUERY = 'shift 3; for package in "$@"; do echo "$package installed"; done'
RUSTC = f'echo "rustc {PINNED} (59807616e 2026-04-14)"'


@pytest.fixture
def machine(tmp_path):
    """A function that runs `scripts/setup build` among commands with these bodies, and gives its
    exit status and what it prints. Each command appends its name and arguments to `calls`.
    """
    tree, commands = tmp_path / "tree", tmp_path / "bin"
    (tree / "scripts").mkdir(parents=True)
    (tree / ".cache").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tree / "scripts")
    shutil.copy(ROOT / "rust-toolchain.toml", tree)

    def run(**bodies):
        commands.mkdir()
        usual = {"dpkg_query": DPKG_QUERY, "cargo": "true", "sudo": '"$@"', "sleep": "true"}
        for name, body in (usual | {"rustc": RUSTC} | bodies).items():
            command = commands / name.replace("_", "-")
            head = f'#!/bin/bash\necho "{command.name} $*" >> "{tmp_path}/calls"\n'
            command.write_text(f"{head}cd '{tmp_path}'\n{body}\n")
            command.chmod(0o755)
        environment = {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(tmp_path)} | run.variables
        command = [tree / "scripts" / "setup", "build"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    run.variables = {}
    run.calls = lambda: (tmp_path / "calls").read_text().splitlines()
    return run


def test_rustup_is_told_to_install_the_toolchain(machine):
    # Before it is installed, the first command speaks of that.
    rustup = """
        case "$1" in
            run) [ -e toolchain ] ;;
            toolchain) touch toolchain ;;
        esac
    """
    rustc = (
        f"[ -e toolchain ] || echo 'info: syncing channel updates' >&2; touch toolchain; {RUSTC}"
    )
    status, printed = machine(rustup=rustup, rustc=rustc)
    assert status == 0, printed
    assert f"installing Rust {PINNED}" in printed
    install = f"rustup toolchain install {PINNED} --no-self-update --profile minimal --component clippy,rustfmt"
    assert install in machine.calls()


def test_what_rustc_says_besides_is_not_its_version(machine):
    status, printed = machine(rustc=f"echo 'info: syncing channel updates' >&2; {RUSTC}")
    assert status == 0, printed


def test_another_rust_is_refused(machine):
    status, printed = machine(rustc="echo 'rustc 1.80.0 (abc)'")
    assert status == 1
    assert f"this is rustc 1.80.0 (abc), but LLVM 22 is paired with Rust {PINNED}" in printed


def test_another_rust_is_taken_where_it_is_named(machine):
    machine.variables = {"RUSTUP_TOOLCHAIN": "1.99.0"}
    status, printed = machine(rustc="echo 'rustc 1.99.0 (abc)'")
    assert status == 0, printed


def test_a_rustc_that_does_not_run_is_told(machine):
    status, printed = machine(rustc="echo 'error: no toolchain' >&2; exit 1")
    assert status == 1
    assert "rustc does not run in this folder: error: no toolchain" in printed


LOCKED = """
    n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count
    if [ "$n" -lt 3 ]; then
        echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt)" >&2
        exit 100
    fi
    [ "$1" != install ] || touch installed
"""


def test_a_locked_apt_is_waited_for(machine):
    nothing = f"[ ! -e installed ] || {{ {DPKG_QUERY}; }}"
    status, printed = machine(dpkg_query=nothing, apt_get=LOCKED)
    assert status == 0, printed
    assert printed.count("another process uses apt; waiting for it, for up to 10 minutes") == 1
    assert [call for call in machine.calls() if call == "sleep 5"] == ["sleep 5"] * 3


def test_what_apt_refuses_otherwise_is_told_at_once(machine):
    broken = "echo 'E: Unable to locate package llvm-22-dev' >&2; exit 100"
    status, printed = machine(dpkg_query="true", apt_get=broken)
    assert status == 1
    assert "Unable to locate package llvm-22-dev" in printed
    assert not [call for call in machine.calls() if call.startswith("sleep")]
