# SPDX-License-Identifier: Apache-2.0
"""The package that the tests of `kernpack.jax` call."""

import subprocess

PACKAGE = """
[package]
name = "jax"

[[function]]
signature = '''
axpy(x: Tensor([n], T), y: Tensor([n], T), alpha: float32 = 2.0) -> out: Tensor([n], T)
where T in {float32, bfloat16}, n % 2 == 0
'''
source = { host = "jax.c" }
symbol = "axpy_{T}"
args = ["alpha", "x", "y", "n", "out"]

[[function]]
signature = "sums(x: Tensor([m, n], float32), total: Tensor([], float32, mut), rows: Tensor([m], float32, mut))"
source = { host = "jax.c" }
symbol = "sums"
args = ["x", "m", "n", "total", "rows"]

[[function]]
signature = "column_sums(x: Tensor([m, n], float32, order=col), sums: Tensor([n], float32, mut))"
source = { host = "jax.c" }
symbol = "sums_of"
args = ["x", "n", "m", "sums"]

[[function]]
signature = "strides(x: Tensor([k, m, n], float32, strides=any), y: Tensor([6], int32, mut))"
source = { host = "jax.c" }
symbol = "six"
args = ["y", "x.shape[0]", "x.shape[1]", "x.shape[2]", "x.strides[0]", "x.strides[1]", "x.strides[2]"]

[[function]]
signature = "transpose(x: Tensor([m, n], float32), y: Tensor([n, m], float32, mut, order=col))"
source = { host = "jax.c" }
symbol = "move"
args = ["x", "m * n * 4", "y"]

[[function]]
signature = "increment(y: Tensor([n], float32, mut), by: int32 = 1)"
source = { host = "jax.c" }
symbol = "increment"
args = ["y", "n", "by"]

[[function]]
signature = "double(x: Tensor([n], float32), y: Tensor([n], float32, mut))"
source = { host = "jax.c" }
symbol = "twice"
args = ["x", "n", "y"]

[[function]]
signature = '''
fill(mode: String, dtype: DataType, y: Tensor([n], dtype, mut)) where mode in {"one", "two or so"}, dtype in {float32, int32}
'''
[[function.launch]]
when = 'mode == "one"'
source = { host = "jax.c" }
kernel = "one_{dtype}"
args = ["y", "n"]
[[function.launch]]
when = "otherwise"
source = { host = "jax.c" }
kernel = "two_{dtype}"
args = ["y", "n"]

[[function]]
signature = '''
scalars(n: int32, i: int64, b: bool, f: float64, lambda: Optional[float32], one: 1, s: Shape([2, k]), y: Tensor([n], float32, mut))
'''
source = { host = "jax.c" }
symbol = "scalars"
args = ["n", "i", "b", "f", "lambda", "lambda.given", "k", "y"]

[[function]]
signature = '''
nested(p: Tuple(a: Tensor([n], float32), inner: Tuple(Tensor([n], float32), by: float32)), z: Optional[Tensor([n], float32)],
       q: Tuple(u: Tensor([n], float32, mut), v: Tensor([n], float32, mut)))
'''
source = { host = "jax.c" }
symbol = "nested"
args = ["p.a", "p.inner[0]", "p.inner.by", "z", "n", "q.u", "q.v"]

[[function]]
signature = "rows(x: Tensor([m, d], float32), w: Tensor([d], float32), y: Tensor([m, d], float32, mut))"
source = { host = "jax.c" }
symbol = "rows"
args = ["x", "w", "m", "d", "y"]

[[function]]
signature = "stars(x: Tensor([*b, d], float32), w: Tensor([d], float32), y: Tensor([*b, d], float32, mut))"
source = { host = "jax.c" }
symbol = "rows"
args = ["x", "w", "b.numel", "d", "y"]

[[function]]
signature = "quarter(x: Tensor([2*n], float32), w: Tensor([m], float32), y: Tensor([ceildiv(n, 4), max(m, 3)], float32, mut))"
source = { host = "jax.c" }
symbol = "quarter"
args = ["x", "ceildiv(n, 4)", "max(m, 3)", "y"]

[[function]]
signature = "spaced(x: Tensor([m, n], float32), y: Tensor([m], float32, mut))"
workspace = { ws = "Tensor([m, n], float32, align=128)", more = "Tensor([ceildiv(m, 2)], float64)" }
source = { host = "jax.c" }
symbol = "spaced"
args = ["x", "m", "n", "ws", "more", "y"]

[[function]]
signature = '''
copy(x: Tensor([n], T), y: Tensor([n], T, mut)) where T in {bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16,
    bfloat16, float32, float64, complex64, complex128, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn, float8_e4m3fnuz,
    float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float4_e2m1fnx2}
'''
source = { host = "jax.c" }
symbol = "copy_{T}"
args = ["x", "n", "y"]

[[function]]
signature = "maybe(x: Tensor([n], float32), y: Tensor([n], float32, mut), z: Optional[Tensor([n], float32, mut)] = None)"
source = { host = "jax.c" }
symbol = "maybe"
args = ["x", "n", "y", "z"]

[[function]]
signature = "counted(n: int32, x: Tensor([n], float32), y: Tensor([n], float32, mut))"
source = { host = "jax.c" }
symbol = "counted"
args = ["x", "n", "y"]

[[function]]
signature = "tick(y: Tensor([1], int32, mut))"
source = { host = "jax.c" }
symbol = "tick"
args = ["y"]

[[function]]
signature = "ring(n: int32) where n > 0"
source = { host = "jax.c" }
symbol = "ring"
args = ["n"]

[[function]]
signature = "rung(y: Tensor([1], int32, mut))"
source = { host = "jax.c" }
symbol = "rung"
args = ["y"]

[[function]]
signature = "broken(y: Tensor([n], float32, mut), n_wanted: int32)"
source = { host = "jax.c" }
symbol = "broken"
args = ["n_wanted"]
returns = "int"
"""

