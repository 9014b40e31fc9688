# SPDX-License-Identifier: Apache-2.0
"""The checker against examples written by hand from `docs/faults.md`, and what the generator
covers.
"""

import functools
import itertools
import json
import re

import pytest

from checker import DEVICES, TYPE_WORDS, Signature, check, find_fault, short
from generate import generate
from signature import DTYPES, FLOAT_RANGES, INT_RANGES

FAULTS = """arity type dtype tuple-size shape-size tensor-rank tensor-dtype dtype-match dtype-combination device-type device-index null-data negative-dim
dim dim-solve stride negative-stride mut-broadcast alignment divisibility rule alias scalar-range literal pointer-null pointer-alignment""".split()
TYPE_ERRORS = ["arity", "type", "dtype", "tensor-dtype", "dtype-match", "dtype-combination"]
NONE = {"none": 1}
CUDA_0, CUDA_1 = [2, 0], [2, 1]


def tensor(
    *shape, dtype="float32", strides=None, device=(1, 0), data=4096, byte_offset=0, index=70
):
    dtype = DTYPES[dtype] if isinstance(dtype, str) else dtype
    return {
        "tensor": {
            "index": index,
            "data": data,
            "device": list(device),
            "dtype": list(dtype),
            "shape": list(shape),
            "strides": strides,
            "byte_offset": byte_offset,
        }
    }


def integer(value):
    return {"int": value}


def number(value):
    return {"float": float(value).hex()}


def text(said, index=65):
    return {"str": [index, said.encode().hex()]}


def array(*values):
    return {"array": list(values)}


def shape(*extents):
    return {"shape": list(extents)}


