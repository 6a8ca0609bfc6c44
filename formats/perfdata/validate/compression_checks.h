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

  // In file order, with what is inside a COMPRESSED record behind it.
  void Check(const RecordView& record);

  // The last COMPRESSED record so far.
  const std::optional<RecordView>& last() const { return piece_; }

 private:
  Report& report_;
  std::optional<std::uint32_t> mmap_len_;  // what perf takes for the largest expansion
  std::optional<RecordView> piece_;        // without its bytes
  bool is_piece_told_ = false;             // that it is too large
};

}  // namespace perftape::perfdata
