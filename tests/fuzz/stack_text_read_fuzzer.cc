// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as each of the formats of other programs. The profile is valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "convert/import/from_other_programs.h"
#include "tests/support/bytes_input.h"
#include "tests/support/profile_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  BytesInput examined(bytes);
  convert::IsBpftraceText(examined);
  convert::IsBccText(examined);
  convert::IsSampleText(examined);
  convert::IsSpeedscopeFile(examined);
  convert::IsCpuProfileFile(examined);
  convert::IsChromeTraceFile(examined);
  convert::IsFirefoxFile(examined);
  for (auto* read : {convert::ReadBpftraceText, convert::ReadStackListText, convert::ReadSampleText,
                     convert::ReadSpeedscope, convert::ReadCpuProfile, convert::ReadChromeTrace,
                     convert::ReadFirefox, convert::ReadJemallocHeap}) {
    convert::ImportReport report;
    BytesInput input(bytes);
    const Result<convert::Profile> profile = read(input, {}, report);
    if (profile && !convert::Validate(*profile)) std::abort();
  }
  return 0;
}
