// SPDX-License-Identifier: Apache-2.0
// The entries of one symbol table (SHT_SYMTAB, SHT_DYNSYM) and their names, of either class and
// byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

// Elf32_Sym or Elf64_Sym.
struct SymbolEntry {
  std::uint64_t value = 0, size = 0;
  std::uint32_t name = 0;  // offset in the string table
  std::uint16_t section = SHN_UNDEF;
  std::uint8_t info = 0, other = 0;

  std::uint8_t type() const { return info & 0xf; }
  std::uint8_t binding() const { return info >> 4; }
  std::uint8_t visibility() const { return other & 3; }
};

// Views the file, which must outlive this.
class SymbolEntries {
 public:
  // Views the whole entries of `section`. Empty if it is not a symbol table.
  SymbolEntries(const ElfFile& file, const Section& section);

  std::size_t size() const { return count_; }
  SymbolEntry operator[](std::size_t i) const {
    const std::byte* at = entries_.data() + i * stride_;
    return is_64_ ? Load<Elf64_Sym>(at) : Load<Elf32_Sym>(at);
  }

  // Null if the offset is outside the string table. Otherwise NUL-terminated.
  const char* TextOf(const SymbolEntry& entry) const {
    return entry.name < strings_.size() ? strings_.data() + entry.name : nullptr;
  }
  std::string_view NameOf(const SymbolEntry& entry) const {
    const char* text = TextOf(entry);
    return text == nullptr ? std::string_view() : std::string_view(text);
  }

 private:
  template <class Stored>
  SymbolEntry Load(const std::byte* at) const {
    const auto field = [&](auto Stored::*member) {
      Stored stored;
      std::memcpy(&stored, at, sizeof stored);
      auto value = stored.*member;
      if constexpr (sizeof value > 1) {
        if (order_ != std::endian::native) value = std::byteswap(value);
      }
      return value;
    };
    return {.value = field(&Stored::st_value),
            .size = field(&Stored::st_size),
            .name = field(&Stored::st_name),
            .section = field(&Stored::st_shndx),
            .info = field(&Stored::st_info),
            .other = field(&Stored::st_other)};
  }

  Bytes entries_;
  std::string_view strings_;  // up to the last NUL of the table
  std::size_t count_ = 0;
  std::size_t stride_ = sizeof(Elf64_Sym);
  bool is_64_ = true;
  std::endian order_ = std::endian::native;
};

}  // namespace perftape::elf
