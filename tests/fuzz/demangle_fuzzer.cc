// SPDX-License-Identifier: Apache-2.0
// Names of any bytes, demangled in every way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "convert/symbolize/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using perftape::Demangling;
  const std::string name(reinterpret_cast<const char*>(data), size);
  for (const Demangling how :
       {Demangling::kNone, Demangling::kSimple, Demangling::kTemplates, Demangling::kFull}) {
    if (perftape::Demangle(name, how).empty() != name.empty()) std::abort();
  }
  return 0;
}
