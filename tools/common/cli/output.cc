// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/output.h"

namespace perftape::cli {

Status CheckOutput(const std::filesystem::path& path, IfExists if_exists) {
  std::error_code ignored;
  if (if_exists == IfExists::kReplace || path == "-" ||
      !std::filesystem::is_regular_file(path, ignored)) {
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument, path.native() + ": exists; -f replaces it");
}

}  // namespace perftape::cli
