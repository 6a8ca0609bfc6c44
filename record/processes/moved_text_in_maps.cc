// SPDX-License-Identifier: Apache-2.0
#include "record/processes/moved_text_in_maps.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "formats/perfdata/moved_text.h"

namespace perftape::record {
namespace {

bool IsExecutable(const MapsLine& line) {
  return (line.protection & PROT_EXEC) != 0;
}

bool AreOfOneFile(const MapsLine& a, const MapsLine& b) {
  return a.inode == b.inode && a.device_major == b.device_major &&
         a.device_minor == b.device_minor && a.name == b.name;
}

// Memory in [start, end), and what is mapped directly below and above. Null: nothing of a file.
struct Gap {
  std::uint64_t start = 0, end = 0;
  const MapsLine* below = nullptr;
  const MapsLine* above = nullptr;
};

// Returns the offset of `start` in the file of the mapping above it.
std::optional<std::uint64_t> OffsetInFileAbove(const Gap& gap, std::uint64_t page) {
  const MapsLine& above = *gap.above;
  const std::uint64_t size = gap.end - gap.start;
  if (gap.below == nullptr || !AreOfOneFile(*gap.below, above)) {
    const bool shares_page = !IsExecutable(above) && above.page_offset + page == size;
    const bool is_start = above.page_offset != 0 && (above.page_offset == size || shares_page);
    return is_start ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  const std::uint64_t by_above = above.page_offset - size;  // may wrap around, and back
  // Neighbours that are executable are of the same segment, so they share no page.
  const MapsLine& below = *gap.below;
  const std::uint64_t by_below = below.page_offset + (below.end - below.start);
  std::optional<std::uint64_t> offset;
  for (const std::uint64_t shared_below : {std::uint64_t{0}, page}) {
    for (const std::uint64_t shared_above : {std::uint64_t{0}, page}) {
      if (shared_below != 0 && (IsExecutable(below) || by_below < page)) continue;
      if (shared_above != 0 && IsExecutable(above)) continue;
      if (by_below - shared_below != by_above + shared_above) continue;
      if (offset) return std::nullopt;  // both fit: it is not known
      offset = by_above + shared_above;
    }
  }
  return offset;
}

}  // namespace

void NameMovedText(std::span<MapsLine> lines,
                   const std::function<bool(std::string_view)>& may_hold_text) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto is_memory = [&](const MapsLine& line) {
    return IsExecutable(line) && may_hold_text(line.name);
  };
  for (std::size_t first = 0; first < lines.size(); ++first) {
    if (!is_memory(lines[first])) continue;
    std::size_t next = first + 1;
    while (next < lines.size() && is_memory(lines[next]) &&
           lines[next].start == lines[next - 1].end) {
      ++next;
    }
    Gap gap = {.start = lines[first].start, .end = lines[next - 1].end};
    const auto of_file = [&](std::size_t line, bool touches) {
      return touches && perfdata::IsTextOfFile(lines[line].name) ? &lines[line] : nullptr;
    };
    if (first > 0) gap.below = of_file(first - 1, lines[first - 1].end == gap.start);
    if (next < lines.size()) gap.above = of_file(next, lines[next].start == gap.end);
    if (gap.above != nullptr) {
      const std::optional<std::uint64_t> offset = OffsetInFileAbove(gap, page);
      for (std::size_t i = first; offset && i < next; ++i) {
        MapsLine text = *gap.above;
        text.start = lines[i].start;
        text.end = lines[i].end;
        text.page_offset = *offset + (text.start - gap.start);
        text.protection = lines[i].protection;
        lines[i] = text;
      }
    }
    first = next - 1;
  }
}

}  // namespace perftape::record