_SIZES = {
    1: "bool int8 uint8 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu float4_e2m1fnx2",
    2: "int16 uint16 float16 bfloat16",
    4: "int32 uint32 float32",
    8: "int64 uint64 float64 complex64",
    16: "complex128",
}

KERNELS = """
#include <stdint.h>
#include <string.h>

static float widen(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint16_t narrow(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)(bits >> 16);
}

void axpy_float32(float a, const float *x, const float *y, int64_t n, float *out) {
    for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

void axpy_bfloat16(float a, const uint16_t *x, const uint16_t *y, int64_t n, uint16_t *out) {
    for (int64_t i = 0; i < n; ++i) out[i] = narrow(a * widen(x[i]) + widen(y[i]));
}

void sums_of(const float *x, int64_t m, int64_t n, float *rows) {
    for (int64_t i = 0; i < m; ++i) {
        rows[i] = 0;
        for (int64_t j = 0; j < n; ++j) rows[i] += x[i * n + j];
    }
}

void sums(const float *x, int64_t m, int64_t n, float *total, float *rows) {
    sums_of(x, m, n, rows);
    *total = 0;
    for (int64_t i = 0; i < m; ++i) *total += rows[i];
}

void six(int32_t *y, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f) {
    int64_t values[] = {a, b, c, d, e, f};
    for (int i = 0; i < 6; ++i) y[i] = (int32_t)values[i];
}

void move(const void *x, int64_t n, void *y) { memcpy(y, x, n); }
void increment(float *y, int64_t n, int32_t by) { for (int64_t i = 0; i < n; ++i) y[i] += by; }
void twice(const float *x, int64_t n, float *y) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }

void one_float32(float *y, int64_t n) { while (n-- > 0) y[n] = 1; }
void one_int32(int32_t *y, int64_t n) { while (n-- > 0) y[n] = 1; }
void two_float32(float *y, int64_t n) { while (n-- > 0) y[n] = 2; }
void two_int32(int32_t *y, int64_t n) { while (n-- > 0) y[n] = 2; }

void scalars(int32_t n, int64_t i, _Bool b, double f, float g, _Bool given, int64_t k, float *y) {
    double values[] = {(double)(i >> 32), b, f, g, given, (double)k};
    for (int32_t at = 0; at < n; ++at) y[at] = at < 6 ? (float)values[at] : 0;
}

void nested(const float *a, const float *w, float by, const float *z, int64_t n, float *u, float *v) {
    for (int64_t i = 0; i < n; ++i) {
        u[i] = a[i] + by * w[i];
        v[i] = z ? z[i] : -1;
    }
}

void maybe(const float *x, int64_t n, float *y, float *z) {
    for (int64_t i = 0; i < n; ++i) {
        y[i] = z ? 1 : 0;
        if (z) z[i] = x[i];
    }
}

void counted(const float *x, int32_t n, float *y) {
    for (int32_t i = 0; i < n; ++i) y[i] = x[i] + (float)n;
}

void rows(const float *x, const float *w, int64_t m, int64_t d, float *y) {
    for (int64_t i = 0; i < m * d; ++i) y[i] = x[i] * w[i % d] + (float)m;
}

void quarter(const float *x, int64_t m, int64_t n, float *y) {
    for (int64_t i = 0; i < m * n; ++i) y[i] = x[0];
}

void spaced(const float *x, int64_t m, int64_t n, float *ws, double *more, float *y) {
    for (int64_t i = 0; i < m * n; ++i) ws[i] = 2 * x[i];
    for (int64_t i = 0; i < (m + 1) / 2; ++i) more[i] = 0.5;
    for (int64_t i = 0; i < m; ++i) {
        y[i] = (float)more[i / 2];
        for (int64_t j = 0; j < n; ++j) y[i] += ws[i * n + j];
    }
}

static int32_t ticks, rings;
void tick(int32_t *y) { *y = ++ticks; }
void ring(int32_t n) { rings += n; }
void rung(int32_t *y) { *y = rings; }
int broken(int32_t wanted) { return wanted; }
""" + "".join(
    f"void copy_{name}(const void *x, int64_t n, void *y) {{ memcpy(y, x, n * {size}); }}\n"
    for size, names in _SIZES.items()
    for name in names.split()
)


def build(kernpack, folder, text=PACKAGE, kernels=KERNELS):
    """The shared object of a package file."""
    (folder / "jax.toml").write_text(text)
    (folder / "jax.c").write_text(kernels)
    ran = subprocess.run(
        [kernpack, "build", "jax.toml", "-o", "jax.so"], cwd=folder, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return folder / "jax.so"
