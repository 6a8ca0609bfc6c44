// SPDX-License-Identifier: Apache-2.0
// A perf.data of any bytes becomes a Profile that keeps its promises, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "convert/import/from_perfdata.h"
#include "convert/model/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perftape;
  convert::ImportReport report;
  Input input = Input::FromBytes(std::as_bytes(std::span(data, size)));
  const convert::ImportOptions options = {.cpu_label = true,
                                          .field_labels = {"name", "pid", "ports", "next_comm"}};
  const Result<convert::Profile> profile = convert::ReadPerfData(input, options, report);
  if (profile && !convert::Validate(*profile)) std::abort();
  return 0;
}
