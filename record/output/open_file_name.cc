// SPDX-License-Identifier: Apache-2.0
#include "record/output/open_file_name.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>

namespace perftape::record {

std::optional<std::filesystem::path> NameOfOpenFile(int fd) {
  struct stat status = {};
  // /proc appends " (deleted)" to the path of a deleted file. A name may also end so.
  if (::fstat(fd, &status) != 0 || status.st_nlink == 0) return std::nullopt;
  std::array<char, PATH_MAX> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length <= 0) return std::nullopt;
  return std::string(path.data(), static_cast<std::size_t>(length));
}

}  // namespace perftape::record
