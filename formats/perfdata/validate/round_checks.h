// SPDX-License-Identifier: Apache-2.0
// Checks the times of the records against perf's rule for FINISHED_ROUND (rounds.h).
#pragma once

#include <cstdint>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class RoundChecks {
 public:
  RoundChecks(const Reader& reader, Report& report) : reader_(reader), report_(report) {}

  // Checks one record. The caller passes all records in file order. `event` is the event of the
  // record, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);
  // Adds the findings that need all records. Call it after the last record.
  void Finish();

 private:
  // In bytes. More records without a FINISHED_ROUND are reported, because perf keeps all in memory.
  static constexpr std::uint64_t kLargestRound = std::uint64_t{64} << 20;

  const Reader& reader_;
  Report& report_;
  std::uint64_t newest_ = 0;        // the latest time so far
  std::uint64_t round_newest_ = 0;  // newest_ at the last round; the next round releases up to it
  std::uint64_t released_up_to_ = 0;
  std::uint64_t worst_ = 0;       // the largest delay of a record, in ns
  std::uint64_t bytes_ = 0;       // since the last round
  std::uint64_t most_bytes_ = 0;  // between two rounds
  bool has_times_ = false;
};

}  // namespace perftape::perfdata
