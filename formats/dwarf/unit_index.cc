// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/unit_index.h"

#include <algorithm>

#include "formats/dwarf/scopes.h"

namespace perftape::dwarf {

const LineRow* UnitIndex::FindRow(std::uint64_t address) const {
  const auto sequence = std::ranges::upper_bound(sequences, address, {}, &LineSequence::end);
  if (sequence == sequences.end() || address < sequence->start) return nullptr;
  if (sequence->first_row > rows.size() ||
      sequence->row_count > rows.size() - sequence->first_row) {
    return nullptr;  // of a damaged cache
  }
  const auto of_sequence = rows.subspan(sequence->first_row, sequence->row_count);
  const auto after =
      std::ranges::upper_bound(of_sequence, address - sequence->start, {}, &LineRow::offset);
  return after == of_sequence.begin() ? nullptr : &*std::prev(after);
}

const Scope* UnitIndex::FindScope(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(starts, address, {}, &ScopeStart::start);
  if (after == starts.begin()) return nullptr;
  const std::uint32_t scope = std::prev(after)->scope;
  return scope < scopes.size() ? &scopes[scope] : nullptr;
}

BuiltUnitIndex BuildUnitIndex(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                              std::uint64_t work_limit) {
  BuiltUnitIndex index;
  ScopeWalk walk = WalkScopes(unit, code, work, work_limit);
  index.scopes = std::move(walk.scopes);
  index.starts = Flatten(std::move(walk.extents));
  if (!unit.line_program || work > work_limit) return index;
  if (const auto header = LineHeader::Read(unit)) {
    work += header->end - *unit.line_program;
    index.lines = RunLineProgram(*header, *unit.linked_sections, code);
  }
  return index;
}

std::vector<Extent> CodeOfFunctions(const Unit& unit, std::span<const Extent> code,
                                    std::uint64_t& work, std::uint64_t work_limit) {
  std::vector<Extent> extents;
  for (const ScopeExtent& piece : WalkScopes(unit, code, work, work_limit).extents) {
    extents.push_back(piece.extent);
  }
  return extents;
}

}  // namespace perftape::dwarf
