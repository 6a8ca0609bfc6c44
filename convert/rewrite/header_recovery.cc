// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/header_recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "convert/rewrite/record_scanner.h"
#include "formats/perfdata/attr.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::EventAttr;
using perfdata::FeatureBit;
using perfdata::FileHeader;
using perfdata::Preamble;
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

using Corrections = std::vector<std::string>;

constexpr std::uint64_t kSizeAt = 8;  // offset of the header's size
constexpr std::uint64_t kLargestEntry = 4096 + sizeof(Section);

bool IsHeaderSize(std::uint64_t size) {
  return size == FileHeader::kPipeSize || size == FileHeader::kSizeWithoutFeatures ||
         size == FileHeader::kSize;
}

bool IsEntrySize(std::uint64_t size) {
  return size >= EventAttr::kSmallestSize + sizeof(Section) && size <= kLargestEntry &&
         size % 8 == 0;
}

bool IsInFile(const Section& section, Bytes file) {
  return perfdata::BytesOf(section, file).has_value();
}

FileHeader HeaderOf(Bytes file, std::endian order) {
  Corrections ignored;
  return perfdata::ReadFileHeader(file, order, ignored).value_or(FileHeader{});
}

// Returns how many of six fields have values that are possible in a file. The first records of a
// pipe give impossible ones.
int FieldsLikeAFile(Bytes file, std::endian order) {
  const FileHeader header = HeaderOf(file, order);
  const bool fields[] = {
      IsEntrySize(header.attr_size),
      header.attrs.offset >= FileHeader::kSizeWithoutFeatures &&
          header.attrs.offset<file.size(), header.attrs.size> 0 && IsInFile(header.attrs, file),
      header.data.offset >= FileHeader::kSizeWithoutFeatures && header.data.offset <= file.size(),
      header.data.size > 0 && IsInFile(header.data, file), IsInFile(header.event_types, file)};
  return static_cast<int>(std::ranges::count(fields, true));
}

bool LooksLikeAFile(Bytes file, std::endian order) {
  return FieldsLikeAFile(file, order) >= 5;
}

bool LooksLikeAPipe(Bytes file, std::endian order) {
  const perfdata::EventTable unknown;
  const RecordScanner scanner(unknown, order);
  return file.size() > FileHeader::kPipeSize &&
         scanner.IsChain(file, FileHeader::kPipeSize, RecordScanner::Window::kAll);
}

std::uint64_t HeaderSizeIn(Bytes file, std::endian order) {
  return LoadFixed<std::uint64_t>(file.data() + kSizeAt, order);
}

std::endian Other(std::endian order) {
  return order == std::endian::little ? std::endian::big : std::endian::little;
}

// For a damaged magic: all other checks must succeed.
std::optional<Preamble> PreambleWithoutMagic(Bytes file) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const std::uint64_t size = HeaderSizeIn(file, order);
    const bool is_pipe = size == FileHeader::kPipeSize;
    if (!IsHeaderSize(size)) continue;
    if (is_pipe ? LooksLikeAPipe(file, order) : LooksLikeAFile(file, order)) {
      return Preamble{.order = order, .container = is_pipe ? Container::kPipe : Container::kFile};
    }
  }
  return std::nullopt;
}

// Returns whether a perf_event_attr may begin here. The check is strict, because it is used to
// search.
bool IsLikelyAttr(Bytes bytes, std::endian order) {
  const Result<EventAttr> attr = perfdata::DecodeAttr(bytes, order);
  constexpr std::uint32_t kLargest = 256;
  constexpr std::uint64_t kSampleBits = std::uint64_t{1} << 26;
  constexpr std::uint64_t kAttrFlags = std::uint64_t{1} << 44;
  const bool says_size =
      attr && LoadFixed<std::uint32_t>(bytes.data() + sizeof attr->type, order) != 0;
  return says_size && attr->size <= kLargest && attr->size % 8 == 0 && attr->type < 4096 &&
         attr->sample_type != 0 && attr->sample_type < kSampleBits && attr->flags < kAttrFlags &&
         attr->read_format < 256;
}

