// SPDX-License-Identifier: Apache-2.0
// What the static C++ library asks of the C library, and only new ones have: glibc 2.36 for `arc4random`, which would keep the Python
// package from systems that are in use. The C++ library calls it for `std::random_device`, where LLVM names temporary files.

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() {
  uint32_t number = 0;
  // So few bytes come at once, and the kernel always has them but for the first moments of a machine.
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}
