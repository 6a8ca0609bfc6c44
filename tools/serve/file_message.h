// SPDX-License-Identifier: Apache-2.0
// What the recorder tells the importer about a finished file.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace perftape::serve {

struct FileMessage {
  std::uint64_t recorder_cpu_ns = 0;  // so far
  std::uint64_t failed_files = 0;     // so far: files that the importer was not told about
  char path[PATH_MAX] = {};           // ends with NUL, after which nothing is sent
};

inline constexpr std::size_t kFileMessageHead = offsetof(FileMessage, path);

}  // namespace perftape::serve
