// SPDX-License-Identifier: Apache-2.0
// What the static program does with an exception that nothing catches. The handler of libstdc++
// prints its type, for which it contains a second demangler of 70 KB. A definition in the program
// takes the place of that in an archive.
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace __gnu_cxx {

void __verbose_terminate_handler() {
  std::fputs("perftape: an unexpected exception\n", stderr);
  std::abort();
}

}  // namespace __gnu_cxx
