// SPDX-License-Identifier: Apache-2.0
// The names of events in requests: those of -e, of the events in a recording, and those that users
// of KubeSkoop know. Upper and lower case are the same.
//
//   profile, cpu                        events of time on a CPU
//   offcpu                              waits
//   PacketLoss, TCPRetrans, TCPReset    the sets of -e with these names
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::serve {

// The events that a request names.
class EventChoice {
 public:
  // An empty name chooses all events.
  explicit EventChoice(std::string_view name);

  // Whether it chooses an event of a recording, whose name may end with modifiers.
  bool Has(std::string_view event) const;
  // Whether `recorded`, a name for -e, has events that it chooses, as far as their names show it.
  bool MayHave(std::string_view recorded) const;
  bool is_cpu_time() const { return kind_ == Kind::kCpuTime; }

 private:
  enum class Kind : std::uint8_t { kAll, kCpuTime, kWaits, kNames };

  Kind kind_ = Kind::kNames;
  std::vector<std::string> names_;  // in lower case
};

// Returns the name for -e without options as it is in the path of a request: "tcpreset", "profile".
std::string RequestNameOf(std::string_view recorded);

}  // namespace perftape::serve
