// SPDX-License-Identifier: Apache-2.0
// Checks the order of the records' times by the rule of perf's FINISHED_ROUND, in file order.
#pragma once

#include <cstdint>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class RoundChecks {
 public:
  RoundChecks(const Reader& reader, Report& report) : reader_(reader), report_(report) {}

  void Check(const RecordView& record, const Event* event);
  // After the last record.
  void Finish();

 private:
  // perf holds as much as this without complaint.
  static constexpr std::uint64_t kMuch = std::uint64_t{64} << 20;

  const Reader& reader_;
  Report& report_;
  std::uint64_t newest_ = 0;        // time seen so far
  std::uint64_t round_newest_ = 0;  // newest_ at the last round: what the next one releases
  std::uint64_t released_up_to_ = 0;
  std::uint64_t worst_ = 0;       // ns too late
  std::uint64_t bytes_ = 0;       // since the last round
  std::uint64_t most_bytes_ = 0;  // between two rounds
  bool has_times_ = false;
};

}  // namespace perftape::perfdata
