// SPDX-License-Identifier: Apache-2.0
// What kernpack's entry points are measured against: the same two functions by hand, with the same checks in the
// same order, one `if` for each `require` of the printed plan, and the same errors. A test feeds both what each of
// the checks refuses.

#include <dlpack/dlpack.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define COLD __attribute__((cold, noinline))

HIDDEN void add_one_kernel(const float *a, float *b, int64_t n);
HIDDEN void blend_kernel(const float *x0, const float *x1, const float *x2, const float *x3,
                         float *y, int32_t i0, int32_t i1, int32_t i2, int32_t i3, int32_t i4,
                         int32_t i5, int32_t i6, int32_t i7, int32_t i8, float f0, float f1,
                         float f2, float f3, float f4);

// ---- Errors

// Raises "SUBJECT when calling: `SIGNATURE`, TEXT".
COLD static int refuse(const char *kind, const char *signature, const char *subject,
                       const char *format, ...)
{
    char text[256];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    const char *parts[] = {subject, " when calling: `", signature, "`, ", text};
    TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 5);
    return -1;
}

COLD static int refuse_type(const char *signature, const char *subject, const char *expected,
                            int32_t type_index)
{
    static const char *const values[] = {"None", "int",    "bool",   "float", "void*",
                                         "dtype", "Device", "Tensor", "str",   "ByteArray",
                                         "RValueRef", "str", "bytes"};
    static const char *const objects[] = {"Object", "str",    "bytes", "Error",  "Function",
                                          "Shape",  "Tensor", "Array", "Map",    "Module",
                                          "a Python object", "List", "Dict", "VisitInterrupt",
                                          "BigInt"};
    char number[32];
    const char *got = number;
    snprintf(number, sizeof number, "type index %d", (int)type_index);
    if (type_index >= kTVMFFINone && type_index <= kTVMFFISmallBytes)
        got = values[type_index];
    else if (type_index >= kTVMFFIObject && type_index <= kTVMFFIBigInt)
        got = objects[type_index - kTVMFFIObject];
    return refuse("TypeError", signature, subject, "expected %s, got %s", expected, got);
}

COLD static int refuse_dtype(const char *signature, const char *subject, DLDataType got)
{
    static const struct {
        uint8_t code, bits;
        const char *name;
    } names[] = {
        {kDLBool, 8, "bool"},         {kDLInt, 4, "int4"},
        {kDLInt, 8, "int8"},          {kDLInt, 16, "int16"},
        {kDLInt, 32, "int32"},        {kDLInt, 64, "int64"},
        {kDLUInt, 8, "uint8"},        {kDLUInt, 16, "uint16"},
        {kDLUInt, 32, "uint32"},      {kDLUInt, 64, "uint64"},
        {kDLFloat, 16, "float16"},    {kDLFloat, 32, "float32"},
        {kDLFloat, 64, "float64"},    {kDLBfloat, 16, "bfloat16"},
        {kDLComplex, 64, "complex64"}, {kDLComplex, 128, "complex128"},
    };
    char name[64], lanes[16] = "";
    snprintf(name, sizeof name, "dtype(code=%d, bits=%d)", got.code, got.bits);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (names[i].code == got.code && names[i].bits == got.bits)
            snprintf(name, sizeof name, "%s", names[i].name);
    if (got.lanes > 1)
        snprintf(lanes, sizeof lanes, "x%d", got.lanes);
    return refuse("TypeError", signature, subject, "expected dtype=float32, got %s%s", name, lanes);
}

COLD static int refuse_device(const char *signature, const char *subject, int32_t device_type)
{
    static const char *const names[] = {NULL,  "cpu",  "cuda",      "cuda_host",
                                        "opencl", NULL,  NULL,   "vulkan",
                                        "metal", "vpi", "rocm", "rocm_host",
                                        "ext_dev", "cuda_managed", "oneapi", "webgpu",
                                        "hexagon", "maia", "trn"};
    char number[32];
    const char *got = number;
    snprintf(number, sizeof number, "device type %d", (int)device_type);
    if (device_type > 0 && device_type <= kDLTrn && names[device_type] != NULL)
        got = names[device_type];
    return refuse("ValueError", signature, subject, "expected device_type=cpu, got %s", got);
}

// The fewest digits that read back as the number, as Python writes those beyond float32.
COLD static int refuse_float(const char *signature, const char *subject, const char *expected,
                             double got)
{
    char digits[32];
    for (int precision = 0; precision < 17; ++precision) {
        snprintf(digits, sizeof digits, "%.*e", precision, got);
        if (strtod(digits, NULL) == got)
            break;
    }
    return refuse("ValueError", signature, subject, "expected %s, got %s", expected, digits);
}

