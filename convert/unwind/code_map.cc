// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/code_map.h"

#include <algorithm>
#include <iterator>

namespace perftape::offline_unwind {
namespace {

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

CodeMap::CodeMap(std::span<const perfdata::Region> regions) {
  for (const perfdata::Region& region : regions) code_.push_back({.region = region});
}

unwind::Code CodeMap::Find(RuntimeAddress address, const TableFinder& find) {
  if (last_ >= code_.size() || !code_[last_].region.Contains(address.value)) {
    const auto next = std::ranges::upper_bound(
        code_, address.value, {}, [](const MappedCode& code) { return code.region.start; });
    if (next == code_.begin() || !std::prev(next)->region.Contains(address.value)) return {};
    last_ = static_cast<std::size_t>(std::prev(next) - code_.begin());
  }
  MappedCode& code = code_[last_];
  if (code.table == nullptr) {
    code.table = &find(*code.region.dso);
    code.bias = BiasOf(code.region, code.table->segments);
  }
  return {.frames_by = code.table->frames_by,
          .table = &code.table->table,
          .address = {address.value - code.bias}};
}

}  // namespace perftape::offline_unwind
