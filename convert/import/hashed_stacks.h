// SPDX-License-Identifier: Apache-2.0
// Decodes the callchains of distinct stacks, and hashes each frame and each prefix of a stack. This
// is the part of resolving stacks that needs no table: it runs on all threads, and StackResolver
// looks the hashes up.
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

// Whether a file is a recording, or was made of a profile of another format (converted.h).
enum class Origin : std::uint8_t { kRecorded, kConverted };

// One stack. The spans point into its HashedStacks and are of one size.
struct HashedStack {
  std::uint32_t pid = 0;
  Moment moment = 0;
  std::span<const perfdata::ChainFrame> frames;  // leaf first
  // Equal where the frames are, and what was mapped in their process and in the kernel.
  std::span<const Hash128> frame_hashes;
  std::span<const Hash128> prefix_hashes;  // of the outermost frame, of the two outermost, ...
};

class HashedStacks {
 public:
  std::size_t size() const { return stacks_.size(); }
  // Valid as long as this object is, and is not moved from.
  HashedStack operator[](std::size_t index) const;

 private:
  friend class StackHasher;
  struct Stack {
    std::uint32_t pid = 0;
    Moment moment = 0;
    std::size_t end = 0;  // of its frames; they begin where those of the stack before end
  };
  std::vector<Stack> stacks_;
  std::vector<perfdata::ChainFrame> frames_;
  std::vector<Hash128> frame_hashes_, prefix_hashes_;
};

// Hashes the stacks of `table` that have these indexes, in their order. The table's words are in
// `byte_order`. Reads its arguments only: several threads may call it at once.
HashedStacks HashStacks(const SampleTable& table, std::span<const std::uint32_t> indexes,
                        std::endian byte_order, Origin origin, const ProcessHistory& history);

}  // namespace perftape::convert
