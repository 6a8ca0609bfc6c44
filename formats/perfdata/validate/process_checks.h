// SPDX-License-Identifier: Apache-2.0
// Checks that the process and the binary of each sample are known, and that the binary has a build
// id.
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

class ProcessChecks {
 public:
  ProcessChecks(const Reader& reader, Report& report);

  // Checks one record. The caller passes all records in time order. `event` is the event of the
  // record, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);
  // Adds the findings that need all records. Call it after the last record.
  void Finish();

 private:
  // The samples so far of a process or thread that is not known yet.
  struct Waiting {
    RecordView first;  // without its payload
    std::uint64_t samples = 0;
  };
  using WaitingFor = std::unordered_map<std::uint32_t, Waiting>;

  struct Hit {
    std::uint64_t offset = 0;  // of the first sample
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
  BuildIdTable ids_;  // from the feature BUILD_ID and the BUILD_ID records
  WaitingFor without_comm_, without_map_;
  std::unordered_map<const Dso*, Hit> hits_;
  std::optional<RecordView> kernel_sample_;  // the first before any mapping of the kernel
  std::uint64_t kernel_samples_ = 0;
};

}  // namespace perftape::perfdata
