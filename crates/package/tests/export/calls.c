/* SPDX-License-Identifier: Apache-2.0 */
/* Calls plain functions over entry points that print their arguments, or fail. Both C99 and C++11. */
#include "norm.h"

#include <inttypes.h>
#include <stdio.h>

static void print_value(const kernpack_any* any) {
  const void* object = any->value.v_ptr;
  int64_t i;
  switch (any->type_index) {
    case 0: printf("None"); break;
    case 1: printf("%" PRId64, any->value.v_int64); break;
    case 2: printf(any->value.v_int64 ? "True" : "False"); break;
    case 3: printf("%g", any->value.v_float64); break;
    case 4: printf("void*(%" PRIdPTR ")", (intptr_t)object); break;
    case 5: printf("dtype(0x%" PRIx64 ")", (uint64_t)any->value.v_int64); break;
    case 7: printf("Tensor(ndim=%d)", (int)((const kernpack_tensor*)object)->ndim); break;
    case 8: printf("\"%s\"", (const char*)object); break;
    case 69: {
      const kernpack_shape* shape = (const kernpack_shape*)object;
      printf("Shape(");
      for (i = 0; i < (int64_t)shape->size; i++) printf(i ? ", %" PRId64 : "%" PRId64, shape->data[i]);
      printf(")");
      break;
    }
    case 71: {
      const kernpack_array* array = (const kernpack_array*)object;
      printf("[");
      for (i = 0; i < array->size; i++) {
        if (i) printf(", ");
        print_value(&array->data[i]);
      }
      printf("]");
      break;
    }
    case 78: {
      const kernpack_big_int* big = (const kernpack_big_int*)object;
      printf("BigInt(%d words, %" PRIu64 ", %" PRIu64 ")", (int)big->n_words, big->words[0], big->words[1]);
      break;
    }
    default: printf("?%d", (int)any->type_index);
  }
  if (any->padding != 0) printf(" with padding");
  if (any->type_index >= 64 && ((const kernpack_object*)object)->type_index != any->type_index) printf(" mislabelled");
}

static int print_call(const char* name, const kernpack_any* args, int32_t num_args, const kernpack_any* result) {
  int32_t i;
  printf("%s(", name);
  for (i = 0; i < num_args; i++) {
    if (i) printf(", ");
    print_value(&args[i]);
  }
  printf(")%s\n", result->type_index == 0 ? "" : " with a bad result");
  return 0;
}

#define PRINTING(name)                                                                                \
  int __tvm_ffi_##name(void* handle, const kernpack_any* args, int32_t num_args, kernpack_any* result) { \
    (void)handle;                                                                                     \
    return print_call(#name, args, num_args, result);                                                 \
  }

static kernpack_error raised;
static void* pending;
static int n_released;

#ifdef __cplusplus
extern "C" {
#endif
PRINTING(numbers)
PRINTING(views)
PRINTING(shapes)
PRINTING(tuples)
PRINTING(texts)
PRINTING(dtypes)
PRINTING(fixed)
PRINTING(least)
PRINTING(tuples_a)

int __tvm_ffi_nothing(void* handle, const kernpack_any* args, int32_t num_args, kernpack_any* result) {
  (void)handle, (void)args, (void)num_args, (void)result;
  pending = raised.kind == NULL ? NULL : &raised;
  return -1;
}

void TVMFFIErrorMoveFromRaised(void** result) {
  *result = pending;
  pending = NULL;
}

int TVMFFIObjectDecRef(void* object) {
  n_released += object == &raised;
  return 0;
}
#ifdef __cplusplus
}
#endif

static void fail(size_t message_size) {
  char message[64];
  int code;
  memset(message, '#', sizeof message);
  code = norm_nothing(message, message_size);
  message[63] = '\0';
  printf("%d of %d: %s\n", code, (int)message_size, message);
}

int main(void) {
  const int64_t extents[2] = {5, 2};
  const int16_t small = -7;
  const float ratio = 0.5f;
  const uint64_t huge = UINT64_MAX;
  kernpack_tensor tensor;
  kernpack_dims dims;
  struct norm_tuples_a_new_ inner;
  struct norm_tuples_a outer;
  struct norm_tuples_b other;
  struct norm_texts_t texts;
  kernpack_dtype dtype;
  memset(&tensor, 0, sizeof tensor);
  tensor.ndim = 1;

  norm_numbers(true, -8, 3, 1.5f, 2.5, &small, &ratio, &huge, NULL, 0);
  norm_numbers(false, 8, (uint64_t)INT64_MAX + 1, 1.5f, 2.5, NULL, NULL, NULL, NULL, 0);
  norm_views(&tensor, &tensor, extents, extents, (void*)16, (void*)32, (void*)2, NULL, 0);
  norm_views(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
  dims.data = extents;
  dims.size = 2;
  norm_shapes(&tensor, &dims, &dims, NULL, 0);
  dims.data = NULL;
  dims.size = 0;
  norm_shapes(&tensor, &dims, NULL, NULL, 0);
  inner._0 = 0.25f;
  outer.x = &tensor;
  outer._1 = 4;
  outer.new_ = &inner;
  other._0 = 0.75f;
  other.s = extents;
  norm_tuples(&outer, &other, NULL, 0);
  other.s = NULL;
  norm_tuples(&outer, &other, NULL, 0);
  outer.new_ = NULL;
  norm_tuples(&outer, NULL, NULL, 0);
  norm_tuples(NULL, NULL, NULL, 0);
  texts._0 = "in a tuple";
  norm_texts("relu", "gelu", &texts, NULL, 0);
  norm_texts("", NULL, NULL, NULL, 0);
  dtype.code = 4;
  dtype.bits = 16;
  dtype.lanes = 1;
  norm_dtypes(dtype, &tensor, NULL, 0);
  norm_fixed(true, 9, NULL, 0);
  norm_fixed(false, 9, NULL, 0);
  norm_least(NULL, 0);

  fail(64);
  raised.kind = "ValueError";
  raised.kind_size = 10;
  raised.message = "é costs €5";
  raised.message_size = strlen(raised.message);
  fail(64);
  fail(27);
  fail(26);
  fail(25);
  fail(24);
  fail(23);
  fail(22);
  fail(14);
  fail(13);
  fail(12);
  fail(5);
  fail(1);
  fail(0);
  printf("released %d\n", n_released);
  return 0;
}
