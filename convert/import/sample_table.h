// SPDX-License-Identifier: Apache-2.0
// The samples of a recording, added up before anything is looked up: equal ones are told by a hash
// of 128 bits of what their stacks are made of. So each sample costs one hash of its call chain and
// one count, and all else is done once for each distinct one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convert/import/process_history.h"
#include "convert/model/arena.h"
#include "convert/model/id_table.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"

namespace perftape {

// A stack as a sample has it: words, and what they are addresses in.
struct RawStack {
  std::uint64_t ip = 0;
  Bytes chain = {};     // the words of the call chain, in the file's order of bytes
  Bytes branches = {};  // of the branch stack, where the user's calls are in it; else empty
  std::uint32_t pid = 0;
  Moment moment = 0;
  perfdata::CpuMode mode = {};
};

// Whose a sample is.
struct RawThread {
  std::uint32_t pid = 0, tid = 0;
  const std::string* comm = nullptr;  // equal ones are one; null where none is known
  bool operator==(const RawThread&) const = default;
};

// What a sample is of, beside its stack and thread.
struct RawKind {
  static constexpr std::uint32_t kNoCpu = 0xffffffff;
  std::uint32_t event = 0;  // the place of it in the EventTable
  std::uint32_t cpu = kNoCpu;
  std::uint64_t cgroup = 0;
  bool operator==(const RawKind&) const = default;
};

class SampleTable {
 public:
  // Equal samples. The numbers index threads(), kinds() and stacks().
  struct Row {
    std::uint64_t low = 0, high = 0;  // hash
    std::uint64_t count = 0, period = 0;
    std::uint32_t stack = 0, thread = 0, kind = 0;
  };
  // What tells stacks apart.
  struct StackHash {
    std::uint64_t low = 0, high = 0;
    bool operator==(const StackHash&) const = default;
  };

  std::uint32_t Add(const RawThread& thread);
  std::uint32_t Add(const RawKind& kind);

  static StackHash HashOf(const RawStack& stack, const ThreadState& state);

  // Whether the bytes of a stack live longer than the table, or have to be copied.
  enum class Lifetime : std::uint8_t { kLasting, kShort };
  void Add(const StackHash& hash, const RawStack& stack, Lifetime lifetime, std::uint32_t thread,
           std::uint32_t kind, std::uint64_t period);

  std::span<const Row> rows() const { return rows_; }
  std::span<const RawStack> stacks() const { return stacks_; }
  std::span<const RawThread> threads() const { return threads_; }
  std::span<const RawKind> kinds() const { return kinds_; }

  // Gives back the memory that only adding needs.
  void Close();

 private:
  std::uint32_t PlaceOf(const StackHash& hash, const RawStack& stack, Lifetime lifetime);

  IdTable row_index_, stack_index_, thread_index_, kind_index_;
  std::vector<Row> rows_;
  std::vector<RawStack> stacks_;
  std::vector<StackHash> stack_hashes_;
  std::vector<RawThread> threads_;
  std::vector<RawKind> kinds_;
  Arena copies_;
};

}  // namespace perftape
