// SPDX-License-Identifier: Apache-2.0
// Checks the contents of samples: whether the fields fit, and whether readers can use them.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class SampleChecks {
 public:
  SampleChecks(const Reader& reader, Report& report);

  // Checks one record, of any type: all fields of a sample, the CPU of other records. `event` is
  // its event, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  void CheckCpu(const RecordView& record, std::uint32_t cpu, const SampleFormat& format);
  void CheckTask(const RecordView& record, const Sample& sample, const SampleFormat& format);
  void CheckNewFields(const RecordView& record, const Sample& sample, const Event& event);
  void CheckCallchain(const RecordView& record, const Sample& sample);

  Report& report_;
  std::optional<std::uint32_t> cpus_available_;  // from NRCPUS
};

}  // namespace perftape::perfdata
