// SPDX-License-Identifier: Apache-2.0
#include "formats/base/path_within.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace perftape {
inline namespace base {

UniqueFd OpenPathWithin(const std::filesystem::path& root, std::string_view path) {
  const UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return {};
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  const long fd = syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof how);
  // Before Linux 5.6. Nothing can lead out of "/".
  if (fd < 0 && errno == ENOSYS && root == "/") {
    return UniqueFd(open((root / std::filesystem::path(name).relative_path()).c_str(),
                         static_cast<int>(how.flags)));
  }
  return UniqueFd(static_cast<int>(fd));
}

}  // namespace base
}  // namespace perftape
