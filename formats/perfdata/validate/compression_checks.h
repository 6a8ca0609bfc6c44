// SPDX-License-Identifier: Apache-2.0
// Checks COMPRESSED and COMPRESSED2 records and their feature section.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class CompressionChecks {
 public:
  CompressionChecks(const Reader& reader, Report& report);

  // Checks one record. The caller passes all records in file order, those inside a COMPRESSED
  // record after it.
  void Check(const RecordView& record);

  // The last COMPRESSED or COMPRESSED2 record so far, without its payload.
  const std::optional<RecordView>& last() const { return piece_; }

 private:
  Report& report_;
  // The size of perf's buffer for an expanded COMPRESSED record, from the feature COMPRESSED.
  std::optional<std::uint32_t> mmap_len_;
  std::optional<RecordView> piece_;  // the result of last()
  bool is_piece_reported_ = false;   // whether piece_ was reported as too large
};

}  // namespace perftape::perfdata
