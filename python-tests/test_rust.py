# SPDX-License-Identifier: Apache-2.0
"""The page "From Rust": a crate in an empty folder, made of the page's blocks alone, is built and
run, and prints what the page says. And crates of examples: tensors of other crates, a service, a
build for another machine, a crate that ships its kernels.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import tvm_ffi.libinfo

from conftest import REPOSITORY, needs_no_driver

PAGE = REPOSITORY / "docs/from-rust.md"

# A block's language, and the file that its first line names.
BLOCK = re.compile(r"^```([a-z,]+)\n(?://|#) (\S+\.\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_of_page():
    blocks = BLOCK.findall(PAGE.read_text())
    return {name: text for _, name, text in blocks}


def printed_by_page():
    section = PAGE.read_text().split("`cargo run` prints")[1]
    return re.search(r"```text\n(.*?)```", section, re.DOTALL).group(1)


def environment(kernpack):
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return os.environ | {"KERNPACK": str(kernpack), "PATH": path}


@pytest.fixture(scope="module")
def crate(tmp_path_factory):
    """The crate of the page, with the paths of this checkout and what it has locked."""
    folder = tmp_path_factory.mktemp("rust") / "scaled"
    for name, text in files_of_page().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("../kernpack/crates", str(REPOSITORY / "crates")))
    shutil.copy(REPOSITORY / "Cargo.lock", folder)
    return folder


def cargo(crate, kernpack, *words, **variables):
    """What cargo says. It finds dependencies where the workspace's own tests have built them."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve()
    settings = {"CARGO_TARGET_DIR": str(target)}
    settings["CARGO_PROFILE_DEV_DEBUG"] = os.environ.get("CARGO_PROFILE_DEV_DEBUG", "1")
    return subprocess.run(
        ["cargo", *words, "--quiet"],
        cwd=crate,
        env=environment(kernpack) | settings | variables,
        capture_output=True,
        text=True,
    )


def test_the_page_has_the_files_of_a_crate():
    assert list(files_of_page()) == [
        "Cargo.toml",
        "src/scale.c",
        "src/scaling.toml",
        "build.rs",
        "src/main.rs",
        "src/rows.py",
        "tests/rows.rs",
    ]


def test_the_crate_of_the_page_prints_what_the_page_says(crate, kernpack):
    ran = cargo(crate, kernpack, "run")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == printed_by_page()


def test_the_tests_of_the_page_pass(crate, kernpack):
    ran = cargo(crate, kernpack, "test")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "test result: ok. 2 passed" in ran.stdout


def test_a_package_that_has_not_changed_comes_from_the_cache(crate, kernpack, tmp_path):
    compiler = tmp_path / "counted"
    compiler.write_text(f'#!/bin/sh\necho >> {tmp_path}/runs\nexec cc "$@"\n')
    compiler.chmod(0o755)
    variables = {"KERNPACK_CACHE_DIR": str(tmp_path / "cache"), "CC": str(compiler)}
    for _ in range(2):
        # Cargo runs the build script again.
        (crate / "src/scaling.toml").touch()
        ran = cargo(crate, kernpack, "check", **variables)
        assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "runs").read_text().count("\n") == 1


def test_what_is_wrong_with_a_package_appears_as_cargos_errors(crate, kernpack):
    file = crate / "src/scaling.toml"
    text = file.read_text()
    file.write_text(text.replace('"n", "by"]', '"m", "by"]'))
    ran = cargo(crate, kernpack, "check")
    file.write_text(text)
    assert ran.returncode == 101
    assert "error: scaled@0.1.0: error[unbound-symbol]" in ran.stderr
    assert "error: scaled@0.1.0:  --> src/scaling.toml:9:20" in ran.stderr
    assert '9 | args = ["x", "y", "m", "by"]' in ran.stderr


def test_a_crate_without_the_program_says_what_to_do(crate):
    ran = cargo(crate, crate / "nothing", "check")
    assert ran.returncode == 101
    assert str(crate / "nothing") in ran.stderr


def test_a_crate_with_kernels_made_before_needs_no_program(crate, kernpack, tmp_path):
    shipped = tmp_path / "shipped"
    shutil.copytree(crate, shipped)
    build = (shipped / "build.rs").read_text()
    for source in ("scaling.toml", "rows.py"):
        made = [shipped / Path(source).with_suffix(suffix) for suffix in (".o", ".rs")]
        outputs = [word for path in made for word in ("-o", path)]
        command = [kernpack, "build", shipped / "src" / source, *outputs]
        subprocess.run(command, check=True, capture_output=True)
        (shipped / "src" / source).unlink()
        build = build.replace(f'package("src/{source}")', f'prebuilt("{made[0].name}")')
    (shipped / "src/scale.c").unlink()
    (shipped / "build.rs").write_text(build)
    ran = cargo(shipped, shipped / "nothing", "run")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == printed_by_page()


