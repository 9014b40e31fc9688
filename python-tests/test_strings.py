# SPDX-License-Identifier: Apache-2.0
"""String parameters as Python and C pass them: kernels by what a text says, and what is said of
other texts.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tvm_ffi
import tvm_ffi.libinfo

PACKAGE = """
[package]
name = "activation"

[[function]]
signature = '''
activate(x: Tensor([n], float32, mut), mode: String = "leaky_relu", note: Optional[String] = None, more: Optional[Tuple(String, int32)] = None)
    where mode in {"relu", "negate", "leaky_relu"}, note != "refuse \\"me\\""
'''
[[function.launch]]
when = 'mode == "relu"'
source = { host = "k.c" }
kernel = "relu"
args = ["x", "n"]

[[function.launch]]
when = 'mode == "leaky_relu"'
source = { host = "k.c" }
kernel = "leaky_relu"
args = ["x", "n"]

[[function.launch]]
when = "otherwise"
source = { host = "k.c" }
kernel = "negate"
args = ["x", "n"]
"""

KERNELS = """
#include <stdint.h>
void relu(float *x, int64_t n) { for (int64_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? x[i] : 0; }
void leaky_relu(float *x, int64_t n) { for (int64_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? x[i] : x[i] / 8; }
void negate(float *x, int64_t n) { for (int64_t i = 0; i < n; ++i) x[i] = -x[i]; }
"""

HOST = r"""
#include <stdio.h>
#include "package.h"
int main(void) {
    float data[2] = {-8, 3};
    int64_t shape[1] = {2};
    kernpack_tensor x = {data, 1, 0, 1, 2, 32, 1, shape, NULL, 0};
    struct activation_activate_more more = {"any", 1};
    char message[300];
    int status = activation_activate(&x, "leaky_relu", NULL, NULL, message, sizeof message);
    printf("%d %g %g\n", status, data[0], data[1]);
    status = activation_activate(&x, "negate", "a note", &more, message, sizeof message);
    printf("%d %g %g\n", status, data[0], data[1]);
    status = activation_activate(&x, "relu6", NULL, NULL, message, sizeof message);
    printf("%d %s\n", status, message);
    status = activation_activate(&x, NULL, NULL, NULL, message, sizeof message);
    printf("%d %s\n", status, message);
    return 0;
}
"""

SHORT = "activate(x: Tensor([n], float32), mode: String, note: Optional[String], more: Optional[Tuple(String, int32)])"
WHERE = f"on argument #1 when calling: `{SHORT}`, expected"
SET = 'mode in {"relu", "negate", "leaky_relu"}'


@pytest.fixture
def module(load_package):
    return load_package(PACKAGE, {"k.c": KERNELS})


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        ("relu", [0, 3]),
        ("negate", [8, -3]),
        ("leaky_relu", [-1, 3]),
        (tvm_ffi.convert("leaky_relu"), [-1, 3]),
        (None, [-1, 3]),
    ],
)
def test_kernels_by_a_text(module, mode, result):
    x = np.array([-8, 3], dtype=np.float32)
    module.activate(x, *([] if mode is None else [mode]))
    assert x.tolist() == result


def test_optional_texts_and_texts_in_tuples(module):
    x = np.array([-8, 3], dtype=np.float32)
    module.activate(x, "negate", "a note that is longer than a small string", ("any", 1))
    module.activate(x, "negate", None, None)
    assert x.tolist() == [-8, 3]
    with pytest.raises(
        ValueError, match=r'expected note != "refuse \\"me\\"", got note = "refuse \\"me\\""$'
    ):
        module.activate(x, "negate", 'refuse "me"')
    with pytest.raises(TypeError, match=r"on more\[0\] in argument #3 .*, expected str, got int$"):
        module.activate(x, "negate", None, (1, 1))


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("relu6", '"relu6"'),
        ("", '""'),
        ("relu\0", r'"relu\x00"'),
        ("größe", r'"gr\xc3\xb6\xc3\x9fe"'),
        ("\x1b[31m\u202e\n", r'"\x1b[31m\xe2\x80\xae\n"'),
        ("x" * 1000, f'"{"x" * 26}"...'),
    ],
)
def test_other_texts(module, mode, shown):
    with pytest.raises(ValueError) as error:
        module.activate(np.zeros(2, dtype=np.float32), mode)
    assert str(error.value) == f"Invalid mode {WHERE} {SET}, got {shown}"


@pytest.mark.parametrize(
    ("mode", "received"), [(3, "int"), (b"relu", "bytes"), (None, "None"), (["relu"], "Array")]
)
def test_what_is_no_text(module, mode, received):
    with pytest.raises(TypeError) as error:
        module.activate(np.zeros(2, dtype=np.float32), mode)
    assert str(error.value) == f"Mismatched type {WHERE} str, got {received}"


def test_metadata(module):
    metadata = module.get_function_metadata("activate")
    assert metadata["kernpack"]["defaults"] == {"mode": "leaky_relu", "note": None, "more": None}
    assert "[Tensor, str, str | None, " in str(
        tvm_ffi.core.TypeSchema.from_json_str(metadata["type_schema"])
    )


def test_a_c_host(build_package):
    folder = build_package(PACKAGE, {"k.c": KERNELS}, ["package.o", "package.h"])
    (folder / "host.c").write_text(HOST)
    library = Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent
    flags = [
        "-O1",
        "-Wall",
        "-Werror",
        "host.c",
        "package.o",
        "-o",
        "host",
        f"-L{library}",
        "-ltvm_ffi",
        "-Wl,--allow-shlib-undefined",
    ]
    subprocess.run(["gcc", *flags], cwd=folder, check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    printed = subprocess.run(
        ["./host"], cwd=folder, check=True, capture_output=True, text=True, env=environment
    ).stdout
    assert printed.splitlines() == [
        "0 -1 3",
        "0 1 -3",
        f'-1 ValueError: Invalid mode {WHERE} {SET}, got "relu6"',
        f"-1 TypeError: Mismatched type {WHERE} str, got None",
    ]
