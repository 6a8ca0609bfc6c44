// SPDX-License-Identifier: Apache-2.0
// Makes small ELF files for tests (64 bit, little endian), valid or not.
//
//   ElfBuilder elf;
//   const auto text = elf.AddSection({.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR,
//                                     .address = 0x401000, .size = 0x100});
//   elf.AddSymbol({.name = "main", .value = 0x401020, .size = 16, .section = text});
//   const std::vector<std::byte> image = elf.Build();
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {

class ElfBuilder {
 public:
  struct Section {
    std::string name;
    std::uint32_t type = SHT_PROGBITS;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;     // if larger than the contents, zeros follow them
    std::string contents = {};  // in the file, at `offset`
    std::uint64_t offset = 0;   // 0 is the next free offset
    std::uint32_t link = 0;
    std::uint64_t entry_size = 0;
  };
  struct Symbol {
    std::string name;
    std::uint64_t value = 0, size = 0;
    std::uint16_t section = 0;
    unsigned char type = STT_FUNC;
    unsigned char binding = STB_GLOBAL;
    unsigned char visibility = STV_DEFAULT;
  };
  struct Segment {
    std::uint64_t offset = 0, address = 0, size = 0;
    std::uint32_t flags = PF_R | PF_X;
    std::uint32_t type = PT_LOAD;
  };

  explicit ElfBuilder(std::uint16_t type = ET_EXEC, std::uint16_t machine = EM_X86_64)
      : type_(type), machine_(machine) {}

  // Returns the index of the section; the first is 1.
  std::uint16_t AddSection(Section section);
  void AddSymbol(Symbol symbol) { symbols_.push_back(std::move(symbol)); }
  void AddDynamicSymbol(Symbol symbol) { dynamic_symbols_.push_back(std::move(symbol)); }
  void AddSegment(const Segment& segment) { segments_.push_back(segment); }
  // Adds the note as a section .note.gnu.build-id, and as a PT_NOTE unless kSectionOnly.
  enum class NoteIn : std::uint8_t { kSectionOnly, kSegmentToo };
  void SetBuildId(std::string_view id, NoteIn where = NoteIn::kSegmentToo);

  std::vector<std::byte> Build() const;

 private:
  std::string FileHeader(std::uint64_t section_headers, std::size_t segments,
                         std::size_t sections) const;

  std::uint16_t type_, machine_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_, dynamic_symbols_;
  std::vector<Segment> segments_;
  std::string build_id_note_;
  NoteIn note_in_ = NoteIn::kSegmentToo;
};

// Returns a file with one function "spin" of 0x40 bytes at address 0x401100, which is file offset
// 0x1100. It has the build id, if that is not empty.
std::vector<std::byte> SmallElf(std::string_view build_id);

// Returns { u32 name_size, desc_size, type; name; desc }, name and desc padded to 4 bytes.
std::string ElfNote(std::string_view name, std::uint32_t type, std::string_view desc);

}  // namespace perftape
