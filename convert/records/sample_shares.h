// SPDX-License-Identifier: Apache-2.0
// Counts the samples of each comm and of each dso, with the names at the time of the sample.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "convert/records/sample_names.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"

namespace perftape::records {

// The sums over the samples of one comm or one dso.
struct Share {
  std::uint64_t samples = 0;
  std::uint64_t period = 0;

  void Add(const Share& other) {
    samples += other.samples;
    period += other.period;
  }
  bool operator==(const Share&) const = default;
};
using SharesByName = std::map<std::string, Share>;

// Needs all records, in time order. Memory grows with the number of names, threads and mappings.
class SampleShares {
 public:
  // Copies what it needs from the reader.
  explicit SampleShares(const perfdata::Reader& reader) : dso_names_(reader) {}

  // Applies a record that is not a SAMPLE.
  void Apply(const perfdata::RecordView& record, const perfdata::SampleFormat& format);
  // Counts a sample, with the events and periods that it counts for.
  void Add(const perfdata::Sample& sample, perfdata::CpuMode mode,
           std::span<const perfdata::Delivery> deliveries);

  const SharesByName& by_comm() const { return comms_; }
  SharesByName by_dso() const;

 private:
  // A dso; for JIT code also the process, which is in its name.
  struct DsoKey {
    const perfdata::Dso* dso = nullptr;
    std::uint32_t pid = 0;
    auto operator<=>(const DsoKey&) const = default;
  };
  // Most samples have the thread and the mapping of a recent sample. So results are cached, one for
  // each hash of a tid, or of a pid and address, until a record changes the state.
  struct KnownComm {
    std::uint64_t state = 0;
    std::uint32_t tid = 0;
    Share* share = nullptr;
  };
  struct KnownRange {
    std::uint64_t state = 0;
    std::uint32_t pid = 0;
    perfdata::CpuMode mode = perfdata::CpuMode::kUnknown;
    std::uint64_t start = 0, end = 0;
    Share* share = nullptr;
  };

  Share& OfComm(std::uint32_t tid);
  Share& OfDso(const perfdata::Sample& sample, perfdata::CpuMode mode);

  perfdata::Processes processes_;
  DsoNames dso_names_;
  SharesByName comms_;
  std::map<DsoKey, Share> dsos_;
  std::uint64_t state_ = 1;  // number of records applied
  std::array<KnownComm, 64> known_comms_ = {};
  std::array<KnownRange, 256> known_ranges_ = {};
};

}  // namespace perftape::records
