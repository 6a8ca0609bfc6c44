// SPDX-License-Identifier: Apache-2.0
// Reports the losses of the recording from LOST (records of any type) and LOST_SAMPLES. The two are
// counted separately.
#pragma once

#include <cstdint>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class LossChecks {
 public:
  explicit LossChecks(Report& report) : report_(report) {}

  // Checks one record, of any type. `event` is its event, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);
  // Sets the totals of the findings. Call it after the last record.
  void Finish();

 private:
  Report& report_;
  std::uint64_t records_ = 0, samples_ = 0, filtered_ = 0;
};

}  // namespace perftape::perfdata
