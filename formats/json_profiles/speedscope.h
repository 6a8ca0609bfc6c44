// SPDX-License-Identifier: Apache-2.0
// The files of speedscope (https://www.speedscope.app/file-format-schema.json), which many
// profilers write:
//
//   {"$schema":"https://www.speedscope.app/file-format-schema.json",
//    "shared":{"frames":[{"name":"main","file":"a.c","line":3}]},
//    "profiles":[{"type":"sampled","name":"thread 1","unit":"none","startValue":0,"endValue":2,
//                 "samples":[[0,1]],"weights":[2]},
//                {"type":"evented","name":"thread 2","unit":"nanoseconds","startValue":0,
//                 "endValue":2,"events":[{"type":"O","frame":0,"at":0},
//                                        {"type":"C","frame":0,"at":2}]}]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/json/walk.h"

namespace perftape::json_profiles {

struct SpeedscopeFrame {
  std::string name, file;
  std::int64_t line = 0;  // 0 if unknown
};

struct SpeedscopeEvent {
  bool opens = false;  // or closes
  std::uint32_t frame = 0;
  json::Number at = {};
};

struct SpeedscopeProfile {
  std::string type, name, unit;
  // Of a sampled one: the frames of all samples, the root of each first, and where each ends.
  std::vector<std::uint32_t> frames;
  std::vector<std::size_t> ends;
  std::vector<json::Number> weights;
  std::vector<SpeedscopeEvent> events;  // of an evented one
};

struct SpeedscopeFile {
  std::string exporter;
  std::vector<SpeedscopeFrame> frames;
  std::vector<SpeedscopeProfile> profiles;
};

// Whether the first bytes are those of such a file.
bool IsSpeedscope(std::string_view beginning);

// Returns the errors of json::Walk. Numbers of frames are not checked.
Result<SpeedscopeFile> ReadSpeedscopeFile(std::string_view text);

}  // namespace perftape::json_profiles