# (fault, signature, arguments, what is said before and after "when calling: `SIG`, ")
GOLDEN = [
    # Arity comes first, and counts what is required.
    (
        "arity",
        "f(a: int32, b: int32)",
        [NONE] * 3,
        "Mismatched number of arguments",
        "expected 2 arguments, got 3",
    ),
    ("arity", "f(a: int32)", [], "Mismatched number of arguments", "expected 1 argument, got 0"),
    (
        "arity",
        "f(s: EnvStream, a: int32, b: int32, c: float32 = 1.0)",
        [integer(1)],
        "Mismatched number of arguments",
        "expected 2 to 3 arguments, got 1",
    ),
    ("arity", "f()", [NONE], "Mismatched number of arguments", "expected 0 arguments, got 1"),
    # Types: the expected word, and the received one.
    (
        "type",
        "f(x: Tensor([n], float32))",
        [integer(3)],
        "Mismatched type on argument #0",
        "expected Tensor, got int",
    ),
    (
        "type",
        "f(x: Optional[Tensor([n], float32)])",
        [{"object": 74}],
        "Mismatched type on argument #0",
        "expected Tensor or None, got a Python object",
    ),
    (
        "type",
        "f(x: int8)",
        [number(1)],
        "Mismatched type on argument #0",
        "expected int, got float",
    ),
    (
        "type",
        "f(x: bfloat16)",
        [{"object": 11}],
        "Mismatched type on argument #0",
        "expected float, got str",
    ),
    ("type", "f(x: bool)", [NONE], "Mismatched type on argument #0", "expected bool, got None"),
    (
        "type",
        "f(x: Shape([n]))",
        [tensor(1, index=7)],
        "Mismatched type on argument #0",
        "expected Shape, got Tensor",
    ),
    (
        "type",
        "f(x: Shape([_, n]))",
        [array(integer(1), number(2))],
        "Mismatched type on x[1] in argument #0",
        "expected int, got float",
    ),
    (
        "type",
        "f(x: Shape([n]))",
        [{"list": [{"bigint": [5]}]}],
        "Mismatched type on x[0] in argument #0",
        "expected int, got BigInt",
    ),
    (
        "type",
        "f(p: Tuple(float32, q: Tuple(x: Tensor([], bool))))",
        [array(number(0), {"list": [shape()]})],
        "Mismatched type on p.q.x in argument #0",
        "expected Tensor, got Shape",
    ),
    (
        "type",
        "f(p: Tuple(float32, Tuple(int8)))",
        [array(number(0), {"object": 130})],
        "Mismatched type on p[1] in argument #0",
        "expected Tuple, got type index 130",
    ),
    (
        "type",
        "f(p: Pointer)",
        [{"bool": 1}],
        "Mismatched type on argument #0",
        "expected Pointer or None, got bool",
    ),
    (
        "type",
        "f(p: Pointer(int8, nonnull))",
        [NONE],
        "Mismatched type on argument #0",
        "expected Pointer, got None",
    ),
    (
        "type",
        "f(e: EnvStream, s: Stream)",
        [number(1)],
        "Mismatched type on argument #0",
        "expected Stream or None, got float",
    ),
    (
        "type",
        "f(x: None)",
        [integer(0)],
        "Mismatched type on argument #0",
        "expected None, got int",
    ),
    (
        "type",
        "f(x: True)",
        [number(1)],
        "Mismatched type on argument #0",
        "expected bool, got float",
    ),
    (
        "type",
        "f(x: 3)",
        [{"bigint": [3]}],
        "Mismatched type on argument #0",
        "expected int, got BigInt",
    ),
    (
        "type",
        "f(mode: Optional[String])",
        [{"object": 66}],
        "Mismatched type on argument #0",
        "expected str or None, got bytes",
    ),
    (
        "type",
        "f(out: DataType) where out in {int8}",
        [NONE],
        "Mismatched type on argument #0",
        "expected dtype, got None",
    ),
    (
        "type",
        'f(mode: "relu")',
        [integer(1)],
        "Mismatched type on argument #0",
        "expected str, got int",
    ),
    (
        "type",
        "f(x: Optional[1.5])",
        [{"ptr": 8}],
        "Mismatched type on argument #0",
        "expected float or None, got void*",
    ),
    (
        "tuple-size",
        "f(p: Tuple(int8, int8))",
        [array(NONE, NONE, NONE)],
        "Mismatched tuple size on argument #0",
        "expected tuple size=2, got 3",
    ),
    (
        "tuple-size",
        "f(p: Tuple(a: Tuple()))",
        [array(array(NONE))],
        "Mismatched tuple size on p.a in argument #0",
        "expected tuple size=0, got 1",
    ),
    (
        "shape-size",
        "f(s: Shape([m, n]))",
        [shape(1, 2, 3)],
        "Mismatched Shape on argument #0",
        "expected shape size=2, got 3",
    ),
    (
        "tensor-rank",
        "f(x: Tensor([m, n], float32))",
        [tensor(1, 2, 3)],
        "Mismatched Tensor on argument #0",
        "expected ndim=2, got 3",
    ),
    # dtypes
    (
        "tensor-dtype",
        "f(x: Tensor([], float32))",
        [tensor(dtype="float64")],
        "Mismatched Tensor on argument #0",
        "expected dtype=float32, got float64",
    ),
    (
        "tensor-dtype",
        "f(p: Tuple(Tensor([], float32)))",
        [array(tensor(dtype=(2, 32, 4)))],
        "Mismatched Tensor on p[0] in argument #0",
        "expected dtype=float32, got float32x4",
    ),
    (
        "tensor-dtype",
        "f(x: Tensor([], float4_e2m1fn))",
        [tensor(dtype=(17, 4, 2))],
        "Mismatched Tensor on argument #0",
        "expected dtype=float4_e2m1fn, got float4_e2m1fnx2",
    ),
    (
        "tensor-dtype",
        "f(x: Tensor([], T)) where T in {float16, bfloat16}",
        [tensor(dtype=(2, 24, 1))],
        "Mismatched Tensor on argument #0",
        "expected dtype=float16 or bfloat16, got dtype(code=2, bits=24)",
    ),
    (
        "tensor-dtype",
        "f(x: Tensor([], T)) where T in {float16, bfloat16, float32}",
        [tensor(dtype="int8")],
        "Mismatched Tensor on argument #0",
        "expected dtype=float16, bfloat16 or float32, got int8",
    ),
    (
        "dtype-match",
        "f(a: Tensor([], T), b: Tensor([], T)) where T in {float16, bfloat16}",
        [tensor(dtype="float16"), tensor()],
        "Mismatched b.dtype on argument #1",
        "expected to match a.dtype (float16), got float32",
    ),
    (
        "dtype-match",
        "f(a: Optional[Tensor([], T)], b: Tensor([], T)) where T in {float16, float32}",
        [tensor(), tensor(dtype="float16")],
        "Mismatched a.dtype on argument #0",
        "expected to match b.dtype (float16), got float32",
    ),
    (
        "dtype-combination",
        "f(a: Tensor([], TA), b: Tensor([], TB)) where (TA, TB) in {(float16, float32), (bfloat16, bfloat16)}",
        [tensor(dtype="float16"), tensor(dtype="bfloat16")],
        "Mismatched b.dtype on argument #1",
        "expected (TA, TB) in {(float16, float32), (bfloat16, bfloat16)}, got (float16, bfloat16)",
    ),
    (
        "dtype",
        "f(out: DataType) where out in {float16, float32}",
        [{"dtype": [0, 8, 1]}],
        "Mismatched dtype on argument #0",
        "expected float16 or float32, got int8",
    ),
    (
        "dtype",
        "f(out: DataType) where out == float16",
        [text("int8", 8)],
        "Mismatched dtype on argument #0",
        'expected float16, got "int8"',
    ),
    (
        "dtype-match",
        "f(x: Tensor([], out), out: DataType) where out in {float16, float32}",
        [tensor(), text("float16", 11)],
        "Mismatched x.dtype on argument #0",
        "expected to match out (float16), got float32",
    ),
    (
        "dtype-combination",
        "f(x: Tensor([], S), out: DataType = int8) where (S, out) in {(float16, float32), (int8, int8)}",
        [tensor(dtype="float16")],
        "Mismatched out on argument #1",
        "expected (S, out) in {(float16, float32), (int8, int8)}, got (float16, int8)",
    ),
    # Devices
    (
        "device-type",
        "f(x: Tensor([], float32, device=cuda))",
        [tensor()],
        "Mismatched Tensor on argument #0",
        "expected device_type=cuda, got cpu",
    ),
    (
        "device-type",
        "f(x: Tensor([], float32, device={cpu, cuda}))",
        [tensor(device=[99, 0])],
        "Mismatched Tensor on argument #0",
        "expected device_type=cpu or cuda, got device type 99",
    ),
    (
        "device-index",
        "f(a: Tensor([], float32, device=cuda), b: Tensor([], float32, device=cuda))",
        [tensor(device=CUDA_0), tensor(device=CUDA_1)],
        "Mismatched device index on argument #1",
        "expected to match a.device.index, got 1 (a.device.index is 0)",
    ),
    (
        "device-index",
        "f(c: Tensor([], float32), p: Tuple(Tensor([], float32, device=cuda_managed)), b: Tensor([], float32, device=cuda))",
        [tensor(device=[1, 5]), array(tensor(device=[13, 1])), tensor(device=CUDA_0)],
        "Mismatched device index on argument #2",
        "expected to match p[0].device.index, got 0 (p[0].device.index is 1)",
    ),
    # Data
    (
        "null-data",
        "f(x: Tensor([n], float32))",
        [tensor(2, data=0)],
        "Invalid Tensor data on argument #0",
        "expected a non-NULL data pointer, got NULL",
    ),
    (
        "null-data",
        "f(x: Tensor([n], float32))",
        [tensor(-1, data=0)],
        "Invalid Tensor data on argument #0",
        "expected a non-NULL data pointer, got NULL",
    ),
    (
        "alignment",
        "f(x: Tensor([n], float32, align=16))",
        [tensor(2, data=4096, byte_offset=4)],
        "Misaligned Tensor data on argument #0",
        "expected data alignment=16 bytes, got address % 16 == 4",
    ),
    (
        "alignment",
        "f(p: Tuple(x: Tensor([n], T))) where T in {complex128}",
        [array(tensor(2, data=4104, dtype="complex128"))],
        "Misaligned Tensor data on p.x in argument #0",
        "expected data alignment=16 bytes, got address % 16 == 8",
    ),
    (
        "type",
        f"f({', '.join(f'a{i}: bool' for i in range(11))})",
        [{"bool": 1}] * 10 + [{"none": 1}],
        "Mismatched type on argument #10 (a10)",
        "expected bool, got None",
    ),
    (
        "alias",
        "f(a: Tensor([n], float32), b: Tensor([n], float32)) where noalias(b, a)",
        [tensor(4), tensor(4, data=4108)],
        "Invalid Tensor data on argument #1",
        "expected noalias(b, a), got overlapping memory",
    ),
    (
        "alias",
        "f(a: Tensor([2], int8, strides=any), b: Tensor([2], int8, strides=any)) where noalias(a, b)",
        [tensor(2, dtype="int8", strides=[2]), tensor(2, dtype="int8", strides=[-2], data=4099)],
        "Invalid Tensor data on argument #1",
        "expected noalias(a, b), got overlapping memory",
    ),
    (
        "alias",
        "f(a: Tensor([m, n], int8, strides=any), b: Tensor([2], int8)) where noalias(a, b)",
        [tensor(2**63 - 1, 4, dtype="int8", strides=[-1, -1]), tensor(2, dtype="int8", data=4097)],
        "Invalid Tensor data on argument #1",
        "expected noalias(a, b), got a byte range beyond 64 bits",
    ),
    # Dims
    (
        "negative-dim",
        "f(a: Tensor([_], float32))",
        [tensor(-1)],
        "Invalid a.shape[0] on argument #0",
        "expected a non-negative value, got -1",
    ),
    (
        "negative-dim",
        "f(p: Tuple(s: Shape([n])))",
        [array(shape(-1))],
        "Invalid p.s[0] on argument #0",
        "expected a non-negative value, got -1",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), b: Tensor([128], float32))",
        [tensor(1), tensor(126)],
        "Mismatched b.shape[0] on argument #1",
        "expected to be 128, got 126",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), p: Tuple(x: Tensor([n], float32)))",
        [tensor(128), array(tensor(126))],
        "Mismatched p.x.shape[0] on argument #1",
        "expected to match a.shape[0], got 126 (a.shape[0] is 128)",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), b: Tensor([2*n + 1], float32))",
        [tensor(128), tensor(126)],
        "Mismatched b.shape[0] on argument #1",
        "expected 2*n + 1, got 126 (n is 128)",
    ),
    (
        "dim",
        "f(a: Tensor([n, m], float32), b: Tensor([(m + n)*2], float32))",
        [tensor(3, 2), tensor(126)],
        "Mismatched b.shape[0] on argument #1",
        "expected (m + n)*2, got 126 (m is 2, n is 3)",
    ),
    (
        "dim",
        "f(a: Tensor([2*n], float32), n: int32)",
        [tensor(6), integer(4)],
        "Mismatched a.shape[0] on argument #0",
        "expected 2*n, got 6 (n is 4)",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), n: int32)",
        [tensor(6), integer(4)],
        "Mismatched n on argument #1",
        "expected to match a.shape[0], got 4 (a.shape[0] is 6)",
    ),
    (
        "dim",
        "f(n: int32, s: Shape([n // 4, n]))",
        [integer(6), shape(1, 2)],
        "Mismatched s[1] on argument #1",
        "expected to match n, got 2 (n is 6)",
    ),
    (
        "dim",
        "f(o: Optional[Tensor([n], float32)], a: Tensor([n], float32))",
        [tensor(2), tensor(3)],
        "Mismatched o.shape[0] on argument #0",
        "expected to match a.shape[0], got 2 (a.shape[0] is 3)",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), b: Tensor([n*4], float32))",
        [tensor(2**62), tensor(0)],
        "Mismatched b.shape[0] on argument #1",
        "expected n*4, got 0 and an overflow (n is 4611686018427387904)",
    ),
    (
        "dim",
        "f(m: int32, n: int32, b: Tensor([m // n], float32))",
        [integer(3), integer(-1), tensor(3)],
        "Mismatched b.shape[0] on argument #2",
        "expected m // n, got 3 and a divisor that is not positive (m is 3, n is -1)",
    ),
    (
        "dim",
        "f(a: Tensor([n], float32), b: Tensor([ceildiv(n, 8)%3 + n//2], float32))",
        [tensor(9), tensor(3)],
        "Mismatched b.shape[0] on argument #1",
        "expected ceildiv(n, 8)%3 + n//2, got 3 (n is 9)",
    ),
    (
        "dim-solve",
        "f(a: Tensor([2*n + 1], float32))",
        [tensor(4)],
        "Invalid a.shape[0] on argument #0",
        "expected 2*n + 1 with n >= 0, got 4",
    ),
    (
        "dim-solve",
        "f(a: Tensor([n + 3], float32))",
        [tensor(2)],
        "Invalid a.shape[0] on argument #0",
        "expected n + 3 with n >= 0, got 2",
    ),
    # Strides
    (
        "stride",
        "f(a: Tensor([m, n], float32))",
        [tensor(2, 128, strides=[130, 1])],
        "Mismatched a.strides[0] on argument #0",
        "expected to be 128 for row-major order, got 130",
    ),
    (
        "stride",
        "f(a: Tensor([m, n], float32, order=col))",
        [tensor(2, 3)],
        "Mismatched a.strides[0] on argument #0",
        "expected to be 1 for column-major order, got 3",
    ),
    (
        "stride",
        "f(a: Tensor([l, m, n], float32, order=(1, 0, 2)))",
        [tensor(2, 3, 4, strides=[3, 1, 7])],
        "Mismatched a.strides[2] on argument #0",
        "expected to be 6 for order (1, 0, 2), got 7",
    ),
    (
        "stride",
        "f(a: Tensor([m, n], float32, strides=[s, 2]))",
        [tensor(2, 3)],
        "Mismatched a.strides[1] on argument #0",
        "expected to be 2, got 1",
    ),
    (
        "stride",
        "f(a: Tensor([m, n], float32, strides=[s, 1]), b: Tensor([m, n], float32, strides=[s, 1]))",
        [tensor(2, 3, strides=[4, 1]), tensor(2, 3)],
        "Mismatched b.strides[0] on argument #1",
        "expected to match a.strides[0], got 3 (a.strides[0] is 4)",
    ),
    (
        "stride",
        "f(a: Tensor([l, n], int8, strides=[s, 1]), b: Tensor([m, n], int8, strides=[s, 1]), c: Tensor([k, n], int8, strides=[s, 1]))",
        [
            tensor(1, 3, dtype="int8"),
            tensor(2, 3, dtype="int8", strides=[4, 1]),
            tensor(2, 3, dtype="int8"),
        ],
        "Mismatched c.strides[0] on argument #2",
        "expected to match s on argument #1, got 3 (s is 4)",
    ),
    (
        "stride",
        "f(w: Tensor([2, 3], int8, strides=[s + 6, s]), y: Optional[Tensor([4], int8, strides=[s])])",
        [tensor(2, 3, dtype="int8", strides=[9, 1]), {"none": 1}],
        "Mismatched w.strides[0] on argument #0",
        "expected s + 6, got 9 (s is 1)",
    ),
    (
        "rule",
        "f(a: Tensor([m], int8, strides=[s]), b: Tensor([n], int8, strides=[s]), c: Tensor([k], int8, strides=[s])) where s < 9",
        [tensor(1, dtype="int8"), tensor(2, dtype="int8", strides=[9]), tensor(1, dtype="int8")],
        "Invalid s on argument #1",
        "expected s < 9, got 9",
    ),
    (
        "device-index",
        "f(a: Tensor([], int8, device={cpu, cuda}), b: Tensor([], int8, device=cuda), c: Tensor([], int8, device=cuda))",
        [
            tensor(dtype="int8"),
            tensor(dtype="int8", device=(2, 1)),
            tensor(dtype="int8", device=(2, 2)),
        ],
        "Mismatched device index on argument #2",
        "expected to match device.index on argument #1, got 2 (device.index is 1)",
    ),
    (
        "dim",
        "f(x: Optional[Shape([n])], y: Optional[Shape([n])], z: Optional[Shape([n])])",
        [{"none": 1}, {"shape": [4]}, {"shape": [5]}],
        "Mismatched z[0] on argument #2",
        "expected to match n on argument #1, got 5 (n is 4)",
    ),
    (
        "dim",
        "f(x: Optional[Shape([n])], y: Optional[Shape([2*n, n])])",
        [{"shape": [4]}, {"shape": [9, 4]}],
        "Mismatched y[0] on argument #1",
        "expected 2*n, got 9 (n is 4)",
    ),
    (
        "rule",
        "f(x: Optional[Shape([n])], y: Optional[Shape([n])]) where n > 1",
        [{"none": 1}, {"shape": [1]}],
        "Invalid n on argument #1",
        "expected n > 1, got 1",
    ),
    (
        "dim-solve",
        "f(a: Tensor([rows*9*ceildiv(4, 9)], int8))",
        [tensor(17, dtype="int8")],
        "Invalid a.shape[0] on argument #0",
        "expected rows*9*ceildiv(4, 9) with rows >= 0, got 17",
    ),
    (
        "dim-solve",
        "f(a: Tensor([5 - (3 - n) + n], int8))",
        [tensor(3, dtype="int8")],
        "Invalid a.shape[0] on argument #0",
        "expected 5 - (3 - n) + n with n >= 0, got 3",
    ),
    (
        "stride",
        "f(a: Tensor([m, n], float32, strides=[n, 1]))",
        [tensor(2, 3, strides=[4, 1])],
        "Mismatched a.strides[0] on argument #0",
        "expected to match a.shape[1], got 4 (a.shape[1] is 3)",
    ),
    (
        "stride",
        "f(a: Tensor([2, 3], float32, strides=[s + 1, s]))",
        [tensor(2, 3, strides=[4, 1])],
        "Mismatched a.strides[0] on argument #0",
        "expected s + 1, got 4 (s is 1)",
    ),
    (
        "negative-stride",
        "f(a: Tensor([2], float32, strides=[_]))",
        [tensor(2, strides=[-1])],
        "Invalid a.strides[0] on argument #0",
        "expected a non-negative value, got -1",
    ),
    (
        "mut-broadcast",
        "f(a: Tensor([2], float32, mut, strides=any))",
        [tensor(2, strides=[0])],
        "Invalid a.strides[0] on argument #0",
        "expected a non-zero stride for a mutable tensor, got 0",
    ),
    # Rules
    (
        "divisibility",
        "f(a: Tensor([n], float32)) where n % 16 == 0",
        [tensor(126)],
        "Invalid a.shape[0] on argument #0",
        "expected to be divisible by 16, got 126",
    ),
    (
        "divisibility",
        "f(a: Tensor([2, 2], int8, strides=[s, 1])) where s % 4 == 0",
        [tensor(2, 2, dtype="int8")],
        "Invalid a.strides[0] on argument #0",
        "expected to be divisible by 4, got 2",
    ),
    (
        "rule",
        "f(a: Tensor([hq], float32), hkv: int32) where hq % hkv == 0",
        [tensor(12), integer(5)],
        "Invalid hkv on argument #1",
        "expected hq % hkv == 0, got 12 % 5 (hq is a.shape[0])",
    ),
    (
        "rule",
        "f(a: Tensor([m, k], float32)) where m == 2*k",
        [tensor(6, 5)],
        "Invalid a.shape[1] on argument #0",
        "expected m == 2*k, got 6 and 2*5 (m is a.shape[0])",
    ),
    (
        "rule",
        "f(a: Tensor([n], float32)) where n in {64, 128}",
        [tensor(96)],
        "Invalid a.shape[0] on argument #0",
        "expected n in {64, 128}, got 96",
    ),
    (
        "rule",
        'f(mode: String) where mode in {"relu", "a \\"b\\""}',
        [text('"\n\x1b é')],
        "Invalid mode on argument #0",
        'expected mode in {"relu", "a \\"b\\""}, got "\\"\\n\\x1b \\xc3\\xa9"',
    ),
    (
        "rule",
        'f(mode: String = "gelu", n: int8 = 3) where mode != "gelu" or n > 3',
        [],
        "Invalid n on argument #1",
        'expected mode != "gelu" or n > 3, got mode = "gelu", n = 3',
    ),
    (
        "literal",
        'f(mode: "relu")',
        [text("a text with more than 26 characters", 8)],
        "Mismatched value on argument #0",
        'expected "relu", got "a text with more than 26 c"...',
    ),
    (
        "rule",
        "f(n: int8) where n % 8 + 1 == 2",
        [integer(-3)],
        "Invalid n on argument #0",
        "expected n%8 + 1 == 2, got -3%8 + 1",
    ),
    (
        "rule",
        "f(a: Tensor([_, _], float32)) where a.numel <= 8, a.shape[1] == 5",
        [tensor(2, 5)],
        "Invalid a.numel on argument #0",
        "expected a.numel <= 8, got 10",
    ),
    (
        "rule",
        "f(a: Tensor([_, _], float32, strides=any)) where a.strides[0] >= 8",
        [tensor(2, 5)],
        "Invalid a.strides[0] on argument #0",
        "expected a.strides[0] >= 8, got 5",
    ),
    (
        "rule",
        "f(a: Tensor([n], float32), m: int64) where n*m > 0",
        [tensor(2), integer(2**62)],
        "Invalid m on argument #1",
        "expected n*m > 0, got 2*4611686018427387904 (n is a.shape[0])",
    ),
    (
        "rule",
        "f(a: Tensor([m, n], float32)) where (n % 4 == 0 or m == 1)",
        [tensor(2, 5)],
        "Invalid a.shape[1] on argument #0",
        "expected n % 4 == 0 or m == 1, got n = 5, m = 2 (m is a.shape[0])",
    ),
    (
        "rule",
        "f(m: int64, n: int64) where not (m // n > 2 and n == 5)",
        [integer(9), integer(0)],
        "Invalid n on argument #1",
        "expected not (m // n > 2 and n == 5), got m = 9, n = 0",
    ),
    (
        "rule",
        "f(m: int64, n: int64) where not m == 1 or (n == 1 or m > 2) and n > 2",
        [integer(1), integer(1)],
        "Invalid n on argument #1",
        "expected not m == 1 or (n == 1 or m > 2) and n > 2, got m = 1, n = 1",
    ),
    (
        "rule",
        "f(a: Tensor([n], int8)) where aligned(a, 16)",
        [tensor(4, dtype="int8", data=0x1004)],
        "Invalid a on argument #0",
        "expected aligned(a, 16), got address % 16 == 4",
    ),
    (
        "rule",
        "f(a: Tensor([n], int8)) where n == 1 or aligned(a, 16)",
        [tensor(4, dtype="int8", data=0x1004)],
        "Invalid a on argument #0",
        "expected n == 1 or aligned(a, 16), got n = 4, address of a % 16 = 4 (n is a.shape[0])",
    ),
    (
        "rule",
        'f(w: int64, m: Optional[String]) where w == -1 or m == "causal"',
        [{"int": 7}, {"none": 1}],
        "Invalid m on argument #1",
        'expected w == -1 or m == "causal", got w = 7, m = None',
    ),
    (
        "rule",
        "f(n: int64, k: Optional[Tensor([j], int8)]) where not (j > 2 and n > 2)",
        [{"int": 3}, {"none": 1}],
        "Invalid k on argument #1",
        "expected not (j > 2 and n > 2), got j = None, n = 3 (j is k.shape[0])",
    ),
    (
        "rule",
        "f(a: Optional[Tensor([n], int8)], b: Optional[Tensor([n], int8)], m: int64) where n > 2 or m == 1",
        [{"none": 1}, {"none": 1}, {"int": 2}],
        "Invalid m on argument #2",
        "expected n > 2 or m == 1, got n = None, m = 2 (n is on argument #0)",
    ),
    (
        "divisibility",
        "f(s: Shape([_, _])) where s[-2] % 8 == 0",
        [{"shape": [9, 1]}],
        "Invalid s[0] on argument #0",
        "expected to be divisible by 8, got 9",
    ),
    (
        "rule",
        "f(a: Tensor([n], T)) where T in {int8, int16}, T == int8 or n > 4",
        [tensor(4, dtype="int16")],
        "Invalid a.shape[0] on argument #0",
        "expected T in {int8} or n > 4, got T = int16, n = 4",
    ),
    (
        "tensor-dtype",
        "f(a: Tensor([n], T)) where T == int8 or T == int16, not T == int8",
        [tensor(4, dtype="int8")],
        "Mismatched Tensor on argument #0",
        "expected dtype=int16, got int8",
    ),
    # Scalars
    (
        "scalar-range",
        "f(x: int32)",
        [integer(2**32)],
        "Out of bound value on argument #0",
        "expected to be in int32 range [-2147483648, 2147483647], got 4294967296",
    ),
    (
        "scalar-range",
        "f(x: bool)",
        [integer(2)],
        "Out of bound value on argument #0",
        "expected to be in bool range [0, 1], got 2",
    ),
    (
        "scalar-range",
        "f(x: uint64)",
        [integer(-1)],
        "Out of bound value on argument #0",
        "expected to be in uint64 range [0, 18446744073709551615], got -1",
    ),
    (
        "scalar-range",
        "f(x: uint64)",
        [{"bigint": [0, 1]}],
        "Out of bound value on argument #0",
        "expected to be in uint64 range [0, 18446744073709551615], got an integer beyond 64 bits",
    ),
    (
        "scalar-range",
        "f(p: Tuple(float16))",
        [array(number(65520))],
        "Out of bound value on p[0] in argument #0",
        "expected to be in float16 range [-65504.0, 65504.0], got 65520.0",
    ),
    (
        "scalar-range",
        "f(x: bfloat16)",
        [number(-3.4e38)],
        "Out of bound value on argument #0",
        "expected to be in bfloat16 range [-3.3895313892515355e+38, 3.3895313892515355e+38], got -3.4e+38",
    ),
    (
        "scalar-range",
        "f(x: float32)",
        [{"bigint": [1, 1]}],
        "Out of bound value on argument #0",
        "expected to be in float32 range [-3.4028234663852886e+38, 3.4028234663852886e+38], got an integer beyond 64 bits",
    ),
    ("literal", "f(x: 3)", [integer(4)], "Mismatched value on argument #0", "expected 3, got 4"),
    (
        "literal",
        "f(p: Tuple(k: -0.5))",
        [array(number("nan"))],
        "Mismatched value on p.k in argument #0",
        "expected -0.5, got nan",
    ),
    (
        "literal",
        "f(x: True)",
        [{"bool": 0}],
        "Mismatched value on argument #0",
        "expected True, got 0",
    ),
    (
        "pointer-null",
        "f(p: Pointer(int8, nonnull))",
        [integer(0)],
        "Invalid pointer on argument #0",
        "expected a non-NULL pointer, got NULL",
    ),
    (
        "pointer-alignment",
        "f(p: Pointer(int8, align=16))",
        [{"ptr": 4100}],
        "Misaligned pointer on argument #0",
        "expected alignment=16 bytes, got address % 16 == 4",
    ),
]

