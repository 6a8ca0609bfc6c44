// SPDX-License-Identifier: Apache-2.0
#include "convert/script/walk.h"

#include <utility>

#include "convert/records/sample_names.h"

namespace perftape::listing {

using perfdata::RecordType;

Walk::Walk(const perfdata::Reader& reader, const convert::FirstPass& first_pass)
    : first_pass_(first_pass),
      events_(reader.events()),
      records_(reader.records(), reader.events()),
      replay_(first_pass.history) {
  for (const perfdata::Event& event : events_.all()) plain_.emplace_back(event.format);
}

Result<bool> Walk::Next() {
  if (std::exchange(ends_thread_, false)) epoch_ = first_pass_.history.EpochAfterRecord(epoch_);
  has_sample_ = false;
  TRY_ASSIGN(const std::optional<perfdata::RecordView> record, records_.Next());
  if (!record) return false;
  record_ = *record;
  if (record_.type == RecordType::kSample) {
    ReadSample();
  } else if (record_.type == RecordType::kExit) {
    ends_thread_ = convert::ProcessHistory::IsProcessRecord(record_.type);
  } else if (convert::ProcessHistory::IsProcessRecord(record_.type)) {
    epoch_ = first_pass_.history.EpochAfterRecord(epoch_);
  }
  return true;
}

void Walk::ReadSample() {
  const perfdata::Event* event = records_.event();
  if (event != nullptr) {
    const perfdata::PlainSampleReader& plain = plain_[events_.IndexOf(*event)];
    if (plain.is_plain()) {
      has_sample_ = plain.Read(record_, sample_);
    } else if (Result<perfdata::Sample> decoded = DecodeSample(record_, event->format)) {
      sample_ = *decoded;
      has_sample_ = true;
    }
  }
  if (!has_sample_) {
    if (unread_++ == 0) first_unread_ = PositionOf(record_);
    return;
  }
  if (first_pass_.completion != nullptr && first_pass_.completion->Changes(*event)) {
    first_pass_.completion->Complete(record_, *event, sample_, completed_chain_);
  }
  epoch_ = first_pass_.history.EpochAfterCode(epoch_, first_pass_.TimeOf(sample_.time));
}

const std::string& Walk::CommOf(std::uint32_t tid) {
  const std::string* known = processes().KnownCommOf(tid);
  if (tid != 0 && known != nullptr) return *known;
  comm_ = records::CommName(tid, known);
  return comm_;
}

}  // namespace perftape::listing
