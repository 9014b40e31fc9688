// SPDX-License-Identifier: Apache-2.0
// What LLVM's linker asks for to compile bitcode, where LLVM is linked statically: every target, and the extensions of the optimiser, such as
// Polly. No source of a package is bitcode, so that here they do nothing, and their libraries are neither needed nor linked.
//
// The build script says which targets no package is made for: LEFT_OUT_TARGETS is LEFT_OUT(AMDGPU) LEFT_OUT(ARM) and so on.

#include "llvm/Plugins/PassPlugin.h"

#define LEFT_OUT(target)                        \
  void LLVMInitialize##target##TargetInfo() {}  \
  void LLVMInitialize##target##Target() {}      \
  void LLVMInitialize##target##TargetMC() {}    \
  void LLVMInitialize##target##AsmPrinter() {}  \
  void LLVMInitialize##target##AsmParser() {}

extern "C" {
LEFT_OUT_TARGETS
}

#define HANDLE_EXTENSION(name)                                                             \
  llvm::PassPluginLibraryInfo get##name##PluginInfo() {                                    \
    return {LLVM_PLUGIN_API_VERSION, #name, "left out", [](llvm::PassBuilder &) {}};       \
  }
#include "llvm/Support/Extension.def"
