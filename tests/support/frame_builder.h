// SPDX-License-Identifier: Apache-2.0
// Makes call frame information for tests, and programs that contain it.
//
//   FrameBuilder frames(kEhFrame);
//   const auto common = frames.AddCommon({});
//   frames.AddFrame(common, 0x401000, 0x20, Instructions(DW_CFA_advance_loc + 1, ...));
//   const ElfFile file = frames.File();
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "formats/unwind/constants.h"
#include "tests/support/elf_builder.h"

namespace perftape::unwind {

// Bytes of instructions: opcodes and operands.
template <class... Byte>
std::string Instructions(Byte... bytes) {
  return {static_cast<char>(bytes)...};
}

class FrameBuilder {
 public:
  static constexpr std::uint64_t kText = 0x401000;  // the only executable segment
  static constexpr std::uint64_t kTextSize = 0x1000;
  static constexpr std::uint64_t kTextOffset = 0x1000;
  static constexpr std::uint64_t kSection = 0x402000;  // .eh_frame

  struct Common {
    std::string letters = "zR";
    std::string augmentation = std::string(1, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    std::uint8_t version = 1;
    std::uint8_t code_alignment = 1;
    std::uint8_t data_alignment = 0x78;  // -8
    std::uint8_t return_register = 16;
    // CFA = rsp + 8, return address at CFA - 8.
    std::string instructions = Instructions(DW_CFA_def_cfa, 7, 8, DW_CFA_offset + 16, 1);
  };

  enum class Section : std::uint8_t { kEhFrame, kDebugFrame };
  enum class Length : std::uint8_t { k32Bits, k64Bits };

  explicit FrameBuilder(Section section = Section::kEhFrame, Length length = Length::k32Bits)
      : section_(section), length_(length) {}

  // Returns the offset, for AddFrame.
  std::uint64_t AddCommon(const Common& common) {
    const std::uint64_t offset = contents_.size();
    std::string body = WordOf(is_eh() ? 0 : ~std::uint64_t{0}, IdSize());
    body += static_cast<char>(common.version);
    body += common.letters + '\0';
    if (common.version == 4) body += {8, 0};  // address size, segment selector size
    body += static_cast<char>(common.code_alignment);
    body += static_cast<char>(common.data_alignment);
    body += static_cast<char>(common.return_register);
    if (!common.letters.empty()) {
      body += static_cast<char>(common.augmentation.size());
      body += common.augmentation;
    }
    AddEntry(body + common.instructions);
    has_augmentation_ = !common.letters.empty();
    return offset;
  }

  // A function of the last kind of Common.
  void AddFrame(std::uint64_t common, std::uint64_t start, std::uint64_t size,
                const std::string& instructions) {
    const std::uint64_t id_offset = contents_.size() + LengthSize();
    const std::uint64_t start_offset = id_offset + IdSize();
    std::string body = WordOf(is_eh() ? id_offset - common : common, IdSize());
    if (is_eh()) {
      body += WordOf(start == 0 ? 0 : start - (kSection + start_offset), 4) + WordOf(size, 4);
    } else {
      body += WordOf(start, 8) + WordOf(size, 8);
    }
    if (has_augmentation_) body += '\0';
    AddEntry(body + instructions);
  }

  // Makes the program contain `code` from kText on. Otherwise its code is not in the file.
  void SetCode(std::string code) { code_ = std::move(code); }

  void AddZero() { contents_ += WordOf(0, 4); }

  const std::string& contents() const { return contents_; }

  // A program for this section.
  ElfBuilder Program(std::uint16_t machine = EM_X86_64) const {
    ElfBuilder elf(ET_EXEC, machine);
    elf.AddSegment({.offset = kTextOffset, .address = kText, .size = kTextSize});
    if (!code_.empty()) {
      elf.AddSection({.name = ".text",
                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                      .address = kText,
                      .size = kTextSize,
                      .contents = code_,
                      .offset = kTextOffset});
    }
    AddTo(elf);
    return elf;
  }
  void AddTo(ElfBuilder& elf) const {
    elf.AddSection({.name = is_eh() ? ".eh_frame" : ".debug_frame",
                    .flags = is_eh() ? std::uint64_t{SHF_ALLOC} : 0,
                    .address = is_eh() ? kSection : 0,
                    .contents = contents_});
  }

  static std::string WordOf(std::uint64_t value, std::size_t size) {
    std::string bytes(size, '\0');
    std::memcpy(bytes.data(), &value, size);
    return bytes;
  }

 private:
  bool is_eh() const { return section_ == Section::kEhFrame; }
  std::size_t LengthSize() const { return length_ == Length::k64Bits ? 12 : 4; }
  std::size_t IdSize() const { return !is_eh() && length_ == Length::k64Bits ? 8 : 4; }
  void AddEntry(const std::string& body) {
    if (length_ == Length::k64Bits) contents_ += "\xff\xff\xff\xff";
    contents_ += WordOf(body.size(), length_ == Length::k64Bits ? 8 : 4) + body;
  }

  Section section_;
  Length length_;
  std::string contents_, code_;
  bool has_augmentation_ = true;
};

}  // namespace perftape::unwind
