// SPDX-License-Identifier: Apache-2.0
// The BPF programs of latency probes (bpf/latency*.bpf.c), and the histograms that they fill. Only
// bpf_objects and bpf_session use them.
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/bpf/sample_source.h"

struct bpf_object;

namespace perftape::record {

struct LatencyLimits {
  std::size_t histograms = 0;   // at a time
  std::size_t in_progress = 0;  // calls that end elsewhere, of each kind
  std::uint32_t stacks = 0;     // of calls that end elsewhere, if their samples need copies of them
};

class LatencyPrograms {
 public:
  // Loads the programs of the probes in `settings`. `share_maps` replaces maps of an object by
  // those of the recording. Messages of libbpf are quoted from `log`.
  static Result<LatencyPrograms> Load(const wire_filter& filter,
                                      const wire_latency_settings& settings,
                                      const LatencyLimits& limits,
                                      const std::function<Status(bpf_object*)>& share_maps,
                                      const std::string& log);

  LatencyPrograms(LatencyPrograms&&) noexcept;
  LatencyPrograms& operator=(LatencyPrograms&&) noexcept;
  ~LatencyPrograms();

  // Attaches and detaches the programs. Calls that have not ended are not counted.
  Status Start(const std::string& log);
  void Stop();
  // Returns what was counted since the last call, and forgets it.
  Result<std::vector<LatencyCounts>> Drain();
  // SampleSource::MissedRuns
  std::uint64_t MissedRuns(std::uint32_t event) const;

 private:
  struct Impl;
  explicit LatencyPrograms(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace perftape::record
