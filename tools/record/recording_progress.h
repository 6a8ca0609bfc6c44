// SPDX-License-Identifier: Apache-2.0
// The progress line of a recording.
#pragma once

#include <chrono>
#include <string>

#include "record/options.h"

namespace perftape::record_tool {

// Returns "perftape-record: 1:05 min, 1.2M samples, 45 MiB, 0.1% lost", cut to `columns`.
std::string RecordingText(const record::RecordProgress& made, std::chrono::seconds elapsed,
                          std::size_t columns);

// Shows what is recorded, at most a few times a second, and not in the first seconds.
class RecordingProgress {
 public:
  void Show(const record::RecordProgress& made);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

}  // namespace perftape::record_tool
