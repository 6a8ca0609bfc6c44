// SPDX-License-Identifier: Apache-2.0
// Merges equal samples into one: those of the same thread, CPU, event, address and stack, with the
// same raw record. The result has the time of the first and the sum of the periods, so the
// percentages of a report do not change. Records keep their order.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record_cursor.h"
#include "record/rings/sample_formats.h"

namespace perftape::record {

// Owns copies of the records of an interval. Not thread-safe.
class SampleAggregator {
 public:
  // `formats` are those of all samples; they have TIME and PERIOD.
  SampleAggregator(SampleFormats formats, std::uint64_t interval_ns);

  // Adds a record, in time order; `bytes` are all of it. A sample is not joined with one that is
  // older than the last process event (COMM, MMAP2, FORK, EXIT) of its process, because the names
  // of its addresses may have changed.
  void Add(const perfdata::RecordView& record, Bytes bytes);
  // Adds records that are never joined.
  void AddOther(Bytes records);

  // Whether the interval has passed at `now_ns`, or the records need too much memory.
  bool IsOver(std::uint64_t now_ns) const;
  // The records of the interval, in their order. Valid until the next call of another function.
  Bytes records() const { return records_; }
  // Begins the next interval.
  void Clear();

  // The number of samples that were joined with an earlier one, of all intervals.
  std::uint64_t aggregated() const { return aggregated_; }

 private:
  // By the bytes of a sample without its time and period: the offset of its period in records_.
  using Offsets = std::unordered_map<std::string, std::size_t>;

  void AddSample(const perfdata::RecordView& record, Bytes bytes);

  SampleFormats formats_;
  std::uint64_t interval_ns_;
  std::uint64_t begin_ns_ = 0;  // 0: no record
  std::vector<std::byte> records_;
  std::unordered_map<std::uint32_t, Offsets> processes_;
  std::uint64_t aggregated_ = 0;
};

}  // namespace perftape::record