ACCEPTED = [
    ("f()", []),
    ("f(x: Tensor([n], float32))", [tensor(3, index=7)]),
    ("f(x: Optional[Tensor([n], float32)])", [NONE]),
    ("f(a: float16, b: bfloat16, c: float32)", [number("inf"), number("nan"), {"bool": 1}]),
    ("f(a: float16)", [number(65519.99)]),
    ("f(a: uint64)", [{"bigint": [-1, 0]}]),
    ("f(a: bool, b: True, c: 1, d: 2.0)", [integer(1), integer(1), {"bool": 1}, integer(2)]),
    (
        "f(s: Shape([2, n]), t: Shape([n]))",
        [array(integer(2), {"bool": 1}), {"list": [integer(1)]}],
    ),
    (
        "f(p: Pointer, q: Pointer(int8, align=16), s: Stream, e: EnvStream)",
        [NONE, integer(0), {"ptr": 4}],
    ),
    # Dims of extent 1 and empty tensors meet every stride requirement, empty ones need no data.
    ("f(a: Tensor([m, n], float32))", [tensor(1, 3, strides=[-7, 1])]),
    (
        "f(a: Tensor([m, n], float32, mut, strides=[s, 1], align=64))",
        [tensor(0, 3, strides=[0, -1], data=0, byte_offset=3)],
    ),
    ("f(a: Tensor([2], float32, strides=any))", [tensor(2, strides=[-1])]),
    # A symbol of strides: the first use is free; then all are, which meets the rule.
    (
        "f(a: Tensor([m, 4], float32, strides=[s, 1]), b: Tensor([n, 4], float32, strides=[s, 1])) where s % 8 == 0",
        [tensor(1, 4), tensor(2, 4, strides=[8, 1])],
    ),
    (
        "f(a: Tensor([m, 4], float32, strides=[s, 1]), b: Tensor([n, 4], float32, strides=[s, 1])) where s % 8 == 0",
        [tensor(1, 4), tensor(1, 4)],
    ),
    (
        "f(a: Tensor([m, 4], float32, strides=[s, 1]), b: Tensor([2, 4], float32, strides=[2*s, 1]))",
        [tensor(1, 4, strides=[9, 1]), tensor(2, 4, strides=[8, 1])],
    ),
    (
        "f(a: Tensor([], float32, device=cuda), b: Tensor([], float32, device=cuda, peer))",
        [tensor(device=CUDA_0), tensor(device=CUDA_1)],
    ),
    (
        "f(a: Tensor([n], int4), b: Tensor([n], int4)) where noalias(a, b)",
        [tensor(3, dtype="int4"), tensor(3, dtype="int4", data=4098)],
    ),
    (
        "f(a: Tensor([n], int8), b: Tensor([n], int8)) where noalias(a, b)",
        [tensor(0, dtype="int8"), tensor(0, dtype="int8")],
    ),
    (
        "f(a: Tensor([m, n], int8, strides=any), b: Tensor([2], int8)) where noalias(a, b)",
        [tensor(2**63 - 1, 3, dtype="int8", strides=[-1, -1]), tensor(2, dtype="int8", data=4097)],
    ),
    ("f(x: Tensor([n], float32), n: int32 = 3)", [tensor(3)]),
    (
        "f(a: Tensor([1 + n*2], float32), b: Tensor([min(n, 3), max(n, 9), n - 4], float32))",
        [tensor(9), tensor(3, 9, 0)],
    ),
]

