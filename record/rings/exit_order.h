// SPDX-License-Identifier: Apache-2.0
// Puts the EXIT record of a thread after its last sample. A thread still runs after the kernel has
// written its EXIT: it may be sampled or preempted, and the sums of its waits come at its last
// switch (bpf/off_cpu.bpf.c). perf 7.3 forgets the name of a thread at its EXIT, so later samples
// would have no name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "formats/perfdata/record.h"

namespace perftape::record {

// What a record says about one thread.
enum class ThreadStep : std::uint8_t { kNone, kStart, kSample, kExit };

struct ThreadRecord {
  ThreadStep step = ThreadStep::kNone;
  std::uint32_t tid = 0;
};

// FORK and EXIT are steps of their thread. So is COMM: after execve(2) in another thread, that
// thread gets the tid of the first thread, which has ended.
ThreadRecord ThreadRecordOf(const perfdata::RecordView& record);
// Tasks that have no tid in this pid namespace have no steps.
ThreadRecord SampleOfThread(std::uint32_t tid);

// Which EXIT records of a round belong after samples. Not thread-safe.
class ExitOrder {
 public:
  // Adds the record with this index, in time order.
  void Add(std::size_t index, const ThreadRecord& record);

  // Whether the record is an EXIT that belongs after a sample.
  bool IsMoved(std::size_t index) const { return moved_.contains(index); }
  // The EXIT that belongs after this record.
  std::optional<std::size_t> ExitAfter(std::size_t index) const;

 private:
  struct Exit {
    std::size_t index = 0;
    std::optional<std::size_t> last_sample;
  };

  std::unordered_map<std::uint32_t, Exit> exited_;      // by tid
  std::unordered_map<std::size_t, std::size_t> exits_;  // by the index of the last sample
  std::unordered_set<std::size_t> moved_;
};

}  // namespace perftape::record
