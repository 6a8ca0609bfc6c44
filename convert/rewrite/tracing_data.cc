// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/tracing_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/perfdata/tracing_files.h"

namespace perftape::rewrite {
namespace {

// The content of tracefs/events/header_page on a 64-bit machine. perf rejects an empty one.
constexpr std::string_view kPageText =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

// The fields that trace_define_common_fields in kernel/trace/trace_events.c adds to each event.
constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

struct Tracepoint {
  std::string name;
  std::uint64_t id = 0;
};
using Subsystems = std::map<std::string, std::vector<Tracepoint>>;

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

// Groups them by their names, "sched:sched_switch", if these are known.
Subsystems TracepointsOf(std::span<const perfdata::Event> events) {
  Subsystems subsystems;
  for (const perfdata::Event& event : events) {
    if (event.attr.type != perfdata::kTypeTracepoint) continue;
    const std::string_view full = event.name;
    const std::size_t colon = full.find(':');
    std::string subsystem = "unknown", name = fmt::format("tracepoint_{}", event.attr.config);
    if (colon != std::string_view::npos && IsIdentifier(full.substr(0, colon)) &&
        IsIdentifier(full.substr(colon + 1)) && full.substr(0, colon) != "tracepoint") {
      subsystem = full.substr(0, colon);
      name = full.substr(colon + 1);
    }
    std::vector<Tracepoint>& known = subsystems[subsystem];
    if (std::ranges::find(known, event.attr.config, &Tracepoint::id) == known.end()) {
      known.push_back({std::move(name), event.attr.config});
    }
  }
  return subsystems;
}

}  // namespace

bool IsTracingData(Bytes section) {
  const auto value =
      perfdata::DecodeFeature(perfdata::FeatureBit::kTracingData, section, std::endian::native, 0);
  const auto* head = value ? std::get_if<perfdata::TracingData>(&*value) : nullptr;
  return head != nullptr && perfdata::DecodeTracingFiles(head->formats, head->order).is_complete;
}

perfdata::TracingData MakeTracingData(std::span<const perfdata::Event> events) {
  const Subsystems subsystems = TracepointsOf(events);
  std::deque<std::string> texts;  // of `files`
  perfdata::TracingFiles files{.header_page = kPageText};
  for (const auto& [subsystem, tracepoints] : subsystems) {
    auto& formats = files.subsystems.emplace_back(subsystem).formats;
    for (const Tracepoint& tracepoint : tracepoints) {
      formats.push_back(
          texts.emplace_back(fmt::format("name: {}\nID: {}\nformat:\n{}\n\nprint fmt: \"\"\n",
                                         tracepoint.name, tracepoint.id, kCommonFields)));
    }
  }
  return {.version = "0.6",
          .order = std::endian::little,
          .long_size = 8,
          .page_size = 4096,
          .formats = perfdata::EncodeTracingFiles(files)};
}

}  // namespace perftape::rewrite
