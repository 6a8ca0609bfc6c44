// SPDX-License-Identifier: Apache-2.0
// The binaries of a perf.data with their build ids, in perf's order: first those in the feature
// BUILD_ID, then the others as they were mapped (tools/perf/util/dso.c, machine.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/result.h"
#include "formats/perfdata/reader.h"

namespace perftape::records {

struct ListedBinary {
  std::string path;         // "/usr/bin/ls", "[kernel.kallsyms]"
  BuildId build_id = {};    // empty if unknown
  bool is_sampled = false;  // whether the ip of a sample is in it
};

// What is read of the file.
enum class BinaryScan : std::uint8_t {
  kFeature,  // only BUILD_ID
  kRecords,  // also all records: mappings and samples
};

// Fails with the damage of the records, if there is any.
Result<std::vector<ListedBinary>> ListBinaries(const perfdata::Reader& reader, BinaryScan scan);

}  // namespace perftape::records
