// SPDX-License-Identifier: Apache-2.0
// How busy CPUs were, from /proc/stat (proc_stat(5)): all time except idle and iowait.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

struct CpuTicks {
  std::uint64_t busy = 0, all = 0;

  bool operator==(const CpuTicks&) const = default;
};

// Returns the sum of `cpus` in the text of /proc/stat, or of all CPUs if `cpus` is empty.
CpuTicks SumCpuTicks(std::string_view stat, const std::vector<int>& cpus);

// The share of a window that ends now. Not thread-safe.
class BusyWindow {
 public:
  explicit BusyWindow(const BusyCondition& condition);

  // Adds the ticks until `now_ns`. Returns the percentage if it exceeds that of the condition in a
  // whole window. Then the next window begins.
  std::optional<double> Add(std::uint64_t now_ns, const CpuTicks& ticks);
  // Whether the next ticks are worth reading.
  bool IsDue(std::uint64_t now_ns) const;

 private:
  struct Reading {
    std::uint64_t time_ns = 0;
    CpuTicks ticks;
  };

  double percent_;
  std::uint64_t window_ns_;
  std::deque<Reading> readings_;  // the first is the last one outside of the window
};

class BusyCpus {
 public:
  // `cpus` are the recorded ones; empty for all.
  static Result<BusyCpus> Open(const BusyCondition& condition, std::vector<int> cpus);

  // Returns the percentage if the condition holds.
  std::optional<double> Check(std::uint64_t now_ns);

 private:
  BusyCpus(const BusyCondition& condition, std::vector<int> cpus, UniqueFd stat)
      : cpus_(std::move(cpus)), stat_(std::move(stat)), window_(condition) {}

  std::vector<int> cpus_;
  UniqueFd stat_;
  BusyWindow window_;
};

}  // namespace perftape::record
