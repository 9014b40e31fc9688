/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

/* The other package has functions and a variable of these names too. */
int64_t n_calls;

int64_t step(int64_t x) { return x + 1; }

void run(const int64_t* x, int64_t* y, int64_t n) {
  ++n_calls;
  for (int64_t i = 0; i < n; ++i) y[i] = step(x[i]);
}

void calls(int64_t* count) { *count = n_calls; }
