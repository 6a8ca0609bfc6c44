// SPDX-License-Identifier: Apache-2.0
// Finds the call frame information of an ELF file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/elf/elf_file.h"
#include "formats/elf/sections.h"
#include "formats/unwind/call_frame_info.h"

namespace perftape::unwind {

// Nothing for a machine that is not in Machine.
std::optional<Machine> MachineOf(const elf::ElfFile& file);

// The sections .eh_frame, usually one; at most symbol_limits::kSameSections. If the file has no
// section headers, the one that PT_GNU_EH_FRAME refers to. Views of the file.
std::vector<FrameSection> EhFrameSections(const elf::ElfFile& file, Machine machine);

struct FrameSectionsSummary {
  std::uint64_t size = 0;  // bytes of call frame information
  // Differs between a binary and its debug file, which have the same build id.
  std::uint64_t fingerprint = 0;
};
FrameSectionsSummary SummaryOf(const elf::ElfFile& file);

struct DebugFrameSection {
  elf::SectionBytes bytes;  // what `section` views; expanded if the section is compressed
  FrameSection section;
};

// .debug_frame. Nothing if the file has none, or if it is damaged as a whole.
std::optional<DebugFrameSection> ReadDebugFrameSection(const elf::ElfFile& file, Machine machine);

}  // namespace perftape::unwind
