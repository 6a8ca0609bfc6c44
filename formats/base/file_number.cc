// SPDX-License-Identifier: Apache-2.0
#include "formats/base/file_number.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace perftape {
inline namespace base {

FileNumber NumberOf(const struct stat& status) {
  constexpr unsigned kMajor = 32;
  return {.device =
              std::uint64_t{gnu_dev_major(status.st_dev)} << kMajor | gnu_dev_minor(status.st_dev),
          .inode = status.st_ino};
}

}  // namespace base
}  // namespace perftape
