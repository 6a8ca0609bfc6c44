// SPDX-License-Identifier: Apache-2.0
// The links from a file to its debug information: .gnu_debuglink of a stripped file, and
// .gnu_debugaltlink of a file that shares parts with others (dwz).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

// { char name[]; NUL, and zeros up to a multiple of 4; u32 crc }, as objcopy --add-gnu-debuglink
// writes it.
struct DebugLink {
  std::string_view file_name;  // by custom without directories; a view of the file
  std::uint32_t crc = 0;       // DebugLinkCrc of the whole debug file
};

// Returns nothing if there is none or if it is damaged.
std::optional<DebugLink> ReadDebugLink(const ElfFile& file);

// Returns the CRC-32 with zlib's polynomial.
std::uint32_t DebugLinkCrc(Bytes debug_file);

// { char name[]; NUL; u8 build_id[] }
struct DebugAltLink {
  std::string_view file_name;  // often relative to the directory of the linking file
  BuildId build_id;
};

// Returns nothing if there is none or if it is damaged.
std::optional<DebugAltLink> ReadDebugAltLink(const ElfFile& file);

}  // namespace perftape::elf
