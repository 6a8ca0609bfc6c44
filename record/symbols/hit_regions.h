// SPDX-License-Identifier: Apache-2.0
// Finds the mappings that the frames of samples are in.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

// Follows all mappings of a recording. Not thread-safe.
class HitRegions {
 public:
  HitRegions() : seen_(kSeenRegions) {}

  // Call it with every record, in time order. For a sample, calls hit(pid, region), which returns a
  // Status, for the mapping of each frame that was not hit recently. The region is valid during
  // the call; its dso is valid until ForgetUnused. Ignores damaged records.
  template <class Hit>
  Status Observe(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                 const Hit& hit) {
    if (record.type != perfdata::RecordType::kSample) {
      processes_.Apply(record, format);
      return {};
    }
    const Result<perfdata::Sample> sample = perfdata::DecodeSample(record, format);
    if (!sample) return {};
    found_.clear();
    Collect(*sample, record.cpumode());
    for (const perfdata::Region* region : found_) TRY(hit(sample->pid, *region));
    return {};
  }

  // No region counts as hit any more.
  void ForgetSeen() { seen_.assign(kSeenRegions, {}); }

  // Forgets ended threads, and the dsos that nothing maps and for which `keeps` is false.
  void ForgetUnused(const std::function<bool(const perfdata::Dso&)>& keeps) {
    processes_.ForgetUnused(keeps);
  }

  const perfdata::Processes& processes() const { return processes_; }

 private:
  static constexpr std::size_t kSeenRegions = 4096;  // a power of two
  struct SeenRegion {
    std::uint64_t generation = 0;  // of its address space
    std::uint64_t start = 0, size = 0;

    bool Contains(std::uint64_t address) const { return address - start < size; }
  };

  void Collect(const perfdata::Sample& sample, perfdata::CpuMode mode);
  // Returns the region at an address. Adds one that was not hit recently to found_. The region has
  // 0 bytes if nothing is mapped there.
  SeenRegion Visit(const perfdata::AddressSpace& space, std::uint64_t address);

  perfdata::Processes processes_;
  std::vector<SeenRegion> seen_;
  std::vector<const perfdata::Region*> found_;  // scratch
};

}  // namespace perftape::record
