// SPDX-License-Identifier: Apache-2.0
// Decides whether a table of kernel symbols belongs to a recording, and by how much the kernel was
// relocated between the two. With KASLR its address differs at every boot.
//
// perf records the address of a reference symbol: the file offset of the mapping
// "[kernel.kallsyms]_text" is the address of _text (tools/perf/util/machine.c). The relocation is
// the difference to its address in the table. It must be a multiple of the kernel's alignment. The
// end of the code, _etext or _edata, must have moved by as much. Otherwise the table is of another
// kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "convert/symbolize/profile_origin.h"
#include "formats/base/addresses.h"

namespace perftape::symbolize {

// The kernel of a table, as far as known.
struct KernelIdentity {
  BuildId build_id = {};  // empty if unknown
  // Returns the address of a symbol; nothing if the table has no such symbol.
  std::function<std::optional<std::uint64_t>(std::string_view)> address_of;
};

struct KernelMove {
  // From the recording to the table, modulo 2^64; nothing for a table of another kernel.
  std::optional<std::uint64_t> distance = {};
  // For messages: "by build id, moved by 0x5e00000", or why the table is of another kernel.
  std::string reason;
};

KernelMove MoveOf(const RecordedKernel& recorded, const KernelIdentity& table);

}  // namespace perftape::symbolize
