// SPDX-License-Identifier: Apache-2.0
// The layouts of the samples of a recording, up to the callchain. They differ in one field only:
// samples of wakeups have an address, PERF_SAMPLE_ADDR, which is the tid of the woken thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

class SampleFormats {
 public:
  // `format` is that of all records, and of samples without an address.
  SampleFormats(const perfdata::SampleFormat& format)  // NOLINT(google-explicit-constructor)
      : plain_(format), with_address_(format) {}
  // `ids` are those of the events whose samples have an address.
  SampleFormats(const perfdata::SampleFormat& format, std::vector<std::uint64_t> ids)
      : plain_(format), with_address_(format), ids_(std::move(ids)) {
    with_address_.sample_type |= perfdata::kAddr;
    std::ranges::sort(ids_);
  }

  // Returns the layout of a record. Samples begin with PERF_SAMPLE_IDENTIFIER.
  const perfdata::SampleFormat& Of(const perfdata::RecordView& record) const {
    if (ids_.empty() || record.type != perfdata::RecordType::kSample) return plain_;
    if (record.payload.size() < sizeof(std::uint64_t)) return plain_;
    const auto id = LoadFixed<std::uint64_t>(record.payload.data(), record.order);
    return std::ranges::binary_search(ids_, id) ? with_address_ : plain_;
  }

 private:
  perfdata::SampleFormat plain_, with_address_;
  std::vector<std::uint64_t> ids_;  // sorted
};

}  // namespace perftape::record
