// SPDX-License-Identifier: Apache-2.0
// The .cpuprofile files of V8 (Profiler.Profile of the Chrome DevTools Protocol), which Node,
// Chrome, Deno and VS Code write and read:
//
//   {"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,
//              "columnNumber":-1},"hitCount":0,"children":[2]}, ...],
//    "startTime":1,"endTime":5000,"samples":[2,2],"timeDeltas":[1000,1000]}
//
// Lines and columns count from 0, times are microseconds. Other forms of the same:
//
//   {"profile":{"nodes":...}}, {"id":3,"result":{"profile":{"nodes":...}}}
//        the answer of the inspector to Profiler.stop
//   {"head":{"functionName":"(root)","lineNumber":0,"id":1,"hitCount":0,"children":[{...}]},
//    "startTime":1.2,"endTime":6.2,"samples":[2,2],"timestamps":[1200000,1201000]}
//        V8 before 2017, and v8-profiler: the nodes are in each other, the lines count from 1, and
//        the start and the end are in seconds
//   {"head":{"callFrame":{...},"selfSize":0,"id":1,"children":[{...}]},"samples":[...]}
//        .heapprofile: the bytes of the objects that each node has allocated
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::json_profiles {

struct CpuProfileNode {
  std::int64_t id = 0;
  std::int64_t hit_count = 0;
  std::int64_t self_size = 0;  // of a .heapprofile
  std::int64_t line = -1;      // of the function, from 0
  std::string function = {}, url = {};
  std::vector<std::int64_t> children = {};  // ids
  std::optional<std::int64_t> parent = {};  // an id; besides the children of other nodes
};

struct CpuProfileFile {
  std::vector<CpuProfileNode> nodes;
  std::vector<std::int64_t> samples;      // ids
  std::vector<std::int64_t> time_deltas;  // from the sample before
  std::int64_t start_time = 0, end_time = 0;
  bool is_heap = false;  // only the sizes of the nodes are numbers
  // Of a trace: the thread. Empty and nothing in other files.
  std::string thread_name;
  std::optional<std::uint32_t> pid, tid;
};

bool IsCpuProfile(std::string_view beginning);

// Returns the errors of json::Walk. Ids are not checked.
Result<CpuProfileFile> ReadCpuProfileFile(std::string_view text);

}  // namespace perftape::json_profiles
