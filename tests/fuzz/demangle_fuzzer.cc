// SPDX-License-Identifier: Apache-2.0
// Demangles names of any bytes in every style.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/demangle/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace demangle = perftape::demangle;
  const std::string name(reinterpret_cast<const char*>(data), size);
  for (const demangle::Demangling how :
       {demangle::Demangling::kNone, demangle::Demangling::kSimple,
        demangle::Demangling::kTemplates, demangle::Demangling::kSignature,
        demangle::Demangling::kFull}) {
    if (demangle::Demangle(name, how).empty() != name.empty()) std::abort();
  }
  return 0;
}