def test_a_crate_without_libtvm_ffi_says_what_to_do(crate, kernpack, tmp_path):
    ran = cargo(crate, kernpack, "check", KERNPACK_TVM_FFI_LIBDIR=str(tmp_path))
    assert ran.returncode == 101
    there = f"KERNPACK_TVM_FFI_LIBDIR is `{tmp_path}`, where there is no libtvm_ffi.so"
    assert f"error: kernpack@0.1.0: {there}" in ran.stderr


@needs_no_driver
def test_a_program_with_cudarc_needs_no_gpu_to_be_built(kernpack):
    """What it does on a GPU, tests/gpu/test_rust.py asks."""
    ran = cargo(REPOSITORY / "examples/cudarc", kernpack, "run", "--locked")
    assert ran.stdout.startswith("loaded ahead: RuntimeError: cannot load the CUDA driver")
    assert ran.returncode == 1


def fragments():
    """The blocks of the page that are parts of programs."""
    blocks = re.findall(
        r"^ *```rust,ignore\n(.*?)^ *```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    return [textwrap.dedent(block) for block in blocks]


def with_fragments(name):
    """A program of `from_rust`, with the page's blocks where it names their first lines."""
    named = {block.split("\n")[0]: block for block in fragments()}
    text = (REPOSITORY / "python-tests/from_rust" / name).read_text()
    return re.sub(r"^ *// the page: (.*)$", lambda line: named[line[1]], text, flags=re.MULTILINE)


def code(text):
    """The lines of Rust, without comments, wherever they are indented."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if not line.startswith("//"))


def test_each_block_of_the_page_is_of_a_program_that_runs():
    typed = REPOSITORY / "tests/typed"
    programs = [
        (REPOSITORY / "examples/candle/src/main.rs").read_text(),
        (typed / "dlpack.rs").read_text(),
        (typed / "tvm_ffi.rs").read_text(),
        with_fragments("cudarc.rs"),
        with_fragments("loaded.rs"),
    ]
    for block in fragments():
        assert sum(code(block) in code(program) for program in programs) == 1, block


def test_packages_are_loaded_as_the_page_says(crate, kernpack, tmp_path):
    loading = tmp_path / "loading"
    shutil.copytree(crate, loading)
    manifest = loading / "Cargo.toml"
    features = '"build", "check", "ndarray"'
    manifest.write_text(manifest.read_text().replace('"check", "ndarray"', features))
    (loading / "tests/rows.rs").unlink()
    (loading / "tests/loaded.rs").write_text(with_fragments("loaded.rs"))
    ran = cargo(loading, kernpack, "test", "--test", "loaded")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "test result: ok. 3 passed" in ran.stdout


@needs_no_driver
def test_memory_of_cudarc_is_used_as_the_page_says(kernpack, tmp_path):
    """Under a driver whose kernels do nothing: what is called is what examples/cudarc calls."""
    program, stub = tmp_path / "program", kernpack.parent / "deps/libkernpack_cuda_stub.so"
    shutil.copytree(REPOSITORY / "examples/cudarc", program)
    manifest = (program / "Cargo.toml").read_text()
    (program / "Cargo.toml").write_text(manifest.replace("../..", str(REPOSITORY)))
    build = (program / "build.rs").read_text()
    (program / "build.rs").write_text(
        build.replace("../rms_norm", f"{REPOSITORY}/examples/rms_norm")
    )
    (program / "src/main.rs").write_text(with_fragments("cudarc.rs"))
    shutil.copy(stub, tmp_path / "libcuda.so.1")
    told, log = tmp_path / "told.txt", tmp_path / "calls.jsonl"
    told.write_text(f"device 0 attribute 115 0\nlog {log}\n")
    variables = {"LD_LIBRARY_PATH": str(tmp_path), "KERNPACK_CUDA_STUB": str(told)}
    ran = cargo(program, kernpack, "run", "--locked", **variables)
    assert (ran.returncode, ran.stderr) == (0, "")
    zeros = f"[{', '.join(['0.0'] * 16)}]"
    assert ran.stdout == f"called: {zeros}\nprepared: {zeros}\n"
    calls = [json.loads(line)["call"] for line in log.read_text().splitlines()]
    assert calls.count("cuLaunchKernelEx") == 2


def test_a_program_with_candle_prints_what_it_is_to_print(kernpack):
    example = REPOSITORY / "examples/candle"
    ran = cargo(example, kernpack, "run", "--locked")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (example / "expected.txt").read_text()


def test_a_service_prints_what_it_is_to_print(kernpack):
    example = REPOSITORY / "examples/service"
    ran = cargo(example, kernpack, "run", "--locked")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (example / "expected.txt").read_text()


AARCH64 = "aarch64-unknown-linux-gnu"


def test_a_program_for_another_machine_is_cross_built(kernpack):
    example, library = REPOSITORY / "examples/service", REPOSITORY / ".cache/aarch64/tvm_ffi/lib"
    assert library.is_dir() and shutil.which("qemu-aarch64"), "run `scripts/setup aarch64` first"
    tools = {
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc",
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER": "qemu-aarch64 -L /usr/aarch64-linux-gnu",
    }
    words = ("run", "--locked", "--target", AARCH64)
    ran = cargo(example, kernpack, *words, **tools)
    assert ran.returncode == 101
    unknown = f"which libtvm_ffi.so to link for `{AARCH64}` is not known: name the folder of one in"
    assert f"error: kernpack@0.1.0: {unknown} KERNPACK_TVM_FFI_LIBDIR" in ran.stderr
    ran = cargo(example, kernpack, *words, **tools, KERNPACK_TVM_FFI_LIBDIR=str(library))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (example / "expected.txt").read_text()


@pytest.fixture
def users_machine(tmp_path):
    """What a machine has that builds Rust, and nothing else: neither Python nor kernpack."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cargo", "rustc", "cc", "ld"):
        (programs / name).symlink_to(shutil.which(name))
    libraries = Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent
    return {"PATH": str(programs), "KERNPACK_TVM_FFI_LIBDIR": str(libraries)}


