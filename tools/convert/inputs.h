// SPDX-License-Identifier: Apache-2.0
// Determines the inputs of a conversion: the operands, the files of a list, and of these the shard
// of this task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::convert_tool {

// The shard `index`, from 1, of `count` shards.
struct Shard {
  std::uint64_t index = 1, count = 1;
  bool operator==(const Shard&) const = default;
};

// Returns the value of an environment variable; nothing if it is not set.
using Environment = std::optional<std::string> (*)(std::string_view name);

// Parses "2/7", "auto" and "auto/7". With "auto" the task's number comes from the first of these
// environment variables that is set:
//
//   SLURM_ARRAY_TASK_ID    with SLURM_ARRAY_TASK_MIN, _STEP and _COUNT, which also gives the 7
//   JOB_COMPLETION_INDEX   of an indexed Kubernetes job, from 0
//   PARALLEL_SEQ           of GNU parallel, from 1
//
// Fails with kInvalidArgument for any other text, and for an index above the count.
Result<Shard> ParseShard(std::string_view text, Environment environment);

// Returns every count-th input. The sizes of the shards differ by at most one, and together they
// contain every input once.
std::vector<std::filesystem::path> PartOf(const std::vector<std::filesystem::path>& inputs,
                                          const Shard& shard);

// Returns the inputs that are the same file as an earlier input. Compares the files, not the
// spelling of their paths.
std::vector<std::filesystem::path> RepeatedInputs(const std::vector<std::filesystem::path>& inputs);

// Reads paths that each end in NUL, as find -print0 writes them; "-" is stdin. Fails with
// kInvalidArgument for an empty path and for a list of lines, and with kNotFound, kPermission or
// kIo.
Result<std::vector<std::filesystem::path>> ReadFilesFrom0(const std::filesystem::path& list);

}  // namespace perftape::convert_tool
