// SPDX-License-Identifier: Apache-2.0
// Which files a conversion reads: those named, those of a list, and of them the part that this task
// of many does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::convert_tool {

// The index-th, from 1, of `count` parts.
struct Shard {
  std::uint64_t index = 1, count = 1;
  bool operator==(const Shard&) const = default;
};

// The value of an environment variable; nothing where it is not set.
using Environment = std::optional<std::string> (*)(std::string_view name);

// "2/7", or "auto" and "auto/7", where the task's number comes from the environment, of the first
// of these that is there:
//
//   SLURM_ARRAY_TASK_ID    with SLURM_ARRAY_TASK_MIN, _STEP and _COUNT, which tells of the 7 too
//   JOB_COMPLETION_INDEX   of an indexed Kubernetes job, from 0
//   PARALLEL_SEQ           of GNU parallel, from 1
//
// kInvalidArgument for all else, and for a part behind the last.
Result<Shard> ParseShard(std::string_view text, Environment environment);

// Every count-th, so that the parts are of equal length but for one; all parts together are all.
std::vector<std::filesystem::path> PartOf(const std::vector<std::filesystem::path>& inputs,
                                          const Shard& shard);

// The inputs that name a file which one before them names, too; by what the file is, not by how its
// path is written.
std::vector<std::filesystem::path> RepeatedInputs(const std::vector<std::filesystem::path>& inputs);

// Paths that end in NUL each, as find -print0 writes them; "-" is stdin. kInvalidArgument for an
// empty one, and for a list of lines; kNotFound, kPermission, kIo.
Result<std::vector<std::filesystem::path>> ReadFilesFrom0(const std::filesystem::path& list);

}  // namespace perftape::convert_tool