// Returns the first sequence of attributes in [from, to), each with a section of ids inside the
// file.
std::optional<Section> FindAttrs(Bytes file, std::endian order, std::uint64_t from,
                                 std::uint64_t to, std::uint64_t& entry_size) {
  constexpr std::uint64_t kReach = std::uint64_t{1} << 20;  // perf writes it near the beginning
  to = std::min({to, from + kReach, std::uint64_t{file.size()}});
  for (std::uint64_t at = from; at + EventAttr::kSmallestSize + sizeof(Section) <= to; at += 8) {
    if (!IsLikelyAttr(file.subspan(at, to - at), order)) continue;
    const auto size = LoadFixed<std::uint32_t>(file.data() + at + 4, order);
    entry_size = std::max(size, EventAttr::kSmallestSize) + sizeof(Section);
    std::uint64_t end = at;
    while (end + entry_size <= to && IsLikelyAttr(file.subspan(end, entry_size), order)) {
      ByteReader ids_at(file.subspan(end + entry_size - sizeof(Section)), order);
      Section ids;
      perfdata::SectionLayout(ids_at, ids);
      if (!IsInFile(ids, file)) break;
      end += entry_size;
    }
    if (end > at) return Section{.offset = at, .size = end - at};
  }
  return std::nullopt;
}

