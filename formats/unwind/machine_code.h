// SPDX-License-Identifier: Apache-2.0
// Facts from the bytes of a program, for code that its call frame information does not describe.
#pragma once

#include <cstdint>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

// Returns `size` bytes of code from an address on. Empty if the file does not have them all: a
// debug file and a slim copy have no code. The bytes are those of the file.
Bytes CodeBytes(const elf::ElfFile& file, ImageAddress start, std::uint64_t size);

// Whether the bytes are only what compilers and linkers put between functions: int3 and the no-ops
// that Intel recommends (Software Developer's Manual, NOP; GNU as, -mtune), and on arm64 NOP.
bool IsPadding(Machine machine, Bytes code);

// Whether the first instruction of x86-64 code, after an endbr64, copies one of the registers that
// calls preserve to the stack pointer, other than the frame pointer.
bool BeginsWithStackPointer(Bytes code);

// The bytes before an address that EndsWithCall examines.
inline constexpr std::uint64_t kCallBytes = 8;

// Whether the last instruction of kCallBytes bytes may be a call. bpf/unwind_wire.h has the same
// (wire_ends_with_call). Other bytes may look like a call, because x86 has no instruction
// boundaries.
bool EndsWithCall(Machine machine, Bytes code);

// Whether `code`, the 8 bytes from an address on as a little-endian word, is where the callees of
// interpreted Java return to. The interpreter jumps to them, so no call is before it.
// bpf/unwind_wire.h has the same, and the source (wire_is_return_entry).
bool IsReturnEntry(Machine machine, std::uint64_t code);

}  // namespace perftape::unwind
