// SPDX-License-Identifier: Apache-2.0
#include "record/output/tracing_data.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perfdata/tracing_files.h"

namespace perftape::record {
namespace {

// By subsystem.
std::map<std::string_view, std::vector<std::string_view>> FormatsOf(
    std::span<const PlannedEvent> sampling) {
  std::map<std::string_view, std::vector<std::string_view>> formats;
  for (const PlannedEvent& event : sampling) {
    if (event.format.empty()) continue;
    std::vector<std::string_view>& files = formats[event.subsystem];
    // An event with programs of its own has the format of a tracepoint, which may be recorded, too.
    if (std::ranges::find(files, event.format) == files.end()) {
      files.push_back(event.format);
    }
  }
  return formats;
}

}  // namespace

Result<perfdata::TracingData> TracingDataOf(std::span<const PlannedEvent> sampling,
                                            const Tracefs& tracefs) {
  TRY_ASSIGN(const std::string page, tracefs.Read("events/header_page"));
  TRY_ASSIGN(const std::string event, tracefs.Read("events/header_event"));
  perfdata::TracingFiles files{.header_page = page, .header_event = event};
  for (auto& [subsystem, formats] : FormatsOf(sampling)) {
    files.subsystems.push_back({.name = subsystem, .formats = formats});
  }
  return perfdata::TracingData{.version = "0.6",
                               .long_size = sizeof(long),
                               .page_size = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)),
                               .formats = perfdata::EncodeTracingFiles(files)};
}

}  // namespace perftape::record
