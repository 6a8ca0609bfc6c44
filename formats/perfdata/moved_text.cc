// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/moved_text.h"

#include "formats/perfdata/mapping_name.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

// Whether one mapping continues the other, in memory and in the file.
bool Continues(const TextMapping& before, const TextMapping& after) {
  return before.file == after.file && before.end == after.start &&
         after.page_offset - before.page_offset == after.start - before.start;
}

}  // namespace

bool MayHoldMovedText(std::string_view name, std::uint32_t flags) {
  if ((flags & kMapHugeTlb) != 0) return true;
  switch (SourceOf(name)) {
    case MappingSource::kNone:
    case MappingSource::kAnonymous:
    case MappingSource::kNamedAnonymous:
    case MappingSource::kMemfd:
    case MappingSource::kSysvSegment:
      return true;
    default:
      return false;
  }
}

// A just-in-time compiler may put code where it had mapped its jitdump.
bool IsTextOfFile(std::string_view name) {
  return SourceOf(name) == MappingSource::kFile && !IsJitDumpPath(name);
}

std::optional<std::uint64_t> OffsetOfMovedText(std::uint64_t start, std::uint64_t end,
                                               std::span<const TextMapping> replaced) {
  if (replaced.empty() || !replaced.front().file) return std::nullopt;
  for (std::size_t i = 1; i < replaced.size(); ++i) {
    if (!Continues(replaced[i - 1], replaced[i])) return std::nullopt;
  }
  const TextMapping& first = replaced.front();
  const std::uint64_t below = start < first.start ? first.start - start : 0;
  const std::uint64_t above = end > replaced.back().end ? end - replaced.back().end : 0;
  const bool is_huge = start % kHugePage == 0 && end % kHugePage == 0;
  const std::uint64_t most_outside = is_huge ? kHugePage - 1 : 0;
  if (below > most_outside || above > most_outside || below > first.page_offset) {
    return std::nullopt;
  }
  return first.page_offset + (start - first.start);  // may wrap around, and back
}

}  // namespace perftape::perfdata
