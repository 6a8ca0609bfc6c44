// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/attr_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kSmallestEntry = EventAttr::kSmallestSize + sizeof(Section);
constexpr std::uint64_t kLargestEntry = 4096 + sizeof(Section);
constexpr std::size_t kSizeAt = 4;  // the offset of perf_event_attr.size

bool IsEntrySize(std::uint64_t size) {
  return size >= kSmallestEntry && size <= kLargestEntry;
}

std::uint32_t StoredSize(Bytes attr, std::endian order) {
  const auto size = LoadFixed<std::uint32_t>(attr.data() + kSizeAt, order);
  return size == 0 ? EventAttr::kSmallestSize : size;  // as perf reads it (read_attr)
}

// The bytes of the table and the size of an entry.
struct Table {
  Bytes bytes;
  std::uint64_t entry_size = 0;
  bool is_cut = false;  // the file ends inside the table: read entries while they are plausible
};

Table FindTable(Bytes file, const FileHeader& header, std::endian order,
                std::vector<std::string>& problems) {
  Table table{.bytes = {}, .entry_size = header.attr_size, .is_cut = false};
  if (const std::optional<Bytes> whole = BytesOf(header.attrs, file)) {
    table.bytes = *whole;
  } else {
    problems.push_back(fmt::format(
        "at 0x18: the attribute table of {} bytes at {:#x} extends beyond the end of the file",
        header.attrs.size, header.attrs.offset));
    if (header.attrs.offset >= file.size()) return table;
    // If the records follow the table, it ends at the records.
    const std::uint64_t end = header.data.offset > header.attrs.offset
                                  ? std::min<std::uint64_t>(header.data.offset, file.size())
                                  : file.size();
    table.bytes = file.subspan(header.attrs.offset, end - header.attrs.offset);
    table.is_cut = true;
  }
  if (!IsEntrySize(table.entry_size) && table.bytes.size() >= kSmallestEntry) {
    // perf computes the size of an entry from the size field of its attribute.
    table.entry_size = StoredSize(table.bytes, order) + sizeof(Section);
    problems.push_back(fmt::format("at 0x10: attribute size {} is invalid; {} is used instead",
                                   header.attr_size, table.entry_size));
  }
  return table;
}

}  // namespace

std::optional<EventAttr> RecoverAttr(Bytes bytes, std::endian order, std::string_view position,
                                     std::vector<std::string>& problems) {
  Result<EventAttr> attr = DecodeAttr(bytes, order);
  const bool is_size_zero = bytes.size() > EventAttr::kSmallestSize &&
                            LoadFixed<std::uint32_t>(bytes.data() + kSizeAt, order) == 0;
  if (attr && !is_size_zero) return *attr;
  problems.push_back(
      fmt::format("{}: {}", position,
                  attr ? fmt::format("the attribute size 0 is read as {}", bytes.size())
                       : attr.error().message));
  if (bytes.size() < EventAttr::kSmallestSize) return std::nullopt;
  std::vector<std::byte> recovered(bytes.begin(), bytes.end());
  auto size = static_cast<std::uint32_t>(bytes.size());
  if (order != std::endian::native) size = std::byteswap(size);
  std::memcpy(recovered.data() + kSizeAt, &size, sizeof size);
  attr = DecodeAttr(recovered, order);
  if (!attr) return std::nullopt;
  return *attr;
}

std::vector<Event> ReadAttrTable(Bytes file, const FileHeader& header, std::endian order,
                                 std::vector<std::string>& problems) {
  std::vector<Event> events;
  Table table = FindTable(file, header, order, problems);
  if (!IsEntrySize(table.entry_size)) return events;
  std::uint64_t ids_left = file.size();  // in bytes; limits memory: the file contains each id once
  while (table.bytes.size() >= table.entry_size) {
    const Bytes entry = table.bytes.first(table.entry_size);
    table.bytes = table.bytes.subspan(table.entry_size);
    const auto offset = static_cast<std::uint64_t>(entry.data() - file.data());
    const Bytes stored = entry.first(table.entry_size - sizeof(Section));
    if (table.is_cut && StoredSize(stored, order) > stored.size()) break;
    const std::optional<EventAttr> attr =
        RecoverAttr(stored, order, fmt::format("at {:#x}", offset), problems);
    if (!attr) break;
    Section ids_section;
    ByteReader at(entry.last(sizeof(Section)), order);
    SectionLayout(at, ids_section);
    Event event{.attr = *attr, .format = FormatOf(*attr), .ids = {}, .name = {}};
    const std::optional<Bytes> ids = BytesOf(ids_section, file);
    if (ids && ids->size() <= ids_left) {
      ids_left -= ids->size();
      const WordArray words(*ids, order);
      event.ids.assign(words.begin(), words.end());
    } else {
      problems.push_back(fmt::format(
          "at {:#x}: the ids of event {} {}", offset + stored.size(), events.size(),
          ids ? "are more than the file can contain" : "are beyond the end of the file"));
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace perftape::perfdata