// ---- Loads

static inline const DLTensor *tensor_of(const TVMFFIAny *arg)
{
    const char *payload = arg->v_ptr;
    return (const DLTensor *)(arg->type_index == kTVMFFITensor ? payload + sizeof(TVMFFIObject)
                                                               : payload);
}

static inline uint32_t word_of(DLDataType dtype)
{
    uint32_t word;
    memcpy(&word, &dtype, sizeof word);
    return word;
}

static inline uintptr_t address_of(const DLTensor *tensor)
{
    return (uintptr_t)tensor->data + tensor->byte_offset;
}

static inline double float_of(const TVMFFIAny *arg)
{
    return arg->type_index == kTVMFFIFloat ? arg->v_float64 : (double)arg->v_int64;
}

static inline void return_none(TVMFFIAny *result)
{
    result->type_index = kTVMFFINone;
    result->zero_padding = 0;
    result->v_int64 = 0;
}

// ---- Checks that both functions make

static const DLDataType float32 = {kDLFloat, 32, 1};

// The tensor `name` is argument `number`: its type, rank, dtype and device.
#define REQUIRE_TENSOR(name, number, rank)                                                        \
    if (args[number].type_index != kTVMFFITensor && args[number].type_index != kTVMFFIDLTensorPtr) \
        return refuse_type(signature, "Mismatched type on argument #" #number, "Tensor",          \
                           args[number].type_index);                                              \
    const DLTensor *name = tensor_of(&args[number]);                                              \
    if (name->ndim != rank)                                                                       \
        return refuse("ValueError", signature, "Mismatched Tensor on argument #" #number,         \
                      "expected ndim=" #rank ", got %d", (int)name->ndim);                        \
    if (word_of(name->dtype) != word_of(float32))                                                 \
        return refuse_dtype(signature, "Mismatched Tensor on argument #" #number, name->dtype);   \
    if (name->device.device_type != kDLCPU)                                                       \
        return refuse_device(signature, "Mismatched Tensor on argument #" #number,                \
                             name->device.device_type)

#define REQUIRE_DATA(name, number)                                                                \
    if (name->data == NULL && !EMPTY(name))                                                       \
    return refuse("ValueError", signature, "Invalid Tensor data on argument #" #number,           \
                  "expected a non-NULL data pointer, got NULL")

#define REQUIRE_NOT_NEGATIVE(name, number, dim)                                                   \
    if (name->shape[dim] < 0)                                                                     \
    return refuse("ValueError", signature,                                                        \
                  "Invalid " #name ".shape[" #dim "] on argument #" #number,                      \
                  "expected a non-negative value, got %lld", (long long)name->shape[dim])

#define REQUIRE_SAME(name, number, dim, first)                                                    \
    if (name->shape[dim] != first->shape[dim])                                                    \
    return refuse("ValueError", signature,                                                        \
                  "Mismatched " #name ".shape[" #dim "] on argument #" #number,                   \
                  "expected to match " #first ".shape[" #dim "], got %lld (" #first ".shape[" #dim \
                  "] is %lld)",                                                                   \
                  (long long)name->shape[dim], (long long)first->shape[dim])

#define REQUIRE_STRIDE(name, number, dim, stride)                                                 \
    if (name->strides[dim] != (stride) && name->shape[dim] != 1 && !EMPTY(name))                  \
    return refuse("ValueError", signature,                                                        \
                  "Mismatched " #name ".strides[" #dim "] on argument #" #number,                 \
                  "expected to be %lld for row-major order, got %lld", (long long)(stride),       \
                  (long long)name->strides[dim])

#define REQUIRE_ALIGNED(name, number)                                                             \
    if (address_of(name) % 16 != 0 && !EMPTY(name))                                               \
    return refuse("ValueError", signature, "Misaligned Tensor data on argument #" #number,        \
                  "expected data alignment=16 bytes, got address %% 16 == %d",                    \
                  (int)(address_of(name) % 16))

// ---- add_one(a: Tensor([n], float32, align=16), b: Tensor([n], float32, align=16, mut)) where n % 16 == 0

#define EMPTY(name) (name->shape[0] == 0)

int __tvm_ffi_add_one(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)
{
    static const char signature[] = "add_one(a: Tensor([n], float32), b: Tensor([n], float32))";
    (void)handle;

    if (num_args != 2)
        return refuse("TypeError", signature, "Mismatched number of arguments",
                      "expected 2 arguments, got %d", (int)num_args);

    REQUIRE_TENSOR(a, 0, 1);
    REQUIRE_DATA(a, 0);
    REQUIRE_NOT_NEGATIVE(a, 0, 0);
    if (a->shape[0] % 16 != 0)
        return refuse("ValueError", signature, "Invalid a.shape[0] on argument #0",
                      "expected to be divisible by 16, got %lld", (long long)a->shape[0]);
    if (a->strides != NULL) {
        REQUIRE_STRIDE(a, 0, 0, 1);
    }
    REQUIRE_ALIGNED(a, 0);

    REQUIRE_TENSOR(b, 1, 1);
    REQUIRE_DATA(b, 1);
    REQUIRE_NOT_NEGATIVE(b, 1, 0);
    REQUIRE_SAME(b, 1, 0, a);
    if (b->strides != NULL) {
        REQUIRE_STRIDE(b, 1, 0, 1);
    }
    REQUIRE_ALIGNED(b, 1);

    add_one_kernel((const float *)address_of(a), (float *)address_of(b), a->shape[0]);
    return_none(result);
    return 0;
}

#undef EMPTY

// ---- blend(x0: Tensor([n, c, h, w], float32, align=16), .. y: the same and mut, i0: int32, .. f0: float32, ..)

#define EMPTY(name)                                                                               \
    (name->shape[0] == 0 || name->shape[1] == 0 || name->shape[2] == 0 || name->shape[3] == 0)

// Unsigned, because the products of extents may wrap.
#define TIMES(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))

#define REQUIRE_ROW_MAJOR(name, number)                                                           \
    if (name->strides != NULL) {                                                                  \
        REQUIRE_STRIDE(name, number, 0,                                                           \
                       TIMES(TIMES(name->shape[3], name->shape[2]), name->shape[1]));             \
        REQUIRE_STRIDE(name, number, 1, TIMES(name->shape[3], name->shape[2]));                   \
        REQUIRE_STRIDE(name, number, 2, name->shape[3]);                                          \
        REQUIRE_STRIDE(name, number, 3, 1);                                                       \
    }

#define REQUIRE_LIKE(name, number, first)                                                         \
    REQUIRE_TENSOR(name, number, 4);                                                              \
    REQUIRE_DATA(name, number);                                                                   \
    REQUIRE_NOT_NEGATIVE(name, number, 0);                                                        \
    REQUIRE_SAME(name, number, 0, first);                                                         \
    REQUIRE_NOT_NEGATIVE(name, number, 1);                                                        \
    REQUIRE_SAME(name, number, 1, first);                                                         \
    REQUIRE_NOT_NEGATIVE(name, number, 2);                                                        \
    REQUIRE_SAME(name, number, 2, first);                                                         \
    REQUIRE_NOT_NEGATIVE(name, number, 3);                                                        \
    REQUIRE_SAME(name, number, 3, first);                                                         \
    REQUIRE_ROW_MAJOR(name, number)                                                               \
    REQUIRE_ALIGNED(name, number)

#define INT32 "to be in int32 range [-2147483648, 2147483647]"
#define FLOAT32 "to be in float32 range [-3.4028234663852886e+38, 3.4028234663852886e+38]"

#define REQUIRE_INT(name, number)                                                                 \
    if (args[number].type_index != kTVMFFIInt && args[number].type_index != kTVMFFIBool &&        \
        args[number].type_index != kTVMFFIBigInt)                                                 \
        return refuse_type(signature, "Mismatched type on argument #" #number, "int",             \
                           args[number].type_index);                                              \
    if (args[number].type_index == kTVMFFIBigInt)                                                 \
        return refuse("ValueError", signature, "Out of bound value on argument #" #number,        \
                      "expected " INT32 ", got an integer beyond 64 bits");                       \
    int64_t name = args[number].v_int64;                                                          \
    if (name < INT32_MIN || name > INT32_MAX)                                                     \
    return refuse("ValueError", signature, "Out of bound value on argument #" #number,            \
                  "expected " INT32 ", got %lld", (long long)name)

#define REQUIRE_FLOAT(name, number)                                                               \
    if (args[number].type_index != kTVMFFIFloat && args[number].type_index != kTVMFFIInt &&       \
        args[number].type_index != kTVMFFIBool && args[number].type_index != kTVMFFIBigInt)       \
        return refuse_type(signature, "Mismatched type on argument #" #number, "float",           \
                           args[number].type_index);                                              \
    if (args[number].type_index == kTVMFFIBigInt)                                                 \
        return refuse("ValueError", signature, "Out of bound value on argument #" #number,        \
                      "expected " FLOAT32 ", got an integer beyond 64 bits");                     \
    double name = float_of(&args[number]);                                                        \
    if (fabs(name) >= ROUNDS_TO_INFINITY && fabs(name) < INFINITY)                                \
    return refuse_float(signature, "Out of bound value on argument #" #number, FLOAT32, name)

// Half a unit above the greatest float32.
#define ROUNDS_TO_INFINITY 0x1.ffffffp127

// `name` as the kernel's int32_t.
#define REQUIRE_FITS(name)                                                                        \
    if (name < INT32_MIN || name > INT32_MAX)                                                     \
    return refuse("ValueError", signature, "Out of bound kernel argument `" #name "`",            \
                  "expected " INT32 ", got %lld", (long long)name)

int __tvm_ffi_blend(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)
{
    static const char signature[] =
        "blend(x0: Tensor([n, c, h, w], float32), x1: Tensor([n, c, h, w], float32), "
        "x2: Tensor([n, c, h, w], float32), x3: Tensor([n, c, h, w], float32), "
        "y: Tensor([n, c, h, w], float32), i0: int32, i1: int32, i2: int32, i3: int32, "
        "i4: int32, i5: int32, i6: int32, i7: int32, i8: int32, f0: float32, f1: float32, "
        "f2: float32, f3: float32, f4: float32)";
    (void)handle;

    if (num_args != 19)
        return refuse("TypeError", signature, "Mismatched number of arguments",
                      "expected 19 arguments, got %d", (int)num_args);

    REQUIRE_TENSOR(x0, 0, 4);
    REQUIRE_DATA(x0, 0);
    REQUIRE_NOT_NEGATIVE(x0, 0, 0);
    REQUIRE_NOT_NEGATIVE(x0, 0, 1);
    REQUIRE_NOT_NEGATIVE(x0, 0, 2);
    REQUIRE_NOT_NEGATIVE(x0, 0, 3);
    REQUIRE_ROW_MAJOR(x0, 0)
    REQUIRE_ALIGNED(x0, 0);
    REQUIRE_LIKE(x1, 1, x0);
    REQUIRE_LIKE(x2, 2, x0);
    REQUIRE_LIKE(x3, 3, x0);
    REQUIRE_LIKE(y, 4, x0);
    REQUIRE_INT(i0, 5);
    REQUIRE_INT(i1, 6);
    REQUIRE_INT(i2, 7);
    REQUIRE_INT(i3, 8);
    REQUIRE_INT(i4, 9);
    REQUIRE_INT(i5, 10);
    REQUIRE_INT(i6, 11);
    REQUIRE_INT(i7, 12);
    REQUIRE_INT(i8, 13);
    REQUIRE_FLOAT(f0, 14);
    REQUIRE_FLOAT(f1, 15);
    REQUIRE_FLOAT(f2, 16);
    REQUIRE_FLOAT(f3, 17);
    REQUIRE_FLOAT(f4, 18);
    REQUIRE_FITS(i0);
    REQUIRE_FITS(i1);
    REQUIRE_FITS(i2);
    REQUIRE_FITS(i3);
    REQUIRE_FITS(i4);
    REQUIRE_FITS(i5);
    REQUIRE_FITS(i6);
    REQUIRE_FITS(i7);
    REQUIRE_FITS(i8);

    blend_kernel((const float *)address_of(x0), (const float *)address_of(x1),
                 (const float *)address_of(x2), (const float *)address_of(x3),
                 (float *)address_of(y), (int32_t)i0, (int32_t)i1, (int32_t)i2, (int32_t)i3,
                 (int32_t)i4, (int32_t)i5, (int32_t)i6, (int32_t)i7, (int32_t)i8, (float)f0,
                 (float)f1, (float)f2, (float)f3, (float)f4);
    return_none(result);
    return 0;
}

// Raises the error whose kind, parts and number of parts are the arguments: what any entry point pays for an error.
int __tvm_ffi_raise(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result)
{
    (void)handle;
    (void)n_args;
    (void)result;
    TVMFFIErrorSetRaisedFromCStrParts(args[0].v_ptr, args[1].v_ptr, (int32_t)args[2].v_int64);
    return -1;
}
