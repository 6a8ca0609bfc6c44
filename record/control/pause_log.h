// SPDX-License-Identifier: Apache-2.0
// When each event of a recording was switched off. There are no samples of these times, and none of
// them are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/bundle/recording_notes.h"

namespace perftape::record {

// Times are of CLOCK_MONOTONIC, and never descend. Not thread-safe.
class PauseLog {
 public:
  // All events are on.
  explicit PauseLog(std::vector<std::string> event_names);

  // The event is off from `time_ns` on, or on again. Calls that change nothing have no effect.
  void SwitchOff(std::size_t event, std::uint64_t time_ns);
  void SwitchOn(std::size_t event, std::uint64_t time_ns);

  bool IsOn(std::size_t event) const { return !events_[event].off_since_ns; }

  // Returns the pauses until `end_ns`, which ends those that have not ended. One entry for all
  // events if they were always off together; otherwise one for each event that ever was.
  std::vector<bundle::NotedPauses> Noted(std::uint64_t end_ns) const;

 private:
  struct Event {
    bundle::NotedPauses ended = {};
    std::optional<std::uint64_t> off_since_ns = {};
  };

  std::vector<Event> events_;
};

}  // namespace perftape::record
