// SPDX-License-Identifier: Apache-2.0
// Which part of the samples belongs to which comm and to which dso, as these were at the time of
// the sample.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"
#include "tools/inspect/dso_names.h"

namespace perftape::inspect {

// What the samples of one comm, or of one dso, add up to.
struct Share {
  std::uint64_t samples = 0;
  std::uint64_t period = 0;
};
using SharesByName = std::map<std::string, Share>;

// The name of a thread as perf shows it: the one that a record told, if any did; null where not.
std::string CommName(std::uint32_t tid, const std::string* told);

// Give it all records, in time order. Memory follows the number of names, threads and mappings.
class SampleShares {
 public:
  // Takes what it needs of the reader.
  explicit SampleShares(const perfdata::Reader& reader) : dso_names_(reader) {}

  // Any record but a SAMPLE.
  void Apply(const perfdata::RecordView& record, const perfdata::SampleFormat& format);
  // A sample, and what it counts for.
  void Add(const perfdata::Sample& sample, perfdata::CpuMode mode,
           std::span<const perfdata::Delivery> deliveries);

  const SharesByName& by_comm() const { return comms_; }
  SharesByName by_dso() const;

 private:
  // A dso; for generated code also the process, which is in its name.
  struct DsoKey {
    const perfdata::Dso* dso = nullptr;
    std::uint32_t pid = 0;
    auto operator<=>(const DsoKey&) const = default;
  };
  // Most samples are of a thread and of a mapped range that had some just before. So the answers
  // are kept, one for each hash of a tid, or of a pid and address, until a record changes what is
  // true.
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
  std::uint64_t state_ = 1;  // counts the records applied
  std::array<KnownComm, 64> known_comms_ = {};
  std::array<KnownRange, 256> known_ranges_ = {};
};

}  // namespace perftape::inspect
