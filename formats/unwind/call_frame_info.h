// SPDX-License-Identifier: Apache-2.0
// The entries of .eh_frame or .debug_frame: common information entries (CIE), and frame description
// entries (FDE), one for each function (DWARF 5, 6.4.1; Linux Standard Base, "The .eh_frame
// section").
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/dwarf/cursor.h"
#include "formats/unwind/encoded_pointer.h"
#include "formats/unwind/frame_program.h"
#include "formats/unwind/table_budget.h"

namespace perftape::unwind {

struct FrameSection {
  enum class Format : std::uint8_t { kEhFrame, kDebugFrame };

  Bytes bytes;  // the caller keeps them
  Format format = Format::kEhFrame;
  std::endian order = std::endian::native;
  Machine machine = Machine::kX86_64;
  PointerBases bases;
  // Whether a length of 0 ends the entries. Otherwise it is skipped, because linkers leave some
  // between entries.
  bool ends_with_zero = false;
};

struct CommonEntry {
  std::uint64_t offset = 0;  // in the section; FDEs refer to it
  ProgramContext context;
  bool has_augmentation_data = false;  // its FDEs have some
  bool signal_frame = false;
  std::uint8_t segment_selector_size = 0;
};

struct FrameEntry {
  const CommonEntry* common = nullptr;
  std::uint64_t start = 0, size = 0;  // the addresses of the function
  dwarf::Cursor instructions{{}, 0, std::endian::native};
};

// Reads the FDEs of a section in their order. Leaves out entries that are damaged or refer to no
// CIE. Ends where an entry does not fit into the section, behind a MiB of zeros, and where the
// budget ends. Leaves out entries that are longer than any compiler writes (symbol_limits.h).
//
//   CallFrameInfo info(section, budget);
//   while (const auto entry = info.Next()) ...
class CallFrameInfo {
 public:
  // Reads the CIEs. So an FDE may precede its CIE, and each CIE is read once. The budget pays for
  // the section, and must outlive this object.
  CallFrameInfo(const FrameSection& section, TableBudget& budget);

  // Returns nothing at the end. The entry points into this object and into the section.
  std::optional<FrameEntry> Next();

 private:
  // The bytes of an entry after its length and id.
  struct Entry {
    std::uint64_t offset = 0;
    std::uint64_t common = 0;  // of an FDE: the offset of its CIE
    bool is_common = false;
    dwarf::Cursor body{{}, 0, std::endian::native};
  };

  dwarf::Cursor Start() const { return {section_.bytes, 0, section_.order}; }
  std::optional<Entry> NextEntry(dwarf::Cursor& at) const;
  std::optional<CommonEntry> ReadCommon(const Entry& entry) const;
  std::optional<FrameEntry> ReadFrame(const Entry& entry);
  const CommonEntry* FindCommon(std::uint64_t offset);

  FrameSection section_;
  TableBudget& budget_;
  std::vector<CommonEntry> commons_;  // sorted by offset
  dwarf::Cursor at_;
  std::size_t last_common_ = 0;  // most FDEs have the CIE of the one before
};

}  // namespace perftape::unwind
