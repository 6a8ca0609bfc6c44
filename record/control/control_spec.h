// SPDX-License-Identifier: Apache-2.0
// The values of --control and --delay, as perf record takes them: where commands come from, and
// when events are on (tools/perf/util/evlist.c, evlist__parse_control and
// evlist__parse_event_enable_time).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

struct ControlFifos {
  std::string commands = {};
  std::string acknowledgements = {};  // empty: none are sent

  bool operator==(const ControlFifos&) const = default;
};

// Descriptors that this process has inherited.
struct ControlDescriptors {
  int commands = -1;
  int acknowledgements = -1;  // -1: none are sent

  bool operator==(const ControlDescriptors&) const = default;
};

using ControlSpec = std::variant<ControlFifos, ControlDescriptors>;

// "fifo:CTL", "fifo:CTL,ACK", "fd:3" or "fd:3,4". kInvalidArgument if `text` is none of these. The
// message does not repeat the text.
Result<ControlSpec> ParseControl(std::string_view text);

// A time in which all events are on. Times count from the start of the recording, after the exec of
// the command.
struct EnabledRange {
  std::chrono::milliseconds from{};
  std::optional<std::chrono::milliseconds> until = {};  // nothing: to the end

  bool operator==(const EnabledRange&) const = default;
};

// In ascending order, apart from each other. Empty: off until a command enables events.
using EnabledRanges = std::vector<EnabledRange>;

// "-1" for no range, "500" for all after so many milliseconds, or "10-20,30-40" with blanks
// anywhere between. 0 is no delay, which perf refuses, too. kInvalidArgument as above.
Result<EnabledRanges> ParseDelay(std::string_view text);

}  // namespace perftape::record
