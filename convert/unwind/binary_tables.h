// SPDX-License-Identifier: Apache-2.0
// The unwind tables of a recording's binaries. Each is built when the first frame in the binary is
// found, and kept for all threads.
#pragma once

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

namespace perftape::offline_unwind {

// Finds the file of a binary or of the vdso, by its path in the recording and its build id, which
// is empty if it was not recorded. The file lives as long as the finder. The error's message names
// the reason, without the path. Not called by two threads at once.
using BinaryFinder =
    std::function<Result<const elf::ElfFile*>(const std::string& path, const BuildId& build_id)>;

struct BinaryTable {
  unwind::FramesBy frames_by = unwind::FramesBy::kUnknown;
  unwind::Table table;                 // with kTable
  std::vector<elf::Segment> segments;  // of the file
  std::string problem;                 // with kUnknown: why there is no table
};

// Threads may share it.
class BinaryTables {
 public:
  explicit BinaryTables(BinaryFinder find) : find_(std::move(find)) {}

  // Returns the table of a mapped file, memory or vdso. It lives as long as this object.
  const BinaryTable& TableOf(const std::string& path, const BuildId& build_id);

  // Returns the binaries whose table was asked for but not found, with the reasons, sorted:
  // "/usr/bin/app: no such file".
  std::vector<std::string> Missing() const;

 private:
  BinaryTable Build(const std::string& path, const BuildId& build_id) const;

  BinaryFinder find_;
  mutable std::mutex mutex_;  // of tables_ and of calls of find_
  std::map<std::pair<std::string, BuildId>, std::unique_ptr<BinaryTable>> tables_;
};

}  // namespace perftape::offline_unwind
