// SPDX-License-Identifier: Apache-2.0
// The package's object is a part of this program: static calls.txt
#include "calls.hpp"
#include "table.h"

using tvm::ffi::Any;
using tvm::ffi::AnyView;
using tvm::ffi::Function;

static Any Call(const std::string& name, const std::vector<AnyView>& args) {
  TVMFFISafeCallType symbol = name == "scale"      ? __tvm_ffi_scale
                              : name == "describe" ? __tvm_ffi_describe
                              : name == "add"      ? __tvm_ffi_add
                              : name == "add_out"  ? __tvm_ffi_add_out
                                                   : __tvm_ffi_take;
  // A program that knows its arguments passes them as they are: InvokeExternC(nullptr, __tvm_ffi_scale, &x, &y, 0.5).
  switch (args.size()) {
    case 1:
      return Function::InvokeExternC(nullptr, symbol, args[0]);
    case 2:
      return Function::InvokeExternC(nullptr, symbol, args[0], args[1]);
    case 3:
      return Function::InvokeExternC(nullptr, symbol, args[0], args[1], args[2]);
    default:
      return Function::InvokeExternC(nullptr, symbol, args[0], args[1], args[2], args[3]);
  }
}

int main(int, char** argv) { return calls::Run(argv[1], Call); }
