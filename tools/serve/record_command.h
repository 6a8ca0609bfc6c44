// SPDX-License-Identifier: Apache-2.0
// What the server may ask of the first process, which is privileged: a recording of its own, as a
// file. Messages have one size, and numbers only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::serve {

inline constexpr std::chrono::minutes kLongestRecording{5};
inline constexpr std::uint32_t kHighestFrequencyHz = 9999;

struct RecordCommand {
  static constexpr std::uint32_t kAllEvents = UINT32_MAX;

  std::uint64_t id = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t frequency_hz = 0;    // 0: that of the service
  std::uint32_t pid = 0;             // 0: the scope of the service
  std::uint32_t event = kAllEvents;  // the index of an event of the service
  std::uint32_t unused = 0;
};

struct RecordReply {
  // Of a message that answers no command: the file has the names of the events that are recorded
  // from now on, one on each line.
  static constexpr std::uint64_t kNewEvents = 0;

  std::uint64_t id = 0;
  UniqueFd file = {};  // empty: the recording failed
};

// Fail with kIo.
Status SendCommand(int channel, const RecordCommand& command);
Status SendReply(int channel, const RecordReply& reply);
// Return nothing at the end of the channel. Messages of another size are ignored.
std::optional<RecordCommand> ReceiveCommand(int channel);
std::optional<RecordReply> ReceiveReply(int channel);

}  // namespace perftape::serve
