/* SPDX-License-Identifier: Apache-2.0 */
/* Plain C over the package's header, with no other: host calls.txt
 *
 * Each call of calls.txt is written out here, as a C program would; of the file only the texts are printed. */
#include <stdio.h>
#include <stdlib.h>

#include "table.h"

enum { INT64 = 0, FLOAT32 = 2, FLOAT64 = 3 };

#define SIZE 64

/* A tensor with its memory. */
typedef struct {
  kernpack_tensor view;
  int64_t shape[2];
  int dtype;
  _Alignas(64) unsigned char memory[SIZE * 8];
} tensor;

static int64_t count(const tensor* t) {
  int64_t n = 1;
  for (int i = 0; i < t->view.ndim; ++i) n *= t->shape[i];
  return n;
}

static double get(const tensor* t, int64_t i) {
  const unsigned char* data = t->memory + t->view.byte_offset;
  if (t->dtype == INT64) return (double)((const int64_t*)data)[i];
  return t->dtype == FLOAT32 ? ((const float*)data)[i] : ((const double*)data)[i];
}

/* A CPU tensor of one or two dims that starts so many bytes into its memory: zeros, or 1, 2, 3, ... */
static tensor* fill(tensor* t, int dtype, int64_t m, int64_t n, uint64_t byte_offset, bool counting) {
  memset(t, 0, sizeof *t);
  t->dtype = dtype;
  t->shape[0] = m;
  t->shape[1] = n;
  t->view.data = t->memory;
  t->view.device_type = 1;
  t->view.ndim = n < 0 ? 1 : 2;
  t->view.dtype_code = dtype == INT64 ? 0 : 2;
  t->view.dtype_bits = dtype == FLOAT32 ? 32 : 64;
  t->view.dtype_lanes = 1;
  t->view.shape = t->shape;
  t->view.byte_offset = byte_offset;
  for (int64_t i = 0; counting && i < count(t); ++i) {
    unsigned char* data = t->memory + byte_offset;
    if (dtype == FLOAT32) ((float*)data)[i] = (float)(i + 1);
    if (dtype == FLOAT64) ((double*)data)[i] = (double)(i + 1);
  }
  return t;
}

static tensor x, y, out;

static const kernpack_tensor* counting(int dtype, int64_t m, int64_t n) {
  return &fill(&x, dtype, m, n, 0, true)->view;
}

static const kernpack_tensor* zeros(int dtype, int64_t m, int64_t n) {
  return &fill(&out, dtype, m, n, 0, false)->view;
}

static const kernpack_tensor* null_data(const kernpack_tensor* view) {
  x.view.data = NULL;
  return view;
}

static const char* const typed = "the header's functions have types";

/* Makes that call. Returns why it cannot be made, or NULL. */
static const char* make(int number, int* code, char* message, size_t size) {
  const int64_t two_three[] = {2, 3}, three_two[] = {3, 2}, ten = 10;
  struct table_describe_range range = {1, 5}, other = {-1, 7};
  switch (number) {
    case 1:
      *code = table_scale(counting(FLOAT32, 2, 4), zeros(FLOAT32, 2, 4), 0.5f, message, size);
      break;
    case 2: /* C has no default arguments: this is the default's value. */
      *code = table_scale(counting(FLOAT64, 2, 4), zeros(FLOAT64, 2, 4), 2.0f, message, size);
      break;
    case 3:
      *code = table_scale(counting(FLOAT32, 0, 4), zeros(FLOAT32, 0, 4), 3.0f, message, size);
      break;
    case 4:
      *code = table_scale(&fill(&x, FLOAT32, 2, 4, 4, true)->view, zeros(FLOAT32, 2, 4), 2.0f, message, size);
      break;
    case 5:
      *code = table_scale(counting(FLOAT32, 2, 4), zeros(FLOAT64, 2, 4), 2.0f, message, size);
      break;
    case 6:
      *code = table_scale(counting(FLOAT32, 2, 4), zeros(FLOAT32, 2, 8), 2.0f, message, size);
      break;
    case 7:
      *code = table_scale(counting(FLOAT32, 2, 6), zeros(FLOAT32, 2, 6), 2.0f, message, size);
      break;
    case 8:
      *code = table_scale(counting(FLOAT32, 8, -1), zeros(FLOAT32, 8, -1), 2.0f, message, size);
      break;
    case 9:
      *code = table_scale(null_data(counting(FLOAT32, 2, 4)), zeros(FLOAT32, 2, 4), 2.0f, message, size);
      break;
    case 10:
      return typed;
    case 11:
      *code = table_scale(counting(FLOAT32, 2, 4), NULL, 2.0f, message, size);
      break;
    case 12:
      *code = table_describe(two_three, &range, zeros(INT64, 4, -1), NULL, message, size);
      break;
    case 13:
      *code = table_describe(two_three, &other, zeros(INT64, 4, -1), &ten, message, size);
      break;
    case 14:
      *code = table_describe(three_two, &range, zeros(INT64, 4, -1), NULL, message, size);
      break;
    case 15:
    case 16:
      return typed;
    case 17:
      return "plain C calls add_out";
    case 18:
      fill(&y, FLOAT32, 4, -1, 0, true);
      *code = table_add_out(counting(FLOAT32, 4, -1), &y.view, 1.5f, zeros(FLOAT32, 4, -1), message, size);
      break;
    case 19:
      *code = table_take(counting(FLOAT64, 4, -1), 6, true, zeros(FLOAT64, 1, -1), message, size);
      break;
    case 20:
      *code = table_take(counting(FLOAT64, 4, -1), 6, false, zeros(FLOAT64, 1, -1), message, size);
      break;
    default:
      return "the host has no such call";
  }
  return NULL;
}

int main(int argc, char** argv) {
  char line[256], message[1024];
  FILE* calls = argc == 2 ? fopen(argv[1], "r") : NULL;
  int number = 0;
  if (calls == NULL) return 1;
  while (fgets(line, sizeof line, calls) != NULL) {
    if (line[0] == '#' || line[0] == '\n') continue;
    int code = 0;
    const char* reason = make(++number, &code, message, sizeof message);
    printf("%2d %s   ", number, line);
    if (reason != NULL) {
      printf("not expressible: %s\n", reason);
    } else if (code != 0) {
      printf("%s\n", message);
    } else {
      printf("ok: [");
      for (int64_t i = 0; i < count(&out); ++i) printf(i == 0 ? "%g" : " %g", get(&out, i));
      printf("]\n");
    }
  }
  fclose(calls);
  return 0;
}
