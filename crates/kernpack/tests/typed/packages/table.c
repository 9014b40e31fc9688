/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

void scale_float32(const float* x, float* y, int64_t count, float alpha) {
  for (int64_t i = 0; i < count; ++i) y[i] = alpha * x[i];
}

void scale_float64(const double* x, double* y, int64_t count, float alpha) {
  for (int64_t i = 0; i < count; ++i) y[i] = alpha * x[i];
}

void describe(int64_t h, int64_t w, int32_t low, int32_t high, bool has_step, int64_t step, int64_t* out) {
  out[0] = h * w;
  out[1] = low;
  out[2] = high;
  out[3] = has_step ? step : -1;
}

void add(const float* a, const float* b, float bias, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + (b ? b[i] : 0.0f) + bias;
}

/* Some things only the function can find out: what it returns is 0, or the number of an error. */
int take(const double* x, int64_t n, uint8_t index, bool wrap, double* out) {
  if (n == 0 || (index >= n && !wrap)) return 1;
  *out = x[index % n];
  return 0;
}

void sums(const float* x, int64_t m, int64_t n, float* rows, float* columns) {
  for (int64_t i = 0; i < m; ++i) rows[i] = 0;
  for (int64_t j = 0; j < n; ++j) columns[j] = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) rows[i] += x[i * n + j], columns[j] += x[i * n + j];
}
