# SPDX-License-Identifier: Apache-2.0
"""DataType parameters as Python and C pass them: results and kernels of the dtype that is asked
for.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
import tvm_ffi
import tvm_ffi.libinfo

PACKAGE = """
[package]
name = "casts"

[[function]]
signature = "cast(x: Tensor([n], float32), out: DataType = float64) -> y: Tensor([n], out) where out in {float64, int32, uint8}"
source = { host = "k.c" }
kernel = "cast_{out}"
args = ["x", "n", "y"]

[[function]]
signature = "width(out: DataType, y: Tensor([], int64, mut)) where out in {DTYPES}"

[[function.launch]]
when = "out in {bool, int8, uint8}"
source = { host = "k.c" }
kernel = "byte"
args = ["y"]

[[function.launch]]
when = "otherwise"
source = { host = "k.c" }
kernel = "other"
args = ["y"]
"""

KERNELS = """
#include <stdint.h>
#define CAST(T, NAME) void cast_##NAME(const float *x, int64_t n, T *y) { for (int64_t i = 0; i < n; ++i) y[i] = (T)x[i]; }
CAST(double, float64)
CAST(int32_t, int32)
CAST(uint8_t, uint8)
void byte(int64_t *y) { *y = 1; }
void other(int64_t *y) { *y = 2; }
"""

HOST = r"""
#include <stdio.h>
#include "package.h"
int main(void) {
    float data[2] = {-8, 3.5f};
    int32_t ints[2];
    int64_t shape[1] = {2};
    kernpack_tensor x = {data, 1, 0, 1, 2, 32, 1, shape, NULL, 0}, y = {ints, 1, 0, 1, 0, 32, 1, shape, NULL, 0};
    kernpack_dtype int32 = {0, 32, 1}, int8 = {0, 8, 1};
    char message[300];
    int status = casts_cast_out(&x, int32, &y, message, sizeof message);
    printf("%d %d %d\n", status, (int)ints[0], (int)ints[1]);
    status = casts_cast_out(&x, int8, &y, message, sizeof message);
    printf("%d %s\n", status, message);
    return 0;
}
"""

DTYPES = """bool int4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 float8_e3m4 float8_e4m3
float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn
float4_e2m1fnx2""".split()

SHORT = "cast(x: Tensor([n], float32), out: DataType) -> y: Tensor([n], out)"
TEXT = PACKAGE.replace("DTYPES", ", ".join(DTYPES))


@pytest.fixture(scope="module")
def module(tmp_path_factory, kernpack):
    folder = tmp_path_factory.mktemp("casts")
    (folder / "casts.toml").write_text(TEXT)
    (folder / "k.c").write_text(KERNELS)
    subprocess.run([kernpack, "build", "casts.toml", "-o", "casts.so"], cwd=folder, check=True)
    return tvm_ffi.load_module(str(folder / "casts.so"))


@pytest.mark.parametrize(
    ("out", "dtype"),
    [
        (torch.int32, torch.int32),
        (torch.uint8, torch.uint8),
        (torch.float64, torch.float64),
        (np.dtype("int32"), torch.int32),
        (tvm_ffi.dtype("uint8"), torch.uint8),
        ("int32", torch.int32),
        (tvm_ffi.convert("float64"), torch.float64),
        (None, torch.float64),
    ],
)
def test_results_of_the_dtype_that_is_asked_for(module, out, dtype):
    x = torch.tensor([8.0, 3.5])
    y = module.cast(x, *([] if out is None else [out]))
    assert y.dtype == dtype and y.tolist() == x.to(dtype).tolist()


def test_the_out_twin_has_both(module):
    x, y = torch.tensor([8.0, 3.5]), torch.zeros(2, dtype=torch.int32)
    module.cast_out(x, torch.int32, y)
    assert y.tolist() == [8, 3]
    with pytest.raises(
        TypeError,
        match=r"^Mismatched y.dtype on argument #2 .*, expected to match out \(uint8\), got int32$",
    ):
        module.cast_out(x, "uint8", y)


@pytest.mark.parametrize(
    ("out", "expected", "got"),
    [
        (torch.float16, "float64, int32 or uint8", "float16"),
        ("float16", "float64, int32 or uint8", '"float16"'),
        ("int", "float64, int32 or uint8", '"int"'),
        (tvm_ffi.dtype("int32x4"), "float64, int32 or uint8", "int32x4"),
    ],
)
def test_other_dtypes(module, out, expected, got):
    with pytest.raises(TypeError) as error:
        module.cast(torch.zeros(2), out)
    assert (
        str(error.value)
        == f"Mismatched dtype on argument #1 when calling: `{SHORT}`, expected {expected}, got {got}"
    )


@pytest.mark.parametrize(
    ("out", "received"),
    [(3, "int"), (None, "None"), (torch.zeros(1), "Tensor"), (b"int32", "bytes")],
)
def test_what_is_no_dtype(module, out, received):
    with pytest.raises(
        TypeError, match=f"^Mismatched type on argument #1 .*, expected dtype, got {received}$"
    ):
        module.cast(torch.zeros(2), out)


@pytest.mark.parametrize("name", DTYPES)
def test_names_are_those_of_tvm_ffi(module, name):
    for out in (name, tvm_ffi.dtype(name)):
        y = np.zeros((), dtype=np.int64)
        module.width(out, y)
        assert y == (1 if name in ("bool", "int8", "uint8") else 2)


def test_metadata(module):
    metadata = module.get_function_metadata("cast")
    assert metadata["kernpack"]["defaults"] == {"out": "float64"}
    assert "[Tensor, dtype]" in str(tvm_ffi.core.TypeSchema.from_json_str(metadata["type_schema"]))


@pytest.mark.parametrize("include", ["", "#include <tvm/ffi/c_api.h>\n"])
def test_a_c_host(build_package, include):
    folder = build_package(TEXT, {"k.c": KERNELS}, ["package.o", "package.h"])
    (folder / "host.c").write_text(include + HOST)
    library = Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent
    paths = (
        [tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()]
        if include
        else []
    )
    flags = [
        "-O1",
        "-Wall",
        "-Werror",
        *(f"-I{path}" for path in paths),
        "host.c",
        "package.o",
        "-o",
        "host",
        f"-L{library}",
        "-ltvm_ffi",
    ]
    subprocess.run(["gcc", *flags, "-Wl,--allow-shlib-undefined"], cwd=folder, check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    printed = subprocess.run(
        ["./host"], cwd=folder, check=True, capture_output=True, text=True, env=environment
    ).stdout
    short = "cast_out(x: Tensor([n], float32), out: DataType, y: Tensor([n], out))"
    wrong = f"Mismatched dtype on argument #1 when calling: `{short}`, expected float64, int32 or uint8, got int8"
    assert printed.splitlines() == ["0 -8 3", f"-1 TypeError: {wrong}"]