// Returns whether records continue after `claimed`, the end according to the header.
bool GoOnBehind(Bytes file, std::endian order, const perfdata::EventTable& events,
                const Section& records, std::uint64_t claimed) {
  RecordScanner scanner(events, order);
  const std::uint64_t end = records.offset + records.size;
  std::uint64_t at = records.offset;
  while (at < claimed) {
    const Bytes window = file.subspan(at, end - at);
    const Step step = scanner.Next(window, RecordScanner::Window::kAll);
    at += step.size;
    if (at > claimed) return at < end || step.kind != Step::Kind::kGap;
  }
  const Bytes window = file.subspan(claimed, end - claimed);
  return !window.empty() && scanner.IsChain(window, 0, RecordScanner::Window::kAll);
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

Result<Preamble> FindPreamble(Bytes file, Corrections& corrections) {
  Result<Preamble> preamble = perfdata::ReadPreamble(file);
  if (!preamble) {
    if (file.size() < FileHeader::kPipeSize) {
      if (file.empty()) return preamble;
      return Fail(ErrorCode::kTruncated, "at 0x0: the file ends inside its header");
    }
    const std::optional<Preamble> found = PreambleWithoutMagic(file);
    if (!found) return preamble;
    corrections.push_back(
        "at 0x0: the magic is damaged; the other header fields are those of a perf.data");
    return *found;
  }
  std::uint64_t size = HeaderSizeIn(file, preamble->order);
  if (!IsHeaderSize(size) && IsHeaderSize(HeaderSizeIn(file, Other(preamble->order)))) {
    preamble->order = Other(preamble->order);
    size = HeaderSizeIn(file, preamble->order);
    corrections.push_back(
        "at 0x0: the byte order of the magic differs from that of the other header fields");
  }
  const bool is_file = LooksLikeAFile(file, preamble->order);
  preamble->container = size == FileHeader::kPipeSize ? Container::kPipe : Container::kFile;
  if (preamble->container == Container::kPipe && is_file) {
    corrections.push_back(
        "at 0x8: header size 16 means a pipe, but the other header fields are those of a file");
    preamble->container = Container::kFile;
  } else if (!IsHeaderSize(size) && !is_file && LooksLikeAPipe(file, preamble->order)) {
    corrections.push_back(
        fmt::format("at 0x8: header size {} is unknown; records follow as in a pipe", size));
    preamble->container = Container::kPipe;
  }
  return preamble;
}

void RecoverHeader(Bytes file, std::endian order, FileHeader& header, Corrections& corrections) {
  const auto is_after_header = [&](std::uint64_t offset) {
    return offset >= FileHeader::kSizeWithoutFeatures && offset <= file.size();
  };
  const bool has_data = is_after_header(header.data.offset);
  const bool has_attrs = is_after_header(header.attrs.offset) && header.attrs.size > 0 &&
                         header.attrs.offset < file.size();
  const bool is_cut = header.attrs.offset < header.data.offset &&
                      header.data.offset > file.size() && !IsInFile(header.attrs, file);
  if (is_cut) {
    corrections.push_back(
        fmt::format("at 0x28: the data at {:#x} begins beyond the end of the file at {:#x}",
                    header.data.offset, file.size()));
    header.data.offset = file.size();
    return;
  }
  if (!has_attrs) {
    const std::uint64_t from = header.size == FileHeader::kSizeWithoutFeatures
                                   ? FileHeader::kSizeWithoutFeatures
                                   : FileHeader::kSize;
    const std::uint64_t to = has_data ? header.data.offset : file.size();
    std::uint64_t entry_size = 0;
    if (const auto found = FindAttrs(file, order, from, to, entry_size)) {
      corrections.push_back(fmt::format(
          "at 0x18: no attribute table of {} bytes is at {:#x}; one of {} bytes is at {:#x}",
          header.attrs.size, header.attrs.offset, found->size, found->offset));
      header.attrs = *found;
      header.attr_size = entry_size;
    }
  }
  // The attributes overlap the records by whole entries: the size of the attributes is wrong.
  const std::uint64_t room = header.data.offset - header.attrs.offset;
  if (has_data && header.attrs.offset < header.data.offset && header.attrs.size > room &&
      IsEntrySize(header.attr_size) && room % header.attr_size == 0 && room > 0) {
    corrections.push_back(fmt::format(
        "at 0x20: the attribute table of {} bytes overlaps the data; its first {} bytes are read",
        header.attrs.size, room));
    header.attrs.size = room;
  }
  const bool attrs_in_file = IsInFile(header.attrs, file);
  const std::uint64_t attrs_end = attrs_in_file ? header.attrs.offset + header.attrs.size : 0;
  const bool is_in_attrs = attrs_in_file && header.data.offset >= header.attrs.offset &&
                           header.data.offset < attrs_end && header.attrs.offset != 0;
  if (has_data && !is_in_attrs) return;
  const std::uint64_t guess = is_after_header(attrs_end) ? attrs_end : FileHeader::kSize;
  corrections.push_back(
      fmt::format("at 0x28: the data cannot begin at {:#x}; the search for records begins at {:#x}",
                  header.data.offset, guess));
  header.data.offset = std::min<std::uint64_t>(guess, file.size());
}

RecordsExtent FindRecords(Bytes file, std::endian order, const FileHeader& header,
                          const perfdata::EventTable& events, Corrections& corrections) {
  const std::uint64_t from = header.data.offset;
  // perf inject writes the attributes after the records.
  const bool attrs_follow = header.attrs.offset > from && header.attrs.offset < file.size();
  const std::uint64_t limit = attrs_follow ? header.attrs.offset : file.size();
  const bool is_claim_possible = header.data.size <= limit - from;
  const std::uint64_t claimed = is_claim_possible ? from + header.data.size : limit;

  RecordsExtent records{
      .offset = from, .size = 0, .table = std::nullopt, .unclaimed_from = file.size()};
  records.table = FindFeatureTable(file, header, order, claimed, from);
  std::uint64_t end = limit;
  if (records.table) {
    end = records.table->offset;
    if (end != claimed || !is_claim_possible) {
      corrections.push_back(
          fmt::format("at 0x30: data size is {}, but the feature table after the data is at {:#x}",
                      header.data.size, end));
    }
    std::uint64_t last = end;
    for (const auto& [bit, section] : records.table->sections) {
      last =
          std::max(last, static_cast<std::uint64_t>(section.data() + section.size() - file.data()));
    }
    if (!attrs_follow && records.table->lost.empty()) records.unclaimed_from = last;
  } else if (!is_claim_possible) {
    corrections.push_back(
        fmt::format("at 0x28: the data of {} bytes at {:#x} extends {} bytes beyond {}",
                    header.data.size, from, header.data.size - (limit - from),
                    attrs_follow ? "the start of the attribute table" : "the end of the file"));
  } else if (header.data.size == 0 && limit > from) {
    corrections.push_back(
        fmt::format("at 0x30: data size is 0: the recording was not completed; {} bytes are "
                    "searched for records",
                    limit - from));
  } else if (claimed < limit) {
    const Section whole{.offset = from, .size = limit - from};
    if (GoOnBehind(file, order, events, whole, claimed)) {
      corrections.push_back(
          fmt::format("at 0x30: data size is {}, but more records follow", header.data.size));
    } else {
      end = claimed;
      if (!attrs_follow) records.unclaimed_from = claimed;
    }
  }
  records.size = end - from;
  return records;
}

}  // namespace perftape::rewrite
