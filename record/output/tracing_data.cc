// SPDX-License-Identifier: Apache-2.0
#include "record/output/tracing_data.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::record {
namespace {

void AppendText(std::string_view text, ByteWriter& out) {
  out.Blob(AsBytes(text), text.size());
  out.Padding(1);  // NUL
}

// { u64 size; char file[size]; }
void AppendFile(std::string_view file, ByteWriter& out) {
  out.Fixed(std::uint64_t{file.size()});
  out.Blob(AsBytes(file), file.size());
}

// { u32 systems; { char name[]; u32 tracepoints; { u64 size; char format[size]; }[]; }[]; }
void AppendFormats(std::span<const RecordedEvents::Sampling> sampling, ByteWriter& out) {
  std::map<std::string_view, std::vector<std::string_view>> formats;  // by subsystem
  for (const RecordedEvents::Sampling& event : sampling) {
    if (event.plan.format.empty()) continue;
    std::vector<std::string_view>& files = formats[event.plan.subsystem];
    // lock-time has the format of lock:contention_begin, which may be recorded, too.
    if (std::ranges::find(files, event.plan.format) == files.end()) {
      files.push_back(event.plan.format);
    }
  }
  out.Fixed(static_cast<std::uint32_t>(formats.size()));
  for (const auto& [subsystem, files] : formats) {
    AppendText(subsystem, out);
    out.Fixed(static_cast<std::uint32_t>(files.size()));
    for (const std::string_view file : files) AppendFile(file, out);
  }
}

}  // namespace

Result<perfdata::TracingData> TracingDataOf(std::span<const RecordedEvents::Sampling> sampling,
                                            const Tracefs& tracefs) {
  perfdata::TracingData data{.version = "0.6",
                             .long_size = sizeof(long),
                             .page_size = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)),
                             .formats = {}};
  TRY_ASSIGN(const std::string page, tracefs.Read("events/header_page"));
  TRY_ASSIGN(const std::string event, tracefs.Read("events/header_event"));
  ByteWriter out(data.formats);
  AppendText("header_page", out);
  AppendFile(page, out);
  AppendText("header_event", out);
  AppendFile(event, out);
  out.Fixed(std::uint32_t{0});  // formats of ftrace's own events
  AppendFormats(sampling, out);
  out.Fixed(std::uint32_t{0});  // kallsyms
  out.Fixed(std::uint32_t{0});  // printk_formats
  out.Fixed(std::uint64_t{0});  // saved_cmdlines
  return data;
}

}  // namespace perftape::record
