// SPDX-License-Identifier: Apache-2.0
// The text of a tracepoint's sample, as libtraceevent prints it for perf.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "formats/base/bytes.h"
#include "formats/perfdata/print_format.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::listing {

class TraceText {
 public:
  // Appends "comm=ls pid=7": as the event's `print fmt` says, or else each field as " name=value".
  // The format must outlive this object.
  void Append(std::string& out, const perfdata::TracepointFormat& format, Bytes raw);

 private:
  // By tracepoint; nothing for one that is not understood.
  std::unordered_map<const perfdata::TracepointFormat*, std::optional<perfdata::PrintFormat>>
      formats_;
};

}  // namespace perftape::listing
