// SPDX-License-Identifier: Apache-2.0
// The C interface of link.cpp, mirrored by src/link/native.rs.
//
// Nothing here prints, exits or throws: results and error texts go to sinks.

#ifndef KERNPACK_NATIVE_LINK_H
#define KERNPACK_NATIVE_LINK_H

#include <cstddef>

extern "C" {

// Takes bytes while the function that was given it runs, any number of times.
struct kernpack_sink {
  void *context;
  void (*write)(void *context, const char *bytes, size_t length);
};

struct kernpack_names {
  const char *const *names; // NUL-terminated
  size_t count;
};

enum kernpack_outcome {
  KERNPACK_DONE = 0,
  // The text says why.
  KERNPACK_REFUSED = 1,
  // As refused, and lld left everything as it stood. What the thread holds for it must not be freed: the thread must not end.
  KERNPACK_GAVE_UP = 2,
  // As above, without a text. kernpack_lld must not be called again in this process.
  KERNPACK_CRASHED = 3,
};

// Registers every target of LLVM. LLVM's registry takes no lock: call this once, before anything else of LLVM.
void kernpack_initialize_llvm(void);

// Runs `ld.lld` with these arguments, without a program name. One call at a time.
kernpack_outcome kernpack_lld(kernpack_names arguments, kernpack_sink text);

// What is changed of an ELF file.
struct kernpack_changes {
  // Symbols that become local, with default visibility, if the file defines them.
  kernpack_names local;
  // Symbols that get other names, the name in each place of the first list that in the same place of the second. The lists
  // of other changes have the names from before.
  kernpack_names renamed;
  kernpack_names names;
  // Sections that are left out; the members of a removed section group become ordinary sections.
  kernpack_names removed;
};

// Copies an ELF file with these changes.
kernpack_outcome kernpack_objcopy(const char *file, size_t length, kernpack_changes changes, kernpack_sink output,
                                  kernpack_sink text);
}

#endif
