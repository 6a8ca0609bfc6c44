// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/loss_checks.h"

#include <fmt/core.h>

namespace perftape::perfdata {

void LossChecks::Check(const RecordView& record, const Event* event) {
  if (event == nullptr) return;
  if (record.type == RecordType::kLost) {
    const auto lost = Decode<Lost>(record, event->format);
    if (!lost || lost->count == 0) return;
    records_ += lost->count;
    report_.Add(Rule::kLostRecords, record,
                [&] { return fmt::format("LOST reports {} lost records", lost->count); });
  } else if (record.type == RecordType::kLostSamples) {
    const auto lost = Decode<LostSamples>(record, event->format);
    if (!lost || lost->count == 0) return;
    const bool is_filtered = (record.misc & kMiscLostSamplesBpf) != 0;
    (is_filtered ? filtered_ : samples_) += lost->count;
    report_.Add(is_filtered ? Rule::kFilteredSamples : Rule::kLostSamples, record, [&] {
      return fmt::format("LOST_SAMPLES reports {} {} samples", lost->count,
                         is_filtered ? "filtered" : "lost");
    });
  } else if (record.type == RecordType::kThrottle) {
    report_.Add(Rule::kThrottled, record,
                [&] { return fmt::format("the kernel paused {}", event->name); });
  }
}

void LossChecks::Finish() {
  const auto set = [&](Rule rule, std::uint64_t count, std::string_view noun) {
    if (count != 0) report_.SetSum(rule, fmt::format("{} {}", count, noun));
  };
  set(Rule::kLostRecords, records_, "records");
  set(Rule::kLostSamples, samples_, "samples");
  set(Rule::kFilteredSamples, filtered_, "samples");
}

}  // namespace perftape::perfdata
