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
    return nullptr;  // from a damaged saved index
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

struct UnitIndexBuilder::Space {
  ScopeWalk walk;
  std::vector<ScopeStart> starts;
  LineTable lines;
};

UnitIndexBuilder::UnitIndexBuilder() : space_(std::make_unique<Space>()) {}
UnitIndexBuilder::~UnitIndexBuilder() = default;

// Copies the arrays out of the reused space, so that the copies use no more memory than needed.
BuiltUnitIndex UnitIndexBuilder::Build(const Unit& unit, std::span<const Extent> code,
                                       std::uint64_t& work, std::uint64_t work_limit) {
  auto& [walk, starts, lines] = *space_;
  walk = WalkScopes(unit, code, work, work_limit, std::move(walk));
  starts = Flatten(walk.extents, std::move(starts));
  BuiltUnitIndex index = {.lines = {}, .starts = starts, .scopes = walk.scopes};
  if (!unit.line_program || work > work_limit) return index;
  if (const auto header = LineHeader::Read(unit)) {
    work += header->end - *unit.line_program;
    lines = RunLineProgram(*header, *unit.linked_sections, code, std::move(lines));
    index.lines = lines;
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
