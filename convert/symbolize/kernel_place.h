// SPDX-License-Identifier: Apache-2.0
// Whether a table of the kernel's symbols belongs to a recording, and how far the kernel has moved
// between the two: it moves at every boot (KASLR).
//
// perf records where a symbol of reference was: the file offset of the mapping
// "[kernel.kallsyms]_text" is the address of _text (tools/perf/util/machine.c). The kernel's own
// symbols are moved by the difference to where the table has it. Its size is a multiple of what the
// kernel is aligned to, and the end of the code, _etext or _edata, must have moved by as much; else
// it is another kernel's table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "convert/symbolize/recording.h"
#include "formats/base/addresses.h"

namespace perftape::symbolize {

// What is known of the kernel that a table is of.
struct KernelIdentity {
  BuildId build_id = {};  // empty where unknown
  // Where it has a symbol; nothing where it has none of the name.
  std::function<std::optional<std::uint64_t>(std::string_view)> address_of;
};

struct KernelMove {
  // From the recording to the table, modulo 2^64; nothing where it is another kernel's.
  std::optional<std::uint64_t> distance = {};
  // How that is known ("by build id, moved by 0x5e00000"), or why it is another's.
  std::string reason;
};

KernelMove MoveOf(const RecordedKernel& recorded, const KernelIdentity& table);

}  // namespace perftape::symbolize
