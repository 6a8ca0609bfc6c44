// SPDX-License-Identifier: Apache-2.0
// Checks the tool records that other records depend on: HEADER_ATTR and HEADER_FEATURE of a pipe's
// stream, ID_INDEX, TRACING_DATA, AUXTRACE and its index.
#pragma once

#include <cstdint>
#include <map>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class StreamChecks {
 public:
  StreamChecks(const Reader& reader, Report& report);

  // Checks one record. The caller passes all records in file order.
  void Check(const RecordView& record);
  // Adds the findings that need all records. Call it after the last record.
  void Finish();

 private:
  void CheckPipeOrder(const RecordView& record);
  void CheckAttr(const RecordView& record);
  void CheckFeature(const RecordView& record);
  void CheckIdIndex(const RecordView& record);
  void CheckTracingData(Bytes bytes, const RecordView& record);
  void CheckAuxtrace(const RecordView& record);

  // An entry of the feature AUXTRACE: the size of the record, and the file offset of the entry.
  struct IndexEntry {
    std::uint64_t size = 0;
    std::uint64_t entry_offset = 0;
  };

  const Reader& reader_;
  Report& report_;
  std::map<std::uint64_t, IndexEntry> index_;  // by the record's offset; found ones are erased
  bool has_attr_ = false, has_other_ = false;
};

}  // namespace perftape::perfdata
