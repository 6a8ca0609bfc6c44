// SPDX-License-Identifier: Apache-2.0
// Files that name the user frames of a converted perf.data. They have the layout of perf's ~/.debug
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

struct GeneratedSymbolFile {
  std::string_view path = {};  // from SymbolFilePath
  BuildId build_id = {};
  std::vector<std::string_view> names = {};  // of the functions, in address order
};

// Returns the path of the symbol file for the binary `filename`. That is the path of the binary if
// it is absolute and can be appended to a directory. Otherwise it is the last component: "/folded"
// for "[folded]". The result never leads out of the directory that it is appended to.
std::string SymbolFilePath(std::string_view filename);

// Written files. The destructor removes them unless Keep was called.
class GeneratedSymbolFiles {
 public:
  GeneratedSymbolFiles() = default;
  GeneratedSymbolFiles(const GeneratedSymbolFiles&) = delete;
  GeneratedSymbolFiles& operator=(const GeneratedSymbolFiles&) = delete;
  ~GeneratedSymbolFiles();

  // Writes the file and its link below `directory`, which is created if needed. An existing file
  // stays, because its name determines its content. Errors: kIo, kPermission, kNotFound.
  Status Write(const GeneratedSymbolFile& file, const std::filesystem::path& directory);
  void Keep() { made_.clear(); }

 private:
  Status MakeDirectories(const std::filesystem::path& path);
  Status MakeLink(const std::filesystem::path& link, const std::filesystem::path& target);

  std::vector<std::filesystem::path> made_;  // files, links and directories, in order of creation
};

}  // namespace perftape::convert
