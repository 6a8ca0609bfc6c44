// SPDX-License-Identifier: Apache-2.0
// The files of tracefs in the feature TRACING_DATA. They follow its head and are
// TracingData::formats (tools/perf/util/trace-event-info.c, tracing_data_get).
#pragma once

#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

struct TracingFiles {
  struct Subsystem {
    std::string_view name;                  // "sched"
    std::vector<std::string_view> formats;  // format files of its tracepoints
  };

  // The layout of the kernel's ring buffer. perf rejects an empty header_page.
  std::string_view header_page = {}, header_event = {};
  std::vector<std::string_view> ftrace_formats = {};  // of events that are no tracepoints
  std::vector<Subsystem> subsystems = {};
  std::string_view kallsyms = {}, printk_formats = {};
  std::string_view saved_cmdlines = {};  // since version 0.6; perf writes the three empty
};

struct DecodedTracingFiles {
  TracingFiles files;
  // False if the bytes end early or contradict each other. Then the files before the damage are
  // whole, and those after it are empty.
  bool is_complete = false;
};

// Decodes TracingData::formats in the byte order of TracingData::order. The views are valid as long
// as `formats`.
DecodedTracingFiles DecodeTracingFiles(Bytes formats, std::endian order);

// Returns TracingData::formats in native byte order.
std::vector<std::byte> EncodeTracingFiles(const TracingFiles& files);

}  // namespace perftape::perfdata
