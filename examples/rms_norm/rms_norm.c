/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

/* The same functions for each dtype; a package file picks one by `{T}`. Sums are of doubles. */
#define RMS_NORM(dtype, type)                                                                                        \
  static double inverse_rms_##dtype(const type* row, int64_t d, double eps) {                                        \
    double sum = 0;                                                                                                  \
    for (int64_t i = 0; i < d; ++i) sum += (double)row[i] * (double)row[i];                                          \
    return 1 / sqrt(sum / (double)d + eps);                                                                          \
  }                                                                                                                  \
                                                                                                                     \
  /* One pass: a short row stays in the cache between its sum and its scaling. */                                    \
  void rms_norm_##dtype(const type* x, const type* w, type* out, int64_t m, int64_t d, double eps) {                 \
    for (int64_t r = 0; r < m; ++r) {                                                                                \
      double inverse = inverse_rms_##dtype(x + r * d, d, eps);                                                       \
      for (int64_t i = 0; i < d; ++i) out[r * d + i] = (type)((double)x[r * d + i] * inverse * (double)w[i]);        \
    }                                                                                                                \
  }                                                                                                                  \
                                                                                                                     \
  /* Two passes over long rows: first every row's scale, ... */                                                      \
  void row_scales_##dtype(const type* x, double* scales, int64_t m, int64_t d, double eps) {                         \
    for (int64_t r = 0; r < m; ++r) scales[r] = inverse_rms_##dtype(x + r * d, d, eps);                              \
  }                                                                                                                  \
                                                                                                                     \
  /* ... then the columns, block by block, so that a block of `w` serves all rows. */                                \
  void scale_columns_##dtype(const type* x, const type* w, const double* scales, type* out, int64_t m, int64_t d) {  \
    enum { block = 1024 };                                                                                           \
    for (int64_t begin = 0; begin < d; begin += block) {                                                             \
      int64_t end = begin + block < d ? begin + block : d;                                                           \
      for (int64_t r = 0; r < m; ++r)                                                                                \
        for (int64_t i = begin; i < end; ++i) out[r * d + i] = (type)((double)x[r * d + i] * scales[r] * (double)w[i]); \
    }                                                                                                                \
  }

RMS_NORM(float32, float)
RMS_NORM(float64, double)
