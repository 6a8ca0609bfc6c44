// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/round_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace perftape::perfdata {

void RoundChecks::Check(const RecordView& record, const Event* event) {
  bytes_ += record.size();
  most_bytes_ = std::max(most_bytes_, bytes_);
  if (record.type == RecordType::kFinishedRound) {
    released_up_to_ = round_newest_;
    round_newest_ = newest_;
    bytes_ = 0;
    return;
  }
  const std::uint64_t time = event == nullptr ? 0 : TimeOf(record, event->format);
  if (time == 0 || time == std::numeric_limits<std::uint64_t>::max()) return;
  has_times_ = true;
  newest_ = std::max(newest_, time);
  if (time >= released_up_to_) return;
  const std::uint64_t late = released_up_to_ - time;
  worst_ = std::max(worst_, late);
  report_.Add(Rule::kTimeOutOfRound, record, [&] {
    return fmt::format("{} of time {} is {} ns too late for its round", RecordName(record.type),
                       time, late);
  });
}

void RoundChecks::Finish() {
  if (worst_ != 0)
    report_.SetSum(Rule::kTimeOutOfRound, fmt::format("up to {} ns too late", worst_));
  if (!has_times_ || most_bytes_ <= kLargestRound) return;
  report_.AddAt(Rule::kRoundsMissing, reader_.data_offset(),
                fmt::format("{} bytes of records have no FINISHED_ROUND", most_bytes_));
}

}  // namespace perftape::perfdata