SHORT = [
    (
        "add_one(a: Tensor([n], float32), b: Tensor([n], float32,mut)) where n>0",
        "add_one(a: Tensor([n], float32), b: Tensor([n], float32))",
    ),
    (
        "f(\n x:Tensor([n//8,(n%8)*2+1,2*(n//8),(m*n)%8,m,n,],T,align=16) ,)->y:Tensor([m],T)\nwhere T in {int8}, m in {1}, n<9",
        "f(x: Tensor([n // 8, n%8*2 + 1, 2*(n//8), m*n % 8, m, n], T)) -> y: Tensor([m], T)",
    ),
    (
        "f(a: Tuple(x: Tensor([_], int4), 1e-5, Tuple()), b: Optional[Pointer(int8, nonnull)], c: EnvStream, d: Pointer = None, e: Stream = None)",
        "f(a: Tuple(x: Tensor([_], int4), 1e-05, Tuple()), b: Optional[Pointer(int8)], d: Pointer, e: Stream)",
    ),
    (
        "f(n: int32, s: Shape([ceildiv(n+1, n%8), n-(n-1), n - 1 - 1, (n+1)*2]))",
        "f(n: int32, s: Shape([ceildiv(n + 1, n % 8), n - (n - 1), n - 1 - 1, (n + 1)*2]))",
    ),
]

