// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/frame_sections.h"

#include <xxhash.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/base/symbol_limits.h"
#include "formats/unwind/constants.h"

namespace perftape::unwind {
namespace {

std::uint64_t AddressOf(const elf::ElfFile& file, std::string_view section_name) {
  const elf::Section* section = file.FindSection(section_name);
  return section == nullptr ? 0 : section->address;
}

// The sections of a name that have bytes. Those that name the same bytes again are left out.
std::vector<const elf::Section*> DistinctSections(const elf::ElfFile& file, std::string_view name) {
  std::vector<const elf::Section*> distinct;
  for (const elf::Section& section : file.sections()) {
    if (section.name != name || section.type == SHT_NOBITS) continue;
    const bool is_repeated = std::ranges::any_of(distinct, [&](const elf::Section* other) {
      return other->offset == section.offset && other->address == section.address;
    });
    if (is_repeated) continue;
    if (distinct.size() == symbol_limits::kSameSections) break;
    distinct.push_back(&section);
  }
  return distinct;
}

FrameSection SectionAt(const elf::ElfFile& file, Machine machine, Bytes bytes,
                       std::uint64_t address) {
  FrameSection section;
  section.bytes = bytes;
  section.order = file.header().order;
  section.machine = machine;
  section.bases.section = address;
  section.bases.text = AddressOf(file, ".text");
  section.bases.data = AddressOf(file, ".got");
  section.bases.address_size = file.header().is_64 ? 8 : 4;
  return section;
}

// The bytes of the file from an address on, up to the end of the segment.
Bytes BytesFrom(const elf::ElfFile& file, std::uint64_t address) {
  for (const elf::Segment& segment : file.segments()) {
    const std::uint64_t distance = address - segment.address.value;
    if (address < segment.address.value || distance >= segment.size) continue;
    const std::uint64_t offset = segment.offset.value + distance;
    if (offset < distance || offset >= file.image().size()) continue;
    const Bytes rest = file.image().subspan(offset);
    return rest.first(std::min<std::uint64_t>(rest.size(), segment.size - distance));
  }
  return {};
}

// .eh_frame_hdr: { u8 version = 1, eh_frame_encoding, count_encoding, table_encoding;
//                  eh_frame; count; table } (Linux Standard Base, "The .eh_frame_hdr section")
std::optional<std::uint64_t> ReadEhFrameAddress(const elf::ElfFile& file, std::uint64_t address) {
  const Bytes bytes = BytesFrom(file, address);
  dwarf::Cursor at(bytes, 0, file.header().order);
  const PointerBases bases = {
      .section = address,
      .text = AddressOf(file, ".text"),
      .data = address,
      .address_size = static_cast<std::uint8_t>(file.header().is_64 ? 8 : 4)};
  if (at.Fixed<std::uint8_t>() != 1) return std::nullopt;
  const auto encoding = at.Fixed<std::uint8_t>();
  at.Skip(2);
  return ReadEncodedPointer(at, encoding, bases);
}

}  // namespace

std::optional<Machine> MachineOf(const elf::ElfFile& file) {
  switch (file.header().machine) {
    case EM_X86_64:
      return Machine::kX86_64;
    case EM_AARCH64:
      return Machine::kAArch64;
    default:
      return std::nullopt;
  }
}

std::vector<FrameSection> EhFrameSections(const elf::ElfFile& file, Machine machine) {
  std::vector<FrameSection> sections;
  for (const elf::Section* section : DistinctSections(file, ".eh_frame")) {
    sections.push_back(SectionAt(file, machine, file.RawBytes(*section), section->address));
  }
  if (file.sections().size() > 1) return sections;
  for (const elf::ProgramHeader& header : elf::ReadProgramHeaders(file.image(), file.header())) {
    if (header.type != PT_GNU_EH_FRAME) continue;
    if (sections.size() == symbol_limits::kSameSections) break;
    const auto address = ReadEhFrameAddress(file, header.address);
    if (!address) continue;
    sections.push_back(SectionAt(file, machine, BytesFrom(file, *address), *address));
    sections.back().ends_with_zero = true;
  }
  return sections;
}

FrameSectionsSummary SummaryOf(const elf::ElfFile& file) {
  std::vector<std::uint64_t> words;
  FrameSectionsSummary summary;
  const auto add = [&](std::uint64_t address, std::uint64_t size) {
    words.insert(words.end(), {address, size});
    summary.size += size;
  };
  for (const elf::Section& section : file.sections()) {
    const bool is_eh_frame = section.name == ".eh_frame";
    if (!is_eh_frame && elf::PlainName(section.name) != ".debug_frame") continue;
    add(is_eh_frame ? section.address : 0, file.RawBytes(section).size());
  }
  if (words.empty()) {
    for (const FrameSection& section : EhFrameSections(file, Machine::kX86_64)) {
      add(section.bases.section, section.bytes.size());
    }
  }
  // A table is not the same without the code: a slim copy has the build id of its original.
  for (const elf::Section& section : file.sections()) {
    if (section.is_code() && section.type == SHT_NOBITS) words.push_back(section.address);
  }
  summary.fingerprint = XXH3_64bits(words.data(), words.size() * sizeof(std::uint64_t));
  return summary;
}

std::optional<DebugFrameSection> ReadDebugFrameSection(const elf::ElfFile& file, Machine machine) {
  const elf::Section* section = file.FindSection(".debug_frame");
  if (section == nullptr) section = file.FindSection(".zdebug_frame");
  if (section == nullptr) return std::nullopt;
  auto bytes = elf::ReadSection(file, *section);
  if (!bytes) return std::nullopt;
  DebugFrameSection frames = {.bytes = *std::move(bytes), .section = {}};
  frames.section = SectionAt(file, machine, frames.bytes.bytes(), 0);
  frames.section.format = FrameSection::Format::kDebugFrame;
  return frames;
}

}  // namespace perftape::unwind
