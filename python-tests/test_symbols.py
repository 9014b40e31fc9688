# SPDX-License-Identifier: Apache-2.0
"""Host functions may have any name, and sources may share names: each source sees its own files
alone.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

# Names that the package itself, libtvm_ffi, the C library or generated code have for something
# else.
NAMES = [
    "kernpack_rt_refuse",
    "kernpack_host_0_add",
    "TVMFFIErrorSetRaisedFromCStrParts",
    "TVMFFIStringFromByteArray",
    "TVMFFIEnvTensorAlloc",
    "malloc",
    "free",
    "memcpy",
    "__tvm_ffi_f",
    "__tvm_ffi__metadata_f",
    "main",
    "sqrt",
]

SOURCE = """
#include <stdint.h>
void {name}(float *a, int64_t n) {{ for (int64_t i = 0; i < n; ++i) a[i] += 1; }}
"""

FUNCTION = """
[[function]]
signature = "{function}(a: Tensor([n], float32, mut), b: Tensor([n], float32, mut)) where n > 1"
[[function.launch]]
source = {{ host = "{name}.c", options = ["-fno-builtin"] }}
kernel = "{name}"
args = ["a", "n"]
[[function.launch]]
source = {{ host = "copy.c" }}
kernel = "copy"
args = ["b", "a", "n"]
"""

COPY = """
#include <stdint.h>
#include <string.h>
void copy(float *b, const float *a, int64_t n) { memcpy(b, a, 4 * n); }
"""


def test_a_function_may_have_any_name(load_package):
    functions = "".join(
        FUNCTION.format(name=name, function=f"f{i}") for i, name in enumerate(NAMES)
    )
    files = {f"{name}.c": SOURCE.format(name=name) for name in NAMES}
    module = load_package(
        f'[package]\nname = "names"\n{functions}', files={**files, "copy.c": COPY}
    )
    for i in range(len(NAMES)):
        a, b = numpy.arange(4, dtype="float32"), numpy.zeros(4, "float32")
        module[f"f{i}"](a, b)
        assert b.tolist() == [1, 2, 3, 4]
        with pytest.raises(ValueError, match="expected n > 1"):
            module[f"f{i}"](a[:1], b[:1])
        with pytest.raises(TypeError, match="expected 2 arguments, got 0"):
            module[f"f{i}"]()


def test_one_file_compiled_twice_is_two_sources(load_package):
    source = """
        #include <stdint.h>
        int calls;
        static int64_t step(void) { ++calls; return STEP; }
        void add(int64_t *a) { *a += step() + calls; }
    """
    function = """
        [[function]]
        signature = "add{step}(a: Tensor([], int64, mut))"
        source = {{ host = "add.c", define = {{ STEP = "{step}" }} }}
        kernel = "add"
        args = ["a"]
    """
    functions = "".join(function.format(step=step) for step in (10, 200))
    module = load_package(f'[package]\nname = "twice"\n{functions}', files={"add.c": source})
    a = numpy.zeros((), "int64")
    for step, expected in ((10, 11), (200, 212), (10, 224)):
        module[f"add{step}"](a)
        assert a == expected


def test_the_files_of_a_source_see_each_other(load_package):
    package = """
        [package]
        name = "files"
        [[function]]
        signature = "add(a: Tensor([], int64, mut))"
        source = { host = ["add.c", "step.c"], define = { STEP = "3" } }
        kernel = "add"
        args = ["a"]
    """
    files = {
        "add.c": "long step(void); void add(long *a) { *a += step(); }",
        "step.c": "long step(void) { return STEP; }",
    }
    a = numpy.zeros((), "int64")
    load_package(package, files=files)["add"](a)
    assert a == 3


PACKAGE_OF_LIBRARY = """
[package]
name = "far"
link = ["libfar.so"]
[[function]]
signature = "add(a: Tensor([], int64, mut))"
source = { host = "add.c" }
kernel = "add"
args = ["a"]
"""

CALL = """
import sys, numpy, tvm_ffi
a = numpy.zeros((), "int64")
tvm_ffi.load_module(sys.argv[1])["add"](a)
print(a)
"""


def test_a_symbol_comes_from_a_library_that_is_found_or_named(kernpack, tmp_path):
    files = {
        "add.toml": PACKAGE_OF_LIBRARY,
        "alone.toml": PACKAGE_OF_LIBRARY.replace('link = ["libfar.so"]', ""),
        "add.c": "long far(void); void add(long *a) { *a += far(); }",
        "far.c": "long far(void) { return 7; }",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "lib").mkdir()
    library = ["cc", "-shared", "-fPIC", "-o", "lib/libfar.so", "far.c"]
    subprocess.run(library, cwd=tmp_path, check=True)
    found = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "lib")}

    def build(file: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        command = [str(kernpack), "build", file, "-o", "add.so"]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    alone = build("alone.toml", found)
    assert alone.returncode == 1
    assert (
        "`add.c` needs the symbol `far`, and neither libtvm_ffi, nor the C library" in alone.stderr
    )
    assert not Path(tmp_path / "add.so").exists()
    unknown = build("add.toml", dict(os.environ))
    assert unknown.returncode == 0
    assert "`add.c` needs the symbol `far`, which must be in `libfar.so`" in unknown.stderr
    known = build("add.toml", found)
    assert (known.returncode, known.stderr) == (0, "")
    command = [sys.executable, "-c", CALL, str(tmp_path / "add.so")]
    ran = subprocess.run(command, env=found, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("7\n", "")
