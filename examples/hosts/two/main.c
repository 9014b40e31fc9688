/* SPDX-License-Identifier: Apache-2.0 */
/* Two packages in one program. */
#include <stdio.h>

#include "left.h"
#include "right.h"

static kernpack_tensor view(int64_t* data, const int64_t* shape) {
  kernpack_tensor tensor = {data, 1, 0, 1, 0, 64, 1, shape, NULL, 0};
  return tensor;
}

int main(void) {
  int64_t three = 3, one = 1, x[3] = {1, 2, 3}, y[3] = {0, 0, 0}, count = 0;
  kernpack_tensor from = view(x, &three), to = view(y, &three), calls = view(&count, &one);
  char message[512];
  for (int i = 0; i < 3; ++i) {
    int code = i == 1 ? right_right(&from, &to, message, sizeof message) : left_left(&from, &to, message, sizeof message);
    if (code != 0) puts(message);
    printf("%s [%d %d %d]\n", i == 1 ? "right" : "left", (int)y[0], (int)y[1], (int)y[2]);
  }
  left_left_calls(&calls, message, sizeof message);
  printf("left was called %d times\n", (int)count);
  right_right_calls(&calls, message, sizeof message);
  printf("right was called %d times\n", (int)count);
  if (right_right(&from, &calls, message, sizeof message) != 0) puts(message);
  return 0;
}
