// SPDX-License-Identifier: Apache-2.0
#include "record/rings/incoming_records.h"

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
  if (!merge_.AddKernelRecord(record, format_)) ++damaged_;
}

}  // namespace perftape::record
