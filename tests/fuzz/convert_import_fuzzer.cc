// SPDX-License-Identifier: Apache-2.0
// Imports a perf.data of any bytes: the result is a valid Profile or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "convert/import/from_perfdata.h"
#include "tests/support/bytes_input.h"
#include "tests/support/profile_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  convert::ImportReport report;
  BytesInput input(std::as_bytes(std::span(data, size)));
  const Result<convert::Profile> profile = convert::ReadPerfData(input, {}, report);
  if (profile && !convert::Validate(*profile)) std::abort();
  return 0;
}
