// SPDX-License-Identifier: Apache-2.0
// Payloads that wait for the receiver, in bounded memory. The oldest are dropped first, and
// counted.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "tools/serve/push/payload.h"
#include "tools/serve/push/push_counts.h"

namespace perftape::serve {

class PushQueue {
 public:
  // `counts` must outlive this object.
  PushQueue(std::uint64_t most_bytes, PushCounts& counts)
      : most_bytes_(most_bytes), counts_(counts) {}

  bool empty() const { return payloads_.empty(); }
  // Adds a payload. Drops the oldest that do not fit; a payload that alone is too large, itself.
  void Add(Payload payload);
  // Removes the oldest and returns it. There must be one.
  Payload Pop();
  // Drops all.
  void DropAll(PushDrop cause);

 private:
  void Drop(PushDrop cause);

  const std::uint64_t most_bytes_;
  PushCounts& counts_;
  std::uint64_t bytes_ = 0;
  std::deque<Payload> payloads_;
};

}  // namespace perftape::serve
