// SPDX-License-Identifier: Apache-2.0
// Checks the parts that records of all types have in common: size, type, names, counts, and the id.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class RecordChecks {
 public:
  RecordChecks(const Reader& reader, Report& report) : events_(reader.events()), report_(report) {}

  // Checks one record, of any type. `event` is its event, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  void CheckExcess(const RecordView& record);
  void CheckType(const RecordView& record);
  // Whether the record is at least as large as the smallest one of its type.
  bool CheckSize(const RecordView& record);
  void CheckName(const RecordView& record, std::size_t trailer);
  void CheckCounts(const RecordView& record, std::size_t trailer);

  const EventTable& events_;
  Report& report_;
};

}  // namespace perftape::perfdata
