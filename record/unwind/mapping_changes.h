// SPDX-License-Identifier: Apache-2.0
// Finds frames of the kernel side that may be wrong, because a process had mapped something else at
// their address by then: a library at the address of one that was unloaded, or another program
// after execve(2). The BPF programs use the old table until the new mapping is in their maps, and
// such a walk continues with arbitrary words of the stack. No code of a new mapping runs before the
// kernel has written its record, so the times of records and of loads show which walks these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

// When the maps of the programs got what processes map. Times are CLOCK_MONOTONIC. Thread-safe.
class LoadTimes {
 public:
  // From `loaded_ns` on, the maps have all mappings whose records were written before `written_ns`.
  // Later calls have later times.
  void Add(std::uint64_t written_ns, std::uint64_t loaded_ns);
  // Since when the maps have a mapping whose record was written at this time; nothing: not yet.
  std::optional<std::uint64_t> LoadedSince(std::uint64_t written_ns) const;

 private:
  // If there are more than this, the first are forgotten: later ones answer for them.
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  struct Load {
    std::uint64_t written_ns = 0, loaded_ns = 0;
  };

  mutable std::mutex mutex_;
  std::deque<Load> loads_;
};

// Not thread-safe.
class MappingChanges {
 public:
  // `loads` must outlive this object.
  explicit MappingChanges(LoadTimes& loads) : loads_(loads) {}

  // Applies a record to `processes`, and notes what it replaces. The caller passes records in order
  // of time.
  void Apply(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
             perfdata::Processes& processes);

  // Returns how many of these frames of a process, leaf first, are certain if they were found at
  // `walked_ns`. The frame whose code was replaced is included: its address is correct, but its
  // callers are not.
  std::size_t SureFrames(std::uint32_t pid, std::uint64_t walked_ns, WordArray frames);

 private:
  // For each process. If there are more, the first are forgotten.
  static constexpr std::size_t kMostOfProcess = 256;
  static constexpr std::size_t kMostProcesses = std::size_t{1} << 15;
  static constexpr std::uint64_t kNotLoaded = std::numeric_limits<std::uint64_t>::max();
  struct Change {
    std::uint64_t start = 0, end = 0;  // addresses
    std::uint64_t made_ns = 0, loaded_ns = kNotLoaded;
  };

  void ApplyMapping(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                    perfdata::Processes& processes);
  void Add(std::uint32_t pid, const Change& change);

  LoadTimes& loads_;
  std::unordered_map<std::uint32_t, std::deque<Change>> changes_;  // by pid
  std::vector<perfdata::Region> replaced_;                         // scratch
};

}  // namespace perftape::record
