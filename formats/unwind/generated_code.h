// SPDX-License-Identifier: Apache-2.0
// Unwind tables of code that a compiler made at run time and described in .eh_frame format, one
// function at a time (formats/jitdump).
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "formats/base/bytes.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

struct GeneratedFunction {
  std::uint64_t start = 0, size = 0;  // of its code, in addresses of any kind
  Bytes eh_frame;                     // the caller keeps them until the table is built
  std::uint64_t eh_frame_address = 0;
};

// Builds the table of all functions. If functions overlap, the first one in `functions` counts.
// Parts of an .eh_frame that are damaged or describe addresses outside of its function are left
// out: a function without a usable description has no rule (kNone).
Table BuildTable(Machine machine, std::endian order, std::span<const GeneratedFunction> functions);

}  // namespace perftape::unwind
