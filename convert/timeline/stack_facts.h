// SPDX-License-Identifier: Apache-2.0
// What the functions of a stack show about a wait or a wakeup. Without the names of the kernel's
// functions, nothing is known.
#pragma once

#include <cstdint>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::timeline {

// What ended a wait.
enum class Waker : std::uint8_t {
  kThread,  // the thread of the sample
  kTimer,   // an interrupt, for one of these reasons
  kNetwork,
  kDisk,
  kInterrupt,  // another interrupt
};

// Knows the functions of a profile's stacks. Not thread-safe. `profile` must outlive it.
class StackFacts {
 public:
  explicit StackFacts(const convert::Profile& profile);

  // Returns whether a stack waits for a lock: one of its innermost functions locks a mutex or a
  // read-write lock, in the kernel or in a library.
  bool WaitsForLock(convert::StackId stack);
  // Returns what caused a wakeup, from its stack. The thread of its sample is the waker only if no
  // interrupt ran; the idle thread never is.
  Waker WakerOf(convert::StackId stack, bool is_idle_thread);

 private:
  enum class Fact : std::uint8_t;

  Fact FactOf(convert::LocationId location);

  const convert::Profile& profile_;
  std::vector<Fact> facts_;  // by LocationId
};

}  // namespace perftape::timeline
