// SPDX-License-Identifier: Apache-2.0
// Decodes the callchains of distinct stacks, and hashes each frame and each prefix of a stack. This
// step of resolving stacks needs no table, so it runs on all threads. StackResolver looks up the
// hashes.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/import/process_history.h"
#include "convert/import/sample_table.h"
#include "convert/model/id_table.h"
#include "formats/perfdata/callchain.h"

namespace perftape::convert {

// Whether perf recorded the file, or it was converted from another format (converted.h).
enum class Origin : std::uint8_t { kRecorded, kConverted };

// One stack. Its spans point into the HashedStacks and have the same size.
struct HashedStack {
  std::uint32_t pid = 0;
  Epoch epoch = 0;
  bool is_cut = false;  // these two as in RawStack
  UnwoundStacks::Id unwound = UnwoundStacks::kNone;
  std::span<const perfdata::ChainFrame> frames;  // leaf first
  // Equal if the frames are equal, and the mappings of their process and of the kernel.
  std::span<const Hash128> frame_hashes;
  std::span<const Hash128> prefix_hashes;  // of 1, 2, ... outermost frames, and the unwound stack
};

class HashedStacks {
 public:
  std::size_t size() const { return stacks_.size(); }
  // Valid until this object is destroyed or moved from.
  HashedStack operator[](std::size_t index) const;

 private:
  friend class StackHasher;
  struct Stack {
    std::uint32_t pid = 0;
    Epoch epoch = 0;
    bool is_cut = false;
    UnwoundStacks::Id unwound = UnwoundStacks::kNone;
    std::size_t end = 0;  // of its frames in frames_; they begin at the end of the previous stack
  };
  std::vector<Stack> stacks_;
  std::vector<perfdata::ChainFrame> frames_;
  std::vector<Hash128> frame_hashes_, prefix_hashes_;
};

// Hashes the stacks of `table` that have these indexes, in this order. `byte_order` is the order of
// the table's words. Does not change its arguments, so several threads may call it at once.
HashedStacks HashStacks(const SampleTable& table, std::span<const std::uint32_t> indexes,
                        std::endian byte_order, Origin origin, const ProcessHistory& history);

}  // namespace perftape::convert
