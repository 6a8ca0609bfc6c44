// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "formats/base/file.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

struct Mount {
  std::string_view device;  // "254:0"
  std::string_view type;    // "ext4"
};

// "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw"
std::optional<Mount> FindMount(std::string_view mounts, std::uint64_t id) {
  while (std::optional<std::string_view> line = NextLine(mounts)) {
    if (ParseNumber(NextField(*line, ' ')) != id) continue;
    NextField(*line, ' ');  // the parent
    Mount mount = {.device = NextField(*line, ' '), .type = {}};
    constexpr std::string_view kSeparator = " - ";
    const std::size_t end = line->find(kSeparator);
    if (end == std::string_view::npos) return std::nullopt;
    line->remove_prefix(end + kSeparator.size());
    mount.type = NextField(*line, ' ');
    return mount;
  }
  return std::nullopt;
}

bool HasDevice(std::string_view mounts, std::string_view device) {
  while (std::optional<std::string_view> line = NextLine(mounts)) {
    NextField(*line, ' ');
    NextField(*line, ' ');
    if (NextField(*line, ' ') == device) return true;
  }
  return false;
}

bool IsLocalType(std::string_view type) {
  constexpr std::string_view kTypes[] = {
      "ext2", "ext3",    "ext4",     "xfs",       "btrfs",    "f2fs",    "bcachefs", "zfs",
      "vfat", "iso9660", "udf",      "erofs",     "squashfs", "tmpfs",   "ramfs",    "rootfs",
      "jfs",  "nilfs2",  "devtmpfs", "hugetlbfs", "exfat",    "reiserfs"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

// Asks for what the kernel has in memory (AT_STATX_DONT_SYNC). Nothing before Linux 5.8.
std::optional<struct statx> StatusOf(int fd) {
  struct statx status = {};
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0) {
    return std::nullopt;
  }
  return status;
}

}  // namespace

bool IsLocalFile(int fd, std::string_view mounts_of_process, std::string_view own_mounts) {
  const std::optional<struct statx> status = StatusOf(fd);
  if (!status) return false;
  std::optional<Mount> mount = FindMount(mounts_of_process, status->stx_mnt_id);
  if (!mount) mount = FindMount(own_mounts, status->stx_mnt_id);
  if (!mount) return false;
  if (mount->type == "overlay") return HasDevice(own_mounts, mount->device);
  return IsLocalType(mount->type);
}

// A user cannot mount a device with a major number, nor anything over its number.
bool IsLocalFileOf(std::uint32_t pid, int fd) {
  static std::mutex mutex;
  static std::set<std::pair<std::uint32_t, std::uint32_t>> known;  // local devices
  const std::optional<struct statx> status = StatusOf(fd);
  if (!status) return false;
  const std::pair device(status->stx_dev_major, status->stx_dev_minor);
  if (device.first != 0) {
    const std::lock_guard lock(mutex);
    if (known.contains(device)) return true;
  }
  const auto mounts_of = [](const std::string& process) {
    return ReadWholeFile("/proc/" + process + "/mountinfo").value_or(std::string());
  };
  const std::string own = mounts_of("self");
  const bool is_local = IsLocalFile(fd, {}, own) ||
                        IsLocalFile(fd, mounts_of(std::to_string(pid)), own) ||
                        IsLocalFile(fd, mounts_of("1"), own);
  if (is_local && device.first != 0) {
    const std::lock_guard lock(mutex);
    known.insert(device);
  }
  return is_local;
}

}  // namespace perftape::record
