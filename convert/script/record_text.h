// SPDX-License-Identifier: Apache-2.0
// Records that are no samples, as perf prints them (tools/perf/util/event.c, perf_event__fprintf).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convert/script/options.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::listing {

// The option that prints records of this type; nothing if none does.
std::optional<ShownRecord> ShownAs(perfdata::RecordType type);

// The thread that the line is about, and the time, if they are in the record itself.
struct RecordThread {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
};
// Nothing for records that only have them in the trailer, and for damaged ones.
std::optional<RecordThread> ThreadOf(const perfdata::RecordView& record,
                                     const perfdata::SampleFormat& format);

// Appends "PERF_RECORD_COMM: ls:7/7" and a line end. Fails with kTruncated for a damaged record.
Status AppendRecord(std::string& out, const perfdata::RecordView& record,
                    const perfdata::SampleFormat& format);

}  // namespace perftape::listing
