// SPDX-License-Identifier: Apache-2.0
#include "formats/go/pclntab.h"

#include <algorithm>
#include <array>

namespace perftape::go {
namespace {

constexpr std::uint64_t kAlignment = 4;  // the minimum for a table

std::optional<TableVersion> VersionOf(std::uint32_t magic) {
  switch (magic) {
    case 0xfffffffb:
      return TableVersion::kGo12;
    case 0xfffffffa:
      return TableVersion::kGo116;
    case 0xfffffff0:
      return TableVersion::kGo118;
    case 0xfffffff1:
      return TableVersion::kGo120;
    default:
      return std::nullopt;
  }
}

std::uint64_t Word(ByteReader& at, unsigned size) {
  if (size == 8) {
    std::uint64_t word = 0;
    at.Fixed(word);
    return word;
  }
  std::uint32_t word = 0;
  at.Fixed(word);
  return word;
}

// Reads the words after the first eight bytes, for Go 1.16 and later.
void ReadWords(ByteReader& at, TableHeader& header) {
  const auto word = [&] { return Word(at, header.word_size); };
  header.functions = word();
  word();  // number of files
  if (header.version >= TableVersion::kGo118) header.text_start = word();
  header.names = word();
  header.units = word();
  header.files = word();
  header.values = word();
  header.function_table = word();
  header.records = header.function_table;
}

// In Go 1.2 the function table follows directly, and then the offset of the file table.
void ReadOldWords(ByteReader& at, TableHeader& header) {
  header.functions = Word(at, header.word_size);
  header.function_table = 8 + header.word_size;
  const std::uint64_t pair = 2 * header.word_size;
  if (header.functions > at.remaining() / pair) return at.Break();
  at.Padding(header.functions * pair + header.word_size);
  std::uint32_t files = 0;
  at.Fixed(files);
  header.files = files;
}

bool IsWhole(const TableHeader& header, std::uint64_t size) {
  const std::array<std::uint64_t, 5> offsets = {header.names, header.units, header.files,
                                                header.values, header.function_table};
  if (std::ranges::any_of(offsets, [&](std::uint64_t offset) { return offset >= size; })) {
    return false;
  }
  // One more entry, without an offset, ends the last function.
  const std::uint64_t entry =
      header.version >= TableVersion::kGo118 ? sizeof(std::uint32_t) : header.word_size;
  const std::uint64_t entries = (size - header.function_table) / entry;
  return header.functions > 0 && entries > 0 && header.functions <= (entries - 1) / 2;
}

bool IsTable(Bytes bytes, std::endian order) {
  return ReadTableHeader(bytes, order).has_value();
}

// Searches `part` for the start of a table.
std::optional<ImagePart> Search(const ImagePart& part, std::endian order) {
  std::uint64_t at = -part.address.value % kAlignment;
  for (; at + 8 <= part.bytes.size(); at += kAlignment) {
    if (!VersionOf(LoadFixed<std::uint32_t>(part.bytes.data() + at, order))) continue;
    const Bytes bytes = part.bytes.subspan(at);
    if (IsTable(bytes, order)) return ImagePart{part.section, {part.address.value + at}, bytes};
  }
  return std::nullopt;
}

bool IsOfGo(const Image& image) {
  return image.AddressOf(".go.buildinfo") || image.AddressOf(".note.go.buildid") ||
         image.AddressOf(".go.module");
}

}  // namespace

std::optional<TableHeader> ReadTableHeader(Bytes table, std::endian order) {
  ByteReader at(table, order);
  std::uint32_t magic = 0;
  std::uint16_t zeros = 0;
  TableHeader header;
  at.Fixed(magic);
  at.Fixed(zeros);
  at.Fixed(header.pc_quantum);
  at.Fixed(header.word_size);
  const std::optional<TableVersion> version = VersionOf(magic);
  const bool has_quantum =
      header.pc_quantum == 1 || header.pc_quantum == 2 || header.pc_quantum == 4;
  const bool has_word = header.word_size == 4 || header.word_size == 8;
  if (!at.ok() || !version || zeros != 0 || !has_quantum || !has_word) return std::nullopt;
  header.version = *version;
  if (header.version == TableVersion::kGo12) {
    ReadOldWords(at, header);
  } else {
    ReadWords(at, header);
  }
  if (!at.ok() || !IsWhole(header, table.size())) return std::nullopt;
  return header;
}

std::optional<ImagePart> FindTable(const Image& image) {
  const std::endian order = image.encoding().order;
  for (const ImagePart& part : image.data()) {
    if (part.section.ends_with(".gopclntab") && IsTable(part.bytes, order)) return part;
  }
  if (image.has_sections() && !IsOfGo(image)) return std::nullopt;
  for (const ImagePart& part : image.data()) {
    if (const auto found = Search(part, order)) return found;
  }
  return std::nullopt;
}

bool IsGoBinary(const elf::ElfFile& file) {
  const auto is_of_go = [](const elf::Section& section) {
    return section.name.ends_with(".gopclntab") || section.name == ".note.go.buildid" ||
           section.name == ".go.buildinfo";
  };
  return std::ranges::any_of(file.sections(), is_of_go) || FindTable(Image(file)).has_value();
}

}  // namespace perftape::go
