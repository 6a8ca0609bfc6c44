// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/usdt_notes.h"

#include <optional>

namespace perftape::elf {
namespace {

constexpr std::uint32_t kTypeProbe = 3;
constexpr std::string_view kOwner = "stapsdt";

constexpr std::uint64_t Padded(std::uint32_t size) {
  return (std::uint64_t{size} + 3) & ~std::uint64_t{3};
}

// Removes a string and its NUL. Returns nothing if there is no NUL.
std::optional<std::string_view> ReadText(std::string_view& texts) {
  const std::size_t end = texts.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = texts.substr(0, end);
  texts.remove_prefix(end + 1);
  return text;
}

// { word location, base, semaphore; char provider[], name[], arguments[]; }
// `base` is the address that the linker gave to the section .stapsdt.base. prelink moves that
// section with the code, but does not change the notes.
std::optional<UsdtProbe> DecodeProbe(Bytes description, const ElfFile& file,
                                     const Section* base_section) {
  FieldReader at(description, file.header());
  std::uint64_t location = 0, base = 0, semaphore = 0;
  at.Word(location);
  at.Word(base);
  at.Word(semaphore);
  if (!at.ok()) return std::nullopt;
  std::string_view texts = at.Rest();
  const std::optional<std::string_view> provider = ReadText(texts), name = ReadText(texts);
  if (!provider || !name) return std::nullopt;
  const std::uint64_t moved = base_section != nullptr ? base_section->address - base : 0;
  return UsdtProbe{.provider = *provider,
                   .name = *name,
                   .location = ImageAddress{location + moved},
                   .semaphore = ImageAddress{semaphore != 0 ? semaphore + moved : 0}};
}

}  // namespace

std::vector<UsdtProbe> ReadUsdtProbes(const ElfFile& file) {
  std::vector<UsdtProbe> probes;
  const Section* section = file.FindSection(".note.stapsdt");
  if (section == nullptr) return probes;
  const Section* base = file.FindSection(".stapsdt.base");
  // { u32 name_size, description_size, type; char name[]; char description[]; }, both padded
  ByteReader at(file.RawBytes(*section), file.header().order);
  while (at.remaining() > 0) {
    std::uint32_t name_size = 0, description_size = 0, type = 0;
    std::string_view owner;
    Bytes description;
    at.Fixed(name_size);
    at.Fixed(description_size);
    at.Fixed(type);
    at.PaddedString(owner, Padded(name_size));
    at.Blob(description, description_size);
    if (!at.ok()) break;
    if (type == kTypeProbe && owner == kOwner) {
      if (const auto probe = DecodeProbe(description, file, base)) probes.push_back(*probe);
    }
    const std::uint64_t padding = Padded(description_size) - description_size;
    if (padding > at.remaining()) break;  // the last note may lack it
    at.Padding(padding);
  }
  return probes;
}

}  // namespace perftape::elf
