// SPDX-License-Identifier: Apache-2.0
// What a host needs of CUDA: memory, a stream, copies. The driver is found when the program runs, so that the program starts without one.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <tvm/ffi/container/tensor.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cuda {

template <typename Function>
Function* Find(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* found = driver == nullptr ? nullptr : dlsym(driver, name);
  if (found == nullptr) {
    std::fprintf(stderr, "host: the CUDA driver has no %s: %s\n", name, dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

inline void Check(const char* what, CUresult code) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "host: %s: error %d\n", what, static_cast<int>(code));
  std::exit(1);
}

// cuda.h renames functions (cuMemAlloc is cuMemAlloc_v2), hence the second step.
#define CUDA_NAME(function) #function
#define CUDA_CALL(function, ...) cuda::Check(#function, cuda::Find<decltype(function)>(CUDA_NAME(function))(__VA_ARGS__))

inline CUdeviceptr Address(const DLTensor* tensor) { return reinterpret_cast<CUdeviceptr>(tensor->data); }

inline size_t Bytes(const DLTensor* tensor) {
  size_t bytes = tensor->dtype.bits / 8;
  for (int i = 0; i < tensor->ndim; ++i) bytes *= static_cast<size_t>(tensor->shape[i]);
  return bytes;
}

// A tensor owns its memory, so that a prepared call can hold it.
struct Allocator {
  void AllocData(DLTensor* tensor) {
    CUdeviceptr address;
    CUDA_CALL(cuMemAlloc, &address, Bytes(tensor));
    tensor->data = reinterpret_cast<void*>(address);
  }
  void FreeData(DLTensor* tensor) { CUDA_CALL(cuMemFree, Address(tensor)); }
};

// A tensor on device 0 that holds these bits.
inline tvm::ffi::Tensor Tensor(const std::vector<uint16_t>& bits, tvm::ffi::Shape shape, DLDataType dtype) {
  tvm::ffi::Tensor tensor = tvm::ffi::Tensor::FromNDAlloc(Allocator(), shape, dtype, DLDevice{kDLCUDA, 0});
  CUDA_CALL(cuMemcpyHtoD, Address(tensor.GetDLTensorPtr()), bits.data(), 2 * bits.size());
  return tensor;
}

inline std::vector<uint16_t> Bits(const tvm::ffi::Tensor& tensor) {
  std::vector<uint16_t> bits(Bytes(tensor.GetDLTensorPtr()) / 2);
  CUDA_CALL(cuMemcpyDtoH, bits.data(), Address(tensor.GetDLTensorPtr()), 2 * bits.size());
  return bits;
}

}  // namespace cuda
