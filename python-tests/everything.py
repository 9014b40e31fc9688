# SPDX-License-Identifier: Apache-2.0
"""A package that uses every kind of parameter, every scalar dtype, results and a workspace: what
the packaging tests build.
"""

PACKAGE = """
[package]
name = "everything"

[[function]]
signature = '''
everything(
    x: Tensor([m, n], T, align=4), o: Optional[Tensor([m], float32)], s: Shape([m, _]),
    t: Tuple(a: int64, Tuple(b: float32)), p: Pointer(uint8), stream: Stream, env: EnvStream, mode: 3,
    i8: int8, i16: int16, i32: int32, i64: int64, u8: uint8, u16: uint16, u32: uint32, u64: uint64,
    flag: bool, f16: float16, bf16: bfloat16, f32: float32, word: String, dtype: DataType, f64: float64 = 0.5
) -> y: Tensor([m, n], T) where T in {float32, float64}, n % 2 == 0, word in {"none", "a longer text"}, dtype in {int8, int16}
'''
doc = "every kind of parameter at once"
workspace = { scratch = "Tensor([m*n], uint8, align=128)" }

[[function.launch]]
when = 'm <= 4, word == "a longer text", dtype == int16'
source = { host = "everything.c" }
kernel = "everything_{T}"
args = [
    "x", "o", "o.given", "s[1]", "t.a", "t[1].b", "p", "stream", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "flag", "f16: float32", "bf16: float32", "f32", "f64", "y", "scratch", "struct(x, m: int32, f32)", "x.numel: int32",
]

[[function.launch]]
when = "otherwise"
source = { host = "everything.c" }
kernel = "refuse"
args = ["m: int32"]
returns = "int"

[[function]]
signature = "add_one(a: Tensor([n], float32, align=16), b: Tensor([n], float32, mut)) where n % 4 == 0"
source = { host = "everything.c" }
kernel = "add_one"
args = ["a", "b", "n"]
"""

KERNELS = """
#include <math.h>
#include <stdint.h>

struct shape { const void *data; int32_t m; float scale; };

/* Another package may have a function of this name. */
double helper(double x) { return sqrt(x); }

#define EVERYTHING(T, NAME)                                                                                            \\
    void NAME(const T *x, const float *o, _Bool given, int64_t s1, int64_t a, float b, void *p, void *stream,          \\
              int8_t i8, int16_t i16, int32_t i32, int64_t i64, uint8_t u8, uint16_t u16, uint32_t u32, uint64_t u64,  \\
              _Bool flag, float f16, float bf16, float f32, double f64, T *y, unsigned char *scratch,      \\
              struct shape shape, int32_t numel) {                                                                     \\
        double sum = s1 + a + b + i8 + i16 + i32 + i64 + u8 + u16 + u32 + (u64 >> 60) + flag + f16 + bf16;     \\
        sum += f32 + f64 + helper(16.0) + (given ? o[0] : 0) + (p != 0) + (stream != 0) + shape.scale + shape.m;       \\
        sum += ((uintptr_t)scratch & 127) != 0;                                                                        \\
        for (int32_t i = 0; i < numel; ++i) scratch[i] = 1;                                                            \\
        for (int32_t i = 0; i < numel; ++i) y[i] = x[i] + ((const T *)shape.data)[i] * 0 + (T)sum * scratch[i];        \\
    }
EVERYTHING(float, everything_float32)
EVERYTHING(double, everything_float64)

int refuse(int32_t m) { return m; }

void add_one(const float *a, float *b, int64_t n) {
    for (int64_t i = 0; i < n; ++i) b[i] = a[i] + 1;
}
"""

FILES = {"everything.c": KERNELS}
OUTPUTS = ("package.so", "package.o", "package.h", "package.pyi")


def arguments(x, o=None, u64=2**64 - 1, f16=1.5):
    """The arguments of a call that passes, for a tensor x of two dims."""
    m = x.shape[0]
    return (
        x,
        o,
        (m, 7),
        (10, (0.25,)),
        None,
        4096,
        3,
        -8,
        -16,
        -32,
        -64,
        8,
        16,
        32,
        u64,
        True,
        f16,
        2.5,
        0.125,
        "a longer text",
        "int16",
    )


def expected_sum(m, o=0.0, f16=1.5):
    """What the kernel adds to every element of x."""
    integers = 7 + 10 - 8 - 16 - 32 - 64 + 8 + 16 + 32 + 15 + 1
    floats = 0.25 + f16 + 2.5 + 0.125 + 0.5 + 4.0 + o + 0.125
    return integers + floats + 1 + m
