// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/line_program.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace perftape::dwarf {
namespace {

// The state machine of DWARF 5, section 6.2.2, without the registers that lines do not need.
class LineMachine {
 public:
  LineMachine(const LineHeader& header, const Sections& sections, std::span<const Extent> code,
              LineTable space)
      : header_(header),
        code_(code),
        at_(sections.line, header.program, sections.order),
        const_add_(
            Advance(header.line_range == 0 ? 0 : (255 - header.opcode_base) / header.line_range)),
        table_(std::move(space)) {
    table_.sequences.clear();
    table_.rows.clear();
    at_.EndAfter(header.end - std::min(header.program, header.end));
  }

  LineTable Run() {
    while (at_.ok() && at_.remaining() != 0) {
      const auto opcode = at_.Fixed<std::uint8_t>();
      if (opcode >= header_.opcode_base) {
        Special(static_cast<unsigned>(opcode - header_.opcode_base));
      } else if (opcode == DW_LNS_extended_op) {
        Extended();
      } else {
        Standard(opcode);
      }
    }
    std::ranges::stable_sort(table_.sequences, {}, &LineSequence::end);
    return std::move(table_);
  }

 private:
  std::uint64_t Advance(std::uint64_t operations) const {
    return operations * header_.minimum_instruction_size;
  }

  void Special(unsigned adjusted) {
    if (header_.line_range == 0) return at_.Break();
    address_ += Advance(adjusted / header_.line_range);
    line_ += static_cast<std::uint32_t>(header_.line_base +
                                        static_cast<int>(adjusted % header_.line_range));
    AppendRow();
  }

  void Standard(std::uint8_t opcode) {
    switch (opcode) {
      case DW_LNS_copy:
        return AppendRow();
      case DW_LNS_advance_pc:
        address_ += Advance(at_.Uleb());
        return;
      case DW_LNS_advance_line:
        line_ += static_cast<std::uint32_t>(at_.Sleb());
        return;
      case DW_LNS_set_file:
        file_ = static_cast<std::uint32_t>(at_.Uleb());
        return;
      case DW_LNS_set_column:
        column_ = static_cast<std::uint16_t>(at_.Uleb());
        return;
      case DW_LNS_const_add_pc:
        address_ += const_add_;
        return;
      case DW_LNS_fixed_advance_pc:
        address_ += at_.Fixed<std::uint16_t>();
        return;
      default:  // the header contains the number of its operands
        for (unsigned i = 0; i < header_.operand_counts[opcode - 1U]; ++i) at_.Uleb();
    }
  }

  // { uleb size; u8 opcode; … }
  void Extended() {
    const std::uint64_t size = at_.Uleb();
    if (size == 0 || size > at_.remaining()) return at_.Break();
    const std::uint64_t next = at_.offset() + size;
    switch (at_.Fixed<std::uint8_t>()) {
      case DW_LNE_end_sequence:
        EndSequence();
        break;
      case DW_LNE_set_address:
        address_ = at_.Unsigned(static_cast<unsigned>(std::min<std::uint64_t>(size - 1, 8)));
        break;
      default:  // discriminators and vendor extensions
        break;
    }
    at_.Skip(next - std::min(next, at_.offset()));
  }

  void AppendRow() {
    if (!is_open_) {
      is_open_ = true;
      is_wanted_ = Contains(code_, address_);
      sequence_ = {.start = address_, .first_row = static_cast<std::uint32_t>(table_.rows.size())};
      is_ordered_ = true;
    }
    const std::uint64_t offset = address_ - sequence_.start;
    if (!is_wanted_ || offset > std::numeric_limits<std::uint32_t>::max()) return;
    const LineRow row = {.offset = static_cast<std::uint32_t>(offset),
                         .line = line_,
                         .file = file_,
                         .column = column_};
    if (table_.rows.size() > sequence_.first_row) {
      LineRow& last = table_.rows.back();
      if (row.offset < last.offset) is_ordered_ = false;
      if (row.offset == last.offset) {  // the last row of an address counts
        last = row;
        return;
      }
      if (row.IsSamePosition(last) && is_ordered_) return;
    }
    table_.rows.push_back(row);
  }

  void EndSequence() {
    const auto rows = std::span(table_.rows).subspan(is_open_ ? sequence_.first_row : 0);
    sequence_.end = address_;
    if (is_open_ && is_wanted_ && sequence_.start < sequence_.end && !rows.empty()) {
      if (!is_ordered_) std::ranges::stable_sort(rows, {}, &LineRow::offset);
      sequence_.row_count = static_cast<std::uint32_t>(rows.size());
      table_.sequences.push_back(sequence_);
    } else if (is_open_) {
      table_.rows.resize(sequence_.first_row);
    }
    is_open_ = false;
    address_ = 0;
    line_ = file_ = 1;
    column_ = 0;
  }

  const LineHeader& header_;
  std::span<const Extent> code_;
  Cursor at_;
  std::uint64_t const_add_;

  std::uint64_t address_ = 0;
  std::uint32_t line_ = 1, file_ = 1;
  std::uint16_t column_ = 0;

  bool is_open_ = false, is_wanted_ = false, is_ordered_ = true;
  LineSequence sequence_ = {};
  LineTable table_;
};

}  // namespace

bool Contains(std::span<const Extent> sorted, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(sorted, address, {}, &Extent::start);
  return after != sorted.begin() && address < std::prev(after)->end;
}

LineTable RunLineProgram(const LineHeader& header, const Sections& sections,
                         std::span<const Extent> code, LineTable space) {
  return LineMachine(header, sections, code, std::move(space)).Run();
}

}  // namespace perftape::dwarf
