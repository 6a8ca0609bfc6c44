// SPDX-License-Identifier: Apache-2.0
// Checks for records that perf 6.1 can read from a file but not from a pipe's stream: AUXTRACE, and
// records that need its features or the byte order of the recording machine.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class PipeChecks {
 public:
  PipeChecks(const Reader& reader, Report& report)
      : report_(report), is_pipe_(reader.container() == Container::kPipe) {}

  // Checks one record, of any type. `event` is its event, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  void CheckForeign(const RecordView& record, const Event* event);
  void CheckStats(const RecordView& record);

  Report& report_;
  bool is_pipe_;
  // Whether these findings were reported; each is reported once.
  bool has_foreign_features_ = false, has_uncounted_ = false;
};

}  // namespace perftape::perfdata
