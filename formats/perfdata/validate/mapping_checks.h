// SPDX-License-Identifier: Apache-2.0
// Checks MMAP, MMAP2 and COMM records one by one.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/build_id_table.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

class MappingChecks {
 public:
  MappingChecks(const Reader& reader, Report& report);

  // Checks one record, of any type. `event` is its event, or null if its id is unknown.
  void Check(const RecordView& record, const Event* event);

 private:
  template <class Map>
  void CheckMap(const RecordView& record, const Map& map);
  void CheckBuildId(const RecordView& record, std::string_view path, const BuildId& id);

  Report& report_;
  BuildIdTable ids_;  // from the feature BUILD_ID
};

}  // namespace perftape::perfdata
