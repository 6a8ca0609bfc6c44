// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/other_tool.h"

#include <system_error>

namespace perftape::cli {

Result<std::filesystem::path> FileOfTool(std::string_view name) {
  constexpr bool kIsSingleFile = PERFTAPE_SINGLE_FILE != 0;
  std::error_code error;
  std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return FailErrno("/proc/self/exe", error.value());
  if (!kIsSingleFile) file.replace_filename(name);
  return file;
}

}  // namespace perftape::cli
