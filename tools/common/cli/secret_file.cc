// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/secret_file.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

#include "formats/base/file.h"

namespace perftape::cli {

Result<std::string> ReadSecretFile(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return FailErrno(path, errno);
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{0}: other users can read this secret: 'chmod 600 {0}'", path));
  }
  return ReadWholeFile(path);
}

}  // namespace perftape::cli
