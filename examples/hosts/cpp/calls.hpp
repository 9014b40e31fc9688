// SPDX-License-Identifier: Apache-2.0
// Reads calls.txt, makes its calls through `Caller`, and writes outcomes as every host writes them.
#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace calls {

namespace ffi = tvm::ffi;

// Calls the function of that name.
using Caller = std::function<ffi::Any(const std::string& name, const std::vector<ffi::AnyView>& args)>;

// A tensor, and the memory that it views.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<char> memory;
  DLTensor view{};
  bool is_out = false;
};

inline DLDataType DType(const std::string& name) {
  if (name == "float32") return {kDLFloat, 32, 1};
  if (name == "float64") return {kDLFloat, 64, 1};
  return {kDLInt, 64, 1};
}

inline int64_t Count(const DLTensor& tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
  return count;
}

inline double Get(const DLTensor& tensor, int64_t i) {
  const char* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  if (tensor.dtype.code == kDLInt) return static_cast<double>(reinterpret_cast<const int64_t*>(data)[i]);
  if (tensor.dtype.bits == 32) return reinterpret_cast<const float*>(data)[i];
  return reinterpret_cast<const double*>(data)[i];
}

inline void Set(const DLTensor& tensor, int64_t i, double value) {
  char* data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (tensor.dtype.code == kDLInt) {
    reinterpret_cast<int64_t*>(data)[i] = static_cast<int64_t>(value);
  } else if (tensor.dtype.bits == 32) {
    reinterpret_cast<float*>(data)[i] = static_cast<float>(value);
  } else {
    reinterpret_cast<double*>(data)[i] = value;
  }
}

inline std::vector<int64_t> Extents(const std::string& word) {
  std::vector<int64_t> extents;
  size_t begin = word.find('[') + 1, end = word.find(']');
  std::istringstream items(word.substr(begin, end - begin));
  for (std::string item; std::getline(items, item, ',');) extents.push_back(std::stoll(item));
  return extents;
}

// The arguments of one call, and what they view.
class Arguments {
 public:
  explicit Arguments(std::istringstream& words) {
    for (std::string word; words >> word;) values_.push_back(Parse(word, words));
    for (const ffi::Any& value : values_) views_.push_back(value);
    for (size_t i = 0, tensor = 0; i < views_.size(); ++i) {
      if (is_tensor_[i]) views_[i] = ffi::AnyView(&tensors_[tensor++].view);
    }
  }

  const std::vector<ffi::AnyView>& views() const { return views_; }
  const std::deque<Tensor>& tensors() const { return tensors_; }

 private:
  ffi::Any Parse(const std::string& word, std::istringstream& words) {
    is_tensor_.push_back(false);
    if (word == "(") {
      ffi::Array<ffi::Any> elements;
      for (std::string item; words >> item && item != ")";) {
        elements.push_back(Parse(item, words));
        is_tensor_.pop_back();
      }
      return elements;
    }
    if (word == "None") return nullptr;
    if (word == "True" || word == "False") return word == "True";
    if (word.rfind("Shape[", 0) == 0) return ffi::Shape(Extents(word));
    if (word.find('[') == std::string::npos) {
      if (word.find('.') == std::string::npos) return static_cast<int64_t>(std::stoll(word));
      return std::stod(word);
    }
    is_tensor_.back() = true;
    AddTensor(word);
    return nullptr;
  }

  void AddTensor(const std::string& word) {
    size_t colon = word.find(':'), dtype = colon == std::string::npos ? 0 : colon + 1;
    std::string prefix = word.substr(0, dtype);
    size_t plus = word.find('+');
    Tensor& tensor = tensors_.emplace_back();
    tensor.shape = Extents(word);
    tensor.is_out = prefix == "out:";
    tensor.view.device = {kDLCPU, 0};
    tensor.view.ndim = static_cast<int32_t>(tensor.shape.size());
    tensor.view.dtype = DType(word.substr(dtype, word.find('[') - dtype));
    tensor.view.shape = tensor.shape.data();
    tensor.view.byte_offset = plus == std::string::npos ? 0 : std::stoull(word.substr(plus + 1));
    if (prefix == "null:") return;
    int64_t count = Count(tensor.view);
    tensor.memory.resize(static_cast<size_t>(count) * 8 + 128);
    uintptr_t address = reinterpret_cast<uintptr_t>(tensor.memory.data());
    tensor.view.data = reinterpret_cast<void*>((address + 63) / 64 * 64);
    for (int64_t i = 0; i < count; ++i) Set(tensor.view, i, tensor.is_out ? 0.0 : static_cast<double>(i + 1));
  }

  std::deque<Tensor> tensors_;
  std::vector<bool> is_tensor_;
  std::vector<ffi::Any> values_;
  std::vector<ffi::AnyView> views_;
};

inline void PrintTensor(const DLTensor& tensor) {
  std::printf(" [");
  for (int64_t i = 0; i < Count(tensor); ++i) std::printf(i == 0 ? "%g" : " %g", Get(tensor, i));
  std::printf("]");
}

// What results of functions are made by: a host that is no framework brings its own allocator.
struct Allocator {
  void AllocData(DLTensor* tensor) {
    size_t bytes = static_cast<size_t>(Count(*tensor)) * ((tensor->dtype.bits + 7) / 8);
    tensor->data = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

inline int Allocate(DLTensor* wanted, DLManagedTensorVersioned** out, void* error_ctx,
                    void (*set_error)(void* error_ctx, const char* kind, const char* message)) {
  try {
    ffi::Shape shape(wanted->shape, wanted->shape + wanted->ndim);
    *out = ffi::Tensor::FromNDAlloc(Allocator(), shape, wanted->dtype, wanted->device).ToDLPackVersioned();
    return 0;
  } catch (const std::exception& error) {
    set_error(error_ctx, "MemoryError", error.what());
    return -1;
  }
}

inline int Run(const char* path, const Caller& call) {
  TVMFFIEnvSetDLPackManagedTensorAllocator(Allocate, 1, nullptr);
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    Arguments arguments(words);
    std::printf("%2d %s\n   ", ++number, line.c_str());
    try {
      ffi::Any result = call(name, arguments.views());
      std::printf("ok:");
      for (const Tensor& tensor : arguments.tensors()) {
        if (tensor.is_out) PrintTensor(tensor.view);
      }
      if (result != nullptr) PrintTensor(*result.cast<ffi::Tensor>().GetDLTensorPtr());
      std::printf("\n");
    } catch (const ffi::Error& error) {
      std::printf("%s: %s\n", std::string(error.kind()).c_str(), std::string(error.message()).c_str());
    }
  }
  return number > 0 ? 0 : 1;
}

}  // namespace calls
