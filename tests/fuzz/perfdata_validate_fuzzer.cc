// SPDX-License-Identifier: Apache-2.0
// Applies all rules to a perf.data of any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "formats/perfdata/validate/validate.h"

namespace perftape::perfdata {
namespace {

void CheckRecord(Bytes file) {
  const Result<Reader> reader = Reader::FromBytes(file);
  if (!reader) return;
  const Report report = Validate(*reader);
  for (const Finding& finding : report.InFileOrder()) {
    if (finding.message.empty() || finding.position.empty()) std::abort();
    if (report.tally(finding.rule).count == 0) std::abort();
  }
  if (report.InFileOrder().size() > Report::kKept * AllRules().size()) std::abort();
}

}  // namespace
}  // namespace perftape::perfdata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::perfdata::CheckRecord(std::as_bytes(std::span(data, size)));
  return 0;
}
