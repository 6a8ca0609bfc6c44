// SPDX-License-Identifier: Apache-2.0
// The numbers by which a running system distinguishes files with the same path, as in MMAP2
// records.
#pragma once

#include <compare>
#include <cstdint>

struct stat;

namespace perftape {
inline namespace base {

struct FileNumber {
  std::uint64_t device = 0;  // major << 32 | minor
  std::uint64_t inode = 0;   // 0: unknown

  bool is_known() const { return inode != 0; }
  auto operator<=>(const FileNumber&) const = default;
};

// The number of the file that stat(2) describes. On btrfs and overlayfs, the device differs from
// that in MMAP2 records.
FileNumber NumberOf(const struct stat& status);

// The highest bit of the results of InstanceOf. Other numbers that distinguish mappings of a file
// lack it.
inline constexpr std::uint64_t kFileInstance = std::uint64_t{1} << 63;

// Returns one number for both; 0 if they are unknown.
inline std::uint64_t InstanceOf(const FileNumber& number) {
  if (!number.is_known()) return 0;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15, kOther = 0xc2b2ae3d27d4eb4f;
  std::uint64_t mixed = (number.inode + number.device * kOther) * kOdd;
  mixed ^= mixed >> 32;
  return mixed | kFileInstance;
}

}  // namespace base
}  // namespace perftape
