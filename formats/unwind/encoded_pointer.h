// SPDX-License-Identifier: Apache-2.0
// Pointers as .eh_frame and .eh_frame_hdr store them (Linux Standard Base, "DWARF Exception Header
// Encoding").
#pragma once

#include <cstdint>
#include <optional>

#include "formats/dwarf/cursor.h"

namespace perftape::unwind {

// The addresses from which encoded pointers count.
struct PointerBases {
  std::uint64_t section = 0;      // of the first byte of the cursor's section
  std::uint64_t text = 0;         // of .text
  std::uint64_t data = 0;         // of .eh_frame_hdr for itself; of the GOT for .eh_frame
  std::uint8_t address_size = 8;  // of an absolute pointer
};

// Reads a pointer of the encoding DW_EH_PE_*. Returns nothing for DW_EH_PE_omit, for an address
// that is only in memory (DW_EH_PE_indirect), and for an unknown encoding. A null pointer stays
// null whatever the base. Moves the cursor after the pointer, or breaks it if the size of the
// pointer is unknown.
std::optional<std::uint64_t> ReadEncodedPointer(dwarf::Cursor& at, std::uint8_t encoding,
                                                const PointerBases& bases);

// The same without a base: a length.
std::optional<std::uint64_t> ReadEncodedLength(dwarf::Cursor& at, std::uint8_t encoding,
                                               const PointerBases& bases);

}  // namespace perftape::unwind
