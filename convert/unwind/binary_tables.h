// SPDX-License-Identifier: Apache-2.0
// The unwind tables of a recording's binaries. Each is loaded from the cache, or built, when the
// first frame in the binary is found, and kept for all threads.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/stack_walk.h"
#include "formats/unwind/table.h"
#include "formats/unwind/table_cache.h"

namespace perftape::offline_unwind {

// Finds the file of a binary or of the vdso, by its path in the recording and its build id, which
// is empty if it was not recorded. The file lives as long as the finder. The error's message names
// the reason, without the path. Not called by two threads at once.
using BinaryFinder =
    std::function<Result<const elf::ElfFile*>(const std::string& path, const BuildId& build_id)>;

struct BinaryTable {
  unwind::FramesBy frames_by = unwind::FramesBy::kUnknown;
  unwind::Table table;  // with kTable; with kFramePointer, the rules derived from instructions
  const elf::ElfFile* file = nullptr;  // with a table; lives as long as the finder
  std::vector<elf::Segment> segments;  // of the file
  std::string problem;                 // with kUnknown: why there is no table
};

// Threads may share it.
class BinaryTables {
 public:
  // `cache` is the directory of a TableCache. If it is empty, all tables are built.
  BinaryTables(BinaryFinder find, std::filesystem::path cache)
      : find_(std::move(find)), cache_(std::move(cache)) {}

  // Returns the table of a mapped file, memory or vdso. It lives as long as this object.
  const BinaryTable& TableOf(const std::string& path, const BuildId& build_id);

  // Returns the binaries whose table was requested but not found, with the reasons, sorted:
  // "/usr/bin/app: no such file".
  std::vector<std::string> Missing() const;

 private:
  struct Entry {
    std::once_flag is_loaded;
    BinaryTable table;
  };

  BinaryTable Load(const std::string& path, const BuildId& build_id);

  BinaryFinder find_;
  std::mutex find_mutex_;  // of calls of find_
  unwind::TableCache cache_;
  mutable std::mutex mutex_;  // of the map. While a table is built, others can be looked up.
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<Entry>> tables_;
};

}  // namespace perftape::offline_unwind
