/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of rows and of columns. */
#include <stdint.h>

void sums(const float* x, int64_t m, int64_t n, float* rows, float* columns) {
  for (int64_t i = 0; i < m; ++i) rows[i] = 0;
  for (int64_t j = 0; j < n; ++j) columns[j] = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) rows[i] += x[i * n + j], columns[j] += x[i * n + j];
}