INVALID = [
    "f(x: Tensor([m*n], float32))",
    "f(x: Optional[Tensor([n], float32)], y: Tensor([2*n], float32))",
    "f(x: Tensor([x], float32))",
    "f(x: int32, x: int32)",
    "f(x: Tensor([], T))",
    "f(x: Tensor([int8], T)) where T in {int8}",
    "f(a: int8 = 1, b: int8)",
    "f(x: int33)",
    "f(x: Tensor([n], float32)) where k > 1",
    "f(x: Optional[Tensor([n], float32)], y: Optional[Tensor([2*n], float32)])",
    "f(x Tensor([n], float32))",
    "f(x: Optional[Tensor([], T)]) where T in {int8}",
    "f(x: Tensor([m, n], float32, strides=[1]))",
    "f(x: uint64, y: Tensor([x], int8))",
]


def test_every_fault_has_examples():
    assert {name for name, *_ in GOLDEN} == {*FAULTS}


@pytest.mark.parametrize(
    "name, text, args, what, rest",
    GOLDEN,
    ids=[f"{fault}-{i}" for i, (fault, *_) in enumerate(GOLDEN)],
)
def test_fault(name, text, args, what, rest):
    signature = Signature(text)
    fault = find_fault(signature, args)
    kind = "TypeError" if name in TYPE_ERRORS else "ValueError"
    assert fault and (fault.name, fault.kind, fault.message) == (
        name,
        kind,
        f"{what} when calling: `{short(signature)}`, {rest}",
    )


