// SPDX-License-Identifier: Apache-2.0
#include "record/rings/incoming_records.h"

#include <optional>

#include "formats/perfdata/record_cursor.h"

namespace perftape::record {

void IncomingRecords::AddMessage(Bytes message) {
  record_.clear();
  if (const Result<std::uint64_t> time_ns = decoder_.Append(message, record_)) {
    merge_.Add(*time_ns, record_);
  } else {
    ++damaged_;
  }
}

void IncomingRecords::AddKernelRecord(Bytes record) {
  if (ids_.has_aliases()) {
    record_.assign(record.begin(), record.end());
    ids_.ReplaceAliases(record_);
    record = record_;
  }
  if (!merge_.AddKernelRecord(record, format_)) {
    ++damaged_;
    return;
  }
  const auto view = perfdata::RecordCursor(record, 0, std::endian::native).Next();
  if (view && *view) throttled_.Add(**view, format_);
}

}  // namespace perftape::record
