// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/debug_link.h"

#include <libdeflate.h>

namespace perftape::elf {
namespace {

// The NUL-terminated string at the start of the section. Nothing if it is empty or has no NUL.
std::optional<std::string_view> FileNameIn(Bytes section) {
  const std::string_view text = AsText(section);
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return text.substr(0, end);
}

}  // namespace

std::optional<DebugLink> ReadDebugLink(const ElfFile& file) {
  const Section* section = file.FindSection(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  const Bytes bytes = file.RawBytes(*section);
  const auto name = FileNameIn(bytes);
  if (!name) return std::nullopt;
  DebugLink link = {.file_name = *name};
  ByteReader at(bytes, file.header().order);
  at.Padding(name->size() / 4 * 4 + 4);
  at.Fixed(link.crc);
  if (!at.ok()) return std::nullopt;
  return link;
}

std::uint32_t DebugLinkCrc(Bytes debug_file) {
  return libdeflate_crc32(0, debug_file.data(), debug_file.size());
}

std::optional<DebugAltLink> ReadDebugAltLink(const ElfFile& file) {
  const Section* section = file.FindSection(".gnu_debugaltlink");
  if (section == nullptr) return std::nullopt;
  const Bytes bytes = file.RawBytes(*section);
  const auto name = FileNameIn(bytes);
  if (!name || name->size() + 1 == bytes.size()) return std::nullopt;
  return DebugAltLink{*name, BuildId::From(bytes.subspan(name->size() + 1))};
}

}  // namespace perftape::elf