@pytest.mark.parametrize("text, args", ACCEPTED)
def test_accepted(text, args):
    assert check(Signature(text), args) is None


@pytest.mark.parametrize("text, expected", SHORT)
def test_short_form(text, expected):
    assert short(Signature(text)) == expected


@pytest.mark.parametrize("text", INVALID)
def test_invalid(text):
    with pytest.raises(ValueError):
        Signature(text)


def test_default_device():
    signature = Signature("f(x: Tensor([], float32))")
    assert check(signature, [tensor(device=CUDA_0)], default_device="cuda") is None
    assert find_fault(signature, [tensor()], default_device="cuda").name == "device-type"


# What generated signatures and calls must contain: each alternative of the grammar and each kind of
# the tables.
NAME, EXPR_CHAR = r"[a-z]\w*", r"[\w +*/%().,-]"
WHERE = r"\) where .*"
ALTERNATIVES = {
    "no parameters": r"^\w+\(\s*\)",
    "one parameter": r"^\w+\(\s*\w+:\s*\w+\s*\)",
    "trailing comma of parameters": r",\s*\)",
    "new line": r"\n",
    "comment": "#",
    "default int": r"= -?\d+[,)\s]",
    "default float": r"= -?[\d.e-]*\.[\d]+",
    "default True": "= True",
    "default False": "= False",
    "default None": "= None",
    "default text": '= "',
    "default dtype": r"DataType = \w",
    "String": r":\s*String",
    "Optional String": r"Optional\[String",
    "String in Tuple": r"Tuple\((\w+: )?String",
    "literal text": r": \"",
    "DataType": r"(T|TA|TB|U):\s*DataType",
    "rule of a text": rf"{WHERE} == \"",
    "rule of another text": rf"{WHERE} != \"",
    "rule of texts": rf"{WHERE} in {{\"",
    **{f"scalar {kind}": rf": {kind}\b" for kind in (*INT_RANGES, *FLOAT_RANGES)},
    **{f"tensor of {dtype}": rf"\], {dtype}\b" for dtype in DTYPES},
    "literal None": ": None",
    "literal True": ": True",
    "literal False": ": False",
    "literal int": r": \d+\b(?!\.)",
    "literal negative": r": -\d",
    "literal float": r": -?\d+\.\d",
    "Stream": r":\s*Stream",
    "EnvStream": r":\s*EnvStream",
    "Pointer": r"Pointer(?!\()",
    "Pointer(dtype)": r"Pointer\(\w+\)",
    "Pointer nonnull": r"Pointer\(\w+, nonnull",
    "Pointer align": r"Pointer\(\w+.*?, align=",
    "Shape": r"Shape\(\[\w",
    "empty Shape": r"Shape\(\[\]\)",
    "Tuple": r"Tuple\(\w",
    "empty Tuple": r"Tuple\(\)",
    "nested Tuple": r"Tuple\((\w+: )?Tuple\(",
    "named element": r"Tuple\(\w+: ",
    "unnamed element": r"Tuple\(\w+[(),\[]",
    "Optional in Tuple": r"Tuple\((\w+: )?Optional",
    **{
        f"Optional of {kind}": rf"Optional\[{kind}"
        for kind in (
            "Tensor",
            "Shape",
            "Tuple",
            "Pointer",
            "int32",
            "float32",
            "bool",
            r"-?\d",
            "True",
        )
    },
    "rank 0": r"Tensor\(\[\]",
    "dim _": r"Tensor\(\[_",
    "dim int": r"Tensor\(\[\d+[,\]]",
    "dim symbol": rf"Tensor\(\[{NAME}[,\]]",
    "trailing comma of dims": r"\[[^\[\]]*,\]",
    **{
        f"dim with {sign}": rf"Tensor\(\[[^\[\]]*[\w)] ?{re.escape(sign)} ?[\w(]"
        for sign in ("+", "-", "*", "//", "%")
    },
    **{f"dim with {call}": rf"Tensor\(\[[^\[\]]*\b{call}\(" for call in ("ceildiv", "min", "max")},
    "dim with parentheses": r"Tensor\(\[[^\[\]]*[*%/] ?\(",
    "dtype variable": r"\], (T|TA|TB|U)\b",
    "order row": "order=row",
    "order col": "order=col",
    "order ranks": r"order=\(\d, ",
    "strides any": "strides=any",
    "strides constant": r"strides=\[\d",
    "strides _": r"strides=\[_",
    "strides symbol": r"strides=\[(s|t|ld|s0)[,\]]",
    "strides by a dim": r"strides=\[[mnkd][,\]]",
    "strides expression": r"strides=\[(\w+, )*[^\],]*\b(s|t|ld|s0)\b ?[-+*/%]",
    "align": "align=",
    "device": r"device=cuda\b",
    "device cpu": r"device=cpu\b",
    "device cuda_host": r"device=cuda_host\b",
    "device cuda_managed": r"device=cuda_managed\b",
    "devices": r"device=\{\w+, \w+",
    "peer": r", peer\b",
    "mut": r", mut\b",
    **{f"rule {sign}": rf"{WHERE} {sign} " for sign in ("==", "!=", "<", "<=", ">", ">=")},
    "rule of a divisor": rf"{WHERE}\b{NAME} % \d+ == 0",
    "rule of ints": rf"{WHERE}\b{NAME} in {{-?\d",
    "rule of ints, several": rf"{WHERE} in {{-?\d+, -?\d",
    "rule of a dtype variable": rf"{WHERE}\b(T|TA|TB|U) in {{\w+",
    "rule of one dtype": rf"{WHERE}\b(T|TA|TB|U) == \w+",
    "rule of dtype variables": rf"{WHERE}\(\w+, \w+\) in {{\(\w+, ",
    "noalias": r"noalias\(\w+, \w+\)",
    "aligned": rf"{WHERE}aligned\(\w+, \d+\)",
    **{f"rule with {word}": rf"{WHERE} {word} " for word in ("and", "or", "not")},
    "rule of brackets": rf"{WHERE}(and|not) \(\w+",
    "rule of another dtype": rf"{WHERE}\b(T|TA|TB|U) != \w+",
    "and within or": rf"{WHERE}[^,]* and [^,]* or ",
    "and within or, bracketed": rf"{WHERE}or \([^,()]* and ",
    "rule of shape[i]": rf"{WHERE}\w\.shape\[\d\]",
    "rule of strides[i]": rf"{WHERE}\w\.strides\[\d\]",
    "rule of numel": rf"{WHERE}\w\.numel",
    "rule of an element": rf"{WHERE}\b[a-z]+\[\d\]",
    "rule of given": rf"{WHERE}\.given\b",
    "rule of a truth": rf"{WHERE}== (True|False)\b",
    "rule of a float": rf"{WHERE}\w+ (<|>=) -?\d+\.\d",
    "rule of a float first": rf"{WHERE}-?\d+\.\d+ (<|>=) \w",
    "rule of a symbol of Optionals": rf"{WHERE}\b(i|j|q|r|p0|p1)\b",
    "symbol that Optionals share": r"Optional\[Tensor\(\[(i|j|q|r)\b.*Optional\[Tensor\(\[\1\b",
    "rule of a negative int": rf"{WHERE}[=<>] -\d",
    "rule of a stride symbol": rf"{WHERE}\b(s|t|ld|s0)\b",
    "rule with an int first": rf"{WHERE} \d+ [=<>!]=? \w",
    **{f"rule with {call}": rf"{WHERE}{call}\(" for call in ("ceildiv", "min", "max")},
    **{
        f"rule with {sign}": rf"{WHERE}[\w)\]] ?{re.escape(sign)} ?[\w(]"
        for sign in ("+", "-", "*", "//", "%")
    },
}


