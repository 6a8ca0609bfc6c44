// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/inputs.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <set>
#include <utility>

#include "formats/base/file.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::convert_tool {
namespace {

std::unexpected<Error> NoShard(std::string_view text, std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--shard {}: {}", cli::EscapeForTerminal(text), reason));
}

Result<std::uint64_t> NumberIn(std::string_view name, const std::string& value) {
  return cli::ParseNumber(name, value);
}

// Returns a number that Slurm may not have set.
Result<std::uint64_t> SlurmNumber(Environment environment, std::string_view name,
                                  std::uint64_t otherwise) {
  const std::optional<std::string> value = environment(name);
  return value ? NumberIn(name, *value) : otherwise;
}

// Returns the shard of this task; its count is 0 if it is unknown.
Result<Shard> FromSlurm(Environment environment, const std::string& id) {
  TRY_ASSIGN(const std::uint64_t number, NumberIn("SLURM_ARRAY_TASK_ID", id));
  TRY_ASSIGN(const std::uint64_t first, SlurmNumber(environment, "SLURM_ARRAY_TASK_MIN", 0));
  TRY_ASSIGN(const std::uint64_t step, SlurmNumber(environment, "SLURM_ARRAY_TASK_STEP", 1));
  TRY_ASSIGN(const std::uint64_t count, SlurmNumber(environment, "SLURM_ARRAY_TASK_COUNT", 0));
  if (step == 0 || number < first || (number - first) % step != 0) {
    return NoShard("auto", "SLURM_ARRAY_TASK_ID is not one of MIN, MIN + STEP, ...");
  }
  return Shard{.index = (number - first) / step + 1, .count = count};
}

Result<Shard> FromEnvironment(Environment environment) {
  if (const auto id = environment("SLURM_ARRAY_TASK_ID")) return FromSlurm(environment, *id);
  if (const auto index = environment("JOB_COMPLETION_INDEX")) {
    TRY_ASSIGN(const std::uint64_t number, NumberIn("JOB_COMPLETION_INDEX", *index));
    return Shard{.index = number + 1, .count = 0};
  }
  if (const auto sequence = environment("PARALLEL_SEQ")) {
    TRY_ASSIGN(const std::uint64_t number, NumberIn("PARALLEL_SEQ", *sequence));
    return Shard{.index = number, .count = 0};
  }
  return NoShard("auto", "none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ is set");
}

// Returns whether the list has line ends instead of NULs. A single name may lack its NUL, but then
// it has no line end either.
bool IsListOfLines(const std::string& text) {
  constexpr std::size_t kLongestPath = 4096;
  return text.find('\0') == std::string::npos &&
         (text.size() > kLongestPath || text.find('\n') != std::string::npos);
}

}  // namespace

Result<Shard> ParseShard(std::string_view text, Environment environment) {
  const std::size_t slash = text.find('/');
  const std::string_view index = text.substr(0, slash);
  Shard shard = {.index = 0, .count = 0};
  if (index == "auto") {
    TRY_ASSIGN(shard, FromEnvironment(environment));
  } else {
    TRY_ASSIGN(shard.index, cli::ParseNumber("--shard", index));
  }
  if (slash != std::string_view::npos) {
    TRY_ASSIGN(shard.count, cli::ParseNumber("--shard", text.substr(slash + 1)));
  }
  if (shard.count == 0) return NoShard(text, "the number of parts is missing: use I/N or auto/N");
  if (shard.index == 0 || shard.index > shard.count) {
    return NoShard(text, fmt::format("part {} of {} does not exist: parts are counted from 1",
                                     shard.index, shard.count));
  }
  return shard;
}

std::vector<std::filesystem::path> PartOf(const std::vector<std::filesystem::path>& inputs,
                                          const Shard& shard) {
  std::vector<std::filesystem::path> part;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i % shard.count == shard.index - 1) part.push_back(inputs[i]);
  }
  return part;
}

std::vector<std::filesystem::path> RepeatedInputs(
    const std::vector<std::filesystem::path>& inputs) {
  std::vector<std::filesystem::path> repeated;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::filesystem::path& input : inputs) {
    struct stat status = {};
    // A pipe has other content each time. A missing file is reported when it is opened.
    if (stat(input.c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    if (!seen.emplace(status.st_dev, status.st_ino).second) repeated.push_back(input);
  }
  return repeated;
}

Result<std::vector<std::filesystem::path>> ReadFilesFrom0(const std::filesystem::path& list) {
  const std::string source = list == "-" ? "/dev/stdin" : list.native();
  TRY_ASSIGN(const std::string text, ReadWholeFile(source));
  if (IsListOfLines(text)) {
    constexpr std::size_t kShown = 40;
    const std::string begin = cli::EscapeForTerminal(text.substr(0, kShown));
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("--files-from0 {}: contains no NUL: each name must end with one, as find "
                    "-print0 writes them; the file begins with '{}{}'",
                    list.native(), begin, text.size() > kShown ? "..." : ""));
  }
  std::vector<std::filesystem::path> paths;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\0', start), text.size());
    if (end == start) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("--files-from0 {}: the name of file {} is empty", list.native(),
                              paths.size() + 1));
    }
    paths.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return paths;
}

}  // namespace perftape::convert_tool
