// SPDX-License-Identifier: Apache-2.0
// Symbol files as systems store them: distributions compress kernel modules, debug files and the
// tables of the kernel with gzip, xz or zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Returns the path of the file in the form that exists: "foo.ko.zst" for "foo.ko", and the reverse.
// `path` itself if it exists, or if no form does.
std::filesystem::path StoredPath(const std::filesystem::path& path);

// Whether the bytes begin a file compressed with gzip, xz or zstd.
bool IsCompressed(Bytes beginning);

// Expands such a file. Returns kUnsupported if it has more than `limit` bytes, and kCorrupt if it
// is damaged.
Result<std::vector<std::byte>> ExpandFile(Bytes compressed, std::uint64_t limit);

// Whether the bytes are a bootable kernel image (vmlinuz), and the message for one.
inline constexpr std::string_view kBootImage =
    "a bootable kernel image, which has no symbols: use the vmlinux or the System.map of this "
    "kernel";
bool IsBootImage(Bytes image);

}  // namespace perftape::elf
