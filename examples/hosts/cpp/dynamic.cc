// SPDX-License-Identifier: Apache-2.0
// The package is loaded when the program runs: dynamic table.so calls.txt
#include <tvm/ffi/extra/module.h>

#include "calls.hpp"

int main(int, char** argv) {
  tvm::ffi::Module module = tvm::ffi::Module::LoadFromFile(argv[1]);
  return calls::Run(argv[2], [&](const std::string& name, const std::vector<tvm::ffi::AnyView>& args) {
    tvm::ffi::Any result;
    tvm::ffi::PackedArgs packed(args.data(), static_cast<int32_t>(args.size()));
    module->GetFunction(name).value().CallPacked(packed, &result);
    return result;
  });
}
