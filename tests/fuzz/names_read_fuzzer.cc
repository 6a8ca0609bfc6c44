// SPDX-License-Identifier: Apache-2.0
// Reads kallsyms and perf maps of any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "formats/base/bytes.h"
#include "formats/kallsyms/kallsyms.h"
#include "formats/perf_map/perf_map.h"

namespace perftape {
namespace {

void ReadKallsyms(const std::string& text) {
  const Result<kallsyms::Kallsyms> symbols = kallsyms::Kallsyms::Parse(text);
  if (!symbols) return;
  for (const kallsyms::Symbol& symbol : symbols->symbols()) {
    if (symbol.size == 0 || symbols->Find(symbol.start) != &symbol) std::abort();
  }
  symbols->AddressOf("_text");
  symbols->Find(RuntimeAddress{0});
  symbols->Find(RuntimeAddress{UINT64_MAX});
}

void ReadPerfMap(const std::string& text) {
  const perf_map::PerfMap map = perf_map::PerfMap::Parse(text);
  for (std::uint64_t address = 0x7f0000001000; address < 0x7f0000001080; ++address) {
    if (map.size() == 0 && !map.Find(RuntimeAddress{address}).name.empty()) std::abort();
  }
  map.Find(RuntimeAddress{UINT64_MAX});
}

}  // namespace
}  // namespace perftape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(perftape::AsText(std::as_bytes(std::span(data, size))));
  perftape::ReadKallsyms(text);
  perftape::ReadPerfMap(text);
  return 0;
}
