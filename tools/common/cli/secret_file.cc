// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/secret_file.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "formats/base/file.h"

namespace perftape::cli {
namespace {

constexpr off_t kMostBytes = off_t{4} << 20;

enum class Content : std::uint8_t { kPublic, kSecret };

Result<std::string> Read(const std::string& path, Content content) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return FailErrno(path, errno);
  if (!S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalidArgument, path + ": is not a regular file");
  if (content == Content::kSecret) {
    std::optional<std::string> wrong = WrongPermissions(path, status.st_mode);
    if (wrong) return Fail(ErrorCode::kInvalidArgument, *std::move(wrong));
  }
  if (status.st_size > kMostBytes)
    return Fail(ErrorCode::kCorrupt, path + ": is larger than 4 MiB");
  TRY_ASSIGN(const MappedFile mapped, MappedFile::FromFd(file.get(), path));
  return std::string(AsText(mapped.bytes()));
}

}  // namespace

std::optional<std::string> WrongPermissions(const std::string& path, mode_t mode) {
  if ((mode & (S_IROTH | S_IWOTH)) == 0) return std::nullopt;
  return fmt::format("{0}: other users can read this secret: 'chmod 600 {0}'", path);
}

Result<std::string> ReadSmallFile(const std::string& path) {
  return Read(path, Content::kPublic);
}

Result<std::string> ReadSecretFile(const std::string& path) {
  return Read(path, Content::kSecret);
}

}  // namespace perftape::cli
