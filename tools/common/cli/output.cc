// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/output.h"

#include <unistd.h>

#include <cerrno>

namespace perftape::cli {

Status CheckOutput(const std::filesystem::path& path, IfExists if_exists) {
  if (path == "-") return {};
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const bool is_regular = exists && std::filesystem::is_regular_file(path, ignored);
  if (is_regular && if_exists == IfExists::kRefuse) {
    return Fail(ErrorCode::kInvalidArgument, path.native() + ": exists; -f replaces it");
  }
  // A temporary file will lie beside it; what is no regular file is written to as it is.
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (exists && !is_regular) return {};
  if (access(folder.c_str(), W_OK | X_OK) != 0) return FailErrno(path.native(), errno);
  return {};
}

}  // namespace perftape::cli
