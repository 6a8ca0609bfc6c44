// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/pipe_checks.h"

#include <fmt/core.h>

namespace perftape::perfdata {
namespace {}  // namespace

void PipeChecks::Check(const RecordView& record, const Event* event) {
  if (!is_pipe_) return;
  if (record.type == RecordType::kAuxtrace && !record.appended.empty()) {
    report_.Add(Rule::kPipeAuxtrace, record, [&] {
      return fmt::format("{} bytes of trace follow AUXTRACE", record.appended.size());
    });
  }
  if (record.order != std::endian::native) CheckForeign(record, event);
  CheckStats(record);
}

void PipeChecks::CheckForeign(const RecordView& record, const Event* event) {
  if (record.type == RecordType::kHeaderFeature && !has_foreign_features_) {
    has_foreign_features_ = true;
    report_.Add(Rule::kPipeForeignFeatures, record,
                [] { return std::string("HEADER_FEATURE has the other byte order"); });
  } else if (IsCompressed(record.type)) {
    report_.Add(Rule::kPipeForeignCompressed, record, [&] {
      return fmt::format("{} of {} bytes has the other byte order", RecordName(record.type),
                         record.size());
    });
  } else if (record.type == RecordType::kSample && event != nullptr && event->format.Has(kRaw)) {
    report_.Add(Rule::kPipeForeignRaw, record,
                [] { return std::string("SAMPLE has RAW data of the other byte order"); });
  }
}

void PipeChecks::CheckStats(const RecordView& record) {
  const bool has_appended = !record.appended.empty();
  if (has_uncounted_ || !(has_appended || IsCompressed(record.type))) return;
  has_uncounted_ = true;
  report_.Add(Rule::kPipeStats, record,
              [&] { return fmt::format("the pipe contains {}", RecordName(record.type)); });
}

}  // namespace perftape::perfdata
