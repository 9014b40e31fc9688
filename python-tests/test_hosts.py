# SPDX-License-Identifier: Apache-2.0
"""Every host of examples/hosts makes the same calls with the same outcomes, and the examples print
what they promise.
"""

import importlib.util
import os
import shutil
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
    named = {
        "KERNPACK_CLI": str(kernpack),
        "KERNPACK_PYTHON": sys.executable,
        "CARGO_TARGET_DIR": target,
    }
    return {**os.environ, **named, "PATH": path}


@pytest.mark.parametrize("host", [*DRIVER.HOSTS, *DRIVER.TWO])
def test_host(host, kernpack):
    command = [sys.executable, str(EXAMPLES / "hosts/run.py"), host]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(kernpack))
    assert (ran.returncode, ran.stdout) == (0, f"{host}: as expected\n"), ran.stdout + ran.stderr


def test_numpy_under_the_oldest_tvm_ffi(kernpack, oldest_python, tmp_path):
    hosts, library = EXAMPLES / "hosts", tmp_path / "table.so"
    subprocess.run(
        [kernpack, "build", hosts / "table.toml", "-o", library], check=True, capture_output=True
    )
    command = [oldest_python, hosts / "python/eager.py", "numpy", library, hosts / "calls.txt"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout.splitlines() == DRIVER.wanted_of("numpy"), ran.stderr


def test_plain_c_on_aarch64(kernpack, tmp_path):
    hosts, target = EXAMPLES / "hosts", "aarch64-linux-gnu"
    library = REPOSITORY / ".cache/aarch64/tvm_ffi/lib"
    assert library.is_dir() and shutil.which("qemu-aarch64"), "run `scripts/setup aarch64` first"
    outputs = ["-o", tmp_path / "table.o", "-o", tmp_path / "table.h"]
    build = [kernpack, "build", hosts / "table.toml", "--target", target, *outputs]
    subprocess.run(build, check=True, capture_output=True)
    # qemu's libstdc++ is the cross compiler's; libtvm_ffi finds the rest of what it needs there.
    link = [f"-L{library}", "-ltvm_ffi", f"-Wl,-rpath,{library}", "-Wl,--allow-shlib-undefined"]
    compile_host = [
        f"{target}-gcc",
        "-O1",
        f"-I{tmp_path}",
        hosts / "c/host.c",
        tmp_path / "table.o",
        *link,
    ]
    subprocess.run([*compile_host, "-o", tmp_path / "host"], check=True)
    run = ["qemu-aarch64", "-L", f"/usr/{target}", tmp_path / "host", hosts / "calls.txt"]
    ran = subprocess.run(run, capture_output=True, text=True)
    assert ran.stdout.splitlines() == DRIVER.wanted_of("c"), ran.stderr


def test_add_one_demo(kernpack):
    command = [str(EXAMPLES / "add_one/demo.sh")]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(kernpack))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_rms_norm_demo(kernpack, tmp_path):
    example, library = EXAMPLES / "rms_norm", tmp_path / "rms_norm.so"
    subprocess.run(
        [kernpack, "build", example / "rms_norm.toml", "-o", library],
        check=True,
        capture_output=True,
    )
    ran = subprocess.run(
        [sys.executable, example / "demo.py", library], capture_output=True, text=True
    )
    assert ran.stdout == (example / "expected.txt").read_text(), ran.stderr
