// SPDX-License-Identifier: Apache-2.0
// Reads an ELF image of any bytes: build id, segments, sections and their expanded contents, links
// to debug files, symbols, linkage table, USDT probes, slim copy.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "formats/elf/build_id.h"
#include "formats/elf/debug_link.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/plt.h"
#include "formats/elf/sections.h"
#include "formats/elf/slim.h"
#include "formats/elf/symbols.h"
#include "formats/elf/usdt_notes.h"
#include "tests/fuzz/dice.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace perftape::elf {
namespace {

void ReadSymbols(const ElfFile& file) {
  const SymbolTable table = SymbolTable::Read(file);
  for (const Symbol& symbol : table.symbols()) {
    if (symbol.size == 0) std::abort();
    const Symbol* found = table.Find(symbol.start);
    if (found == nullptr || found->start.value > symbol.start.value) std::abort();
    if (symbol.start.value - found->start.value >= found->size) std::abort();
    if (const std::optional<FileOffset> offset = file.ToFile(symbol.start)) file.ToImage(*offset);
  }
  table.Find(ImageAddress{0});
  table.Find(ImageAddress{UINT64_MAX});
}

void ReadSections(const ElfFile& file) {
  for (const Section& section : file.sections()) {
    const auto bytes = ReadSection(file, section);
    if (bytes && !bytes->bytes().empty() && bytes->bytes().back() == std::byte{1}) continue;
  }
}

void ReadImage(Bytes image) {
  const Result<BuildId> build_id = BuildIdOf(image);
  BuildIdFromNotes(image);
  const Result<ElfFile> file = ElfFile::FromBytes(image);
  if (!file) return;
  for (const Segment& segment : file->segments()) {
    file->ToImage(segment.offset);
    file->ToFile(segment.address);
  }
  file->ToImage(FileOffset{UINT64_MAX});
  ReadDebugLink(*file);
  ReadDebugAltLink(*file);
  ReadPlt(*file);
  ReadUsdtProbes(*file);
  ReadSymbols(*file);
  ReadSections(*file);
  SlimCopy(*file);
}

// Writes a number of `size` bytes at `at`, in the image's byte order, if it is inside the image.
void Store(std::span<std::byte> image, std::uint64_t at, std::uint64_t value, std::size_t size,
           std::endian order) {
  if (at > image.size() || size > image.size() - at) return;
  if (order != std::endian::native) value = std::byteswap(value) >> (64 - 8 * size);
  std::memcpy(image.data() + at, &value, size);
}

// Returns a hostile word for this file: any number, or an address or offset of one of its parts.
std::uint64_t WordOf(const ElfFile& file, fuzz::Dice& dice) {
  if (file.sections().empty() || dice.OneIn(2)) return dice.Word();
  const Section& section = file.sections()[dice.Below(file.sections().size())];
  switch (dice.Below(4)) {
    case 0:
      return section.offset;
    case 1:
      return section.address;
    case 2:
      return section.size;
    default:
      return dice.Below(file.sections().size() + 1);
  }
}

// Changes one field of a header of a section or a segment, or a word in a section's contents.
void ChangeStructure(std::span<std::byte> image, const ElfFile& file, fuzz::Dice& dice) {
  const FileHeader& header = file.header();
  const std::size_t word = header.is_64 ? 8 : 4;
  std::uint64_t at = 0;
  switch (dice.Below(3)) {
    case 0:
      at = header.section_headers + dice.Below(header.section_count) * header.section_header_size +
           dice.Below(16) * 4;
      break;
    case 1:
      at = header.program_headers +
           dice.Below(header.program_header_count) * header.program_header_size +
           dice.Below(14) * 4;
      break;
    default:
      if (file.sections().empty()) return;
      const Section& section = file.sections()[dice.Below(file.sections().size())];
      at = section.offset + dice.Below(std::min<std::uint64_t>(section.size, 1 << 16)) / 4 * 4;
      break;
  }
  Store(image, at, WordOf(file, dice), dice.OneIn(2) ? word : 4, header.order);
}

}  // namespace
}  // namespace perftape::elf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perftape::elf::ReadImage(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  perftape::fuzz::Dice dice(seed);
  const std::span<std::byte> image = std::as_writable_bytes(std::span(data, size));
  const auto file = perftape::elf::ElfFile::FromBytes(image);
  if (!file || dice.OneIn(4)) return LLVMFuzzerMutate(data, size, max_size);
  for (std::size_t changes = 1 + dice.Below(3); changes > 0; --changes) {
    perftape::elf::ChangeStructure(image, *file, dice);
  }
  return size;
}
