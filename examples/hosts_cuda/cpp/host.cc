// SPDX-License-Identifier: Apache-2.0
// The package's object is a part of this program: host
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <cstring>
#include <string>
#include <thread>

#include "cuda.hpp"
#include "rms_norm.h"

using tvm::ffi::Function;
using tvm::ffi::Tensor;

static const DLDataType kHalf = {kDLFloat, 16, 1}, kBfloat = {kDLBfloat, 16, 1};

// The bits of a number that the type holds exactly.
static uint16_t BitsOf(float value, DLDataType dtype) {
  int mantissa = dtype.code == kDLBfloat ? 7 : 10, bias = dtype.code == kDLBfloat ? 127 : 15;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value == 0) return 0;
  uint32_t exponent = (bits >> 23 & 0xff) - 127 + bias;
  return static_cast<uint16_t>(bits >> 31 << 15 | exponent << mantissa | (bits & 0x7fffff) >> (23 - mantissa));
}

static Tensor X(int64_t rows, int64_t d, DLDataType dtype, int shift = 0) {
  std::vector<uint16_t> bits;
  for (int64_t i = 0; i < rows * d; ++i) bits.push_back(BitsOf(((i * 37 + shift) % 101 - 50) / 32.0f, dtype));
  return cuda::Tensor(bits, {rows, d}, dtype);
}

static Tensor W(int64_t d, DLDataType dtype) {
  std::vector<uint16_t> bits;
  for (int64_t i = 0; i < d; ++i) bits.push_back(BitsOf(1 + (i % 3) / 4.0f, dtype));
  return cuda::Tensor(bits, {d}, dtype);
}

static Tensor Zeros(int64_t rows, int64_t d, DLDataType dtype) {
  return cuda::Tensor(std::vector<uint16_t>(rows * d), {rows, d}, dtype);
}

static std::string Checksum(const Tensor& out) {
  uint32_t sum = 0, i = 0;
  for (uint16_t bits : cuda::Bits(out)) sum += ++i * bits;
  char text[9];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}

// The plain C functions of the header take DLTensors under a name of their own.
static const kernpack_tensor* View(const Tensor& tensor) {
  return reinterpret_cast<const kernpack_tensor*>(tensor.GetDLTensorPtr());
}

// Copies on a stream that is held up, so that what does not wait for it is found out.
static void CopyLate(CUstream stream, const Tensor& to, const Tensor& from) {
  const DLTensor *target = to.GetDLTensorPtr(), *source = from.GetDLTensorPtr();
  CUDA_CALL(cuLaunchHostFunc, stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }, nullptr);
  CUDA_CALL(cuMemcpyDtoDAsync, cuda::Address(target), cuda::Address(source), cuda::Bytes(target), stream);
}

// Calls on the stream that the environment has: NULL until it is told.
static void OnTheNullStream(char (&message)[512]) {
  Tensor x = X(4, 136, kHalf), w = W(136, kHalf), out = Zeros(4, 136, kHalf);
  bool is_accepted = rms_norm_rms(View(x), View(w), View(out), 1e-6f, message, sizeof message) == 0;
  std::printf("float16: %s\n", is_accepted ? Checksum(out).c_str() : message);

  Tensor y = X(3, 4104, kBfloat), out_y = Zeros(3, 4104, kBfloat);
  Function::InvokeExternC(nullptr, __tvm_ffi_rms, y, W(4104, kBfloat), out_y, 0.5);
  std::printf("bfloat16: %s\n", Checksum(out_y).c_str());

  Tensor odd = X(4, 100, kHalf), odd_w = W(100, kHalf);
  is_accepted = rms_norm_rms(View(odd), View(odd_w), View(odd), 1e-6f, message, sizeof message) == 0;
  std::printf("refused: %s\n", is_accepted ? "accepted" : message);
}

static void OnAStream(CUstream stream) {
  Tensor w = W(1024, kHalf), x = Zeros(8, 1024, kHalf), out = Zeros(8, 1024, kHalf);
  Tensor inputs[] = {X(8, 1024, kHalf, 11), X(8, 1024, kHalf, 22), X(8, 1024, kHalf, 33)};
  // The environment's stream is the calling thread's.
  TVMFFIStreamHandle previous;
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvSetStream(kDLCUDA, 0, stream, &previous));
  CopyLate(stream, x, inputs[0]);
  Function::InvokeExternC(nullptr, __tvm_ffi_rms, x, w, out);
  CUDA_CALL(cuStreamSynchronize, stream);
  std::printf("own stream: %s\n", Checksum(out).c_str());

  Function prepared = Function::InvokeExternC(nullptr, __tvm_ffi_kernpack_prepare_rms, x, w, out).cast<Function>();
  std::printf("prepared:");
  for (int i : {1, 2}) {
    CopyLate(stream, x, inputs[i]);
    prepared();
    CUDA_CALL(cuStreamSynchronize, stream);
    std::printf(" %s", Checksum(out).c_str());
  }
  std::printf("\n");
  TVM_FFI_CHECK_SAFE_CALL(TVMFFIEnvSetStream(kDLCUDA, 0, previous, nullptr));
}

int main() {
  char message[512];
  bool is_loaded = rms_norm_kernpack_preload_rms_norm(0, message, sizeof message) == 0;
  std::printf("loaded ahead: %s\n", is_loaded ? "accepted" : message);
  if (!is_loaded) return 1;

  CUcontext context;
  CUstream stream;
  CUDA_CALL(cuInit, 0);
  CUDA_CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CUDA_CALL(cuCtxSetCurrent, context);
  CUDA_CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  OnTheNullStream(message);
  OnAStream(stream);
  CUDA_CALL(cuStreamDestroy, stream);
  return 0;
}
