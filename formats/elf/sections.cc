// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/sections.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace perftape::elf {
namespace {

constexpr std::string_view kOldPrefix = ".zdebug_";
constexpr std::string_view kOldMagic = "ZLIB";
constexpr std::uint32_t kZlib = 1, kZstd = 2;  // ELFCOMPRESS_*; elf.h of glibc 2.36 has no ZSTD

bool IsOldStyle(const ElfFile& file, const Section& section) {
  return section.name.starts_with(kOldPrefix) &&
         AsText(file.RawBytes(section)).starts_with(kOldMagic);
}

// Format: "ZLIB", the size as u64 in big endian, the stream.
Result<ExpandedBytes> ExpandOldStyle(Bytes bytes) {
  ByteReader at(bytes, std::endian::big);
  std::uint64_t size = 0;
  at.Padding(kOldMagic.size());
  at.Fixed(size);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "ends inside its header");
  return ExpandZlib(AsBytes(at.Rest()), size);
}

// Elf64_Chdr { u32 type, reserved; u64 size, addralign; }
// Elf32_Chdr { u32 type, size, addralign; }
Result<ExpandedBytes> ExpandNewStyle(Bytes bytes, const FileHeader& header) {
  FieldReader at(bytes, header);
  std::uint32_t type = 0;
  std::uint64_t size = 0, alignment = 0;
  at.Fixed(type);
  if (at.is_64()) at.Padding(4);
  at.Word(size);
  at.Word(alignment);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "ends inside its header");
  if (type == kZlib) return ExpandZlib(AsBytes(at.Rest()), size);
  if (type == kZstd) return ExpandZstd(AsBytes(at.Rest()), size);
  return Fail(ErrorCode::kUnsupported,
              "compressed by an unknown method, number " + std::to_string(type));
}

}  // namespace

bool IsCompressed(const ElfFile& file, const Section& section) {
  if (section.type == SHT_NOBITS) return false;
  return (section.flags & SHF_COMPRESSED) != 0 || IsOldStyle(file, section);
}

Result<SectionBytes> ReadSection(const ElfFile& file, const Section& section) {
  const Bytes raw = file.RawBytes(section);
  const auto in_context = [&](Error error) {
    return Fail(InContext("section " + std::string(section.name), std::move(error)));
  };
  if (section.type != SHT_NOBITS && section.type != SHT_NULL && raw.size() < section.size) {
    return in_context({ErrorCode::kTruncated, "the file ends inside it"});
  }
  if (!IsCompressed(file, section)) return SectionBytes(raw);
  auto expanded = (section.flags & SHF_COMPRESSED) != 0 ? ExpandNewStyle(raw, file.header())
                                                        : ExpandOldStyle(raw);
  if (!expanded) return in_context(std::move(expanded).error());
  return SectionBytes(*std::move(expanded));
}

std::string PlainName(std::string_view section_name) {
  if (!section_name.starts_with(kOldPrefix)) return std::string(section_name);
  return ".debug_" + std::string(section_name.substr(kOldPrefix.size()));
}

}  // namespace perftape::elf
