// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/feature_table.h"

#include <algorithm>

namespace perftape::rewrite {
namespace {

using perfdata::FeatureBit;
using perfdata::Section;

constexpr std::uint64_t kEntrySize = 16;

std::optional<Section> EntryAt(Bytes file, std::uint64_t at, std::endian order) {
  if (at > file.size() || file.size() - at < kEntrySize) return std::nullopt;
  ByteReader reader(file.subspan(at, kEntrySize), order);
  Section section;
  perfdata::SectionLayout(reader, section);
  return section;
}

bool IsInside(const Section& section, std::uint64_t table_end, Bytes file) {
  return section.offset >= table_end && section.offset <= file.size() &&
         section.size <= file.size() - section.offset;
}

// Returns the number of entries of a table at `at`. Its first entry has the offset of the byte
// after the table.
std::optional<std::size_t> CountAt(Bytes file, std::uint64_t at, std::endian order,
                                   std::size_t most) {
  const std::optional<Section> first = EntryAt(file, at, order);
  if (!first || first->offset <= at || (first->offset - at) % kEntrySize != 0) return std::nullopt;
  const std::uint64_t count = (first->offset - at) / kEntrySize;
  // perf reserves entries for features that it then cannot write (perf_header__clear_feat).
  if (count > 2 * most) return std::nullopt;
  return static_cast<std::size_t>(count);
}

std::size_t EntriesInside(Bytes file, std::uint64_t at, std::endian order, std::size_t count) {
  std::size_t inside = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Section> entry = EntryAt(file, at + i * kEntrySize, order);
    if (entry && IsInside(*entry, at + count * kEntrySize, file)) ++inside;
  }
  return inside;
}

// Returns whether at least three quarters of the sections begin where the previous one ends. If
// there are fewer than three sections, the last one must also end the file.
bool SectionsTouch(Bytes file, std::uint64_t at, std::endian order, std::size_t count) {
  std::size_t touching = 0;
  Section before = *EntryAt(file, at, order);
  for (std::size_t i = 1; i < count; ++i) {
    const std::optional<Section> entry = EntryAt(file, at + i * kEntrySize, order);
    if (!entry) return false;
    if (entry->offset == before.offset + before.size) ++touching;
    before = *entry;
  }
  if (count < 3 && before.offset + before.size != file.size()) return false;
  return touching + 1 >= count - count / 4;
}

FeatureTable TableAt(Bytes file, std::uint64_t at, std::endian order, std::size_t count,
                     std::span<const FeatureBit> bits) {
  FeatureTable table{.offset = at, .sections = {}, .lost = {}};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::optional<Section> entry = EntryAt(file, at + i * kEntrySize, order);
    // If there are more bits than entries, the last bits have no section.
    if (i >= count || !entry || !IsInside(*entry, at + count * kEntrySize, file)) {
      table.lost.push_back(bits[i]);
      continue;
    }
    table.sections.emplace(bits[i], file.subspan(entry->offset, entry->size));
  }
  return table;
}

}  // namespace

std::vector<FeatureBit> FeaturesOf(const perfdata::FileHeader& header) {
  std::vector<FeatureBit> bits;
  for (unsigned bit = 0; bit < perfdata::kFeatureBits; ++bit) {
    if ((header.features[bit / 64] >> (bit % 64) & 1) != 0) {
      // A bit without a known name has an entry, too.
      bits.push_back(static_cast<FeatureBit>(bit));  // NOLINT(*-optin.core.EnumCastOutOfRange)
    }
  }
  return bits;
}

std::optional<FeatureTable> FindFeatureTable(Bytes file, const perfdata::FileHeader& header,
                                             std::endian order, std::uint64_t expected,
                                             std::uint64_t from) {
  const std::vector<FeatureBit> bits = FeaturesOf(header);
  if (bits.empty() || from > file.size()) return std::nullopt;
  if (expected >= from && expected <= file.size()) {
    const std::optional<std::size_t> counted = CountAt(file, expected, order, bits.size());
    const std::size_t count = counted.value_or(bits.size());
    // If the first entry is right, the file may be truncated. If most entries are right, the table
    // may be damaged. Both are accepted.
    const std::size_t inside = EntriesInside(file, expected, order, count);
    if (counted >= bits.size() || inside * 2 > bits.size()) {
      return TableAt(file, expected, order, count, bits);
    }
  }
  for (std::uint64_t at = from; at + kEntrySize <= file.size(); ++at) {
    const std::optional<std::size_t> count = CountAt(file, at, order, bits.size());
    if (!count || *count < bits.size() - bits.size() / 4) continue;
    const std::size_t used = std::min(*count, bits.size());
    if (EntriesInside(file, at, order, *count) * 2 <= used) continue;
    if (SectionsTouch(file, at, order, used)) {
      return TableAt(file, at, order, *count, bits);
    }
  }
  return std::nullopt;
}

}  // namespace perftape::rewrite
