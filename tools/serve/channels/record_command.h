// SPDX-License-Identifier: Apache-2.0
// What the server may ask of the first process, which is privileged: a recording of its own, as a
// file, or its end. Messages have one size, and numbers only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "formats/base/result.h"

namespace perftape::serve {

inline constexpr std::chrono::minutes kLongestRecording{5};
inline constexpr std::uint32_t kHighestFrequencyHz = 9999;

struct RecordCommand {
  enum class Kind : std::uint32_t {
    kBegin,
    kEnd,  // nobody wants the recording `id` any more
  };
  static constexpr std::uint32_t kAllEvents = UINT32_MAX;

  std::uint64_t id = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t frequency_hz = 0;    // 0: that of the service
  std::uint32_t pid = 0;             // 0: the scope of the service
  std::uint32_t event = kAllEvents;  // the index of an event of the service
  Kind kind = Kind::kBegin;
};

// Fails with kIo.
Status SendCommand(int channel, const RecordCommand& command);
// Returns nothing at the end of the channel. Messages of another size are ignored.
std::optional<RecordCommand> ReceiveCommand(int channel);

}  // namespace perftape::serve
