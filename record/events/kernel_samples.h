// SPDX-License-Identifier: Apache-2.0
// The samples of a recording without privileges. The kernel writes them itself, into the rings of
// the process events. This class only counts those that did not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "record/bpf/sample_source.h"

namespace perftape::record {

class KernelSamples final : public SampleSource {
 public:
  const MappedUnwindMaps& unwind_maps() const override { return no_maps_; }
  Status AttachTo(std::uint32_t, std::span<const CpuEvent>) override { return {}; }
  void DetachTracepoints() override {}
  Status StartOffCpu() override { return {}; }
  Status StopOffCpu() override { return {}; }
  Result<std::size_t> Drain(const std::function<void(Bytes)>&) override { return 0; }
  int poll_fd() const override { return -1; }
  // Almost all records in the rings are samples. The kernel does not say of which event the lost
  // ones were; they count for the first.
  bool CountLost(std::uint32_t cpu, std::uint64_t records) override;
  std::vector<wire_cpu> Counters(std::uint32_t event) const override;
  std::uint64_t SkippedHits() const override { return 0; }
  void RestartTimer(std::uint32_t, int) override {}
  void SampleOneIn(std::uint32_t, std::uint64_t) override {}
  void RecordOnly(std::uint32_t, std::span<const int>) override {}

 private:
  MappedUnwindMaps no_maps_;
  std::vector<wire_cpu> lost_;  // by CPU; only ring_full is set
};

}  // namespace perftape::record
