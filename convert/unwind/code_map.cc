// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/code_map.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace perftape::offline_unwind {
namespace {

// Code that starts at or below an address, and may have been replaced since. Compilers reuse
// addresses a few times; more is not looked at.
constexpr std::ptrdiff_t kMostCandidates = 256;

// The distance of a region from the image of its binary. A mapping is of one segment; without
// program headers, as in a vdso that perf saved, the image begins at 0.
std::uint64_t BiasOf(const perfdata::Region& region, std::span<const elf::Segment> segments) {
  const std::uint64_t begin = region.page_offset, end = begin + (region.end - region.start);
  const elf::Segment* mapped = nullptr;
  for (const elf::Segment& segment : segments) {
    const bool overlaps = segment.offset.value < end && begin < segment.offset.value + segment.size;
    if (overlaps && (mapped == nullptr || (segment.executable && !mapped->executable))) {
      mapped = &segment;
    }
  }
  const std::uint64_t start_of_file = region.start - region.page_offset;
  if (mapped == nullptr) return start_of_file;
  return start_of_file + mapped->offset.value - mapped->address.value;
}

}  // namespace

void CompiledRules::Finish() {
  for (auto& [pid, placements] : placements_) {
    std::ranges::stable_sort(placements, {}, [](const Placement& placement) {
      return std::tuple(placement.start, placement.from_epoch);
    });
  }
}

const unwind::Rule* CompiledRules::Find(std::uint32_t pid, std::uint32_t epoch,
                                        RuntimeAddress address) const {
  const auto process = placements_.find(pid);
  if (process == placements_.end()) return nullptr;
  const std::vector<Placement>& placements = process->second;
  auto at = std::ranges::upper_bound(placements, address.value, {}, &Placement::start);
  const auto last = at - std::min(kMostCandidates, at - placements.begin());
  const Placement* latest = nullptr;
  while (at != last) {
    --at;
    if (at->end <= address.value || at->from_epoch > epoch) continue;
    if (latest == nullptr || at->from_epoch > latest->from_epoch) latest = &*at;
  }
  if (latest == nullptr) return nullptr;
  const unwind::Rule& rule =
      latest->table->Find({latest->image.value + (address.value - latest->start)});
  return rule.cfa == unwind::CfaRule::kNone ? nullptr : &rule;
}

CodeMap::CodeMap(std::span<const perfdata::Region> regions, PackedLocations* locations)
    : locations_(locations) {
  for (const perfdata::Region& region : regions) code_.push_back({.region = region});
}

void CodeMap::Find(RuntimeAddress address, const TableFinder& find, unwind::RuleCache& rules,
                   FoundCode& found) {
  found = {};
  const MappedCode* code = CodeAt(address.value, find);
  if (code == nullptr) return;
  found.code.frames_by = code->table->frames_by;
  if (code->mapping) {
    found.packed = PackedLocations::Pack(*code->mapping, address.value - code->region.start);
  }
  if (code->table->table.empty()) return;
  found.code.address = {address.value - code->bias};
  found.code.rule = &rules.Find(code->table->table, found.code.address);
  found.code.table = &code->table->table;
  found.code.binary = code->table->file;
  // Where no rule could be derived, the frame pointer is tried.
  if (found.code.rule->cfa != unwind::CfaRule::kNone) {
    found.code.frames_by = unwind::FramesBy::kTable;
  }
}

CodeMap::MappedCode* CodeMap::CodeAt(std::uint64_t address, const TableFinder& find) {
  if (last_ >= code_.size() || !code_[last_].region.Contains(address)) {
    const auto next = std::ranges::upper_bound(
        code_, address, {}, [](const MappedCode& code) { return code.region.start; });
    if (next == code_.begin() || !std::prev(next)->region.Contains(address)) return nullptr;
    last_ = static_cast<std::size_t>(std::prev(next) - code_.begin());
  }
  MappedCode& code = code_[last_];
  if (code.table == nullptr) {
    code.table = &find(*code.region.dso);
    code.bias = BiasOf(code.region, code.table->segments);
    if (locations_ != nullptr) code.mapping = locations_->Add(code.region);
  }
  return &code;
}

}  // namespace perftape::offline_unwind
