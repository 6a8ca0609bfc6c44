// SPDX-License-Identifier: Apache-2.0
// What was pushed and what was not, in memory that the processes of the service share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::serve {

// Why samples were not delivered.
enum class PushDrop : std::uint8_t {
  kQueueFull,  // the receiver took too little
  kRefused,    // it answered that it will never take them
  kNoProcess,  // the process that pushes had ended
  kEnd,        // the service ended before it took them
  kKilled,     // they waited in a process that was killed
};
inline constexpr std::size_t kPushDrops = static_cast<std::size_t>(PushDrop::kKilled) + 1;
std::string_view NameOf(PushDrop drop);

// Each number is written by one process.
struct PushCounts {
  std::atomic<std::uint64_t> requests = 0, samples = 0;  // that were delivered
  std::atomic<std::uint64_t> retries = 0;
  std::atomic<std::uint64_t> rejected_profiles = 0;  // of delivered requests, as the receiver says
  std::atomic<std::uint64_t> dropped_samples[kPushDrops] = {};
  std::atomic<std::uint64_t> queue_bytes = 0;     // now
  std::atomic<std::uint64_t> handed_samples = 0;  // to the process that pushes

  std::atomic<std::uint64_t>& dropped(PushDrop cause) {
    return dropped_samples[static_cast<std::size_t>(cause)];
  }
  // The process that pushes has ended: counts what it had not delivered.
  void CountKilled();
};

// Makes counts that child processes share, for as long as the process lives.
Result<PushCounts*> MakePushCounts();

}  // namespace perftape::serve
