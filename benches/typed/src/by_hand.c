/* SPDX-License-Identifier: Apache-2.0 */
/* The same calls from C, through the packed symbol: with tensors that are made in each call, of arrays that have extents and strides as a program
 * has them, and with tensors that were made before. */
#include <stdint.h>

typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} tensor;

typedef struct {
  int32_t type_index;
  uint32_t padding;
  union {
    int64_t number;
    void* pointer;
  };
} any;

/* An array of two dims, by rows. */
typedef struct {
  float* data;
  int64_t shape[2];
  int64_t strides[2];
} array;

enum { NONE = 0, DL_TENSOR_PTR = 7, CPU = 1, FLOAT = 2 };

int __tvm_ffi_add_one(void* handle, const any* args, int32_t n_args, any* result);

static tensor view(array* x) {
  tensor made = {x->data, CPU, 0, 2, FLOAT, 32, 1, x->shape, x->strides, 0};
  return made;
}

static int call(tensor* a, tensor* b) {
  any args[2] = {{DL_TENSOR_PTR, 0, {.pointer = a}}, {DL_TENSOR_PTR, 0, {.pointer = b}}};
  any result = {NONE, 0, {0}};
  return __tvm_ffi_add_one(0, args, 2, &result);
}

/* Each function makes so many calls, and gives how many of them failed. */

int64_t tensors_in_each_call(array* a, array* b, int64_t n_calls) {
  int64_t n_failed = 0;
  for (int64_t i = 0; i < n_calls; ++i) {
    /* The compiler knows nothing of the arrays from the call before. */
    __asm__ volatile("" : "+r"(a), "+r"(b) : : "memory");
    tensor x = view(a), y = view(b);
    n_failed += call(&x, &y) != 0;
  }
  return n_failed;
}

int64_t tensors_made_before(array* a, array* b, int64_t n_calls) {
  int64_t n_failed = 0;
  tensor x = view(a), y = view(b);
  for (int64_t i = 0; i < n_calls; ++i) {
    __asm__ volatile("" : : : "memory");
    n_failed += call(&x, &y) != 0;
  }
  return n_failed;
}