@functools.lru_cache
def generated():
    return [json.loads(line) for line in generate(7, 2000, 6)]


def test_generator_is_reproducible():
    def first(seed):
        return list(generate(seed, 40, 5))

    assert first(3) == first(3) != first(4)


def test_generated_outcomes_are_the_checkers():
    for line in itertools.islice(generated(), 300):
        signature = Signature(line["signature"])
        for call in line["calls"]:
            outcome = check(signature, call["args"])
            assert call["expect"] == (outcome and {"kind": outcome[0], "message": outcome[1]})


def test_generator_covers_the_grammar():
    texts = [line["signature"] for line in generated()]
    counts = {
        name: sum(re.search(pattern, text, re.DOTALL) is not None for text in texts)
        for name, pattern in ALTERNATIVES.items()
    }
    assert [name for name, count in counts.items() if count == 0] == []


def test_generator_covers_the_faults_and_the_arguments():
    counts, accepted, calls, sorts = dict.fromkeys(FAULTS, 0), 0, 0, set()
    for line in generated():
        signature = Signature(line["signature"])
        for call in line["calls"]:
            fault = find_fault(signature, call["args"])
            calls, accepted = calls + 1, accepted + (fault is None)
            if fault:
                counts[fault.name] += 1
            values = [*call["args"]]
            for value in values:
                [(sort, payload)] = value.items()
                values += payload if sort in ("array", "list") else []
                sorts.add(
                    sort
                    if sort != "tensor"
                    else f"tensor {payload['index']} {'strides' if payload['strides'] else 'no strides'}"
                )
    assert [name for name, count in counts.items() if count < 5] == []
    assert 0.3 < accepted / calls < 0.5
    assert sorts >= {
        "none",
        "int",
        "bool",
        "float",
        "ptr",
        "bigint",
        "str",
        "dtype",
        "object",
        "shape",
        "array",
        "list",
        "tensor 7 strides",
        "tensor 70 no strides",
    }


def test_tables():
    assert (len(DTYPES), len(DEVICES), len(TYPE_WORDS)) == (28, 16, 28)
    assert (
        DTYPES["float8_e3m4"][0] == 7
        and DTYPES["float8_e4m3fn"] == (10, 8, 1)
        and DTYPES["float6_e3m2fn"] == (16, 6, 1)
    )
