// SPDX-License-Identifier: Apache-2.0
// Decodes the records that the recorder writes. All tests use one format.
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

// Returns views of the records in `bytes`, which must live longer. Throws if they are not whole
// records.
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

// Returns those of one type, decoded.
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

// Returns one record as bytes, with a time in its trailer.
template <class Record>
std::vector<std::byte> RecordOf(const Record& value, std::uint64_t time = 0,
                                std::uint16_t misc = 0) {
  std::vector<std::byte> bytes;
  const Status status = perfdata::Encode(value, {.time = time}, kTestFormat, misc, bytes);
  if (!status) throw std::runtime_error(status.error().message);
  return bytes;
}

// Returns a sample as bytes.
inline std::vector<std::byte> SampleOf(const perfdata::Sample& sample, perfdata::CpuMode mode) {
  std::vector<std::byte> bytes;
  const Status status = perfdata::EncodeSample(sample, kTestFormat, perfdata::MiscOf(mode), bytes);
  if (!status) throw std::runtime_error(status.error().message);
  return bytes;
}

// Collects the output of a stage of the recorder.
struct CollectedRecords {
  std::vector<std::byte> bytes;

  Status Append(Bytes record) {
    bytes.insert(bytes.end(), record.begin(), record.end());
    return {};
  }
  std::vector<perfdata::RecordView> records() const { return RecordsIn(bytes); }
};

}  // namespace perftape::record
