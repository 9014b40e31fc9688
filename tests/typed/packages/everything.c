/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

void scalars(int64_t i8, int64_t i16, int64_t i32, int64_t i64, int64_t u8, int64_t u16, int64_t u32, uint64_t u64,
             double f16, double bf16, double f32, double f64, bool flag, int64_t* ints, uint64_t* big,
             double* floats) {
  const int64_t all[8] = {i8, i16, i32, i64, u8, u16, u32, flag};
  for (int i = 0; i < 8; ++i) ints[i] = all[i];
  big[0] = u64;
  floats[0] = f16, floats[1] = bf16, floats[2] = f32, floats[3] = f64;
}

void defaults(int64_t a, int64_t b, uint64_t c, bool d, bool e, double f, double g, double h, double i, int64_t j,
              double k, bool has_k, int64_t l, bool m, bool has_m, double o, uint64_t p, int64_t* ints, uint64_t* big,
              double* floats) {
  const int64_t all[7] = {a, b, d, e, j, l, has_m ? m : -1};
  for (int n = 0; n < 7; ++n) ints[n] = all[n];
  big[0] = c + p;
  floats[0] = f, floats[1] = g, floats[2] = h, floats[3] = i, floats[4] = has_k ? k : -1, floats[5] = o;
}

void add_to(int64_t* out, int64_t value) { *out += value; }

void packed(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d, const bool* e, const float* f,
            int64_t n, int64_t* out, uint8_t* y) {
  out[0] = a[0] + b[0] + c[0] + d[0] + e[0];
  out[1] = (int64_t)(f[0] + f[1]);
  for (int64_t i = 0; i < (n + 1) / 2; ++i) y[i] = a[i];
}

void joint_float16_float32(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}
void joint_float32_float64(const float* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}
void joint_uint8_float32(const uint8_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

void stars(int64_t numel, int64_t ndim, int64_t d, bool more, int64_t* out) {
  out[0] = numel, out[1] = ndim, out[2] = d, out[3] = more;
}

void strided(const float* x, int64_t x0, int64_t x1, float* y, int64_t y0, int64_t y1, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) y[i * y0 + j * y1] = x[i * x0 + j * x1];
}

void copy(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

void copy_int(int64_t value, int64_t* out) { *out = value; }

static float optionals(const float* a, bool s, int64_t h, int64_t w, int16_t k, bool q, const float* b, int64_t i) {
  return (a ? a[i] : 0) + (b ? b[i] : 0) + (s ? h * w : 0) + k + q;
}
void optionals_float32(const float* a, bool s, int64_t h, int64_t w, int16_t k, bool q, const float* b, float* y,
                       int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = optionals(a, s, h, w, k, q, b, i);
    if (y) y[i] = out[i];
  }
}
void optionals_float64(const float* a, bool s, int64_t h, int64_t w, int16_t k, bool q, const float* b, double* y,
                       int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = optionals(a, s, h, w, k, q, b, i);
    if (y) y[i] = out[i];
  }
}

void nested_float32(const float* x, int32_t low, float lo, int64_t h, int64_t w, bool has_last, uint64_t by, float* y,
                    int64_t n, double* out) {
  out[0] = low, out[1] = lo, out[2] = h * w, out[3] = has_last ? (double)by : -1;
  for (int64_t i = 0; has_last && i < n; ++i) y[i] = x[i];
}
void nested_float64(const double* x, int32_t low, float lo, int64_t h, int64_t w, bool has_last, uint64_t by,
                    double* y, int64_t n, double* out) {
  out[0] = low, out[1] = lo, out[2] = h * w, out[3] = has_last ? (double)by : -1;
  for (int64_t i = 0; has_last && i < n; ++i) y[i] = x[i];
}

void written_float32(const float* x, bool given, float* y, float by, int64_t plus, float* r, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (given) y[i] = x[i] * by + plus;
    if (r) r[i] = -x[i];
  }
}
void written_float64(const float* x, bool given, float* y, float by, int64_t plus, double* r, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (given) y[i] = x[i] * by + plus;
    if (r) r[i] = -x[i];
  }
}

void cast_float32(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}
void cast_float64(const float* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

void filled_float32(int64_t n, float* a, float* b, int64_t* c) {
  for (int64_t i = 0; i < n; ++i) a[i] = i, b[i] = -i;
  *c = 32;
}
void filled_float64(int64_t n, double* a, double* b, int64_t* c) {
  for (int64_t i = 0; i < n; ++i) a[i] = i, b[i] = -i;
  *c = 64;
}

void pointers(const void* p, const float* q, const void* r, const void* s, int64_t* out) {
  out[0] = (p != NULL) + 2 * (r != NULL) + 4 * (s != NULL);
  out[1] = (int64_t)*q;
  out[2] = s ? *(const int64_t*)s : -1;
}

void literals(bool h, bool i, bool j, bool k, int64_t* out) { out[0] = h + 2 * i + 4 * j + 8 * k; }

void split_float32(const float* x, int64_t n, float* low, double* high, int64_t* type) {
  for (int64_t i = 0; i < n; ++i) low[i] = x[i] - 1, high[i] = x[i] + 1;
  *type = 32;
}
void split_float64(const double* x, int64_t n, double* low, double* high, int64_t* type) {
  for (int64_t i = 0; i < n; ++i) low[i] = x[i] - 1, high[i] = x[i] + 1;
  *type = 64;
}

void scratch(const float* x, float* ws, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) ws[i] = x[n - 1 - i];
  for (int64_t i = 0; i < n; ++i) y[i] = ws[i];
}

int fail(int32_t status) { return status; }

void queued(const void* s, const void* t, const void* u, int64_t* out) {
  *out = (s != NULL) + 2 * (t != NULL) + 4 * (u != NULL);
}

void words(int64_t type, int64_t match, int64_t self, int64_t upper, int64_t crate, int64_t async, int64_t gen,
           int64_t super, int64_t dyn, int64_t* out) {
  *out = type + match + self + upper + crate + async + gen + super + dyn;
}

void own(int64_t call, int64_t new, int64_t args, int64_t returned, uint64_t object, int64_t current, uint64_t entry,
         int64_t stream, int64_t it, int64_t result, int64_t ok, int64_t some, int64_t err, int64_t load,
         int64_t* out) {
  *out = call + new + args + returned + (int64_t)object + current + (int64_t)entry + stream + it + result + ok + some +
         err + load;
}

void variables(float x, int32_t y, double* out) { *out = x + y; }

void given(const float* x, const float* y, int64_t n, float* out) { *out = n + (x ? x[0] : 0) + (y ? y[0] : 0); }

void first(const float* x, float* y) { *y = *x; }
void both(const float* x, float* y, float* z) { *y = *x, *z = -*x; }

void primitives(int64_t n, float alpha, double* y, int8_t* z) {
  for (int64_t i = 0; i < n; ++i) y[i] = alpha, z[i] = (int8_t)i;
}
