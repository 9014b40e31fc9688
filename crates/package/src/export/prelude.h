/* SPDX-License-Identifier: Apache-2.0 */
/* What every header that kernpack writes starts with. Several of them may be included together: the first one defines this. */
#ifndef KERNPACK_PRELUDE_1
#define KERNPACK_PRELUDE_1

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

/* Where TVM-FFI's own header can be found, entry points are declared with its types, whoever includes it first. */
#if !defined(TVM_FFI_C_API_H_) && defined(__has_include)
#if __has_include(<tvm/ffi/c_api.h>)
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <tvm/ffi/c_api.h>
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A view of a tensor: DLPack's DLTensor. The caller owns all of it, and keeps it until the call returns. */
typedef struct kernpack_tensor {
  void* data;             /* on its device */
  int32_t device_type;    /* DLDeviceType: 1 is the CPU, 2 is CUDA */
  int32_t device_id;
  int32_t ndim;
  uint8_t dtype_code;     /* DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, .. */
  uint8_t dtype_bits;     /* of one lane */
  uint16_t dtype_lanes;   /* 1 */
  const int64_t* shape;   /* ndim extents */
  const int64_t* strides; /* ndim strides in elements; NULL for row-major */
  uint64_t byte_offset;   /* from data to the first element */
} kernpack_tensor;

/* The type of an element: DLPack's DLDataType. */
#ifdef DLPACK_DLPACK_H_
typedef DLDataType kernpack_dtype;
#else
typedef struct kernpack_dtype {
  uint8_t code;   /* DLDataTypeCode */
  uint8_t bits;   /* of one lane */
  uint16_t lanes; /* 1 */
} kernpack_dtype;
#endif

/* Integers, any number of them. */
typedef struct kernpack_dims {
  const int64_t* data;
  size_t size;
} kernpack_dims;

/* A value as entry points take it: TVMFFIAny. */
typedef struct kernpack_any {
  int32_t type_index;
  uint32_t padding;
  union {
    int64_t v_int64;
    double v_float64;
    const void* v_ptr;
  } value;
} kernpack_any;

#ifdef TVM_FFI_C_API_H_
typedef TVMFFIAny kernpack_packed_any;
#else
typedef kernpack_any kernpack_packed_any;
void TVMFFIErrorMoveFromRaised(void** result);
int TVMFFIObjectDecRef(void* object);
#endif

/* The objects of TVM-FFI that are passed here live on the caller's stack. An entry point of kernpack reads its arguments and keeps
   none, so nobody counts references to them. */
typedef struct kernpack_object {
  uint64_t ref_count;
  int32_t type_index;
  uint32_t padding;
  void* deleter;
} kernpack_object;

typedef struct kernpack_shape {
  kernpack_object head;
  const int64_t* data;
  size_t size;
} kernpack_shape;

typedef struct kernpack_array {
  kernpack_object head;
  const kernpack_any* data;
  int64_t size;
  int64_t capacity;
  void* data_deleter;
} kernpack_array;

typedef struct kernpack_big_int {
  kernpack_object head;
  size_t n_words;
  uint64_t words[2];
} kernpack_big_int;

typedef struct kernpack_error {
  kernpack_object head;
  const char* kind;
  size_t kind_size;
  const char* message;
  size_t message_size;
} kernpack_error;

/* Refuses to compile where a layout is not the one that entry points read. */
typedef char kernpack_layouts[sizeof(void*) == 8 && sizeof(kernpack_tensor) == 48 && offsetof(kernpack_tensor, shape) == 24 &&
                                      sizeof(kernpack_any) == 16 && offsetof(kernpack_any, value) == 8 &&
                                      sizeof(kernpack_object) == 24
                                  ? 1
                                  : -1];
#ifdef DLPACK_DLPACK_H_
typedef char kernpack_tensor_is_dltensor[sizeof(kernpack_tensor) == sizeof(DLTensor) &&
                                                 offsetof(kernpack_tensor, device_type) == offsetof(DLTensor, device) &&
                                                 offsetof(kernpack_tensor, ndim) == offsetof(DLTensor, ndim) &&
                                                 offsetof(kernpack_tensor, dtype_code) == offsetof(DLTensor, dtype) &&
                                                 offsetof(kernpack_tensor, shape) == offsetof(DLTensor, shape) &&
                                                 offsetof(kernpack_tensor, strides) == offsetof(DLTensor, strides) &&
                                                 offsetof(kernpack_tensor, byte_offset) == offsetof(DLTensor, byte_offset)
                                             ? 1
                                             : -1];
