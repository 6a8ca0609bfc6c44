// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/secret_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>

#include "formats/base/file.h"

namespace perftape::cli {
namespace {

constexpr off_t kMostBytes = off_t{4} << 20;

Result<std::string> Read(const std::string& path, mode_t refused) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return FailErrno(path, errno);
  if (!S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalidArgument, path + ": is not a regular file");
  if ((status.st_mode & refused) != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{0}: other users can read this secret: 'chmod 600 {0}'", path));
  }
  if (status.st_size > kMostBytes)
    return Fail(ErrorCode::kCorrupt, path + ": is larger than 4 MiB");
  TRY_ASSIGN(const MappedFile mapped, MappedFile::FromFd(file.get(), path));
  return std::string(AsText(mapped.bytes()));
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path) {
  return Read(path, 0);
}

Result<std::string> ReadSecretFile(const std::string& path) {
  return Read(path, S_IROTH | S_IWOTH);
}

}  // namespace perftape::cli
