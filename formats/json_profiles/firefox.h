// SPDX-License-Identifier: Apache-2.0
// The profiles of the Firefox Profiler (https://github.com/firefox-devtools/profiler,
// docs-developer), which samply, perftape and others write, and which the profiler's page saves
// ("processed"):
//
//   {"meta":{"interval":1,"product":"samply","preprocessedProfileVersion":49},
//    "libs":[{"name":"app","path":"/bin/app","codeId":"0123abcd..."}],
//    "threads":[{"name":"main","pid":"7","tid":7,
//      "samples":{"stack":[0,null],"time":[0.5,1.5],"weight":[1,1],"weightType":"samples"},
//      "stackTable":{"frame":[0],"prefix":[null]},
//      "frameTable":{"func":[0],"address":[4401],"line":[12]},
//      "funcTable":{"name":[0],"resource":[0],"fileName":[1]},
//      "resourceTable":{"lib":[0]},
//      "stringArray":["main","a.c"]}]}
//
// The versions differ in where the tables are: in each thread, below "shared", or some of both;
// since version 57 the file of a function is in "sources". Times are differences ("timeDeltas") in
// some. A library was in its thread before version 41.
//
// What Firefox itself, perf script gecko and simpleperf write ("gecko") has tables of rows, whose
// columns a schema names, and names like "f (a.js:3)" instead of functions. Other processes are in
// "processes":
//
//   {"meta":{"version":24,"processType":0},"libs":[],"threads":[{"name":"main","pid":7,"tid":7,
//      "samples":{"schema":{"stack":0,"time":1},"data":[[0,0.5]]},
//      "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},
//      "frameTable":{"schema":{"location":0,"line":4},"data":[[0]]},
//      "stringTable":["main"]}]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::json_profiles {

// An index of another table, or an address; -1 if there is none. Not checked.
using FirefoxColumn = std::vector<std::int64_t>;

struct FirefoxLibrary {
  std::string name, path;
  std::string code_id;      // the build id of an ELF file, in hex; empty if unknown
  std::string breakpad_id;  // of SamplySymbols; empty if unknown
};

struct FirefoxTables {
  struct {
    FirefoxColumn frame, prefix;
  } stacks;
  struct {
    FirefoxColumn func, address, line;
  } frames;
  struct {
    FirefoxColumn name, resource, file_name, source, line;
  } funcs;
  FirefoxColumn resource_libs, source_names;
  std::vector<std::string> strings;
};

struct FirefoxThread {
  std::string name, process_name;
  std::optional<std::uint32_t> pid, tid;
  FirefoxColumn stacks;         // of each sample
  std::vector<double> time_ms;  // of each sample
  std::vector<double> weights;  // of each sample; empty: 1 for each
  bool has_fractions = false;   // any weight does
  std::string weight_type;      // "samples", "tracing-ms", "bytes"; empty is "samples"
  FirefoxTables tables;         // those that are not FirefoxFile::shared
  std::vector<FirefoxLibrary> libs;
};

struct FirefoxFile {
  std::string product, imported_from;
  double interval_ms = 0;
  double start_time_ms = 0;  // since 1970
  std::vector<FirefoxLibrary> libs;
  FirefoxTables shared;
  std::vector<FirefoxThread> threads;  // of all processes
};

// Whether the first bytes are those of such a file.
bool IsFirefox(std::string_view beginning);

// Returns the errors of json::Walk.
Result<FirefoxFile> ReadFirefoxFile(std::string_view text);

}  // namespace perftape::json_profiles
