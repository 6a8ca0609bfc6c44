// SPDX-License-Identifier: Apache-2.0
// Finds the mappings that the frames of samples are in.
#pragma once

#include <cstdint>
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
  HitRegions() : seen_(kSeenFrames) {}

  // Call it with every record, in time order. For a sample, calls hit(pid, region), which returns a
  // Status, for the mapping of each frame that was not seen recently. The region is valid during
  // the call; its dso is valid as long as this object. Ignores damaged records. A frame that was
  // seen before costs one table lookup.
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

  // Every frame counts as new again.
  void ForgetSeenFrames() { seen_.assign(kSeenFrames, {}); }

  const perfdata::Processes& processes() const { return processes_; }

 private:
  static constexpr std::size_t kSeenFrames = 4096;  // a power of two
  struct SeenFrame {
    std::uint64_t generation = 0;       // of the address space; 0: none
    std::uint64_t key = 0;              // page of a user frame, address of a kernel frame
    std::uint64_t start = 0, size = 0;  // of its region; 0 bytes if nothing is mapped there
  };

  void Collect(const perfdata::Sample& sample, perfdata::CpuMode mode);
  // Adds the region of a frame that was not seen recently to found_. Returns the frame, which is
  // valid until the next call.
  const SeenFrame& Visit(const perfdata::AddressSpace& space, std::uint64_t address);

  perfdata::Processes processes_;
  std::vector<SeenFrame> seen_;
  std::vector<const perfdata::Region*> found_;  // scratch
};

}  // namespace perftape::record
