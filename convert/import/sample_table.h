// SPDX-License-Identifier: Apache-2.0
// The samples of a recording, added up before anything is looked up: equal ones are told by a hash
// of 128 bits of what their stacks are made of. So each sample costs one hash of its call chain and
// one count, and all else is done once for each distinct one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/import/process_history.h"
#include "convert/model/arena.h"
#include "convert/model/id_table.h"
#include "convert/model/large_pages.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"

namespace perftape::convert {

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
  std::uint32_t Add(const RawThread& thread);
  std::uint32_t Add(const RawKind& kind);

  static Hash128 HashOf(const RawStack& stack, const ThreadState& state);

  struct Addition {
    Hash128 hash;
    std::uint32_t thread = 0, kind = 0;
    std::uint64_t count = 1, period = 0;
    RawStack stack;
  };
  // A sample whose stack's bytes live longer than the table. It is in rows() after Flush.
  void AddLasting(const Addition& sample);
  // One whose stack has to be copied, if it is new. Returns the place of its row in rows().
  std::uint32_t AddShort(const Addition& sample);
  // All of another table; both must be flushed, and the other's stacks be lasting.
  void AddAll(const SampleTable& other);
  void Flush();

  std::span<const Row> rows() const { return rows_; }
  std::size_t stack_count() const { return stacks_.size(); }
  RawStack stack(std::size_t place) const;
  // The places of all stacks, by moment.
  std::vector<std::uint32_t> StacksByMoment() const;
  // That stack will be asked for soon. Inlined by force, as in IdTable.
  [[gnu::always_inline]] void Expect(std::size_t place) const {
    __builtin_prefetch(&stacks_[place]);
  }
  std::span<const RawThread> threads() const { return threads_; }
  std::span<const RawKind> kinds() const { return kinds_; }

  // Gives back the memory that only adding needs; then that of the stacks.
  void Close();
  void ForgetStacks();

 private:
  // Memory is slow, and most rows are not in a cache: so many samples wait while what they need
  // comes nearer, the first half of that time the place of the row, then the row.
  static constexpr std::size_t kWaiting = 32;

  // The row of a sample; a new one, of count 0, has no stack yet.
  Row& RowOf(const Addition& sample);
  static std::uint64_t NumberOf(std::uint32_t thread, std::uint32_t kind);
  static std::uint64_t LowHashOf(const Addition& sample);
  std::uint32_t PlaceOf(const Addition& sample);
  std::uint32_t Count(const Addition& sample);  // returns the row's place
  void Store(const RawStack& stack);

  // A RawStack with the branches, which few have, elsewhere.
  struct Stored {
    std::uint64_t ip = 0;
    const std::byte* chain = nullptr;
    std::uint32_t chain_size = 0;
    std::uint32_t pid = 0;
    Moment moment = 0;
    perfdata::CpuMode mode = {};
    bool has_branches = false;
  };
  template <class Value>
  using Table = std::vector<Value, LargePages<Value>>;

  std::array<Addition, kWaiting> waiting_ = {};
  std::size_t added_ = 0;  // so many have come to waiting_
  IdTable row_index_, stack_index_, thread_index_, kind_index_;
  Table<Row> rows_;
  Table<Stored> stacks_;
  Table<Hash128> stack_hashes_;
  std::unordered_map<std::size_t, Bytes> branches_;  // by place in stacks_
  std::vector<RawThread> threads_;
  std::vector<RawKind> kinds_;
  Arena copies_;
};

}  // namespace perftape::convert
