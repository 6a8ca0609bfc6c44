// SPDX-License-Identifier: Apache-2.0
// Files that name the user frames of a converted perf.data, in the layout of perf's ~/.debug
// (tools/perf/util/build-id.c), so that `perf --buildid-dir DIR report` and `hotspot --debugPaths
// DIR` find them:
//
//   DIR/usr/lib/libc.so.6/5f3a…/elf
//   DIR/.build-id/5f/3a…  ->  ../../usr/lib/libc.so.6/5f3a…
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/result.h"

namespace perftape::convert {

struct SymbolFile {
  std::string_view path = {};  // as SymbolFilePath makes it
  BuildId build_id = {};
  std::vector<std::string_view> names = {};  // of the functions, in the order of their addresses
};

// The path that a file of symbols for the binary `filename` is known by: that of the binary itself
// where it is absolute and can be one below any directory, else its last part: "/folded" for
// "[folded]". Nothing in it leads out of a directory that it is put behind.
std::string SymbolFilePath(std::string_view filename);

// Written files that are taken away again unless they are kept.
class SymbolFiles {
 public:
  SymbolFiles() = default;
  SymbolFiles(const SymbolFiles&) = delete;
  SymbolFiles& operator=(const SymbolFiles&) = delete;
  ~SymbolFiles();

  // Writes the file and its link below `directory`, which is made where it is not there. What is
  // there already stays: its name tells all that is in it. kIo, kPermission, kNotFound.
  Status Write(const SymbolFile& file, const std::filesystem::path& directory);
  void Keep() { made_.clear(); }

 private:
  Status MakeDirectories(const std::filesystem::path& path);
  Status MakeLink(const std::filesystem::path& link, const std::filesystem::path& target);

  std::vector<std::filesystem::path> made_;  // files, links and directories, as they were made
};

}  // namespace perftape::convert
