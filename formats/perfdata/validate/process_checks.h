// SPDX-License-Identifier: Apache-2.0
// Checks that each sample's process and binary are known, and that the binary has a build id.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/build_id_table.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

// Give it the records in time order.
class ProcessChecks {
 public:
  ProcessChecks(const Reader& reader, Report& report);

  void Check(const RecordView& record, const Event* event);
  // After the last record.
  void Finish();

 private:
  // Of a process or thread that was not known yet, the samples so far.
  struct Waiting {
    RecordView first;  // without its bytes
    std::uint64_t samples = 0;
  };
  using WaitingFor = std::unordered_map<std::uint32_t, Waiting>;

  struct Hit {
    std::uint64_t offset = 0;  // of its first sample
    std::uint64_t samples = 0;
  };

  void CheckSample(const RecordView& record, const Sample& sample, const SampleFormat& format);
  void CheckRegion(const RecordView& record, const Sample& sample);
  // Reports the samples that waited for the record `what` of `id`, if any, and forgets them.
  void ReportWaiting(WaitingFor& waiting, std::uint32_t id, Rule rule, std::string_view what);
  void Apply(const RecordView& record, const SampleFormat& format);
  std::vector<std::pair<const Dso*, Hit>> HitsInFileOrder() const;

  Report& report_;
  Processes processes_;
  BuildIdTable ids_;  // of the feature BUILD_ID, and of the records of that name
  WaitingFor without_comm_, without_map_;
  std::unordered_map<const Dso*, Hit> hits_;
  std::optional<RecordView> kernel_sample_;  // the first, while no kernel mapping is known
  std::uint64_t kernel_samples_ = 0;
};

}  // namespace perftape::perfdata
