// SPDX-License-Identifier: Apache-2.0
// Output files of fuzz targets, and how a target ends if one is wrong.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace perftape {

[[noreturn]] inline void Break(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

// Returns a path in memory, if there is a memory file system.
inline std::filesystem::path OutputPath(std::string_view name) {
  static const std::filesystem::path kDirectory = std::filesystem::exists("/dev/shm")
                                                      ? std::filesystem::path("/dev/shm")
                                                      : std::filesystem::temp_directory_path();
  return kDirectory / ("perftape-fuzz-" + std::to_string(getpid()) + std::string(name));
}

// Removes the file at the end of its life; the bytes are valid until then.
class OutputForFuzzing {
 public:
  explicit OutputForFuzzing(std::string_view name) : path_(OutputPath(name)) {}
  ~OutputForFuzzing() { std::filesystem::remove(path_, ignored_); }
  OutputForFuzzing(const OutputForFuzzing&) = delete;
  OutputForFuzzing& operator=(const OutputForFuzzing&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::error_code ignored_;
};

}  // namespace perftape
