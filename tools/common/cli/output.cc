// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace perftape::cli {

std::filesystem::path OutputNamed(std::string_view argument) {
  std::filesystem::path path(argument);
  const Result<OutputTarget> target = ResolveOutput(path);
  return target && target->is_stdout() ? "-" : path;
}

Result<OutputTarget> CheckOutput(const std::filesystem::path& path, IfExists if_exists) {
  TRY_ASSIGN(OutputTarget target, ResolveOutput(path));
  TRY(CheckExisting(target, if_exists));
  if (target.is_stream()) return target;
  // A temporary file is created in the same directory.
  const std::filesystem::path folder =
      target.path.has_parent_path() ? target.path.parent_path() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) return FailErrno(target.name, errno);
  return target;
}

Status RefuseTerminal(const OutputTarget& target, std::string_view what) {
  if (!IsTerminal(target)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: cannot write a {} to a terminal: use -o FILE or redirect the output",
                          target.name, what));
}

Status CheckReportOutput(bool is_json, const std::filesystem::path& output) {
  if (!is_json || output != "-") return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--json cannot be combined with an output to stdout: use -o FILE");
}

}  // namespace perftape::cli
