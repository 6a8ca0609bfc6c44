// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/mapped_file.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace perftape::record {
namespace {

// Both are in linux/magic.h, but not in all releases.
constexpr std::uint64_t kBtrfsMagic = 0x9123683e;
constexpr std::uint64_t kOverlayMagic = 0x794c7630;

// Returns true on btrfs and overlayfs: there stat(2) reports another device than the mapping has,
// but the same inode.
bool TellsOtherDevices(int fd) {
  struct statfs system = {};
  if (::fstatfs(fd, &system) != 0) return false;
  const auto type = static_cast<std::uint64_t>(system.f_type);
  return type == kBtrfsMagic || type == kOverlayMagic;
}

}  // namespace

bool IsFileOf(const perfdata::Dso& dso, int fd) {
  if (dso.inode == 0) return true;
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || status.st_ino != dso.inode) return false;
  const std::uint64_t device =
      std::uint64_t{gnu_dev_major(status.st_dev)} << 32 | gnu_dev_minor(status.st_dev);
  return device == dso.device || TellsOtherDevices(fd);
}

std::string MapFileName(const perfdata::Region& region) {
  std::array<char, 40> name = {};
  std::snprintf(name.data(), name.size(), "%llx-%llx",
                static_cast<unsigned long long>(region.start),
                static_cast<unsigned long long>(region.end));
  return name.data();
}

}  // namespace perftape::record
