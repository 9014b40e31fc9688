// SPDX-License-Identifier: Apache-2.0
// LLVM's ELF linker and LLVM's ObjCopy behind a C interface.

#include "link.h"

#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ELF/ELFObjcopy.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

LLD_HAS_DRIVER(elf)

namespace {

void write(kernpack_sink sink, llvm::StringRef bytes) {
  if (!bytes.empty())
    sink.write(sink.context, bytes.data(), bytes.size());
}

// lld leaves through LLVM's crash recovery when it calls fatal(), and would end the process without it. Recovery
// takes over the signals of a crash, so it is on only while lld runs.
class CrashRecovery {
public:
  CrashRecovery() { llvm::CrashRecoveryContext::Enable(); }
  ~CrashRecovery() { llvm::CrashRecoveryContext::Disable(); }
};

kernpack_outcome outcome_of(lld::Result result) {
  if (result.canRunAgain)
    return result.retCode == 0 ? KERNPACK_DONE : KERNPACK_REFUSED;
  // fatal() gives a program's exit code, a crash what a shell makes of its signal. After fatal() nothing is damaged: the next run
  // makes a context of its own, and the old one is left alone, as parts of it may be half-made.
  const int first_signal = 128;
  return result.retCode < first_signal ? KERNPACK_GAVE_UP : KERNPACK_CRASHED;
}

llvm::Error add(llvm::objcopy::NameMatcher &matcher, kernpack_names names) {
  auto pass_on = [](llvm::Error error) { return error; };
  for (llvm::StringRef name : llvm::ArrayRef(names.names, names.count)) {
    auto pattern = llvm::objcopy::NameOrPattern::create(name, llvm::objcopy::MatchStyle::Literal, pass_on);
    if (llvm::Error error = matcher.addMatcher(std::move(pattern)))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error copy(llvm::MemoryBufferRef file, kernpack_changes changes, llvm::raw_ostream &output) {
  llvm::objcopy::ConfigManager config;
  llvm::objcopy::NameMatcher plain;
  if (llvm::Error error = add(config.Common.SymbolsToLocalize, changes.local))
    return error;
  if (llvm::Error error = add(config.Common.ToRemove, changes.removed))
    return error;
  if (llvm::Error error = add(plain, changes.local))
    return error;
  for (size_t at = 0; at < changes.renamed.count; ++at)
    config.Common.SymbolsToRename[changes.renamed.names[at]] = changes.names.names[at];
  config.ELF.SymbolsToSetVisibility.emplace_back(std::move(plain), llvm::ELF::STV_DEFAULT);

  auto object = llvm::object::ObjectFile::createELFObjectFile(file);
  if (!object)
    return object.takeError();
  auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(**object);
  return llvm::objcopy::elf::executeObjcopyOnBinary(config.Common, config.ELF, elf, output);
}

} // namespace

void kernpack_initialize_llvm(void) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
}

kernpack_outcome kernpack_lld(kernpack_names arguments, kernpack_sink text) {
  llvm::SmallVector<const char *, 32> command = {"ld.lld"};
  command.append(arguments.names, arguments.names + arguments.count);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  kernpack_outcome outcome;
  {
    CrashRecovery recovery;
    outcome = outcome_of(lld::lldMain(command, stream, stream, drivers));
  }
  write(text, messages);
  return outcome;
}

kernpack_outcome kernpack_objcopy(const char *file, size_t length, kernpack_changes changes, kernpack_sink output,
                                  kernpack_sink text) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::MemoryBufferRef input(llvm::StringRef(file, length), "");
  if (llvm::Error error = copy(input, changes, stream)) {
    write(text, llvm::toString(std::move(error)));
    return KERNPACK_REFUSED;
  }
  write(output, llvm::StringRef(bytes.data(), bytes.size()));
  return KERNPACK_DONE;
}
