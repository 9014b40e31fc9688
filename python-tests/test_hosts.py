# SPDX-License-Identifier: Apache-2.0
"""Every host of examples/hosts makes the same calls with the same outcomes, and the examples print what they promise."""

import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def load_driver():
    spec = importlib.util.spec_from_file_location("hosts_driver", EXAMPLES / "hosts/run.py")
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    return driver


DRIVER = load_driver()


def environment(kernpack):
    """Where the examples find what they need: the tools of this environment first."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    target = os.environ.get("CARGO_TARGET_DIR", str(REPOSITORY / "target"))
    named = {"KERNPACK_CLI": str(kernpack), "KERNPACK_PYTHON": sys.executable, "CARGO_TARGET_DIR": target}
    return {**os.environ, **named, "PATH": path}


@pytest.mark.parametrize("host", [*DRIVER.HOSTS, *DRIVER.TWO])
def test_host(host, kernpack):
    command = [sys.executable, str(EXAMPLES / "hosts/run.py"), host]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(kernpack))
    assert (ran.returncode, ran.stdout) == (0, f"{host}: as expected\n"), ran.stdout + ran.stderr


def test_add_one_demo(kernpack):
    command = [str(EXAMPLES / "add_one/demo.sh")]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(kernpack))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_rms_norm_demo(kernpack, tmp_path):
    example, library = EXAMPLES / "rms_norm", tmp_path / "rms_norm.so"
    subprocess.run([kernpack, "build", example / "rms_norm.toml", "-o", library], check=True, capture_output=True)
    ran = subprocess.run([sys.executable, example / "demo.py", library], capture_output=True, text=True)
    assert ran.stdout == (example / "expected.txt").read_text(), ran.stderr
