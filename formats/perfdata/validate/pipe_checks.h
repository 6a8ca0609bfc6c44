// SPDX-License-Identifier: Apache-2.0
// Judges what perf 6.1 cannot read of a pipe's stream although it reads the same records in a file:
// AUXTRACE, and what needs its features or the byte order of the machine that recorded.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class PipeChecks {
 public:
  PipeChecks(const Reader& reader, Report& report)
      : report_(report), is_pipe_(reader.container() == Container::kPipe) {}

  // Call it with each record; `event` is its own, null where its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  void CheckForeign(const RecordView& record, const Event* event);
  void CheckStats(const RecordView& record);

  Report& report_;
  bool is_pipe_;
  bool has_foreign_features_ = false, has_uncounted_ = false;  // told once
};

}  // namespace perftape::perfdata
