// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/encoded_pointer.h"

#include "formats/unwind/constants.h"

namespace perftape::unwind {
namespace {

std::uint64_t SignExtended(std::uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

std::optional<std::uint64_t> ReadNumber(dwarf::Cursor& at, std::uint8_t format,
                                        unsigned address_size) {
  switch (format) {
    case DW_EH_PE_absptr:
      return at.Unsigned(address_size);
    case DW_EH_PE_signed:
      return SignExtended(at.Unsigned(address_size), address_size);
    case DW_EH_PE_uleb128:
      return at.Uleb();
    case DW_EH_PE_sleb128:
      return static_cast<std::uint64_t>(at.Sleb());
    case DW_EH_PE_udata2:
      return at.Fixed<std::uint16_t>();
    case DW_EH_PE_sdata2:
      return SignExtended(at.Fixed<std::uint16_t>(), 2);
    case DW_EH_PE_udata4:
      return at.Fixed<std::uint32_t>();
    case DW_EH_PE_sdata4:
      return SignExtended(at.Fixed<std::uint32_t>(), 4);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return at.Fixed<std::uint64_t>();
    default:
      at.Break();
      return std::nullopt;
  }
}

// Skips to a multiple of `size` in memory.
void Align(dwarf::Cursor& at, std::uint64_t section_address, unsigned size) {
  const std::uint64_t beyond = (section_address + at.offset()) % size;
  if (beyond != 0) at.Skip(size - beyond);
}

}  // namespace

std::optional<std::uint64_t> ReadEncodedPointer(dwarf::Cursor& at, std::uint8_t encoding,
                                                const PointerBases& bases) {
  if (encoding == DW_EH_PE_omit) return std::nullopt;
  const std::uint8_t base = encoding & DW_EH_PE_base;
  if (base == DW_EH_PE_aligned) Align(at, bases.section, bases.address_size);
  const std::uint64_t field_address = bases.section + at.offset();
  const std::optional<std::uint64_t> number =
      ReadNumber(at, encoding & DW_EH_PE_format, bases.address_size);
  if (!number || !at.ok() || (encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
  if (*number == 0) return 0;
  switch (base) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_aligned:
      return *number;
    case DW_EH_PE_pcrel:
      return *number + field_address;
    case DW_EH_PE_textrel:
      return *number + bases.text;
    case DW_EH_PE_datarel:
      return *number + bases.data;
    default:  // DW_EH_PE_funcrel has no meaning outside of a function
      return std::nullopt;
  }
}

std::optional<std::uint64_t> ReadEncodedLength(dwarf::Cursor& at, std::uint8_t encoding,
                                               const PointerBases& bases) {
  if (encoding == DW_EH_PE_omit) return std::nullopt;
  // An address that counts from a base is signed, a length is not. Producers choose the encoding
  // for the address. GCC's unwinder reads the length in the same format, sign included.
  const std::optional<std::uint64_t> number =
      ReadNumber(at, encoding & DW_EH_PE_format, bases.address_size);
  return at.ok() ? number : std::nullopt;
}

}  // namespace perftape::unwind