#endif

static inline kernpack_any kernpack_int(int64_t value) {
  kernpack_any any;
  any.type_index = 1;
  any.padding = 0;
  any.value.v_int64 = value;
  return any;
}

static inline kernpack_any kernpack_none(void) {
  kernpack_any any = kernpack_int(0);
  any.type_index = 0;
  return any;
}

static inline kernpack_any kernpack_bool(bool value) {
  kernpack_any any = kernpack_int(value ? 1 : 0);
  any.type_index = 2;
  return any;
}

static inline kernpack_any kernpack_data_type(uint8_t code, uint8_t bits, uint16_t lanes) {
  kernpack_any any = kernpack_int(code | (int64_t)bits << 8 | (int64_t)lanes << 16);
  any.type_index = 5;
  return any;
}

/* NULL becomes None. */
static inline kernpack_any kernpack_text(const char* value) {
  kernpack_any any = kernpack_none();
  if (value) {
    any.type_index = 8;
    any.value.v_ptr = value;
  }
  return any;
}

static inline kernpack_any kernpack_float(double value) {
  kernpack_any any = kernpack_none();
  any.type_index = 3;
  any.value.v_float64 = value;
  return any;
}

static inline kernpack_any kernpack_address(int32_t type_index, const void* value) {
  kernpack_any any = kernpack_none();
  any.type_index = type_index;
  any.value.v_ptr = value;
  return any;
}

static inline kernpack_any kernpack_pointer(const void* value) { return kernpack_address(4, value); }

static inline kernpack_any kernpack_view(const kernpack_tensor* tensor) {
  return tensor == NULL ? kernpack_none() : kernpack_address(7, tensor);
}

static inline kernpack_any kernpack_share(kernpack_object* head, int32_t type_index) {
  head->ref_count = ((uint64_t)1 << 32) | 1;
  head->type_index = type_index;
  head->padding = 0;
  head->deleter = NULL;
  return kernpack_address(type_index, head);
}

static inline kernpack_any kernpack_uint(kernpack_big_int* object, uint64_t value) {
  if (value <= (uint64_t)INT64_MAX) return kernpack_int((int64_t)value);
  object->n_words = 2;
  object->words[0] = value;
  object->words[1] = 0;
  return kernpack_share(&object->head, 78);
}

static inline kernpack_any kernpack_ints(kernpack_shape* object, const int64_t* data, size_t size) {
  if (data == NULL) return kernpack_none();
  object->data = data;
  object->size = size;
  return kernpack_share(&object->head, 69);
}

static inline kernpack_any kernpack_any_ints(kernpack_shape* object, const kernpack_dims* dims) {
  if (dims == NULL) return kernpack_none();
  return kernpack_ints(object, dims->size > 0 ? dims->data : (const int64_t*)dims, dims->size);
}

static inline kernpack_any kernpack_values(kernpack_array* object, const kernpack_any* data, int64_t size) {
  object->data = data;
  object->size = size;
  object->capacity = size;
  object->data_deleter = NULL;
  return kernpack_share(&object->head, 71);
}

/* Appends to a text of at most `size` bytes with its end; cuts between characters, after which nothing is appended any more. */
static inline void kernpack_append(char* out, size_t* size, size_t* used, const char* text, size_t length) {
  size_t room = *size - *used - 1;
  if (length > room) {
    length = room;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    *size = *used + length + 1;
  }
  memcpy(out + *used, text, length);
  *used += length;
  out[*used] = '\0';
}

/* Turns a raised error into "Kind: message". */
static inline int kernpack_result(int code, char* message, size_t message_size) {
  void* raised = NULL;
  size_t used = 0;
  if (code == 0) return 0;
  TVMFFIErrorMoveFromRaised(&raised);
  if (message != NULL && message_size > 0) {
    const kernpack_error* error = (const kernpack_error*)raised;
    const char* missing = "RuntimeError: the call failed without an error";
    if (error == NULL) {
      kernpack_append(message, &message_size, &used, missing, strlen(missing));
    } else {
      kernpack_append(message, &message_size, &used, error->kind, error->kind_size);
      kernpack_append(message, &message_size, &used, ": ", 2);
      kernpack_append(message, &message_size, &used, error->message, error->message_size);
    }
  }
  if (raised != NULL) TVMFFIObjectDecRef(raised);
  return -1;
}

#ifdef __cplusplus
}
#endif
#endif
