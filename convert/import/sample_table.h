// SPDX-License-Identifier: Apache-2.0
// Adds up equal samples of a recording before any address is resolved. A 128-bit hash of callchain
// and mappings identifies a stack. So each sample costs one hash and one count. All other work is
// done once per distinct stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/import/noted_services.h"
#include "convert/import/process_history.h"
#include "convert/import/unwound_stacks.h"
#include "convert/model/arena.h"
#include "convert/model/id_table.h"
#include "convert/model/large_pages.h"
#include "convert/model/profile.h"
#include "convert/model/saturating.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"

namespace perftape::convert {

// A stack as recorded in a sample, with what is needed to resolve its addresses.
struct RawStack {
  std::uint64_t ip = 0;
  Bytes chain = {};     // the words of the callchain, in the file's byte order
  Bytes branches = {};  // the branch stack if it holds the user's calls, else empty
  std::uint32_t pid = 0;
  Epoch epoch = 0;
  perfdata::CpuMode mode = {};
  bool is_precise = false;  // ip is the leaf, in place of the first address of the chain
  bool is_cut = false;      // outer frames are missing, because it could not be unwound to its end
  // If the user frames are in SampleTable::unwound(), their stack; the chain has the others.
  UnwoundStacks::Id unwound = UnwoundStacks::kNone;
};

// The thread of a sample.
struct RawThread {
  std::uint32_t pid = 0, tid = 0;
  const std::string* comm = nullptr;  // compared by address; null if unknown
  bool operator==(const RawThread&) const = default;
};

// The event of a sample, and its labels: those that were requested, and those of a wakeup.
struct EventLabels {
  static constexpr std::uint32_t kNoCpu = 0xffffffff;
  std::uint32_t event = 0;  // index in the EventTable
  std::uint32_t cpu = kNoCpu;
  std::uint64_t cgroup = 0;       // 0: no label
  std::uint32_t fields = 0;       // of SampleTable::AddFields; 0: no labels
  std::uint64_t time_ns = 0;      // 0: no label
  RawThread woken = {};           // by the sample, without a pid; tid 0: no labels
  NotedServices::Id service = 0;  // of its process; 0: no labels
  bool operator==(const EventLabels&) const = default;
};

// Parts of a recording. Times in a part are its end: a sample stands for the time before it.
struct TimeParts {
  std::uint64_t first = 0, last = 0;  // times of the recording
  std::uint64_t step = 0;             // the length of a part; 0: times are exact

  std::uint64_t EndOfPart(std::uint64_t time) const {
    if (step == 0 || time <= first || time >= last) return time;
    const std::uint64_t parts = (time - first + step - 1) / step;
    return std::min(first + parts * step, last);
  }
};

class SampleTable {
 public:
  // Equal samples. `stack`, `thread` and `event_labels` are indexes in stack(), threads() and
  // event_labels().
  struct Row {
    std::uint64_t low = 0, high = 0;  // hash
    std::uint64_t count = 0, period = 0;
    std::uint32_t stack = 0, thread = 0, event_labels = 0;
    std::uint32_t first_ms = Sample::kNoTime;  // the earliest one

    // Adds up the numbers of an equal row.
    void Add(const Row& other) {
      count += other.count;
      period = AddUpToLimit(period, other.period);
      first_ms = std::min(first_ms, other.first_ms);
    }
  };
  std::uint32_t Add(const RawThread& thread);
  std::uint32_t Add(const EventLabels& labels);
  // Adds the values of a FieldReader. 0 for none.
  std::uint32_t AddFields(std::string_view values);

  // Equal if the words and the unwound stack are equal, and the mappings of the process and of the
  // kernel. An unwound stack does not depend on the mappings of the process.
  static Hash128 HashOf(const RawStack& stack, const ThreadState& state);

