// SPDX-License-Identifier: Apache-2.0
// What makes a flight recording write a file, as users write it:
//
//   psi:cpu some 20%/1s     tasks waited for a CPU for 20 % of a second; also memory, io and full
//   offcpu>500ms            a thread waited longer than this
//   sched:sched_switch      a sample of this event
//   page-faults>1000/s      more samples of this event in a second
//   cpu>80%/5s              the CPUs were busy for more of five seconds
//
// Times have a unit (formats/base/duration.h), percentages their sign (formats/base/percent.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "formats/base/result.h"

namespace perftape::record {

// A threshold of pressure stall information (Documentation/accounting/psi.rst).
struct PressureCondition {
  std::string resource = {};  // "cpu", "memory" or "io"
  bool is_full = false;       // all tasks stalled at once; otherwise some
  std::chrono::microseconds stalled{}, window{};
};

struct WaitCondition {
  std::chrono::nanoseconds longer_than{};
};

struct SampleCondition {
  std::string event = {};                        // its name, or a glob of names
  std::optional<std::uint64_t> per_second = {};  // more samples than this; nothing: every sample
};

struct BusyCondition {
  double percent = 0;  // of all recorded CPUs together
  std::chrono::nanoseconds window{};
};

struct TriggerSpec {
  std::string text = {};
  std::variant<PressureCondition, WaitCondition, SampleCondition, BusyCondition> condition = {};
};

// kInvalidArgument if `text` is none of the above. The message does not repeat the text.
Result<TriggerSpec> ParseTrigger(std::string_view text);

}  // namespace perftape::record
