# SPDX-License-Identifier: Apache-2.0
"""What host functions are passed: constants of every C type, and everything where `args` is left
out.
"""

import struct

import numpy as np
import pytest
import torch

INF, NAN = float("inf"), float("nan")

# C type, its name in C, its code in `struct`, and numbers as they are written.
INTEGERS = [
    ("bool", "_Bool", "?", ["true", "false", "1", "0"]),
    ("int8", "int8_t", "b", ["-128", "127", "0"]),
    ("int16", "int16_t", "h", ["-32768", "32767"]),
    ("int32", "int32_t", "i", ["-2147483648", "2147483647"]),
    ("int64", "int64_t", "q", ["-9223372036854775808", "9223372036854775807"]),
    ("uint8", "uint8_t", "B", ["0", "255"]),
    ("uint16", "uint16_t", "H", ["65535"]),
    ("uint32", "uint32_t", "I", ["4294967295"]),
    ("uint64", "uint64_t", "Q", ["9223372036854775808", "18446744073709551615"]),
]
FLOATS = [
    "0.0",
    "-0.0",
    "1",
    "-7",
    "0.1",
    "-1.5",
    "1e-6",
    "65504.0",
    "-65519.0",
    "5.9e-8",
    "3e-8",
    "-1e-40",
    "inf",
    "-inf",
    "nan",
]
WIDE = {
    "bfloat16": ["3.38e38", "-9.2e-41"],
    "float32": ["3.4028235e38", "1e-45", "16777217"],
    "float64": ["1.7976931348623157e308", "5e-324"],
}
# A bfloat16 is passed as a float16 is, and not every compiler has a name for it.
KINDS = [
    ("float16", "_Float16"),
    ("bfloat16", "_Float16"),
    ("float32", "float"),
    ("float64", "double"),
]


def bytes_of(number, c_type, code=None):
    """The bytes of a constant in C."""
    if code:
        return struct.pack(
            "<" + code, {"true": True, "false": False}[number] if number.isalpha() else int(number)
        )
    return (
        torch.tensor([float(number)], dtype=torch.float64)
        .to(getattr(torch, c_type))
        .view(torch.uint8)
        .numpy()
        .tobytes()
    )


CONSTANTS = [
    (number, c_type, name, code) for c_type, name, code, numbers in INTEGERS for number in numbers
]
CONSTANTS += [
    (number, c_type, name, None)
    for c_type, name in KINDS
    for number in FLOATS + WIDE.get(c_type, [])
]


def package(args):
    return f"""
[package]
name = "constants"
[[function]]
signature = "take(out: Tensor([n, 8], uint8, mut))"
source = {{ host = "k.c" }}
kernel = "take"
args = {args}
"""


def read_back(load_package, args, params, values):
    """What a C function with these parameters finds in these values of C, 8 bytes each."""
    lines = "".join(
        f"  {{ __auto_type value = {value}; memcpy(out + 8 * {i}, &value, sizeof value); }}\n"
        for i, value in enumerate(values)
    )
    kernel = f"#include <stdint.h>\n#include <string.h>\nvoid take(uint8_t *out, {params}) {{\n{lines}}}\n"
    out = np.zeros((len(values), 8), np.uint8)
    load_package(package(["out", *args]), {"k.c": kernel}).take(out)
    return [row.tobytes() for row in out]


def test_constants(load_package):
    args = [f"{number}: {c_type}" for number, c_type, _, _ in CONSTANTS]
    params = ", ".join(f"{name} a{i}" for i, (_, _, name, _) in enumerate(CONSTANTS))
    found = read_back(load_package, args, params, [f"a{i}" for i in range(len(CONSTANTS))])
    for (number, c_type, _, code), value in zip(CONSTANTS, found):
        expected = bytes_of(number, c_type, code)
        assert value[: len(expected)] == expected, f"{number}: {c_type}"


def test_constants_in_structs(load_package):
    constants = [f"{number}: {c_type}" for number, c_type, _, _ in CONSTANTS]
    few = ["0.25: float32", "struct(true: bool, -0.5: float16, 0: pointer)", "-3: int8"]
    args = [f"struct({', '.join(constants)})", f"struct({', '.join(few)})"]
    members = "".join(f"{name} a{i}; " for i, (_, _, name, _) in enumerate(CONSTANTS))
    params = f"struct {{ {members}}} all, struct {{ float a; struct {{ _Bool b; _Float16 c; void *d; }} in; int8_t e; }} few"
    values = [f"all.a{i}" for i in range(len(CONSTANTS))] + [
        "few.a",
        "few.in.b",
        "few.in.c",
        "few.in.d",
        "few.e",
    ]
    found = read_back(load_package, args, params, values)
    expected = [bytes_of(number, c_type, code) for number, c_type, _, code in CONSTANTS]
    expected += [struct.pack("<f", 0.25), b"\x01", struct.pack("<e", -0.5), bytes(8), b"\xfd"]
    assert [value[: len(wanted)] for value, wanted in zip(found, expected)] == expected


def test_null(load_package):
    assert read_back(
        load_package, ["0: pointer", "7: int64"], "void *p, int64_t n", ["p", "n"]
    ) == [bytes(8), struct.pack("<q", 7)]


WITHOUT_ARGS = """
[package]
name = "plain"
[[function]]
signature = "scale(x: Tensor([n], float32), by: float32, n: int32, minus: bool = False) -> y: Tensor([n], float32), sum: Tensor([], float64)"
source = { host = "k.c" }
kernel = "scale"
[[function]]
signature = "at(p: Pointer(int64), k: uint64)"
source = { host = "k.c" }
kernel = "at"
[[function]]
signature = "status()"
source = { host = "k.c" }
kernel = "status"
returns = "int"
"""
WITHOUT_ARGS_C = """
#include <stdint.h>
void scale(const float *x, float by, int32_t n, _Bool minus, float *y, double *sum)
{
    *sum = 0;
    for (int32_t i = 0; i < n; ++i)
        *sum += y[i] = (minus ? -x[i] : x[i]) * by;
}
void at(int64_t *p, uint64_t k) { *p += k; }
int status(void) { return 3; }
"""


def test_without_args_a_kernel_gets_parameters_and_results(load_package):
    module = load_package(WITHOUT_ARGS, {"k.c": WITHOUT_ARGS_C})
    x = torch.arange(5, dtype=torch.float32)
    y, total = module.scale(x, 0.5, 5, True)
    assert y.tolist() == [0.0, -0.5, -1.0, -1.5, -2.0] and total.item() == -5.0
    y, total = torch.zeros(5), torch.zeros((), dtype=torch.float64)
    module.scale_out(x, 2.0, 5, False, y, total)
    assert torch.equal(y, 2 * x) and total.item() == 20.0
    number = np.array([40], np.int64)
    module.at(number.ctypes.data, 2)
    assert number[0] == 42
    with pytest.raises(RuntimeError, match="status.*3"):
        module.status()
