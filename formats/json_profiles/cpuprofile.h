// SPDX-License-Identifier: Apache-2.0
// The .cpuprofile files of V8 (Profiler.Profile of the Chrome DevTools Protocol), which Node,
// Chrome, Deno and VS Code write and read:
//
//   {"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,
//              "columnNumber":-1},"hitCount":0,"children":[2]}, ...],
//    "startTime":1,"endTime":5000,"samples":[2,2],"timeDeltas":[1000,1000]}
//
// Lines and columns count from 0, times are microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::json_profiles {

struct CpuProfileNode {
  std::int64_t id = 0;
  std::int64_t hit_count = 0;
  std::int64_t line = -1;  // of the function, from 0
  std::string function, url;
  std::vector<std::int64_t> children;  // ids
};

struct CpuProfileFile {
  std::vector<CpuProfileNode> nodes;
  std::vector<std::int64_t> samples;      // ids
  std::vector<std::int64_t> time_deltas;  // from the sample before
  std::int64_t start_time = 0, end_time = 0;
};

bool IsCpuProfile(std::string_view beginning);

// Returns the errors of WalkJson. Ids are not checked.
Result<CpuProfileFile> ReadCpuProfileFile(std::string_view text);

}  // namespace perftape::json_profiles
