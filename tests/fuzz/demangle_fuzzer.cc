// SPDX-License-Identifier: Apache-2.0
// Demangles names of any bytes in every style.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "convert/symbolize/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace symbolize = perftape::symbolize;
  const std::string name(reinterpret_cast<const char*>(data), size);
  for (const symbolize::Demangling how :
       {symbolize::Demangling::kNone, symbolize::Demangling::kSimple,
        symbolize::Demangling::kTemplates, symbolize::Demangling::kFull}) {
    if (symbolize::Demangle(name, how).empty() != name.empty()) std::abort();
  }
  return 0;
}