  struct Addition {
    Hash128 hash;
    std::uint32_t thread = 0, event_labels = 0;  // from Add
    std::uint64_t count = 1, period = 0;
    RawStack stack;
    std::uint32_t first_ms = Sample::kNoTime;
  };
  // Counts samples, in their order. The bytes of their stacks must outlive the table. Batches of
  // about kBatch samples are fastest.
  static constexpr std::size_t kBatch = 128;
  void AddBatch(std::span<const Addition> samples);
  // Counts one sample and returns the index of its row. The stack is copied if it is new.
  std::uint32_t Add(const Addition& sample);
  // Adds another table, and takes over the stacks that it has copied. The bytes of its other stacks
  // must outlive this table.
  void AddAll(SampleTable& other);
  // Puts the times of all labels in these parts, and adds up the rows that become equal. Indexes of
  // rows and of labels change; those of stacks, threads and fields stay.
  void RoundTimes(const TimeParts& times);

  std::span<const Row> rows() const { return rows_; }
  RawStack stack(std::size_t index) const;
  std::vector<RawStack> StacksAt(std::span<const std::uint32_t> indexes) const;
  // Returns the indexes of all stacks, sorted by epoch.
  std::vector<std::uint32_t> StacksByEpoch() const;
  std::span<const RawThread> threads() const { return threads_; }
  std::span<const EventLabels> event_labels() const { return event_labels_; }
  std::string_view fields(std::uint32_t index) const { return fields_[index]; }
  UnwoundStacks& unwound() { return unwound_; }
  const UnwoundStacks& unwound() const { return unwound_; }

  // Ends adding, and frees the memory that only adding needs.
  void Finish();
  // After Finish: frees the stacks. Rows, threads and labels stay.
  void ReleaseStacks();

 private:
  enum class State : std::uint8_t { kAdding, kFinished, kReleased };

  // Returns the row of a sample. A new row has the count 0 and no stack yet.
  Row& RowOf(const Addition& sample);
  // Returns the index of the row with this hash, or IdTable::kNone.
  std::uint32_t FindRow(std::uint64_t low, std::uint64_t high) const {
    return row_index_.Find(low, [&](std::uint32_t index) {
      return rows_[index].low == low && rows_[index].high == high;
    });
  }
  // Prefetches the row that probably has this hash. Returns whether there is one. Inlining is
  // forced, as of IdTable::Prefetch.
  [[gnu::always_inline]] bool PrefetchRow(std::uint64_t low) const {
    const std::uint32_t row = row_index_.Guess(low);
    if (row != IdTable::kNone) __builtin_prefetch(&rows_[row]);
    return row != IdTable::kNone;
  }
  static std::uint64_t NumberOf(std::uint32_t thread, std::uint32_t event_labels);
  static std::uint64_t LowHashOf(const Addition& sample);
  std::uint32_t AddStack(const Addition& sample);
  std::uint32_t Count(const Addition& sample);  // returns the index of the row
  void Store(const RawStack& stack);

  // A RawStack without the branches, which few stacks have.
  struct Stored {
    std::uint64_t ip = 0;
    const std::byte* chain = nullptr;
    std::uint32_t pid = 0;
    Epoch epoch = 0;
    std::uint32_t chain_size = 0;
    perfdata::CpuMode mode = {};
    UnwoundStacks::Id unwound = UnwoundStacks::kNone;
    bool has_branches = false, is_precise = false, is_cut = false;
  };
  template <class Value>
  using Table = std::vector<Value, LargePages<Value>>;

  State state_ = State::kAdding;
  IdTable row_index_, stack_index_, thread_index_, event_labels_index_, fields_index_;
  Table<Row> rows_;
  std::size_t new_rows_ = 0;  // of the last batch
  Table<Stored> stacks_;
  Table<Hash128> stack_hashes_;
  std::unordered_map<std::size_t, Bytes> branches_;  // by index in stacks_
  std::vector<RawThread> threads_;
  std::vector<EventLabels> event_labels_;
  std::vector<std::string> fields_ = {""};
  UnwoundStacks unwound_;
  Arena copies_;
  std::vector<Arena> copies_of_others_;  // of tables that were added
};

}  // namespace perftape::convert
