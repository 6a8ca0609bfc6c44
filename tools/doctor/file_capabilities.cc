// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/file_capabilities.h"

#include <sys/xattr.h>

#include <array>
#include <bit>
#include <cstddef>

namespace perftape::doctor_tool {

std::uint64_t FileCapabilities(const std::filesystem::path& program) {
  std::array<std::byte, 64> attribute;
  const ssize_t size =
      getxattr(program.c_str(), "security.capability", attribute.data(), attribute.size());
  if (size < 0) return 0;
  return DecodeFileCapabilities(Bytes(attribute).first(static_cast<std::size_t>(size)));
}

std::uint64_t DecodeFileCapabilities(Bytes attribute) {
  constexpr std::uint32_t kEffective = 1;  // VFS_CAP_FLAGS_EFFECTIVE
  constexpr std::size_t kSize = 20;        // of version 2; version 3 adds a user id
  constexpr std::uint32_t kVersion2 = 2, kVersion3 = 3;
  if (attribute.size() < kSize) return 0;
  ByteReader at(attribute, std::endian::little);
  std::uint32_t magic = 0, permitted_low = 0, inheritable_low = 0, permitted_high = 0;
  at.Fixed(magic);  // { __le32 magic_etc;
  at.Fixed(permitted_low);
  at.Fixed(inheritable_low);
  at.Fixed(permitted_high);  //   struct { __le32 permitted, inheritable; } data[2]; }
  const std::uint32_t version = magic >> 24;
  if (version != kVersion2 && version != kVersion3) return 0;
  if ((magic & kEffective) == 0) return 0;
  return permitted_low | std::uint64_t{permitted_high} << 32;
}

}  // namespace perftape::doctor_tool
