/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* It has no state, so that any number of threads may call it at once. */
void score(const float* rows, const float* weights, float* scores, int64_t n, int64_t d) {
  for (int64_t i = 0; i < n; ++i) {
    float score = 0;
    for (int64_t j = 0; j < d; ++j) score += rows[i * d + j] * weights[j];
    scores[i] = score;
  }
}
