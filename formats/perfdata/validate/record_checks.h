// SPDX-License-Identifier: Apache-2.0
// Checks what holds for records of every type: size, type, names, counts, and the event.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class RecordChecks {
 public:
  RecordChecks(const Reader& reader, Report& report) : events_(reader.events()), report_(report) {}

  // Call it with each record; `event` is its own, null where its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  void CheckExcess(const RecordView& record);
  void CheckType(const RecordView& record);
  // Whether it has all that its type always has.
  bool CheckSize(const RecordView& record);
  void CheckName(const RecordView& record, std::size_t trailer);
  void CheckCounts(const RecordView& record, std::size_t trailer);

  const EventTable& events_;
  Report& report_;
};

}  // namespace perftape::perfdata
