// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/call_frame_info.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "formats/unwind/constants.h"

namespace perftape::unwind {
namespace {

using dwarf::Cursor;

// Linkers leave a few zeros between entries. More of them are a hole in the file.
constexpr std::uint64_t kLongestZeros = symbol_limits::kMiB;

constexpr bool IsAddressSize(unsigned size) {
  return size == 2 || size == 4 || size == 8;
}

// Reads the augmentation data of a CIE up to the first letter without known meaning. The length of
// the data covers the rest.
void ReadAugmentation(std::string_view letters, Cursor at, CommonEntry& common) {
  ProgramContext& context = common.context;
  for (const char letter : letters) {
    if (!at.ok()) return;
    switch (letter) {
      case 'R':
        context.pointer_encoding = at.Fixed<std::uint8_t>();
        break;
      case 'P':  // the personality routine
        ReadEncodedPointer(at, at.Fixed<std::uint8_t>(), context.bases);
        break;
      case 'L':  // the encoding of the language-specific data
        at.Skip(1);
        break;
      case 'S':
        common.signal_frame = true;
        break;
      case 'B':  // aarch64: return addresses are signed with key B
      case 'G':  // aarch64: stack frames have memory tags
        break;
      default:
        return;
    }
  }
}

// The state after the instructions of the CIE. False if they are damaged.
bool RunInitialInstructions(Cursor instructions, CommonEntry& common) {
  FrameProgram program(instructions, common.context, 0);
  while (program.NextRow()) {
  }
  if (!program.ok()) return false;
  common.context.initial = program.state();
  return true;
}

}  // namespace

CallFrameInfo::CallFrameInfo(const FrameSection& section, TableBudget& budget)
    : section_(section), budget_(budget), at_({}, 0, section.order) {
  const bool is_cut = section_.bytes.size() > budget.bytes_left();
  if (is_cut) section_.bytes = section_.bytes.first(budget.bytes_left());
  at_ = Start();
  Cursor at = Start();
  while (const std::optional<Entry> entry = NextEntry(at)) {
    if (budget_.MustStop()) break;
    if (!entry->is_common || entry->body.remaining() > symbol_limits::kCommonEntry) continue;
    if (commons_.size() == budget_.limits().common_entries) {
      budget_.Reached(commons_.size(), "common entries (CIE)");
      break;
    }
    if (const auto common = ReadCommon(*entry)) commons_.push_back(*common);
  }
  budget_.SpendBytes(at.offset());
  const bool has_ended_early = at.remaining() > kLongestZeros;
  if (is_cut && !has_ended_early) {
    budget_.Reached(budget_.limits().bytes, "bytes of call frame information");
  }
}

std::optional<FrameEntry> CallFrameInfo::Next() {
  while (const std::optional<Entry> entry = NextEntry(at_)) {
    if (budget_.MustStop()) return std::nullopt;
    if (entry->is_common || entry->body.remaining() > symbol_limits::kFunctionEntry) continue;
    if (const auto frame = ReadFrame(*entry)) return frame;
  }
  return std::nullopt;
}

// { length; CIE: 0 or ~0, FDE: where its CIE is; ... }
std::optional<CallFrameInfo::Entry> CallFrameInfo::NextEntry(Cursor& at) const {
  const bool is_eh = section_.format == FrameSection::Format::kEhFrame;
  const std::uint64_t start = at.offset();
  while (at.remaining() != 0 && at.offset() - start <= kLongestZeros) {
    Entry entry;
    entry.offset = at.offset();
    std::uint8_t offset_size = 4;
    const std::uint64_t length = at.InitialLength(offset_size);
    if (length == 0 && !section_.ends_with_zero) continue;
    if (!at.ok() || length == 0 || length > at.remaining()) return std::nullopt;
    entry.body = at;
    entry.body.EndAfter(length);
    at.Skip(length);

    const std::uint64_t id_offset = entry.body.offset();
    const std::uint64_t id = entry.body.Unsigned(is_eh ? 4 : offset_size);
    if (is_eh) {
      entry.is_common = id == 0;
      entry.common = id_offset - id;
    } else {
      entry.is_common = id == (offset_size == 8 ? std::numeric_limits<std::uint64_t>::max()
                                                : std::numeric_limits<std::uint32_t>::max());
      entry.common = id;
    }
    if (entry.body.ok()) return entry;
  }
  return std::nullopt;
}

// { u8 version; string augmentation; version 4: u8 address_size, segment_selector_size;
//   uleb code_alignment; sleb data_alignment; return_register: u8 in version 1, else uleb;
//   augmentation 'z': uleb size, data; instructions }
std::optional<CommonEntry> CallFrameInfo::ReadCommon(const Entry& entry) const {
  Cursor at = entry.body;
  CommonEntry common;
  ProgramContext& context = common.context;
  common.offset = entry.offset;
  context.machine = section_.machine;
  context.bases = section_.bases;
  const auto version = at.Fixed<std::uint8_t>();
  if (version != 1 && version != 3 && version != 4) return std::nullopt;
  std::string_view letters = at.String();
  if (letters.starts_with("eh")) {  // GCC 2: a pointer to the exception table
    at.Skip(context.bases.address_size);
    letters.remove_prefix(2);
  }
  if (version == 4) {
    context.bases.address_size = at.Fixed<std::uint8_t>();
    common.segment_selector_size = at.Fixed<std::uint8_t>();
    if (!IsAddressSize(context.bases.address_size)) return std::nullopt;
  }
  context.code_alignment = at.Uleb();
  context.data_alignment = at.Sleb();
  context.return_register = version == 1 ? at.Fixed<std::uint8_t>() : at.Uleb();
  if (letters.starts_with('z')) {
    common.has_augmentation_data = true;
    const std::uint64_t size = at.Uleb();
    Cursor augmentation = at;
    at.Skip(size);
    augmentation.EndAfter(size);
    ReadAugmentation(letters.substr(1), augmentation, common);
  } else if (!letters.empty()) {
    return std::nullopt;  // data of unknown size may follow
  }
  if (!at.ok() || !RunInitialInstructions(at, common)) return std::nullopt;
  return common;
}

// { start; size; augmentation 'z': uleb size, data; instructions }
std::optional<FrameEntry> CallFrameInfo::ReadFrame(const Entry& entry) {
  const CommonEntry* common = FindCommon(entry.common);
  if (common == nullptr) return std::nullopt;
  const ProgramContext& context = common->context;
  Cursor at = entry.body;
  at.Skip(common->segment_selector_size);
  const auto start = ReadEncodedPointer(at, context.pointer_encoding, context.bases);
  const auto size = ReadEncodedLength(at, context.pointer_encoding, context.bases);
  if (common->has_augmentation_data) at.Skip(at.Uleb());
  if (!start || !size || !at.ok()) return std::nullopt;
  return FrameEntry{.common = common, .start = *start, .size = *size, .instructions = at};
}

const CommonEntry* CallFrameInfo::FindCommon(std::uint64_t offset) {
  if (last_common_ < commons_.size() && commons_[last_common_].offset == offset) {
    return &commons_[last_common_];
  }
  const auto found = std::ranges::lower_bound(commons_, offset, {}, &CommonEntry::offset);
  if (found == commons_.end() || found->offset != offset) return nullptr;
  last_common_ = static_cast<std::size_t>(found - commons_.begin());
  return &*found;
}

}  // namespace perftape::unwind
