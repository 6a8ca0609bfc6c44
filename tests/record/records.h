// SPDX-License-Identifier: Apache-2.0
// Records as the recorder writes them, taken apart again: the format that all of them have in these
// tests, and the way back from bytes to values.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

inline constexpr perfdata::SampleFormat kTestFormat = {
    .sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid | perfdata::kTime |
                   perfdata::kCpu | perfdata::kPeriod | perfdata::kCallchain,
    .sample_id_all = true,
};

// The records in `bytes`, as long as those live. Throws where they are not whole records.
inline std::vector<perfdata::RecordView> RecordsIn(Bytes bytes) {
  perfdata::RecordCursor cursor(bytes, 0, std::endian::native);
  std::vector<perfdata::RecordView> records;
  while (true) {
    const Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) throw std::runtime_error(record.error().message);
    if (!*record) return records;
    records.push_back(**record);
  }
}

// Those of one type, decoded.
template <class Record>
std::vector<Record> Decoded(const std::vector<perfdata::RecordView>& records) {
  std::vector<Record> found;
  for (const perfdata::RecordView& record : records) {
    if (record.type == Record::kType) {
      found.push_back(perfdata::Decode<Record>(record, kTestFormat).value());
    }
  }
  return found;
}

// One record as bytes, with a time in its trailer.
template <class Record>
std::vector<std::byte> RecordOf(const Record& value, std::uint64_t time = 0,
                                std::uint16_t misc = 0) {
  std::vector<std::byte> bytes;
  const Status status = perfdata::Encode(value, {.time = time}, kTestFormat, misc, bytes);
  if (!status) throw std::runtime_error(status.error().message);
  return bytes;
}

// A sample as bytes.
inline std::vector<std::byte> SampleOf(const perfdata::Sample& sample, perfdata::CpuMode mode) {
  std::vector<std::byte> bytes;
  const Status status = perfdata::EncodeSample(sample, kTestFormat, perfdata::MiscOf(mode), bytes);
  if (!status) throw std::runtime_error(status.error().message);
  return bytes;
}

// Takes what a stage of the recorder hands on.
struct CollectedRecords {
  std::vector<std::byte> bytes;

  Status Append(Bytes record) {
    bytes.insert(bytes.end(), record.begin(), record.end());
    return {};
  }
  std::vector<perfdata::RecordView> records() const { return RecordsIn(bytes); }
};

}  // namespace perftape::record