def test_a_crate_that_ships_kernels_needs_nothing_where_it_is_used(
    kernpack, users_machine, tmp_path
):
    example = tmp_path / "examples/library"
    shutil.copytree(REPOSITORY / "examples/library", example)
    (tmp_path / "examples/rms_norm").symlink_to(REPOSITORY / "examples/rms_norm")
    manifest = example / "norms/Cargo.toml"
    manifest.write_text(manifest.read_text().replace("../../..", str(REPOSITORY)))
    command = [example / "norms/make-kernels"]
    subprocess.run(command, env=environment(kernpack), check=True, capture_output=True)
    nothing = tmp_path / "nothing"
    ran = cargo(example, nothing, "run", "--locked", **users_machine)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (example / "expected.txt").read_text()

    tree = cargo(example, nothing, "tree", "--locked", "--prefix", "none", **users_machine)
    tree = {line.split()[0] for line in tree.stdout.splitlines() if line}
    assert {name for name in tree if name.startswith("kernpack")} == {
        "kernpack",
        "kernpack-allocator",
        "kernpack-build",
        "kernpack-ffi-abi",
    }
    assert not [name for name in tree if re.search("llvm|inkwell|python|^py", name)]
    packed = cargo(example / "norms", nothing, "package", "--list", "--allow-dirty")
    assert "kernels/rms_norm-aarch64-linux-gnu.o" in packed.stdout.split()


def test_tensors_of_candle_are_lent_and_made(kernpack):
    ran = cargo(REPOSITORY / "tests/candle", kernpack, "test", "--locked")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "test result: ok." in ran.stdout


def test_the_crate_tvm_ffi_has_to_link_the_same_library(kernpack, tmp_path):
    there = Path(tvm_ffi.libinfo.find_libtvm_ffi())
    shutil.copy(there, tmp_path / "libtvm_ffi.so")
    words = ("check", "--locked", "--package", "kernpack", "--features", "tvm-ffi")
    ran = cargo(REPOSITORY, kernpack, *words, KERNPACK_TVM_FFI_LIBDIR=str(tmp_path))
    assert ran.returncode == 101
    refused = f"KERNPACK_TVM_FFI_LIBDIR is `{tmp_path}`, but the crate `tvm-ffi` links the"
    assert f"error: kernpack@0.1.0: {refused} libtvm_ffi.so of `{there.parent}`" in ran.stderr
    (tmp_path / "libtvm_ffi.so").unlink()
    (tmp_path / "libtvm_ffi.so").symlink_to(there)
    ran = cargo(REPOSITORY, kernpack, *words, KERNPACK_TVM_FFI_LIBDIR=str(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_crate_whose_calls_the_benchmarks_time(kernpack):
    """It times calls that are accepted; on a GPU, tests/gpu/speed_rust.py has it do so."""
    ran = cargo(REPOSITORY / "benches/typed", kernpack, "run", "--locked")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [figure["unit"] for figure in json.loads(ran.stdout)] == ["ns", "ns"]
