/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

void rms(const float *x, const float *w, float *y, int64_t n_rows, int64_t d, float eps) {
    for (int64_t row = 0; row < n_rows; ++row, x += d, y += d) {
        double sum = 0;
        for (int64_t i = 0; i < d; ++i) sum += (double)x[i] * x[i];
        double scale = 1 / sqrt(sum / d + eps);
        for (int64_t i = 0; i < d; ++i) y[i] = (float)(x[i] * scale * w[i]);
    }
}
